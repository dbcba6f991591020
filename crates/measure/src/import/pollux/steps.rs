//! Step times by the placement of workers on VMs: `placements.csv` and `scalability.csv`.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use super::options::{PLACEMENTS, PolluxOptions, SCALABILITY};
use crate::import::draft::StepLine;
use crate::import::report::Report;
use crate::import::shape;
use scavsim_base::stats::median_of;
use scavsim_data::workload::Origin;
use scavsim_read::input::csv::{Row, Table};
use scavsim_read::input::{Diagnostic, Diagnostics, Source};

/// Workers on VMs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Placement {
    /// Equally many workers on each VM.
    Even { vms: u32, each: u32 },
    /// One number per VM.
    Uneven(Vec<u32>),
    /// Workers spread over VMs in an unknown way.
    Spread { vms: u32, workers: u32 },
}

impl Placement {
    /// From one digit per VM.
    pub(super) fn from_digits(text: &str) -> Option<Placement> {
        let digits: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(10)).collect();
        let digits = digits.filter(|d| !d.contains(&0))?;
        let first = *digits.first()?;
        if digits.iter().all(|&d| d == first) {
            let vms = u32::try_from(digits.len()).ok()?;
            return Some(Placement::Even { vms, each: first });
        }
        Some(Placement::Uneven(digits))
    }

    /// From the two totals.
    pub(super) fn from_totals(vms: u32, workers: u32) -> Placement {
        if workers.is_multiple_of(vms) {
            let each = workers / vms;
            Placement::Even { vms, each }
        } else {
            Placement::Spread { vms, workers }
        }
    }

    pub(super) fn workers(&self) -> u32 {
        match self {
            // Both are far below the largest number: see where they are read.
            Placement::Even { vms, each } => vms * each,
            Placement::Uneven(each) => each.iter().sum(),
            Placement::Spread { workers, .. } => *workers,
        }
    }

    pub(super) fn shape(&self, vm: &str) -> String {
        match self {
            Placement::Even { each, .. } => shape(vm, *each),
            Placement::Uneven(each) => {
                let each: Vec<String> = each.iter().map(u32::to_string).collect();
                format!("{vm}/{}", each.join("-"))
            }
            Placement::Spread { vms, workers } => format!("{vm}/{workers}@{vms}"),
        }
    }
}

pub(super) struct Step {
    pub(super) placement: Placement,
    pub(super) local_batch: u32,
    pub(super) step_s: f64,
    pub(super) sync_s: f64,
    pub(super) file: &'static str,
    /// How many rows it is the mean of.
    pub(super) repeats: usize,
}

/// Repeats of one placement that differ by this factor are not of the same thing.
const REPEATS_APART: f64 = 3.0;

/// Most workers, VMs and samples that a row may name; beyond, it is a slip of the pen.
const LARGEST: u64 = 60_000;

fn read_count(row: &Row<'_>, column: &str, diagnostics: &mut Diagnostics) -> Option<u32> {
    let value = row.whole_number(column, 1..=LARGEST, diagnostics)?;
    u32::try_from(value).ok()
}

/// All steps, those of one placement and batch averaged.
pub(super) fn steps(
    options: &PolluxOptions,
    report: &mut Report,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<Step>> {
    let before = diagnostics.len();
    let mut all: BTreeMap<(String, u32, u32), Vec<Step>> = BTreeMap::new();
    let files = [
        (&options.placements, PLACEMENTS, &["placement"][..]),
        (
            &options.scalability,
            SCALABILITY,
            &["num_nodes", "num_replicas"][..],
        ),
    ];
    let mut any = false;
    for (given, usual, keys) in files {
        let path = options.folder.join(given.as_deref().unwrap_or(usual));
        // Either file will do; one that is named must be there.
        if given.is_none() && fs::symlink_metadata(&path).is_err() {
            continue;
        }
        any = true;
        let Some(source) = Source::read(&path, diagnostics) else {
            continue;
        };
        let required = [keys, &["local_bsz", "step_time", "sync_time"]].concat();
        let Some(table) = Table::read(&source, &required, &[], diagnostics) else {
            continue;
        };
        let mut read = 0;
        for row in table.rows() {
            read += 1;
            let placement = match keys {
                ["placement"] => digits(&row, &source, diagnostics),
                _ => totals(&row, &source, diagnostics),
            };
            let Some(step) = step(&row, &source, placement, diagnostics) else {
                continue;
            };
            let key = (
                step.placement.shape(""),
                step.placement.workers(),
                step.local_batch,
            );
            let same = all.entry(key).or_default();
            if let Some(other) = same.first() {
                let apart = step.step_s / other.step_s;
                if apart.max(1.0 / apart) >= REPEATS_APART {
                    let title = format!(
                        "a step of {} s, and of {} s for the same placement and batch",
                        step.step_s, other.step_s
                    );
                    let label = "repeats are averaged: one of the two is wrong";
                    diagnostics.error_at(&source, row.span("step_time"), title, label);
                }
            }
            same.push(Step {
                file: usual.trim_end_matches(".csv"),
                ..step
            });
        }
        report.rows(usual, read, &[]);
    }
    if !any {
        let title = format!(
            "{} has neither {PLACEMENTS} nor {SCALABILITY}",
            options.folder.display()
        );
        let help = "at least one says how long steps take; --placements and --scalability give other names";
        diagnostics.push(Diagnostic::general(title).with_help(help));
    }
    if diagnostics.len() > before {
        return None;
    }
    report_repeat_spread(&all, report);
    Some(all.into_values().filter_map(averaged).collect())
}

/// Says how far repeats are apart.
fn report_repeat_spread(all: &BTreeMap<(String, u32, u32), Vec<Step>>, report: &mut Report) {
    let repeated = all.iter().filter(|(_, same)| same.len() > 1);
    let widths: Vec<(f64, &(String, u32, u32))> = repeated
        .map(|(key, same)| {
            let times = || same.iter().map(|s| s.step_s);
            let (least, most) = (
                times().fold(f64::INFINITY, f64::min),
                times().fold(0.0, f64::max),
            );
            let mean = times().sum::<f64>() / same.len() as f64;
            ((most - least) / mean, key)
        })
        .collect();
    let Some((widest, (shape, workers, local))) =
        widths.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0))
    else {
        return;
    };
    let mean = widths.iter().map(|w| w.0).sum::<f64>() / widths.len() as f64;
    report.note(format!(
        "{} placements and batches were repeated and averaged: repeats differ by {:.1} % in the mean, by {:.1} % at most ({workers} workers{shape}, local batch {local})",
        widths.len(),
        100.0 * mean,
        100.0 * widest
    ));
}

