//! Step times by the placement of workers on VMs: `placements.csv` and `scalability.csv`.

use std::path::Path;
use std::sync::Arc;

use super::Options;
use crate::fit::pooled::{PooledPoint, against_per_shape, pooled};
use crate::fit::steps::{StepPoint, p_norm};
use crate::import::draft::{Draft, Law, StepLine};
use crate::import::pooled_point;
use crate::import::report::{Report, basis};
use crate::input::csv::{Row, Table};
use crate::input::{Diagnostics, Source};
use crate::workload::Origin;

/// Workers on VMs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Placement {
    /// The same number on each VM.
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

    /// The VM shape.
    pub(super) fn shape(&self, vm: &str) -> String {
        match self {
            Placement::Even { each: 1, .. } => vm.to_owned(),
            Placement::Even { each, .. } => format!("{vm}/{each}"),
            Placement::Uneven(each) => {
                let each: Vec<String> = each.iter().map(u32::to_string).collect();
                format!("{vm}/{}", each.join("-"))
            }
            Placement::Spread { vms, workers } => format!("{vm}/{workers}@{vms}"),
        }
    }
}

/// A measured step.
pub(super) struct Step {
    pub(super) placement: Placement,
    pub(super) local_batch: u32,
    pub(super) step_s: f64,
    pub(super) sync_s: f64,
    pub(super) file: &'static str,
}

/// Most workers, VMs and samples that a row may name; beyond, it is a slip of the pen.
const LARGEST: u64 = 60_000;

fn whole(row: &Row<'_>, column: &str, diagnostics: &mut Diagnostics) -> Option<u32> {
    let value = row.whole(column, 1..=LARGEST, diagnostics)?;
    u32::try_from(value).ok()
}

pub(super) fn steps(
    folder: &Path,
    report: &mut Report,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<Step>> {
    let mut steps: Vec<Step> = Vec::new();
    let mut complete = true;
    let mut seen = std::collections::BTreeSet::new();
    let files = [
        ("placements.csv", &["placement"][..]),
        ("scalability.csv", &["num_nodes", "num_replicas"][..]),
    ];
    for (file, keys) in files {
        let Some(source) = Source::read(&folder.join(file), diagnostics) else {
            complete = false;
            continue;
        };
        let required = [keys, &["local_bsz", "step_time", "sync_time"]].concat();
        let before = diagnostics.len();
        let Some(table) = Table::read(&source, &required, &[], diagnostics) else {
            complete = false;
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
            if !seen.insert(key) {
                let label = "keep one of the two rows";
                let title = "this placement and batch were given before";
                diagnostics.error_at(&source, row.line_span(), title, label);
                continue;
            }
            steps.push(Step {
                file: file.trim_end_matches(".csv"),
                ..step
            });
        }
        report.rows(file, read, &[]);
        complete &= diagnostics.len() == before;
    }
    complete.then_some(steps)
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
    let vms = whole(row, "num_nodes", diagnostics);
    let workers = whole(row, "num_replicas", diagnostics);
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
    let local_batch = whole(row, "local_bsz", diagnostics);
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
        source: step.file.into(),
    }
}

impl Step {
    pub(super) fn point(&self) -> StepPoint {
        StepPoint {
            workers: self.placement.workers(),
            local_batch: f64::from(self.local_batch),
            step_s: self.step_s,
            exposed_s: Some(self.sync_s),
        }
    }
}

/// One law for all placements; or, where the largest worker counts of all even shapes, left out,
/// come out better so, one per even shape.
pub(super) fn step_laws(steps: &[Step], options: &Options, draft: &mut Draft, report: &mut Report) {
    let points: Vec<PooledPoint> = steps
        .iter()
        .filter_map(|s| pooled_point(&step_line(s, &options.vm)))
        .collect();
    let judged = against_per_shape(&points);
    let fit = match judged {
        Some((_, _, true)) => None,
        _ => pooled(&points),
    };
    let told = judged.map_or(String::new(), |(pool, shape, _)| {
        let (pool, shape) = (100.0 * pool, 100.0 * shape);
        format!("largest K left out: {pool:.1} % with one law for all shapes, {shape:.1} % with one per shape")
    });
    let Some(fit) = fit else {
        if !told.is_empty() {
            report.note(format!("no law for all shapes: {told}"));
        }
        return per_shape(steps, options, draft, report);
    };
    report.fit(
        format!("{}, all shapes", options.vm),
        format!("pooled p-norm, {}", fit.growth.name()),
        &fit.quality,
    );
    if !told.is_empty() {
        report.note(told);
    }
    let basis = format!("{}; without the residual", basis(&fit.quality));
    let law = Law::fitted((options.vm.clone(), fit.law), basis);
    draft.pooled_laws.push(law);
}

/// A p-norm per even shape: its rows on two VMs and more, and the single worker, which fixes the
/// compute. One VM with several workers has no Ethernet between them and is on another line.
fn per_shape(steps: &[Step], options: &Options, draft: &mut Draft, report: &mut Report) {
    let mut per_vm: Vec<u32> = steps
        .iter()
        .filter_map(|s| match s.placement {
            Placement::Even { each, .. } => Some(each),
            _ => None,
        })
        .collect();
    per_vm.sort_unstable();
    per_vm.dedup();
    for n in per_vm {
        let points: Vec<StepPoint> = steps
            .iter()
            .filter(|s| match s.placement {
                Placement::Even { vms, each } => (each == n && vms > 1) || vms * each == 1,
                _ => false,
            })
            .map(Step::point)
            .collect();
        let shape = Placement::Even { vms: 1, each: n }.shape(&options.vm);
        match p_norm(&points) {
            Some(fit) => {
                report.fit(&shape, "p-norm", &fit.quality);
                let basis = format!("{}; one worker, or two VMs and more", basis(&fit.quality));
                draft.step_laws.push(Law::fitted((shape, fit.law), basis));
            }
            None => report.note(format!("no law for {shape}: too few points")),
        }
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
