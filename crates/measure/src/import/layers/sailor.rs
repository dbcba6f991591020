//! The JSON of Sailor (SOSP 2025): objects within objects, whose keys are numbers.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::figures::{Memory, Times, in_order};
use crate::import::figure::rounded;
use scavsim_read::input::{Diagnostic, Diagnostics, Source, closest, json};

/// By key as it is written.
type KeyMap<V> = BTreeMap<String, V>;

/// Model → GPU → micro-batch → tensor degree → layer → forward, backward, update.
type Profiles = KeyMap<KeyMap<KeyMap<KeyMap<KeyMap<[f64; 3]>>>>>;

/// Model → tensor degree → layer.
type Info = KeyMap<KeyMap<KeyMap<Layer>>>;

/// Scope → GPU → GPUs of a node → coefficients and cap in bytes per second.
type Coefficients = KeyMap<KeyMap<KeyMap<([f64; 3], f64)>>>;

const NOT_SAILOR: &str = "this is not the JSON of Sailor";

/// What a layer weighs; what else the source says of it is not needed.
#[derive(Deserialize)]
struct Layer {
    params_floats: u64,
    act_mem_bytes: u64,
    act_output_bytes: u64,
}

/// `profiles.json`.
pub(super) fn times(
    source: &Arc<Source>,
    model: Option<&str>,
    diagnostics: &mut Diagnostics,
) -> Option<Times> {
    let profiles: Profiles = json::read(source, NOT_SAILOR, diagnostics)?;
    let gpus = chosen(source, profiles, model, diagnostics)?;
    let before = diagnostics.len();
    let mut times = Times::new();
    for (gpu, micro_batches) in gpus {
        for (micro_batch, degrees) in micro_batches {
            let Some(micro_batch) = number(source, "micro-batch", &micro_batch, 1, diagnostics)
            else {
                continue;
            };
            for (tensor, layers) in degrees {
                let Some(tensor) = number(source, "tensor degree", &tensor, 1, diagnostics) else {
                    continue;
                };
                let what =
                    format!("on {gpu} at tensor degree {tensor} and micro-batch {micro_batch}");
                let wrong = layers
                    .values()
                    .flatten()
                    .find(|s| !s.is_finite() || **s < 0.0);
                if let Some(wrong) = wrong {
                    complain(
                        source,
                        format!("{wrong} s {what}"),
                        "expected at least 0",
                        diagnostics,
                    );
                }
                if let Some(all) = numbered(source, layers, &what, diagnostics) {
                    times.insert((gpu.clone(), tensor, micro_batch), all);
                }
            }
        }
    }
    (diagnostics.len() == before).then_some(times)
}

/// `llm_info.json`.
pub(super) fn memory(
    source: &Arc<Source>,
    model: Option<&str>,
    diagnostics: &mut Diagnostics,
) -> Option<Memory> {
    let info: Info = json::read(source, NOT_SAILOR, diagnostics)?;
    let degrees = chosen(source, info, model, diagnostics)?;
    let before = diagnostics.len();
    let mut memory = Memory::new();
    for (tensor, layers) in degrees {
        let Some(tensor) = number(source, "tensor degree", &tensor, 1, diagnostics) else {
            continue;
        };
        let what = format!("at tensor degree {tensor}");
        let figures = layers.into_iter().map(|(layer, l)| {
            (
                layer,
                [l.params_floats, l.act_mem_bytes, l.act_output_bytes, 0],
            )
        });
        if let Some(all) = numbered(source, figures.collect(), &what, diagnostics) {
            memory.insert(tensor, all);
        }
    }
    add_all_reduces(&mut memory);
    (diagnostics.len() == before).then_some(memory)
}