/// The median of repeats; of communication, that of its share.
fn averaged(same: Vec<Step>) -> Option<Step> {
    let n = same.len();
    let step_s = median_of(same.iter().map(|s| s.step_s))?;
    let share = median_of(same.iter().map(|s| s.sync_s / s.step_s))?;
    let sync_s = share * step_s;
    let first = same.into_iter().next()?;
    Some(match n {
        1 => first,
        _ => Step {
            step_s,
            sync_s,
            repeats: n,
            ..first
        },
    })
}

fn digits(row: &Row<'_>, source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Placement> {
    let text = row.text("placement", diagnostics)?;
    // Nine each on nine thousand VMs would still be below the largest.
    let placement = Some(text)
        .filter(|t| t.len() < 6_000)
        .and_then(Placement::from_digits);
    if placement.is_none() {
        diagnostics.error_at(
            source,
            row.span("placement"),
            format!("`{text}` is no placement"),
            "expected one digit from 1 to 9 per VM",
        );
    }
    placement
}

fn totals(row: &Row<'_>, source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Placement> {
    let vms = read_count(row, "num_nodes", diagnostics);
    let workers = read_count(row, "num_replicas", diagnostics);
    let (vms, workers) = (vms?, workers?);
    if workers < vms {
        diagnostics.error_at(
            source,
            row.span("num_replicas"),
            format!("{workers} workers cannot be on {vms} VMs"),
            "at least one on each",
        );
        return None;
    }
    Some(Placement::from_totals(vms, workers))
}

fn step(
    row: &Row<'_>,
    source: &Arc<Source>,
    placement: Option<Placement>,
    diagnostics: &mut Diagnostics,
) -> Option<Step> {
    use std::ops::Bound::{Excluded, Unbounded};
    let local_batch = read_count(row, "local_bsz", diagnostics);
    let step_s = row.number("step_time", (Excluded(0.0), Unbounded), diagnostics);
    let sync_s = row.number("sync_time", 0.0.., diagnostics);
    let (step_s, sync_s) = (step_s?, sync_s?);
    if sync_s >= step_s {
        diagnostics.error_at(
            source,
            row.span("sync_time"),
            format!("a synchronisation of {sync_s} s is not part of a step of {step_s} s"),
            "must be less than `step_time`",
        );
        return None;
    }
    Some(Step {
        placement: placement?,
        local_batch: local_batch?,
        step_s,
        sync_s,
        file: "",
        repeats: 1,
    })
}

pub(super) fn step_line(step: &Step, vm: &str) -> StepLine {
    let workers = step.placement.workers();
    StepLine {
        vm: step.placement.shape(vm),
        workers,
        batch: workers * step.local_batch,
        step_s: step.step_s,
        communication_s: Some(step.sync_s),
        origin: Origin::Measured,
        source: match step.repeats {
            1 => step.file.into(),
            n => format!("{}: median of {n}", step.file),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_become_shapes() {
        let shape = |digits| Placement::from_digits(digits).map(|p| (p.shape("vm"), p.workers()));
        let is = |text: &str, workers| Some((text.to_owned(), workers));
        assert_eq!(shape("1"), is("vm", 1));
        assert_eq!(shape("111"), is("vm", 3));
        assert_eq!(shape("44"), is("vm/4", 8));
        assert_eq!(shape("124"), is("vm/1-2-4", 7));
        assert_eq!(shape("10"), None);
        assert_eq!(shape("1x"), None);
        let spread = |vms, workers| Placement::from_totals(vms, workers).shape("vm");
        assert_eq!(spread(6, 6), "vm");
        assert_eq!(spread(6, 18), "vm/3");
        assert_eq!(spread(6, 7), "vm/7@6");
    }
}
