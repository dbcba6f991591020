//! The files of a layer profile: consecutive equal layers share a row.

use super::figures::{LayersOptions, Memory, Times};
use crate::figure::{MEASURED, rounded};
use scavsim_parallel::profile::FILES;

pub(super) fn files(
    options: &LayersOptions,
    layers: usize,
    times: &Times,
    memory: &Memory,
) -> Vec<(String, String)> {
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let file = options
        .times
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let head = format!(
        "name = {}\nmodel = {}\nlayers = {layers}\nsequence = {}\nhidden = {}\nbytes_per_value = {:?}\noptimizer_bytes = {:?}\nsource = {}\nlicence = {}\n",
        quoted(&options.name),
        quoted(options.model.as_deref().unwrap_or(&options.name)),
        options.sequence,
        options.hidden,
        options.bytes_per_value,
        options.optimizer_bytes,
        quoted(options.source.as_deref().unwrap_or(&file)),
        quoted(options.licence.as_deref().unwrap_or("not said")),
    );
    let mut weights =
        "tensor,first_layer,last_layer,parameters,stored_bytes,output_bytes,all_reduces\n"
            .to_owned();
    for (tensor, layers) in memory {
        for (first, last, figures) in runs(layers) {
            let figures = figures.map(|n| n.to_string()).join(",");
            weights += &format!("{tensor},{first},{last},{figures}\n");
        }
    }
    let mut seconds =
        "gpu,tensor,micro_batch,first_layer,last_layer,forward_s,backward_s,update_s\n".to_owned();
    for ((gpu, tensor, micro_batch), layers) in times {
        for (first, last, figures) in runs(layers) {
            let figures = figures.map(|s| rounded(s, MEASURED)).join(",");
            seconds += &format!("{gpu},{tensor},{micro_batch},{first},{last},{figures}\n");
        }
    }
    let texts = [head, weights, seconds];
    FILES
        .iter()
        .map(|name| (*name).to_owned())
        .zip(texts)
        .collect()
}

/// First, last and figures of consecutive equal layers.
fn runs<V: Copy + PartialEq>(layers: &[V]) -> impl Iterator<Item = (usize, usize, V)> {
    let mut first = 0;
    layers.chunk_by(|a, b| a == b).map(move |run| {
        let begin = first;
        first += run.len();
        (begin, first - 1, run[0])
    })
}
