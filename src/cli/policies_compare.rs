//! `scavsim compare` on scenarios with `[policy]`: what each policy costs more than one of them on the same lives.

use std::path::PathBuf;

use super::compare_form::CompareFormat;
use super::exit::{Exit, Failure, no_mistakes};
use super::programs::ProgramsArg;
use super::records::judge_failures;
use super::set::SetArgs;
use super::signals::Signals;
use super::{policies, scenarios, terminal};
use scavsim_base::text::{Cell, Column, Page, Sheet, Tone};
use scavsim_provision::study::overlap::Sample;
use scavsim_provision::study::paired_difference::{PairedDifference, PairedSums};
use scavsim_provision::study::policy_metrics::{PolicyMetrics, Sums};
use scavsim_provision::study::run::run as meet;
use scavsim_provision::study::{Setting, Study};
use scavsim_read::input::{Diagnostic, Diagnostics, nearest_or_all};

pub(super) struct PolicyComparisonRequest<'a> {
    pub(super) files: &'a [PathBuf],
    pub(super) jobs: usize,
    pub(super) seed: Option<u64>,
    pub(super) set: &'a SetArgs,
    pub(super) programs: ProgramsArg,
    /// The policy that the others are held against.
    pub(super) against: Option<&'a str>,
    pub(super) format: CompareFormat,
    pub(super) page: Page,
    pub(super) useless: Vec<&'static str>,
}

struct Contender {
    study: String,
    setting: String,
    policy: String,
    against: String,
    figures: PolicyMetrics,
    paired: PairedDifference,
}

/// Compares the policies of scenarios with `[policy]`; `None` if there are none.
pub(super) fn run(
    asked: &PolicyComparisonRequest<'_>,
    signals: &Signals,
) -> Result<Option<Exit>, Failure> {
    if !asked.files.iter().any(|file| scenarios::has_policies(file)) {
        return Ok(None);
    }
    let mut studies = policies::load(asked.files, asked.set)?;
    refuse(asked, &studies)?;
    for (file, study) in asked.files.iter().zip(&studies) {
        asked.programs.ask_of(file, study.programs())?;
    }
    let interrupt = signals.raise_first()?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(asked.jobs)
        .build();
    let pool = pool.map_err(anyhow::Error::from)?;
    let mut tables = Vec::new();
    for study in &mut studies {
        study.seed = asked.seed.unwrap_or(study.seed);
        study.stop_by(interrupt.flag());
        for setting in &study.settings {
            let mut sums = Sums::new(study.policies.len());
            let mut pairs = PairedSums::new(study.policies.len());
            for lives in setting.lives.blocks() {
                let met = pool.install(|| meet(study, setting, lives));
                if interrupt.is_raised() {
                    return Err(Failure::Interrupted);
                }
                policies::refuse_hopeless(study)?;
                sums.add(&met);
                pairs.add(&met);
            }
            let sample = Sample::from_setting(setting);
            let figures = sums.figures(&sample);
            let rows = contenders(study, setting, (&sample, figures), &pairs, asked.against);
            tables.push((sample, rows));
        }
    }
    terminal::print(&text(&tables, asked.format, &asked.page))?;
    let all = tables.iter().flat_map(|(_, rows)| rows);
    let failed = all.map(|one| one.figures.failed as u64);
    Ok(Some(judge_failures(failed.sum())))
}

fn refuse(asked: &PolicyComparisonRequest<'_>, studies: &[Study]) -> Result<(), Failure> {
    let mut d = Diagnostics::default();
    for option in &asked.useless {
        let title = format!("`{option}` says nothing of scenarios with `[policy]`");
        let help = "legal there: --against, --programs, --set, --jobs, --seed, --format, --wide";
        d.push(Diagnostic::general(title).with_help(help));
    }
    if matches!(asked.format, CompareFormat::Units | CompareFormat::Curves) {
        let title = "scenarios with `[policy]` have no comparison of this form";
        d.push(Diagnostic::general(title).with_help("legal there: `table`, `csv`, `json`"));
    }
    for study in studies {
        let names = || study.policies.iter().map(|(name, _)| name.as_str());
        if let Some(wrong) = asked
            .against
            .filter(|own| !names().any(|name| name == *own))
        {
            let help = nearest_or_all(wrong, names());
            let title = format!("{}: no policy `{wrong}` to compare with", study.name);
            d.push(Diagnostic::general(title).with_help(help));
        }
    }
    no_mistakes(d)
}

