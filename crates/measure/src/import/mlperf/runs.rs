//! Seconds per step of published runs.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::benchmarks::{Benchmark, ProgressUnit};
use super::rcp::Point;
use crate::import::Report;
use scavsim_data::workload::law::EpochLaw;
use scavsim_read::input::csv::{Row, Table};
use scavsim_read::input::{Diagnostic, Diagnostics, Source};

/// Which runs are taken; what is open must be the same in all that are left.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    /// Submitter as the table names it.
    pub submitter: Option<String>,
    /// Accelerator as the table names it.
    pub accelerator: Option<String>,
    /// Round as the table names it, such as `v4.0`.
    pub round: Option<String>,
}

/// What is known about convergence, for runs that do not say how far they went.
pub struct ConvergenceKnowledge<'a> {
    pub benchmark: &'static Benchmark,
    /// Fastest convergence points, in the benchmark's unit.
    pub points: &'a [&'a Point],
    /// Law through them, in epochs.
    pub law: Option<EpochLaw>,
}

#[derive(Debug, Clone)]
pub struct MeasuredConfiguration {
    pub vm: String,
    /// Accelerators on each VM.
    pub per_vm: u32,
    pub workers: u32,
    pub batch: u32,
    /// Mean over runs.
    pub step_s: f64,
    pub runs: usize,
    /// System as it was submitted.
    pub system: String,
}

/// The runs of one choice.
#[derive(Debug)]
pub struct SelectedRuns {
    pub round: String,
    /// By VM shape, K and batch.
    pub points: Vec<MeasuredConfiguration>,
}

struct CountedRun {
    chosen: [String; 3],
    system: String,
    vms: u32,
    per_vm: u32,
    batch: u32,
    step_s: f64,
}

const REQUIRED: [&str; 12] = [
    "round",
    "submitter",
    "division",
    "system",
    "benchmark",
    "number_of_nodes",
    "accelerators_per_node",
    "accelerator",
    "global_batch_size",
    "status",
    "run_seconds",
    "last_eval_epoch_or_samples",
];
const OPTIONAL: [&str; 5] = [
    "log",
    "host_networking",
    "train_samples",
    "seed",
    "last_eval_metric",
];

pub fn read(
    path: &Path,
    choice: &RunFilter,
    expected: &ConvergenceKnowledge<'_>,
    report: &mut Report,
    diagnostics: &mut Diagnostics,
) -> Option<SelectedRuns> {
    let source = Source::read(path, diagnostics)?;
    let before = diagnostics.len();
    let table = Table::read(&source, &REQUIRED, &OPTIONAL, diagnostics)?;
    let mut dropped: BTreeMap<&str, usize> = BTreeMap::new();
    let mut runs = Vec::new();
    let mut substituted: BTreeMap<&str, usize> = BTreeMap::new();
    let mut read = 0;
    for row in table.rows() {
        read += 1;
        match run(&row, choice, expected, &mut substituted, diagnostics) {
            Ok(run) => runs.push(run),
            Err(why) => *dropped.entry(why).or_default() += 1,
        }
    }
    if diagnostics.len() > before {
        return None;
    }
    let all = runs.len();
    let runs = alike(runs);
    if all > runs.len() {
        dropped.insert(
            "step more than 20 % off the median of its point",
            all - runs.len(),
        );
    }
    let dropped: Vec<(&str, usize)> = dropped.into_iter().collect();
    report.rows("runs", read, &dropped);
    for (how, n) in substituted {
        report.note(format!("{n} runs do not say how far they went: {how}"));
    }
    let first = one_choice(&source, &runs, diagnostics)?;
    let round = first.chosen[2].clone();
    Some(SelectedRuns {
        round,
        points: means(&runs, report),
    })
}

/// How far a step may be off the median of its point. Systems repeat a step within a few per
/// cent; what is further off logged another epoch than its last.
const ALIKE: f64 = 0.2;

/// The runs whose step is like that of the others of the same system and batch.
fn alike(runs: Vec<CountedRun>) -> Vec<CountedRun> {
    type RunKey<'r> = (&'r [String; 3], &'r str, u32);
    fn key(run: &CountedRun) -> RunKey<'_> {
        (&run.chosen, &run.system, run.batch)
    }
    let mut steps: BTreeMap<RunKey<'_>, Vec<f64>> = BTreeMap::new();
    for run in &runs {
        steps.entry(key(run)).or_default().push(run.step_s);
    }
    let keep: Vec<bool> = runs
        .iter()
        .map(|run| {
            let mut others = steps.get(&key(run)).cloned().unwrap_or_default();
            others.sort_by(f64::total_cmp);
            // Of two, nobody knows which is wrong.
            let median = others.get(others.len() / 2).filter(|_| others.len() > 2);
            median.is_none_or(|median| (run.step_s / median - 1.0).abs() <= ALIKE)
        })
        .collect();
    let kept = runs.into_iter().zip(keep).filter(|(_, keep)| *keep);
    kept.map(|(run, _)| run).collect()
}