/// Megatron adds up activations twice in a transformer layer, once in an embedding or a head that is cut: a layer is cut if
/// each GPU has fewer of its parameters at a higher degree.
fn add_all_reduces(memory: &mut Memory) {
    let of = |layers: &Vec<[u64; 4]>| layers.iter().map(|l| l[0]).collect::<Vec<u64>>();
    let (Some(least), Some(most)) = (
        memory.values().next().map(of),
        memory.values().next_back().map(of),
    ) else {
        return;
    };
    for layers in memory.values_mut() {
        let last = layers.len() - 1;
        for (number, layer) in layers.iter_mut().enumerate() {
            let is_cut = most.get(number) < least.get(number);
            layer[3] = match number {
                _ if !is_cut => 0,
                _ if number == 0 || number == last => 1,
                _ => 2,
            };
        }
    }
}

/// `network_coeffs_all_homo.json`, as `links.csv`.
pub(super) fn links(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<String> {
    let scopes: Coefficients = json::read(source, NOT_SAILOR, diagnostics)?;
    let before = diagnostics.len();
    let mut text = "scope,gpu,gpus,a,b,c,cap_gb_per_s\n".to_owned();
    for (theirs, ours) in [("intra", "in-node"), ("inter", "between-nodes")] {
        let Some(gpus) = scopes.get(theirs) else {
            complain(
                source,
                format!("no `{theirs}`"),
                "expected `inter` and `intra`",
                diagnostics,
            );
            continue;
        };
        for (gpu, counts) in gpus {
            let mut rows = BTreeMap::new();
            for (count, row) in counts {
                if let Some(count) = number(source, "GPUs of a node", count, 1, diagnostics) {
                    rows.insert(count, row);
                }
            }
            for (count, ([a, b, c], cap)) in rows {
                let figures = [*a, *b, *c, cap / 1e9].map(|x| rounded(x, 6));
                text += &format!("{ours},{gpu},{count},{}\n", figures.join(","));
            }
        }
    }
    (diagnostics.len() == before).then_some(text)
}

fn chosen<V>(
    source: &Arc<Source>,
    mut models: KeyMap<V>,
    model: Option<&str>,
    diagnostics: &mut Diagnostics,
) -> Option<V> {
    let names: Vec<String> = models.keys().cloned().collect();
    let listed = names
        .iter()
        .map(|n| format!("`{n}`"))
        .collect::<Vec<_>>()
        .join(", ");
    let (title, help) = match model {
        None if names.len() == 1 => return models.pop_first().map(|(_, v)| v),
        None => (
            "there are several models".to_owned(),
            format!("name one with --model: {listed}"),
        ),
        Some(model) => {
            if let Some(value) = models.remove(model) {
                return Some(value);
            }
            let near = closest(model, names.iter().map(String::as_str));
            let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            (
                format!("no model `{model}`"),
                format!("legal here: {listed}{near}"),
            )
        }
    };
    complain(source, title, help, diagnostics);
    None
}

fn numbered<V: Copy>(
    source: &Arc<Source>,
    layers: KeyMap<V>,
    what: &str,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<V>> {
    let mut by_number = BTreeMap::new();
    for (layer, value) in layers {
        by_number.insert(number(source, "layer", &layer, 0, diagnostics)?, value);
    }
    let mut wrong = |title, help| complain(source, title, help, diagnostics);
    in_order(&by_number, what, &mut wrong)
}

fn number(
    source: &Arc<Source>,
    what: &str,
    word: &str,
    least: u32,
    diagnostics: &mut Diagnostics,
) -> Option<u32> {
    let number = word
        .parse()
        .ok()
        .filter(|n| (least..=1_000_000).contains(n));
    if number.is_none() {
        let title = format!("{what} `{word}`");
        complain(
            source,
            title,
            format!("expected a whole number between {least} and 1000000"),
            diagnostics,
        );
    }
    number
}

fn complain(
    source: &Arc<Source>,
    title: String,
    help: impl Into<String>,
    diagnostics: &mut Diagnostics,
) {
    let title = format!("{}: {title}", source.name);
    diagnostics.push(Diagnostic::general(title).with_help(help));
}
