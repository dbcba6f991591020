//! The law of steps on each VM type.

use std::collections::BTreeMap;

use crate::draft::{Draft, Law, StepLine};
use crate::figure::rounded;
use crate::report::{Report, basis};
use scavsim_data::configuration::vm_type;
use scavsim_data::workload::law::PooledLaw;
use scavsim_fit::pooled::{PooledPoint, pooled};
use scavsim_read::input::Diagnostic;

/// Minimum number of rows for a warning about bad predictions of a law.
const SOME: usize = 8;
/// A law is poor above this error, in %, on held-out points, its residual included.
const POOR: f64 = 20.0;
/// The text about a poor law.
const WIDE: &str = "its intervals are wide for that; more measurements, or repeats of those that are off, would help";

pub(super) fn step_laws(draft: &mut Draft, report: &mut Report) {
    let mut by_type: BTreeMap<String, Vec<PooledPoint>> = BTreeMap::new();
    // Independent of the order of the source.
    let mut lines: Vec<&StepLine> = draft.steps.iter().collect();
    lines.sort_by(|a, b| (&a.vm, a.workers, a.batch).cmp(&(&b.vm, b.workers, b.batch)));
    for line in lines {
        let points = by_type.entry(vm_type(&line.vm).to_owned()).or_default();
        points.extend(point(line));
    }
    for (vm_type, points) in by_type {
        let Some(fit) = pooled(&points) else {
            report.note(format!("no law of steps on {vm_type}: it takes two rows"));
            continue;
        };
        let shared = if fit.form.shared {
            ", samples with what VMs share"
        } else {
            ""
        };
        let growth = rounded(fit.law.vms_growth, 2);
        let name = format!("overlapped, communication grows with N^{growth}{shared}");
        let left_out = fit.left_out();
        report.fit(&*vm_type, name, &fit.quality, left_out);
        let mut told = format!("{}; without the residual", basis(&fit.quality));
        if let Some(error) = left_out {
            told += &format!("; left out {} %", rounded(error, 3));
        }
        let error = left_out.unwrap_or(fit.quality.mape);
        if points.len() >= SOME && error > POOR {
            let title = format!("the law of steps on {vm_type} is a poor one ({told})");
            report.warn(Diagnostic::general(title).with_help(WIDE));
        }
        let law = PooledLaw {
            left_out: left_out.unwrap_or(0.0) / 100.0,
            ..fit.law
        };
        draft.pooled_laws.push(Law::fitted((vm_type, law), told));
    }
}

/// A row of `steps.csv` for the fit; `None` if its shape does not match its workers.
fn point(line: &StepLine) -> Option<PooledPoint> {
    PooledPoint::new(&line.vm, line.workers, line.batch, line.step_s)
}