/// The run of a row, or why it does not count. What a chosen run says wrongly is a mistake.
fn run(
    row: &Row<'_>,
    choice: &RunFilter,
    expected: &ConvergenceKnowledge<'_>,
    substituted: &mut BTreeMap<&'static str, usize>,
    diagnostics: &mut Diagnostics,
) -> Result<CountedRun, &'static str> {
    let text = |column| row.optional_text(column).unwrap_or_default();
    if !expected.benchmark.run_names.contains(&text("benchmark")) {
        return Err("another benchmark");
    }
    let is = |column, wanted: &Option<String>| {
        wanted
            .as_ref()
            .is_none_or(|wanted| wanted.eq_ignore_ascii_case(text(column)))
    };
    if !is("submitter", &choice.submitter) {
        return Err("another submitter");
    }
    if !is("accelerator", &choice.accelerator) {
        return Err("another accelerator");
    }
    if !is("round", &choice.round) {
        return Err("another round");
    }
    if version(text("round")) < version(expected.benchmark.since) {
        return Err("another task under the same name in this round");
    }
    if text("division") != "closed" {
        return Err("open division");
    }
    if text("status") != "success" {
        return Err("not successful");
    }
    if text("number_of_nodes").is_empty() {
        return Err("number of VMs not given");
    }
    let invalid = "with a mistake";
    let whole = |column, d: &mut Diagnostics| {
        let value = row.whole_number(column, 1..=LARGEST, d)?;
        u32::try_from(value).ok()
    };
    let vms = whole("number_of_nodes", diagnostics);
    let per_vm = whole("accelerators_per_node", diagnostics);
    let batch = whole("global_batch_size", diagnostics);
    use std::ops::Bound::{Excluded, Unbounded};
    let seconds = row.number("run_seconds", (Excluded(0.0), Unbounded), diagnostics);
    let (vms, per_vm) = (vms.ok_or(invalid)?, per_vm.ok_or(invalid)?);
    let (batch, seconds) = (batch.ok_or(invalid)?, seconds.ok_or(invalid)?);
    if vms.checked_mul(per_vm).is_none() {
        return Err("impossible number of accelerators");
    }
    let samples = samples(row, batch, expected, substituted, diagnostics)?;
    Ok(CountedRun {
        chosen: ["submitter", "accelerator", "round"].map(|c| text(c).to_owned()),
        system: text("system").to_owned(),
        vms,
        per_vm,
        batch,
        step_s: seconds * f64::from(batch) / samples,
    })
}

/// Most VMs, accelerators and samples; beyond, it is a slip of the pen.
const LARGEST: u64 = 1_000_000_000;

/// Samples that a run went through.
///
/// bert rows of v1.0 and v1.1 log 1 where the count belongs. There `train_samples` often holds
/// what was trained and sometimes the whole set; it counts if it lies within a factor of two of
/// what the convergence points expect, and these themselves if not.
fn samples(
    row: &Row<'_>,
    batch: u32,
    expected: &ConvergenceKnowledge<'_>,
    substituted: &mut BTreeMap<&'static str, usize>,
    diagnostics: &mut Diagnostics,
) -> Result<f64, &'static str> {
    use std::ops::Bound::{Excluded, Unbounded};
    let above = (Excluded(0.0), Unbounded);
    let column = "last_eval_epoch_or_samples";
    if row.optional_text(column).is_none() {
        return Err("no epoch of the last evaluation");
    }
    let logged = row
        .number(column, above, diagnostics)
        .ok_or("with a mistake")?;
    let per_epoch = expected.benchmark.samples_per_epoch;
    match expected.benchmark.unit {
        ProgressUnit::Epochs => return Ok(logged * per_epoch),
        ProgressUnit::Samples if logged > 1.0 => return Ok(logged),
        ProgressUnit::Samples => {}
    }
    let at_batch = expected.points.iter().find(|p| p.batch == batch);
    let by_law = || Some(expected.law?.epochs(f64::from(batch), None)? * per_epoch);
    let likely = at_batch
        .map(|p| p.mean())
        .or_else(by_law)
        .ok_or("no epoch of the last evaluation")?;
    let trained = row.optional_number("train_samples", above, diagnostics);
    let plausible = trained.filter(|t| (likely / 2.0..=likely * 2.0).contains(t));
    let (value, how) = match plausible {
        Some(trained) => (trained, "their train_samples taken"),
        None => (likely, "the convergence points' samples taken"),
    };
    *substituted.entry(how).or_default() += 1;
    Ok(value)
}

