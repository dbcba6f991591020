//! Loads a checked [`LayerProfile`] from a folder of tables, or reports all its mistakes.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;

use super::{Gpu, LAUNCH_BOUND, LayerProfile, Times, WEIGHTS_OF_BACKWARD, Weights, sums};
use scavsim_read::input::checked::MOST_MACHINES;
use scavsim_read::input::csv::{Row, Table};
use scavsim_read::input::name::not_a_name;
use scavsim_read::input::{self, Diagnostics, Folder, Source, Spanned};

pub const FILES: [&str; 3] = ["layers.toml", "layers.csv", "times.csv"];

/// Maximum number of layers, tokens per sequence and sequences per micro-batch.
const MOST: u64 = 1_000_000;
const MOST_SECONDS: f64 = 1e6;
/// Maximum bytes of one layer: the total of all is counted in 64 bits.
const MOST_BYTES: u64 = 1 << 46;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    name: Spanned<String>,
    model: String,
    layers: Spanned<u64>,
    sequence: Spanned<u64>,
    hidden: Spanned<u64>,
    bytes_per_value: Spanned<f64>,
    optimizer_bytes: Spanned<f64>,
    source: String,
    licence: String,
}

/// Figures of a run of equal layers.
struct LayerRun<V> {
    layers: Range<u32>,
    value: V,
    span: Range<usize>,
}

impl LayerProfile {
    pub fn load(folder: &Folder, diagnostics: &mut Diagnostics) -> Option<LayerProfile> {
        let before = diagnostics.len();
        let mut hasher = blake3::Hasher::new();
        folder.only(&FILES, diagnostics);
        let [head, layers, times] = FILES.map(|file| {
            let source = folder.read(file, diagnostics)?;
            hasher.update(file.as_bytes());
            hasher.update(source.text.as_bytes());
            Some(source)
        });
        let head_source = head?;
        let head: Head = input::toml::read(&head_source, diagnostics)?;
        let count = check(&head, &head_source, diagnostics)?;
        let weights = layers.and_then(|source| weights(&source, count, diagnostics));
        let gpus = times.and_then(|source| gpus(&source, count, diagnostics));
        if diagnostics.len() > before {
            return None;
        }
        let (weights, gpus) = (weights?, gpus?);
        // Small layers are not divided among GPUs; so the minimum over all degrees is the model.
        let whole = |w: &Weights| w.parameters(0, count - 1).saturating_mul(w.tensor.into());
        let parameters = weights.iter().map(whole).min()?;
        Some(LayerProfile {
            name: head.name.into_inner().into(),
            model: head.model,
            source: head.source,
            licence: head.licence,
            layers: count,
            sequence: *head.sequence.get_ref() as u32,
            hidden: *head.hidden.get_ref() as u32,
            bytes_per_value: *head.bytes_per_value.get_ref(),
            optimizer_bytes: *head.optimizer_bytes.get_ref(),
            parameters,
            hash: hasher.finalize().to_hex().to_string(),
            gpus,
            weights,
        })
    }
}

