//! Parses the rows of the table.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::options::{BatchIs, ProfileOptions};
use scavsim_data::cloud::Catalogue;
use scavsim_data::configuration::Shape;
use scavsim_read::input::csv::{Row, Table};
use scavsim_read::input::{Diagnostics, Source};

/// Compute and communication may exceed their step by this share, because of rounding.
const ROUNDING: f64 = 0.01;
/// Maximum number of workers, and largest batch; more is a typing mistake.
const LARGEST: u64 = 1_000_000_000;

/// VM shape, K, batch.
pub(super) type Key = (String, u32, u32);

#[derive(Debug, Clone)]
pub(super) struct MeasuredRow {
    pub(super) step_s: f64,
    pub(super) communication_s: Option<f64>,
    pub(super) noise: Option<f64>,
    pub(super) epochs: Option<f64>,
    pub(super) line: Range<usize>,
    pub(super) cells: Cells,
}

#[derive(Debug, Clone)]
pub(super) struct Cells {
    pub(super) vm: Range<usize>,
    pub(super) batch: Range<usize>,
    pub(super) step_s: Range<usize>,
    pub(super) communication: Range<usize>,
    pub(super) epochs: Range<usize>,
}

/// All rows by configuration, and their number.
pub(super) type Points = BTreeMap<Key, Vec<MeasuredRow>>;

/// Epochs by batch, with their rows; also batches without any. Other workers and VM types are repeats.
pub(super) fn epochs_by_batch(points: &Points) -> BTreeMap<u32, Vec<(f64, &MeasuredRow)>> {
    let mut known: BTreeMap<u32, Vec<(f64, &MeasuredRow)>> = BTreeMap::new();
    for ((.., batch), rows) in points {
        let given = rows.iter().filter_map(|m| Some((m.epochs?, m)));
        known.entry(*batch).or_default().extend(given);
    }
    known
}

pub(super) fn points(
    table: &Table,
    source: &Arc<Source>,
    options: &ProfileOptions,
    diagnostics: &mut Diagnostics,
) -> (Points, usize) {
    let mut points = Points::new();
    let mut read = 0;
    for row in table.rows() {
        read += 1;
        if let Some((key, measured)) = measured(&row, options, diagnostics) {
            points.entry(key).or_default().push(measured);
        }
    }
    one_split(source, &points, diagnostics);
    (points, read)
}

fn measured(
    row: &Row<'_>,
    options: &ProfileOptions,
    diagnostics: &mut Diagnostics,
) -> Option<(Key, MeasuredRow)> {
    use std::ops::Bound::{Excluded, Unbounded};
    let before = diagnostics.len();
    let above = (Excluded(0.0), Unbounded);
    let whole = |column, d: &mut Diagnostics| {
        let value = row.whole_number(column, 1..=LARGEST, d)?;
        u32::try_from(value).ok()
    };
    let unit = options.unit.unwrap_or_default().seconds();
    let vm = row.name("vm", diagnostics);
    let workers = whole("workers", diagnostics);
    let batch = whole("batch", diagnostics);
    let step_s = row.number("step_s", above, diagnostics).map(|t| t * unit);
    let compute_s = row.optional_number("compute_s", above, diagnostics);
    let compute_s = compute_s.map(|t| t * unit);
    let given_s = row.optional_number("communication_s", 0.0.., diagnostics);
    let given_s = given_s.map(|t| t * unit);
    let noise = row.optional_number("noise", above, diagnostics);
    let epochs = row.optional_number("epochs", above, diagnostics);
    if diagnostics.len() > before {
        return None;
    }
    let (vm, workers, batch, step_s) = (vm?, workers?, batch?, step_s?);
    shape(row, vm, workers, diagnostics);
    let batch = global_batch(row, options, workers, batch, diagnostics);
    let communication_s = exposed(row, step_s, compute_s, given_s, diagnostics);
    if let Some(noise) = noise {
        check_noise(row, workers, noise, diagnostics);
    }
    let vm = listed(vm);
    (diagnostics.len() == before).then(|| {
        let measured = MeasuredRow {
            step_s,
            communication_s,
            noise,
            epochs,
            line: row.line_span(),
            cells: Cells {
                vm: row.span("vm"),
                batch: row.span("batch"),
                step_s: row.span("step_s"),
                communication: match row.optional_text("communication_s") {
                    Some(_) => row.span("communication_s"),
                    None => row.span("compute_s"),
                },
                epochs: row.span("epochs"),
            },
        };
        Some(((vm, workers, batch?), measured))
    })?
}

