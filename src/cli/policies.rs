//! Scenarios with `[policy]`: policies that decide during a run, beside each other on the same markets.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::consent::Consent;
use super::estimate;
use super::exit::{Exit, Failure, no_mistakes};
use super::programs::ProgramsArg;
use super::records::judge_failures;
use super::set::SetArgs;
use super::signals::Signals;
use super::summaries::Form;
use super::{policies_lives, scenarios, terminal};
use scavsim_base::text::words::plural;
use scavsim_base::text::{Cell, Column, Page, Sheet, Tone};
use scavsim_provision::policy::registry::CLAIRVOYANT;
use scavsim_provision::study::overlap::Sample;
use scavsim_provision::study::policy_metrics::{PolicyMetrics, Sums};
use scavsim_provision::study::run::run;
use scavsim_provision::study::{Setting, Study, check};
use scavsim_read::input::name::not_a_name;
use scavsim_read::input::{Diagnostic, Diagnostics, Source};
use scavsim_show::report::{OutputFolder, manifest};

pub(super) struct PolicyRunRequest<'a> {
    pub(super) files: &'a [PathBuf],
    pub(super) out: Option<&'a Path>,
    pub(super) overwrite: bool,
    pub(super) jobs: usize,
    pub(super) seed: Option<u64>,
    /// Keys that replace those of the files.
    pub(super) set: &'a SetArgs,
    pub(super) programs: ProgramsArg,
    pub(super) format: Form,
    pub(super) page: Page,
    /// Options that were given and say nothing of such scenarios.
    pub(super) useless: Vec<&'static str>,
    pub(super) is_dry: bool,
    pub(super) consent: Consent,
}

/// Reads and checks such scenarios, with keys that replace theirs, of which a later one wins.
pub(super) fn load(files: &[PathBuf], set: &SetArgs) -> Result<Vec<Study>, Failure> {
    let hashed = load_hashed(files, set)?;
    Ok(hashed.into_iter().map(|(study, _)| study).collect())
}

/// Reads and checks such scenarios, each with the hash of its text.
fn load_hashed(files: &[PathBuf], set: &SetArgs) -> Result<Vec<(Study, String)>, Failure> {
    let mut d = Diagnostics::default();
    let set = set.sources()?;
    if let Some(other) = files.iter().find(|file| !scenarios::has_policies(file)) {
        let title = format!("{}: no `[policy]`", other.display());
        let help = "scenarios with `[policy]` are run by themselves";
        d.push(Diagnostic::general(title).with_help(help));
        return Err(Failure::Wrong(d));
    }
    let studies: Vec<Option<_>> = files
        .iter()
        .map(|file| {
            let own = scenarios::read(file, &mut d)?;
            let parts: Vec<_> = set.iter().rev().chain([&own]).cloned().collect();
            let source = Source::joined(&parts).named(&own.name);
            let study = check::load(&source, file.parent().unwrap_or(Path::new(".")), &mut d)?;
            let wrong = not_a_folder(&study.name);
            if let Some(rule) = wrong {
                let title = format!("{}: `name` is no name", own.name);
                d.push(Diagnostic::general(title).with_help(rule));
            }
            Some((study, manifest::hash(source.text.as_bytes())))
        })
        .collect();
    match studies.into_iter().collect::<Option<Vec<_>>>() {
        Some(studies) if d.is_empty() => Ok(studies),
        _ => Err(Failure::Wrong(d)),
    }
}

/// What a name of a scenario is like, where this is none: it may become that of a folder.
fn not_a_folder(name: &str) -> Option<&'static str> {
    let is_path = name.starts_with('.') || name.contains(['/', '\\']);
    let rule =
        "a name has no `/` or `\\` and does not begin with `.`: it may become that of a folder";
    not_a_name(name).or(is_path.then_some(rule))
}

