//! The input of layers, and the values read from it.

use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Debug, Clone)]
pub struct LayersOptions {
    /// Table of seconds per layer.
    pub times: PathBuf,
    /// Table of parameters and bytes per layer.
    pub memory: PathBuf,
    /// Name of the model in texts; by default the file's name.
    pub model: Option<String>,
    pub name: String,
    pub sequence: u64,
    pub hidden: u64,
    pub bytes_per_value: f64,
    pub optimizer_bytes: f64,
    /// The source, as text.
    pub source: Option<String>,
    pub licence: Option<String>,
}

pub(super) type LayerPoint = (String, u32, u32);

/// Forward, backward and update seconds of every layer.
pub(super) type Times = BTreeMap<LayerPoint, Vec<[f64; 3]>>;

/// Parameters, stored bytes, output bytes and all-reduces of every layer, by tensor degree.
pub(super) type Memory = BTreeMap<u32, Vec<[u64; 4]>>;

/// The figures of layers 0, 1, …, without gaps.
pub(super) fn in_order<V: Copy>(
    layers: &BTreeMap<u32, V>,
    what: &str,
    complain: &mut dyn FnMut(String, String),
) -> Option<Vec<V>> {
    let Some(&last) = layers.keys().next_back() else {
        complain(
            format!("no layer {what}"),
            "expected layers from 0 on".to_owned(),
        );
        return None;
    };
    let missing: Vec<u32> = (0..=last)
        .filter(|n| !layers.contains_key(n))
        .take(10)
        .collect();
    if missing.is_empty() {
        return Some(layers.values().copied().collect());
    }
    let words: Vec<String> = missing.iter().map(u32::to_string).collect();
    let title = format!("layer {} is missing {what}", words.join(", "));
    complain(title, format!("expected every layer from 0 to {last}"));
    None
}