/// The number of layers, if all figures are valid.
fn check(head: &Head, source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<u32> {
    let before = diagnostics.len();
    if let Some(why) = not_a_name(head.name.get_ref()) {
        diagnostics.error_at(source, head.name.span(), "`name` is no name", why);
    }
    let counts = [
        ("layers", &head.layers, 100_000),
        ("sequence", &head.sequence, MOST),
        ("hidden", &head.hidden, MOST),
    ];
    for (key, figure, most) in counts {
        if !(1..=most).contains(figure.get_ref()) {
            let title = format!("`{key}`: {} is out of range", figure.get_ref());
            let legal = format!("expected a whole number from 1 to {most}");
            diagnostics.error_at(source, figure.span(), title, legal);
        }
    }
    let figures = [
        ("bytes_per_value", &head.bytes_per_value, 0.125),
        ("optimizer_bytes", &head.optimizer_bytes, 0.0),
    ];
    for (key, figure, least) in figures {
        if !(least..=64.0).contains(figure.get_ref()) {
            let title = format!("`{key}`: {} is out of range", figure.get_ref());
            let legal = format!("expected a number from {least} to 64");
            diagnostics.error_at(source, figure.span(), title, legal);
        }
    }
    (diagnostics.len() == before).then_some(*head.layers.get_ref() as u32)
}

fn weights(
    source: &Arc<Source>,
    layers: u32,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<Weights>> {
    let columns = [
        "tensor",
        "first_layer",
        "last_layer",
        "parameters",
        "stored_bytes",
        "output_bytes",
        "all_reduces",
    ];
    let table = Table::read(source, &columns, &[], diagnostics)?;
    let mut runs: BTreeMap<u32, Vec<LayerRun<[u64; 4]>>> = BTreeMap::new();
    for row in table.rows() {
        let tensor = read_count(&row, "tensor", 1, u64::from(MOST_MACHINES), diagnostics);
        let range = range(&row, layers, diagnostics);
        let figures = [
            row.whole_number("parameters", 0..=MOST_BYTES, diagnostics),
            row.whole_number("stored_bytes", 0..=MOST_BYTES, diagnostics),
            row.whole_number("output_bytes", 0..=MOST_BYTES, diagnostics),
            row.whole_number("all_reduces", 0..=100, diagnostics),
        ];
        let [
            Some(parameters),
            Some(stored),
            Some(output),
            Some(all_reduces),
        ] = figures
        else {
            continue;
        };
        if let (Some(tensor), Some(layers)) = (tensor, range) {
            runs.entry(tensor).or_default().push(LayerRun {
                layers,
                value: [parameters, stored, output, all_reduces],
                span: row.line_span(),
            });
        }
    }
    let mut all = Vec::with_capacity(runs.len());
    for (tensor, runs) in runs {
        let what = || format!("at tensor degree {tensor}");
        let Some(values) = complete(source, layers, runs, what, diagnostics) else {
            continue;
        };
        all.push(Weights {
            tensor,
            parameters: sums(values.iter().map(|v| v[0])),
            frozen: sums(values.iter().map(|_| 0)),
            stored: sums(values.iter().map(|v| v[1])),
            all_reduces: sums(values.iter().map(|v| v[3])),
            expert_parameters: sums(values.iter().map(|_| 0)),
            gathered: sums(values.iter().map(|_| 0)),
            routed: sums(values.iter().map(|_| 0)),
            output: values.iter().map(|v| v[2]).collect(),
            working: values.iter().map(|v| v[1]).collect(),
        });
    }
    (!all.is_empty()).then_some(all)
}

fn gpus(source: &Arc<Source>, layers: u32, diagnostics: &mut Diagnostics) -> Option<Vec<Gpu>> {
    let columns = [
        "gpu",
        "tensor",
        "micro_batch",
        "first_layer",
        "last_layer",
        "forward_s",
        "backward_s",
        "update_s",
    ];
    let table = Table::read(source, &columns, &[], diagnostics)?;
    type Point<'t> = (&'t str, u32, u32);
    let mut runs: BTreeMap<Point<'_>, Vec<LayerRun<[f64; 3]>>> = BTreeMap::new();
    for row in table.rows() {
        let gpu = row.name("gpu", diagnostics);
        let tensor = read_count(&row, "tensor", 1, u64::from(MOST_MACHINES), diagnostics);
        let micro_batch = read_count(&row, "micro_batch", 1, MOST, diagnostics);
        let range = range(&row, layers, diagnostics);
        let seconds = ["forward_s", "backward_s", "update_s"]
            .map(|column| row.number(column, 0.0..=MOST_SECONDS, diagnostics));
        let [Some(forward), Some(backward), Some(update)] = seconds else {
            continue;
        };
        if let (Some(gpu), Some(tensor), Some(micro_batch), Some(layers)) =
            (gpu, tensor, micro_batch, range)
        {
            let runs = runs.entry((gpu, tensor, micro_batch)).or_default();
            runs.push(LayerRun {
                layers,
                value: [forward, backward, update],
                span: row.line_span(),
            });
        }
    }
    let mut points: BTreeMap<Point<'_>, Vec<[f64; 3]>> = BTreeMap::new();
    for ((gpu, tensor, micro_batch), runs) in runs {
        let what = || format!("on {gpu} at tensor degree {tensor} and micro-batch {micro_batch}");
        if let Some(values) = complete(source, layers, runs, what, diagnostics) {
            points.insert((gpu, tensor, micro_batch), values);
        }
    }
    let mut gpus: Vec<Gpu> = Vec::new();
    for (&(gpu, tensor, micro_batch), values) in &points {
        // Micro-batches are sorted within a degree: its last one is the largest.
        let degree = points.range((gpu, tensor, 0)..=(gpu, tensor, u32::MAX));
        let largest = degree
            .last()
            .map_or((micro_batch, values), |(key, v)| (key.2, v));
        let busy = |which: usize| {
            let share = f64::from(micro_batch) / f64::from(largest.0);
            let pairs = values.iter().zip(largest.1);
            pairs.map(move |(own, most)| {
                let alone = most[which] * share;
                if alone * LAUNCH_BOUND < own[which] {
                    alone
                } else {
                    own[which]
                }
            })
        };
        let times = Times {
            tensor,
            micro_batch,
            is_interpolated: false,
            forward: sums(values.iter().map(|v| v[0])),
            backward: sums(values.iter().map(|v| v[1])),
            update: sums(values.iter().map(|v| v[2])),
            busy_forward: sums(busy(0)),
            busy_backward: sums(busy(1)),
            weights: sums(values.iter().map(|v| WEIGHTS_OF_BACKWARD * v[1])),
            communication: (tensor == 1).then(|| vec![0.0; values.len() + 1]),
        };
        match gpus.last_mut() {
            Some(last) if &*last.name == gpu => last.times.push(times),
            _ => gpus.push(Gpu {
                name: gpu.into(),
                times: vec![times],
            }),
        }
    }
    (!gpus.is_empty()).then_some(gpus)
}

fn read_count(
    row: &Row<'_>,
    column: &str,
    least: u64,
    most: u64,
    diagnostics: &mut Diagnostics,
) -> Option<u32> {
    let value = row.whole_number(column, least..=most, diagnostics)?;
    u32::try_from(value).ok()
}

fn range(row: &Row<'_>, layers: u32, diagnostics: &mut Diagnostics) -> Option<Range<u32>> {
    let most = u64::from(layers) - 1;
    let first = read_count(row, "first_layer", 0, most, diagnostics);
    let last = read_count(row, "last_layer", 0, most, diagnostics);
    let (first, last) = (first?, last?);
    if last < first {
        let title = format!("the last layer, {last}, is before the first, {first}");
        let label = format!("expected a whole number between {first} and {most}");
        row.report("last_layer", title, label, diagnostics);
        return None;
    }
    Some(first..last + 1)
}

/// The figure of every layer, each exactly once.
fn complete<V: Copy>(
    source: &Arc<Source>,
    layers: u32,
    mut runs: Vec<LayerRun<V>>,
    what: impl Fn() -> String,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<V>> {
    let before = diagnostics.len();
    runs.sort_by_key(|run| run.layers.start);
    let mut values = Vec::with_capacity(layers as usize);
    let end = runs.last().map_or(0..0, |run| run.span.clone());
    let gap = |from: u32, to: u32, span: Range<usize>, diagnostics: &mut Diagnostics| {
        let missing = match to - from {
            1 => format!("layer {from} is missing"),
            _ => format!("layers {from} to {} are missing", to - 1),
        };
        let label = format!("expected every layer from 0 to {} once", layers - 1);
        diagnostics.error_at(source, span, format!("{missing} {}", what()), label);
    };
    let mut next = 0;
    for run in &runs {
        if run.layers.start > next {
            gap(next, run.layers.start, run.span.clone(), diagnostics);
        } else if run.layers.start < next {
            let title = format!("layer {} appears twice {}", run.layers.start, what());
            let label = format!("expected every layer from 0 to {} once", layers - 1);
            diagnostics.error_at(source, run.span.clone(), title, label);
        }
        values.extend(run.layers.clone().map(|_| run.value));
        next = next.max(run.layers.end);
    }
    if next < layers {
        gap(next, layers, end, diagnostics);
    }
    (diagnostics.len() == before).then_some(values)
}