/// A VM shape with its type as written in the catalogue, if known.
fn listed(shape: &str) -> String {
    let vm = shape.split('/').next().unwrap_or(shape);
    match Catalogue::current().spelled(vm) {
        Some(known) => shape.replacen(vm, &known.vm, 1),
        None => shape.to_owned(),
    }
}

/// A VM shape that can hold this number of workers.
fn shape(row: &Row<'_>, vm: &str, workers: u32, diagnostics: &mut Diagnostics) {
    let wrong = match Shape::parse(vm) {
        Err(wrong) => wrong.to_string(),
        Ok(shape) if shape.vms(workers).is_none() => {
            format!("`{vm}` is not a placement of {workers} workers")
        }
        Ok(_) => return,
    };
    let form = "expected a VM type, or one with its workers per VM: `TYPE/4`";
    row.report("vm", wrong, form, diagnostics);
}

fn global_batch(
    row: &Row<'_>,
    options: &ProfileOptions,
    workers: u32,
    batch: u32,
    diagnostics: &mut Diagnostics,
) -> Option<u32> {
    if options.batch == Some(BatchIs::Local) {
        let all = u64::from(workers) * u64::from(batch);
        let all = u32::try_from(all)
            .ok()
            .filter(|all| u64::from(*all) <= LARGEST);
        if all.is_none() {
            let title =
                format!("{workers} workers with a batch of {batch} each are too many samples");
            let label = format!("expected at most {LARGEST} together");
            row.report("batch", title, label, diagnostics);
        }
        return all;
    }
    if batch < workers {
        let title = format!("a global batch of {batch} cannot be shared by {workers} workers");
        let help =
            "`batch` is that of all workers together; if it is each worker's, say `--batch local`";
        row.refuse(
            "batch",
            title,
            "at least one sample for each",
            help,
            diagnostics,
        );
        return None;
    }
    Some(batch)
}

/// Communication that is not hidden in a step; compute and communication may be given.
fn exposed(
    row: &Row<'_>,
    step_s: f64,
    compute_s: Option<f64>,
    given_s: Option<f64>,
    diagnostics: &mut Diagnostics,
) -> Option<f64> {
    let parts = compute_s.unwrap_or(0.0) + given_s.unwrap_or(0.0);
    if parts > step_s * (1.0 + ROUNDING) {
        let column = if compute_s.is_some() {
            "compute_s"
        } else {
            "communication_s"
        };
        row.report(
            column,
            format!(
                "compute and communication of {parts} s are longer than the step of {step_s} s"
            ),
            "together at most `step_s`",
            diagnostics,
        );
    }
    // Time outside compute is exposed communication.
    let communication_s = match (compute_s, given_s) {
        (Some(compute), given) if parts > step_s || given.is_none() => {
            Some((step_s - compute).max(0.0))
        }
        (_, given) => given,
    };
    if communication_s.is_some_and(|c| c >= step_s) && parts <= step_s * (1.0 + ROUNDING) {
        row.report(
            "communication_s",
            "communication leaves nothing of the step for compute",
            "must be less than `step_s`",
            diagnostics,
        );
    }
    communication_s
}

fn check_noise(row: &Row<'_>, workers: u32, noise: f64, diagnostics: &mut Diagnostics) {
    let least = 1.0 / f64::from(workers);
    if noise <= least || noise >= 1.0 {
        let title = format!("a normalised noise of {noise} is out of range");
        let label = format!("γ/K lies between 1/K = {least:.4} and 1");
        let help = "leave the cell empty with a single worker";
        row.refuse("noise", title, label, help, diagnostics);
    }
}

/// Either no VM type has its steps split, or every one has in a row: a split is known per type, and cannot be guessed from
/// another.
fn one_split(source: &Arc<Source>, points: &Points, diagnostics: &mut Diagnostics) {
    let mut types: BTreeMap<&str, (bool, Range<usize>)> = BTreeMap::new();
    let mut any = false;
    for ((vm, workers, _), rows) in points {
        for m in rows {
            let entry = types.entry(vm).or_insert((false, m.line.clone()));
            any |= m.communication_s.is_some();
            // A single worker does not communicate.
            entry.0 |= m.communication_s.is_some() || *workers == 1;
        }
    }
    if !any {
        return;
    }
    for (vm, (_, line)) in types.into_iter().filter(|(_, t)| !t.0) {
        diagnostics.error_at(
            source,
            line,
            format!("no row of `{vm}` separates compute from communication, while others do"),
            "give `compute_s` or `communication_s` in one row, or leave them out everywhere",
        );
    }
}
