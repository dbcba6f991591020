//! Tables of a profiler, one row per layer.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::figures::{LayerPoint, Memory, Times, in_order};
use scavsim_read::input::csv::{Row, Table};
use scavsim_read::input::{Diagnostics, Source};

/// Maximum number of layers, and of all other counts.
const MOST: u64 = 1_000_000;
const MOST_BYTES: u64 = 1 << 46;

/// `gpu,tensor,micro_batch,layer,forward_s,backward_s,update_s`: rows of one layer are repeats, and averaged.
pub(super) fn times(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Times> {
    let figures = ["forward_s", "backward_s", "update_s"];
    let columns = [&["gpu", "tensor", "micro_batch", "layer"][..], &figures].concat();
    let table = Table::read(source, &columns, &[], diagnostics)?;
    let before = diagnostics.len();
    let mut sums: BTreeMap<LayerPoint, BTreeMap<u32, ([f64; 3], u32)>> = BTreeMap::new();
    let mut places: BTreeMap<LayerPoint, Range<usize>> = BTreeMap::new();
    for row in table.rows() {
        let gpu = row.name("gpu", diagnostics);
        let tensor = read_count(&row, "tensor", 1, diagnostics);
        let micro_batch = read_count(&row, "micro_batch", 1, diagnostics);
        let layer = read_count(&row, "layer", 0, diagnostics);
        let seconds = figures.map(|column| row.number(column, 0.0..=1e6, diagnostics));
        let (Some(gpu), Some(tensor), Some(micro_batch), Some(layer)) =
            (gpu, tensor, micro_batch, layer)
        else {
            continue;
        };
        let [Some(forward), Some(backward), Some(update)] = seconds else {
            continue;
        };
        let point = (gpu.to_owned(), tensor, micro_batch);
        places.insert(point.clone(), row.line_span());
        let (sum, count) = sums.entry(point).or_default().entry(layer).or_default();
        for (sum, figure) in sum.iter_mut().zip([forward, backward, update]) {
            *sum += figure;
        }
        *count += 1;
    }
    let mut times = Times::new();
    for (point, layers) in sums {
        let means: BTreeMap<u32, [f64; 3]> = (layers.into_iter())
            .map(|(layer, (sum, count))| (layer, sum.map(|s| s / f64::from(count))))
            .collect();
        let (gpu, tensor, micro_batch) = &point;
        let what = format!("on {gpu} at tensor degree {tensor} and micro-batch {micro_batch}");
        let place = places.get(&point).cloned().unwrap_or_default();
        let mut complain = |title, label| diagnostics.error_at(source, place.clone(), title, label);
        if let Some(all) = in_order(&means, &what, &mut complain) {
            times.insert(point, all);
        }
    }
    (diagnostics.len() == before).then_some(times)
}

/// `tensor,layer,parameters,stored_bytes,output_bytes` and, where known, `all_reduces`.
pub(super) fn memory(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Memory> {
    let columns = [
        "tensor",
        "layer",
        "parameters",
        "stored_bytes",
        "output_bytes",
    ];
    let table = Table::read(source, &columns, &["all_reduces"], diagnostics)?;
    let before = diagnostics.len();
    let mut rows: BTreeMap<u32, BTreeMap<u32, [u64; 4]>> = BTreeMap::new();
    let mut places: BTreeMap<u32, Range<usize>> = BTreeMap::new();
    for row in table.rows() {
        let tensor = read_count(&row, "tensor", 1, diagnostics);
        let layer = read_count(&row, "layer", 0, diagnostics);
        let [parameters, stored, output] = ["parameters", "stored_bytes", "output_bytes"]
            .map(|column| row.whole_number(column, 0..=MOST_BYTES, diagnostics));
        let all_reduces = match row.optional_text("all_reduces") {
            Some(_) => row.whole_number("all_reduces", 0..=100, diagnostics),
            None => Some(0),
        };
        let (Some(tensor), Some(layer)) = (tensor, layer) else {
            continue;
        };
        let (Some(parameters), Some(stored), Some(output), Some(all_reduces)) =
            (parameters, stored, output, all_reduces)
        else {
            continue;
        };
        places.insert(tensor, row.line_span());
        let figures = [parameters, stored, output, all_reduces];
        if rows
            .entry(tensor)
            .or_default()
            .insert(layer, figures)
            .is_some()
        {
            let title = format!("layer {layer} appears twice at tensor degree {tensor}");
            row.report_line(title, "keep one of the two rows", diagnostics);
        }
    }
    let mut memory = Memory::new();
    for (tensor, layers) in rows {
        let what = format!("at tensor degree {tensor}");
        let place = places.get(&tensor).cloned().unwrap_or_default();
        let mut complain = |title, label| diagnostics.error_at(source, place.clone(), title, label);
        if let Some(all) = in_order(&layers, &what, &mut complain) {
            memory.insert(tensor, all);
        }
    }
    (diagnostics.len() == before).then_some(memory)
}

fn read_count(
    row: &Row<'_>,
    column: &str,
    least: u64,
    diagnostics: &mut Diagnostics,
) -> Option<u32> {
    u32::try_from(row.whole_number(column, least..=MOST, diagnostics)?).ok()
}
