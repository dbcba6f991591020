//! `steps.csv` → the costs of steps.

use std::sync::Arc;

use super::step_cost::{Communication, SplitError, StepCosts, StepMeasured, StepRow};
use super::{Laws, rows};
use crate::configuration::Shape;
use scavsim_read::input::csv::Row;
use scavsim_read::input::{Diagnostic, Diagnostics, Source};

pub(super) fn read(
    source: &Arc<Source>,
    measured: StepMeasured,
    communication: Communication,
    laws: &Laws,
    diagnostics: &mut Diagnostics,
) -> Option<StepCosts> {
    let required = ["vm", "workers", "batch", "step_s", "origin", "source"];
    let key = |r: &StepRow| (Arc::clone(&r.vm), r.workers, r.batch);
    let rows = rows::read(
        source,
        &required,
        &["communication_s"],
        diagnostics,
        step_row,
        key,
    )?;
    match StepCosts::new(rows, measured, communication, laws) {
        Ok(costs) => Some(costs),
        Err(error) => {
            let help = match error {
                SplitError::NoSplit(_) => {
                    "give `communication_s` in at least one row per VM type, or say `communication = \"unknown\"` in workload.toml"
                }
                SplitError::ComputeExceedsStep(..) => {
                    "give `communication_s` for this row, or measure the step again"
                }
            };
            diagnostics
                .push(Diagnostic::general(format!("{}: {error}", source.name)).with_help(help));
            None
        }
    }
}

fn step_row(row: &Row<'_>, d: &mut Diagnostics) -> Option<StepRow> {
    let before = d.len();
    let vm = row.name("vm", d);
    let workers = rows::read_count(row, "workers", d);
    if let (Some(vm), Some(workers)) = (vm, workers) {
        let wrong = match Shape::parse(vm) {
            Err(wrong) => Some(wrong.to_string()),
            Ok(shape) if shape.vms(workers).is_none() => {
                Some(format!("`{vm}` is not a placement of {workers} workers"))
            }
            Ok(_) => None,
        };
        if let Some(wrong) = wrong {
            let form = "expected a VM type, or one with its workers per VM: `TYPE/4`, `TYPE/1-2-4`, `TYPE/7@6`";
            row.report("vm", wrong, form, d);
        }
    }
    let batch = rows::read_count(row, "batch", d);
    let step_s = rows::above_zero(row, "step_s", d);
    let communication_s = row.optional_number("communication_s", 0.0.., d);
    rows::origin(row, d);
    if let (Some(step_s), Some(part)) = (step_s, communication_s)
        && part >= step_s
    {
        row.report(
            "communication_s",
            format!("the communication of {part} s is not part of a step of {step_s} s"),
            "must be less than `step_s`",
            d,
        );
    }
    (d.len() == before).then_some(())?;
    Some(StepRow {
        vm: vm?.into(),
        workers: workers?,
        batch: batch?,
        step_s: step_s?,
        communication_s,
    })
}
