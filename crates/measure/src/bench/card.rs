//! The contents of a grid in words and figures: who measured it, its licence, and missing values.

use std::collections::BTreeMap;

use super::suite::hash;
use scavsim_base::stats::{Welford, median};
use scavsim_base::text::words::{or_dash, percent};
use scavsim_base::text::{Column, Sheet};
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_grids::report::Counts;
use scavsim_grids::{Charge, Grid, Job, ProbeCharge, ROWS, SPEC, load};
use scavsim_read::input::{Diagnostics, Folder};

pub const FILE: &str = "CARD.md";

/// The card of the grid in a folder, as Markdown; mistakes of the grid go to `diagnostics`.
pub fn card(folder: &Folder, diagnostics: &mut Diagnostics) -> Option<String> {
    let spec = folder.read(SPEC, diagnostics)?;
    let rows = folder.read(ROWS, diagnostics)?;
    let grid = load::read(&spec, &rows, diagnostics)?.grid;
    let rules = rules(&spec.text);
    let about = &grid.about;
    let counts = Counts::of_all(&grid.jobs);
    let facts = [
        ("measured", about.title.clone()),
        ("by", about.source.clone()),
        ("from", about.url.clone()),
        ("licence", about.licence.clone()),
        (
            "note",
            about.note.split_whitespace().collect::<Vec<_>>().join(" "),
        ),
        ("jobs", format!("{}{}", grid.jobs.len(), programs(&grid))),
        (
            "configurations",
            format!("{}, over all jobs", counts.configurations),
        ),
        (
            "holes",
            format!("{}: combinations that nobody ran", counts.holes),
        ),
        ("runs", runs(&counts)),
        ("axes", axes(&grid.jobs)),
        ("a probe is charged", charge(&grid.probe)),
        (
            "price rule",
            rules
                .get("cost_usd")
                .map_or("none".to_owned(), |rule| format!("`{rule}`")),
        ),
        (
            "VMs held",
            rules
                .get("vms")
                .map_or("not stated".to_owned(), |rule| format!("`{rule}`")),
        ),
        ("BLAKE3 of `grid.toml`", format!("`{}`", hash(&spec.text))),
        ("BLAKE3 of `rows.csv`", format!("`{}`", hash(&rows.text))),
    ];
    let mut text = format!("# {}\n\n| | |\n|---|---|\n", grid.name);
    let cheap = cheap(&grid.jobs).map(|what| ("cheap versions of runs", what));
    for (name, what) in facts.into_iter().chain(cheap) {
        let what = what.replace('|', "\\|");
        text += &format!("| {name} | {what} |\n");
    }
    text.push('\n');
    text += &Sheet::new(&grid.jobs, columns()).markdown();
    text += "\nTimes and USD are the least and the most of runs that reached the target. Spread is the standard deviation of repeats \
             over their mean, the median of configurations that reached the target more than once.\n";
    Some(text)
}