/// The policies of a setting. Without a name they are held against the cheapest of those in time; where none is, of all.
fn contenders(
    study: &Study,
    setting: &Setting,
    (sample, figures): (&Sample, Vec<PolicyMetrics>),
    pairs: &PairedSums,
    named: Option<&str>,
) -> Vec<Contender> {
    let by_name = named.and_then(|own| study.policies.iter().position(|(name, _)| name == own));
    let cheapest = (0..study.policies.len()).min_by(|&a, &b| {
        let is_late = |at: usize| !figures[at].keeps_all();
        // A policy without a result has no cost.
        let cost = |at: usize| match figures[at].lives {
            0 => f64::INFINITY,
            _ => figures[at].cost_usd,
        };
        (is_late(a).cmp(&is_late(b))).then(cost(a).total_cmp(&cost(b)))
    });
    let against = by_name.or(cheapest).unwrap_or(0);
    let all = study
        .policies
        .iter()
        .zip(figures)
        .zip(pairs.against(against, sample));
    all.map(|(((name, _), figures), paired)| Contender {
        study: study.name.clone(),
        setting: setting.description(),
        policy: name.clone(),
        against: study.policies[against].0.clone(),
        figures,
        paired,
    })
    .collect()
}

fn text(tables: &[(Sample, Vec<Contender>)], format: CompareFormat, page: &Page) -> String {
    let all = || tables.iter().flat_map(|(_, rows)| rows).collect::<Vec<_>>();
    match format {
        CompareFormat::Json => {
            let rows = comparison_sheet(&all(), true).json();
            format!("{:#}\n", serde_json::Value::Array(rows))
        }
        CompareFormat::Csv => comparison_sheet(&all(), true).csv(true),
        _ => {
            let table = |(sample, rows): &(Sample, Vec<Contender>)| {
                let table = comparison_sheet(&rows.iter().collect::<Vec<_>>(), false);
                page.prose(&head(sample, rows), 0) + &table.fit(page).text(page)
            };
            tables.iter().map(table).collect::<Vec<_>>().join("\n")
        }
    }
}

fn head(sample: &Sample, rows: &[Contender]) -> String {
    let Some(first) = rows.first() else {
        return String::new();
    };
    let open: Vec<&str> = rows
        .iter()
        .filter(|row| row.policy != row.against)
        .filter(|row| (row.paired.interval).is_none_or(|i| i.low <= 0.0 && i.high >= 0.0))
        .map(|row| row.policy.as_str())
        .collect();
    let told = if sample.is_too_small() {
        String::new()
    } else if open.is_empty() {
        ": all others differ from it beyond chance".to_owned()
    } else {
        format!(": these lives cannot tell it from {}", open.join(", "))
    };
    format!(
        "Beside {} on the same {}{told}. {}.",
        first.against,
        sample.description(),
        first.setting
    )
}

fn comparison_sheet<'s>(rows: &[&'s Contender], all: bool) -> Sheet<'s, &'s Contender> {
    let number = |head: &'static str, digits: usize, of: fn(&Contender) -> Option<f64>| {
        Column::number(head, move |row: &&Contender| {
            Cell::number(of(row).filter(|x| x.is_finite()), digits)
        })
    };
    let mut columns = Vec::new();
    if all {
        columns.push(Column::text("scenario", |row: &&Contender| {
            row.study.clone()
        }));
        columns.push(Column::text("setting", |row: &&Contender| {
            row.setting.clone()
        }));
        columns.push(Column::text("against", |row: &&Contender| {
            row.against.clone()
        }));
    }
    columns.extend([
        Column::text("policy", |row: &&Contender| row.policy.clone()).rank(0),
        number("cost $", 2, |row| Some(row.figures.cost_usd)).rank(0),
        number("more $", 2, |row| Some(row.paired.more_usd)).rank(0),
        number("from $", 2, |row| row.paired.interval.map(|i| i.low)).rank(0),
        number("to $", 2, |row| row.paired.interval.map(|i| i.high)).rank(0),
        number("cheaper %", 0, |row| Some(100.0 * row.paired.cheaper)).rank(3),
        number("× clairvoyant", 3, |row| row.figures.over_clairvoyant).rank(1),
        number("in time %", 1, |row| {
            Some(100.0 * row.figures.kept as f64 / row.figures.lives.max(1) as f64)
        })
        .rank(1),
        number("late h", 2, |row| Some(row.figures.late_h)).rank(2),
    ]);
    Sheet::new(rows.to_vec(), columns).toned(|row| {
        if row.policy == row.against {
            Tone::Best
        } else {
            Tone::Plain
        }
    })
}