/// A round such as `v1.1` in order.
fn version(round: &str) -> Vec<u32> {
    let digits = round.trim_start_matches('v').split('.');
    digits.map(|d| d.parse().unwrap_or(0)).collect()
}

/// Refuses runs of several submitters, accelerators or rounds, which nobody means to mix.
fn one_choice<'r>(
    source: &Arc<Source>,
    runs: &'r [CountedRun],
    diagnostics: &mut Diagnostics,
) -> Option<&'r CountedRun> {
    let mut groups: BTreeMap<&[String; 3], std::collections::BTreeSet<(u32, u32)>> =
        BTreeMap::new();
    for run in runs {
        let points = groups.entry(&run.chosen).or_default();
        points.insert((run.vms * run.per_vm, run.batch));
    }
    let problem = match groups.len() {
        0 => "no run is left of those chosen",
        1 => return runs.first(),
        _ => "the chosen runs are of several submitters, accelerators or rounds",
    };
    let mut lines: Vec<(usize, String)> = groups
        .iter()
        .map(|([submitter, accelerator, round], points)| {
            let n = points.len();
            (
                n,
                format!("{submitter}, {accelerator}, {round}: {n} points"),
            )
        })
        .collect();
    lines.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let listed: Vec<String> = lines.into_iter().take(8).map(|l| l.1).collect();
    let mut diagnostic = Diagnostic::general(format!("{}: {problem}", source.name));
    if listed.is_empty() {
        diagnostic =
            diagnostic.with_help("spell --submitter, --accelerator and --round as the table does");
    } else {
        diagnostic = diagnostic.with_help(format!(
            "choose with --submitter, --accelerator and --round; most points: {}",
            listed.join("; ")
        ));
    }
    diagnostics.push(diagnostic);
    None
}

/// Mean step per VM shape, K and batch.
fn means(runs: &[CountedRun], report: &mut Report) -> Vec<MeasuredConfiguration> {
    let mut groups: BTreeMap<(String, u32, u32, u32), Vec<&CountedRun>> = BTreeMap::new();
    for run in runs {
        let key = (vm(run), run.per_vm, run.vms * run.per_vm, run.batch);
        groups.entry(key).or_default().push(run);
    }
    let mut widest = 0.0_f64;
    let points = groups
        .into_iter()
        .map(|((vm, per_vm, workers, batch), group)| {
            let n = group.len() as f64;
            let mean = group.iter().map(|r| r.step_s).sum::<f64>() / n;
            let least = group.iter().map(|r| r.step_s).fold(f64::INFINITY, f64::min);
            let greatest = group.iter().map(|r| r.step_s).fold(0.0, f64::max);
            widest = widest.max((greatest - least) / mean);
            let mut systems: Vec<&str> = group.iter().map(|r| r.system.as_str()).collect();
            systems.sort_unstable();
            systems.dedup();
            MeasuredConfiguration {
                vm,
                per_vm,
                workers,
                batch,
                step_s: mean,
                runs: group.len(),
                system: systems.join(" and "),
            }
        })
        .collect::<Vec<_>>();
    report.note(format!(
        "{} points of {} runs; the runs of a point differ by up to {:.1} %",
        points.len(),
        runs.len(),
        100.0 * widest
    ));
    points
}

/// The VM type: what a cloud rents where the system names it, else the accelerator's name.
fn vm(run: &CountedRun) -> String {
    let [submitter, accelerator, _] = &run.chosen;
    let system = run.system.to_lowercase();
    match submitter.as_str() {
        "Azure" if system.starts_with("nd96amsr_a100_v4") => "Standard_ND96amsr_A100_v4".into(),
        "Oracle" => {
            let system = run.system.as_str();
            system.split_once('x').map_or(system, |s| s.1).to_owned()
        }
        _ => {
            let name = accelerator.split('(').next().unwrap_or_default();
            let words = name.split(|c: char| !c.is_alphanumeric());
            let words: Vec<String> = words
                .filter(|w| !w.is_empty())
                .map(str::to_lowercase)
                .collect();
            words.join("-")
        }
    }
}
