//! Compares the trace of a job in `event` with the record and the bill of the run.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::records::place;
use super::{Found, Trial, breach};
use crate::grounds::UNIT;
use crate::rows::Row;

/// Number of cases of a scenario that are traced.
const WATCHED: usize = 2;
/// Maximum number of single worker-steps in a trace.
const MOST: u64 = 20_000;
/// Tolerance for rounding of times in hours and of sums.
const ROUNDING: f64 = 1e-6;

pub fn agree(trial: &Trial<'_>) -> Found {
    let draft = trial.draft;
    if ["grid", "shipped"].contains(&draft.ground) {
        return Ok(());
    }
    let mut exact = draft.flat();
    exact.lines.retain(|line| {
        !["precision", "most_replicas"]
            .iter()
            .any(|key| line.is_in(key))
    });
    exact.set("fidelity", "\"event\"", Vec::new());
    exact.set("replicas", "2", Vec::new());
    exact.set("pricing.policies", format!("[\"{UNIT}\"]"), Vec::new());
    let Some(rows) = trial.run(&exact, 1)? else {
        return Ok(());
    };
    let rows: Vec<&Row> = rows.iter().filter(|row| row.is_ok()).collect();
    let mut luck = trial.luck(17);
    for _ in 0..WATCHED.min(rows.len()) {
        let row = *luck.pick(&rows);
        let case = row.text("case").parse().expect("a number");
        let Some(entries) = trial.take(trial.program.trace(&exact, case, MOST))? else {
            continue;
        };
        if let Err(said) = is_of(trial, row, &entries) {
            return breach("", format!("{said}: {}", place(row)));
        }
    }
    Ok(())
}

fn close(what: &str, seen: f64, expected: f64) -> Result<(), String> {
    if (seen - expected).abs() <= ROUNDING * expected.abs().max(1e-3) {
        Ok(())
    } else {
        Err(format!(
            "{what}: {seen} in the trace, {expected} in the record"
        ))
    }
}

/// The integral of a step function between two times.
fn hours(counter: &[(f64, f64)], from: f64, until: f64) -> f64 {
    let ends = counter.iter().skip(1).map(|(at, _)| *at).chain([f64::MAX]);
    let parts = counter
        .iter()
        .zip(ends)
        .map(|((at, vms), end)| vms * (end.min(until) - at.max(from)).max(0.0));
    parts.sum::<f64>() / 3600.0
}