/// Runs scenarios with `[policy]`; `None` if there are none. What is `written` to a folder is handed on.
pub(super) fn run_all(
    asked: PolicyRunRequest<'_>,
    written: impl Fn(&OutputFolder, &Study) -> Result<(), Failure>,
    signals: &Signals,
) -> Result<Option<Exit>, Failure> {
    if !asked.files.iter().any(|file| scenarios::has_policies(file)) {
        return Ok(None);
    }
    refuse(&asked)?;
    let mut studies = load_hashed(asked.files, asked.set)?;
    let interrupt = signals.raise_first()?;
    for (study, _) in &mut studies {
        study.seed = asked.seed.unwrap_or(study.seed);
        study.stop_by(interrupt.flag());
    }
    let shared = |(study, hash)| (Arc::new(study), hash);
    let studies: Vec<(Arc<Study>, String)> = studies.into_iter().map(shared).collect();
    if asked.is_dry {
        let line = |(study, _): &(Arc<Study>, _)| format!("{}: {}\n", study.name, study.extent());
        terminal::print(&studies.iter().map(line).collect::<String>())?;
        for (study, _) in &studies {
            note_estimate(study, asked.jobs)?;
        }
        return Ok(Some(Exit::Done));
    }
    for (file, (study, _)) in asked.files.iter().zip(&studies) {
        asked.programs.ask_of(file, study.programs())?;
        asked.consent.ask_lives(study, asked.jobs)?;
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(asked.jobs)
        .build();
    let pool = pool.map_err(anyhow::Error::from)?;
    let mut printed = PolicyTables::default();
    let mut failed = 0;
    let mut results = policies_lives::start(asked.out, asked.overwrite, &studies)?.into_iter();
    for (study, _) in &studies {
        let mut results = results.next();
        let begin = printed.rows.len();
        for setting in &study.settings {
            let mut sums = Sums::new(study.policies.len());
            for block in setting.lives.blocks() {
                let met = pool.install(|| run(study, setting, block));
                if interrupt.is_raised() {
                    return Ok(Some(signals.exit()));
                }
                refuse_hopeless(study)?;
                if let Some(results) = &mut results {
                    results.write(study, setting, &met)?;
                }
                sums.add(&met);
            }
            let sample = Sample::from_setting(setting);
            let figures = sums.figures(&sample);
            failed += figures.iter().map(|one| one.failed as u64).sum::<u64>();
            printed.add(study, setting, &sample, &figures);
        }
        if let Some(results) = results {
            let own: Vec<&Line> = printed.rows[begin..].iter().collect();
            let folder = results.end(&metrics_sheet(&own, true).csv(true))?;
            written(&folder, study)?;
        }
    }
    terminal::print(&printed.text(asked.format, &asked.page))?;
    Ok(Some(judge_failures(failed)))
}

/// Says on stderr what the lives of a study would take: it depends on the machine.
pub(super) fn note_estimate(study: &Arc<Study>, jobs: usize) -> Result<(), Failure> {
    let estimate = estimate::of_lives(study, jobs)?;
    terminal::note(&format!("{}: {}", study.name, estimate.text));
    Ok(())
}

/// Ends a run in which a program fails again and again.
pub(super) fn refuse_hopeless(study: &Study) -> Result<(), Failure> {
    match study.hopeless() {
        Some(why) => Err(anyhow::anyhow!("{}: {why}", study.name).into()),
        None => Ok(()),
    }
}

fn refuse(asked: &PolicyRunRequest<'_>) -> Result<(), Failure> {
    let mut d = Diagnostics::default();
    for option in &asked.useless {
        let title = format!("`{option}` says nothing of scenarios with `[policy]`");
        d.push(Diagnostic::general(title).with_help(
            "legal there: --out, --overwrite, --plot, --programs, --set, --jobs, --seed, --format, --wide, --dry-run",
        ));
    }
    if !matches!(asked.format, Form::Table | Form::Csv | Form::Json) {
        let title = "scenarios with `[policy]` have no summary of this form";
        d.push(Diagnostic::general(title).with_help("legal there: `table`, `csv`, `json`"));
    }
    no_mistakes(d)
}

struct Line {
    study: String,
    zones: String,
    deadline_h: f64,
    changeover_s: f64,
    disjoint: usize,
    policy: String,
    figures: PolicyMetrics,
}

#[derive(Default)]
struct PolicyTables {
    /// A sentence before each table, and how many rows that has.
    heads: Vec<(String, usize)>,
    rows: Vec<Line>,
}

impl PolicyTables {
    fn add(
        &mut self,
        study: &Study,
        setting: &Setting,
        sample: &Sample,
        figures: &[PolicyMetrics],
    ) {
        let names = study
            .policies
            .iter()
            .map(|(name, _)| name.as_str())
            .chain([CLAIRVOYANT]);
        self.heads
            .push((head(study, setting, sample, figures), figures.len()));
        for (name, figures) in names.zip(figures) {
            self.rows.push(Line {
                study: study.name.clone(),
                zones: setting.zone_names(),
                deadline_h: setting.job.deadline_s / 3600.0,
                changeover_s: setting.job.changeover_s,
                disjoint: sample.disjoint,
                policy: name.to_owned(),
                figures: figures.clone(),
            });
        }
    }

    fn text(self, format: Form, page: &Page) -> String {
        match format {
            Form::Csv => metrics_sheet(&self.rows.iter().collect::<Vec<_>>(), true).csv(true),
            Form::Json => {
                let rows: Vec<&Line> = self.rows.iter().collect();
                let rows: Vec<_> = metrics_sheet(&rows, true).json();
                format!("{:#}\n", serde_json::Value::Array(rows))
            }
            _ => {
                let mut text = String::new();
                let mut rows = self.rows.iter();
                for (head, count) in &self.heads {
                    let own: Vec<&Line> = rows.by_ref().take(*count).collect();
                    if !text.is_empty() {
                        text.push('\n');
                    }
                    text += &page.prose(head, 0);
                    text += &metrics_sheet(&own, false).fit(page).text(page);
                }
                text
            }
        }
    }
}

/// What is best, and where: the answer before the table.
fn head(study: &Study, setting: &Setting, sample: &Sample, figures: &[PolicyMetrics]) -> String {
    let named = study
        .policies
        .iter()
        .map(|(name, _)| name.as_str())
        .zip(figures);
    let kept = named.filter(|(_, one)| one.keeps_all());
    let best = kept.min_by(|a, b| a.1.cost_usd.total_cmp(&b.1.cost_usd));
    let mut text = match best {
        Some((name, one)) => {
            let over = one.over_clairvoyant.map_or(String::new(), |over| {
                format!(", {over:.3} times what it costs whoever knows what comes")
            });
            format!(
                "Cheapest of those in time: {name}, ${:.2} a life{over}.",
                one.cost_usd
            )
        }
        None => "No policy kept all deadlines.".to_owned(),
    };
    // Writing to a string cannot fail.
    let _ = write!(text, " {}; {}", setting.description(), sample.description());
    if !study.about.is_empty() {
        let _ = write!(text, ". {}", study.about);
    }
    text.push('.');
    if let Some(one) = figures.last().filter(|one| one.inexact > 0) {
        let (inexact, lives) = (one.inexact, one.lives);
        let _ = write!(
            text,
            " The clairvoyant's cost is a lower bound, not exact, in {inexact} of {}.",
            plural(lives as u64, "life")
        );
    }
    let named = || study.policies.iter().map(|(name, _)| name).zip(figures);
    for (name, one) in named() {
        if let Some(why) = &one.why_failed {
            let failed = plural(one.failed as u64, "life");
            let _ = write!(text, " {name}: {failed} without a result: {why}.");
        }
    }
    for (name, one) in named().filter(|(_, one)| one.unfinished > 0) {
        let unfinished = plural(one.unfinished as u64, "life");
        let _ = write!(
            text,
            " {name}: {unfinished} unfinished when the market's time was over; the mean cost is a lower bound."
        );
    }
    text
}

fn metrics_sheet<'s>(rows: &[&'s Line], all: bool) -> Sheet<'s, &'s Line> {
    let number = |head: &'static str, digits: usize, rank: u8, of: fn(&PolicyMetrics) -> f64| {
        Column::number(head, move |line: &&Line| {
            Cell::number(Some(of(&line.figures)).filter(|x| x.is_finite()), digits)
        })
        .rank(rank)
    };
    let share = |part: f64, of: usize| 100.0 * part / of.max(1) as f64;
    let mut columns = Vec::new();
    if all {
        columns.push(Column::text("scenario", |line: &&Line| line.study.clone()));
        columns.push(Column::text("zones", |line: &&Line| line.zones.clone()));
        columns.push(Column::number("deadline_h", |line: &&Line| {
            Cell::number(Some(line.deadline_h), 3)
        }));
        columns.push(Column::number("changeover_s", |line: &&Line| {
            Cell::number(Some(line.changeover_s), 0)
        }));
        columns.push(Column::number("disjoint", |line: &&Line| {
            Cell::number(Some(line.disjoint as f64), 0)
        }));
    }
    columns.extend([
        Column::text("policy", |line: &&Line| line.policy.clone()).rank(0),
        number("cost $", 2, 0, |one| one.cost_usd),
        Column::number("± $", |line: &&Line| {
            Cell::number(line.figures.cost_ci_usd, 2)
        })
        .rank(3),
        Column::number("× clairvoyant", |line: &&Line| {
            Cell::number(line.figures.over_clairvoyant, 3)
        })
        .rank(1),
        Column::number("in time %", move |line: &&Line| {
            Cell::number(Some(share(line.figures.kept as f64, line.figures.lives)), 1)
        })
        .rank(1),
        number("late h", 2, 2, |one| one.late_h),
        number("spot h", 1, 4, |one| one.spot_h),
        number("on demand h", 1, 3, |one| one.on_demand_h),
        number("losses", 1, 5, |one| one.losses),
        number("moves", 1, 6, |one| one.moves),
        number("starts", 1, 7, |one| one.launches),
        number("net %", 0, 8, |one| 100.0 * one.caught),
        Column::number("unfinished", |line: &&Line| {
            Cell::number(Some(line.figures.unfinished as f64), 0)
        })
        .rank(9),
        Column::number("failed", |line: &&Line| {
            Cell::number(Some(line.figures.failed as f64), 0)
        })
        .rank(9),
    ]);
    let least = rows
        .iter()
        .filter(|line| line.policy != CLAIRVOYANT && line.figures.keeps_all())
        .map(|line| line.figures.cost_usd)
        .fold(f64::INFINITY, f64::min);
    Sheet::new(rows.to_vec(), columns).toned(move |line| match line.policy.as_str() {
        CLAIRVOYANT => Tone::Dim,
        _ if line.figures.cost_usd <= least => Tone::Best,
        _ => Tone::Plain,
    })
}