/// Shares of whole runs that were also measured, by job.
fn cheap(jobs: &[Job]) -> Option<String> {
    let told = |job: &Job| {
        let shares = job.cheap.iter().map(|cheap| percent(cheap.share, 1));
        let shares: Vec<String> = shares.collect();
        format!("of `{}` {}", job.name, shares.join(", "))
    };
    let jobs = jobs.iter().filter(|job| !job.cheap.is_empty());
    let all: Vec<String> = jobs.map(told).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Expressions of a specification, by key.
fn rules(spec: &str) -> BTreeMap<String, String> {
    let table: toml::Table = spec.parse().unwrap_or_default();
    let text = |(key, value): (String, toml::Value)| Some((key, value.as_str()?.to_owned()));
    table.into_iter().filter_map(text).collect()
}

fn programs(grid: &Grid) -> String {
    let mut names: Vec<&str> = (grid.jobs.iter())
        .filter_map(|job| job.program.as_deref())
        .collect();
    names.sort_unstable();
    names.dedup();
    let others = if grid.jobs.iter().any(|job| job.program.is_none()) {
        " and others"
    } else {
        ""
    };
    match names.len() {
        0 => String::new(),
        1 => format!(", of one program{others}"),
        programs => format!(", of {programs} programs{others}"),
    }
}

fn runs(counts: &Counts) -> String {
    let reached = counts.runs - counts.failed - counts.unreached;
    format!(
        "{}: {reached} reached the target, {} ended without it, {} failed",
        counts.runs, counts.unreached, counts.failed
    )
}

fn axes(jobs: &[Job]) -> String {
    let Some(job) = jobs.first() else {
        return String::new();
    };
    let space = &job.space;
    let each = space.axes().iter().enumerate().map(|(axis, of)| {
        let mut values: Vec<f64> = (0..space.len()).map(|at| space.value(at, axis)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        match (of.levels(), values.as_slice()) {
            ([], [first, .., last]) => {
                format!("`{}` {first} to {last}, {} values", of.name, values.len())
            }
            ([], _) => format!("`{}`", of.name),
            (levels, _) => format!("`{}` {}", of.name, levels.join(", ")),
        }
    });
    each.collect::<Vec<_>>().join("; ")
}

fn charge(probe: &ProbeCharge) -> String {
    let much = match probe.charge {
        Charge::Whole => "a whole run".to_owned(),
        Charge::Steps => "its steps at the step time of the run".to_owned(),
        Charge::Share(share) => format!("{} of a run", percent(share.get(), 1)),
    };
    let cut = if probe.cut_off {
        "a budget ends a run early"
    } else {
        "no budget ends a run early"
    };
    format!("{much}; {cut}")
}

fn columns<'a>() -> Vec<Column<'a, &'a Job>> {
    let count = |of: fn(&Counts) -> String| move |job: &&Job| of(&Counts::from_job(job));
    vec![
        Column::text("job", |job: &&Job| job.name.clone()),
        Column::text("program", |job: &&Job| or_dash(job.program.clone())),
        Column::number("configurations", count(|c| c.configurations.to_string())),
        Column::number("holes", count(|c| c.holes.to_string())),
        Column::number("failed", count(|c| c.failed.to_string())),
        Column::number("unreached", count(|c| c.unreached.to_string())),
        Column::number("most repeats", |job: &&Job| {
            let all = (0..job.space.len()).map(|at| job.runs(at).len());
            all.max().unwrap_or(0).to_string()
        }),
        Column::number("spread", |job: &&Job| {
            or_dash(repeat_variation(job).map(|s| percent(s, 1)))
        }),
        Column::number("hours", |job: &&Job| {
            range(job, |_, _, time_s| Some(time_s / SECONDS_PER_HOUR))
        }),
        Column::number("USD", |job: &&Job| {
            range(job, |at, repeat, time_s| job.cost_usd(at, repeat, time_s))
        }),
    ]
}

/// Standard deviation over mean of the times of repeats, the median of configurations with several that reached the target.
fn repeat_variation(job: &Job) -> Option<f64> {
    let of = |at: usize| {
        let mut times = Welford::default();
        let reached = job.runs(at).iter().filter_map(|run| run.time_to_target_s());
        reached.for_each(|time_s| times.add(time_s));
        (times.count() > 1).then(|| times.variance().sqrt() / times.mean())
    };
    let mut all: Vec<f64> = (0..job.space.len()).filter_map(of).collect();
    median(&mut all)
}

/// The least and the most of a figure of runs that reached the target.
fn range(job: &Job, of: impl Fn(usize, usize, f64) -> Option<f64>) -> String {
    let reached = job.all_runs().filter_map(|(at, repeat, run)| {
        let time_s = run.time_to_target_s()?;
        of(at, repeat, time_s)
    });
    let ends = reached.fold(None, |ends: Option<(f64, f64)>, figure| {
        let (low, high) = ends.unwrap_or((figure, figure));
        Some((low.min(figure), high.max(figure)))
    });
    or_dash(ends.map(|(low, high)| format!("{low:.3} to {high:.3}")))
}