fn is_of(trial: &Trial<'_>, row: &Row, entries: &[Value]) -> Result<(), String> {
    let at = |entry: &Value| entry["at_s"].as_f64().unwrap_or(f64::NAN);
    let name = |entry: &Value| entry["name"].as_str().unwrap_or_default().to_owned();
    let track = |entry: &Value| entry["track"].as_str().unwrap_or_default().to_owned();
    let figure = |column: &str| row.figure(column).unwrap_or(f64::NAN);
    let end = entries.last().map_or(f64::NAN, at);
    close("hours", end / 3600.0, figure("time_h"))?;
    let (mut held, mut counter, mut steps) = (
        BTreeMap::<String, (f64, Option<f64>)>::new(),
        Vec::new(),
        Vec::new(),
    );
    let (mut spans, mut revoked, mut computed, mut is_full) = (Vec::new(), 0, 0_u64, false);
    for entry in entries {
        match (track(entry), &*name(entry)) {
            (vm, "requested") => {
                let before = held.insert(vm.clone(), (at(entry), None));
                if before.is_some() {
                    return Err(format!("{vm} is requested twice"));
                }
            }
            (vm, gone @ ("released" | "revoked")) => {
                revoked += u32::from(gone == "revoked");
                match held.get_mut(&vm) {
                    Some((_, until @ None)) => *until = Some(at(entry)),
                    _ => return Err(format!("{vm} is {gone}, but it is not held")),
                }
            }
            (job, "vms") if job == "job" => {
                counter.push((at(entry), entry["args"]["vms"].as_f64().unwrap_or(f64::NAN)))
            }
            (job, "steps") if job == "job" => {
                steps.push(entry["args"]["steps"].as_f64().unwrap_or(f64::NAN))
            }
            (_, "worker-steps end") => is_full = true,
            (job, span) if job == "job" && entry["kind"] == "span" => {
                spans.push((
                    at(entry),
                    entry["for_s"].as_f64().unwrap_or(f64::NAN),
                    span.to_owned(),
                ));
            }
            (worker, "compute") if worker.starts_with("worker") => {
                computed += u64::from(entry["args"]["ended"].is_null())
            }
            _ => {}
        }
    }
    if let Some((vm, _)) = held.iter().find(|(_, (_, until))| until.is_none()) {
        return Err(format!(
            "{vm} is requested, and neither released nor revoked"
        ));
    }
    close("VMs lost", f64::from(revoked), figure("lost_vms"))?;
    let by_track: f64 = held
        .values()
        .map(|(from, until)| until.unwrap_or(end) - from)
        .sum();
    close(
        "VM-hours by track and by counter",
        by_track / 3600.0,
        hours(&counter, 0.0, end),
    )?;
    close("VM-hours", hours(&counter, 0.0, end), figure("cost_usd"))?;
    let is_bag = trial.draft.has("bag");
    if !is_bag {
        close(
            "spans of the job",
            spans.iter().map(|span| span.1).sum(),
            end,
        )?;
    }
    // If VMs come and go one by one, some start while others train.
    if !is_bag && !trial.draft.has("spot") && !trial.draft.has("elastic") {
        let phases = [
            ("bill_waiting_usd", BTreeSet::from(["waiting"])),
            (
                "bill_restore_usd",
                BTreeSet::from(["restoring", "checkpoint"]),
            ),
            ("bill_search_usd", BTreeSet::from(["searching"])),
            ("bill_useful_usd", BTreeSet::from(["training"])),
            ("bill_lost_usd", BTreeSet::from(["lost"])),
        ];
        let hours_in = |names: &BTreeSet<&str>| -> f64 {
            let all = spans.iter().filter(|(.., name)| names.contains(&**name));
            all.map(|(from, long, _)| hours(&counter, *from, from + long))
                .sum()
        };
        // The cost of a failure is known when it happens: a trace has the value at that time.
        let apart = if trial.draft.has("failures") {
            2
        } else {
            phases.len()
        };
        for (column, names) in &phases[..apart] {
            close(column, hours_in(names), figure(column))?;
        }
        let rest = &phases[apart..];
        let in_trace: f64 = rest.iter().map(|(_, names)| hours_in(names)).sum();
        let on_bill: f64 = rest.iter().map(|(column, _)| figure(column)).sum();
        close("search, training and lost work", in_trace, on_bill)?;
    }
    // Steps kept and steps lost add up to the steps done, if all workers do each.
    let is_plain = ["sync", "sync_of", "elastic", "kind", "bag", "parallel"]
        .iter()
        .all(|key| !trial.draft.has(key));
    let keeps_size = !trial.draft.has("spot")
        || trial
            .draft
            .value("spot.on_loss")
            .is_none_or(|on| on == "\"wait\"");
    if is_plain && keeps_size && !is_full && row.text("strategy") == "oracle" {
        let mut last = 0.0;
        let mut done = 0.0;
        for now in steps {
            done += f64::max(now - last, 0.0);
            last = now;
        }
        // A step that a loss cuts off while its gradients are in transit is neither, although they were computed.
        let workers = figure("chosen_workers");
        let cut = computed as f64 / workers - done;
        if !(-1e-6..=f64::from(revoked) + 1e-6).contains(&cut) {
            return Err(format!(
                "gradients computed, and steps kept and lost: {computed} in the trace, {} in the record, {revoked} VMs lost",
                done * workers
            ));
        }
    }
    Ok(())
}
