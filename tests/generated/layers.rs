//! Values of models, GPUs and runtimes without profiles: sizes that divide each other, and constants near known ones.

use crate::draft::quoted;
use crate::hints::{list, string};
use crate::walk::Walk;
use crate::world::{between, number, percent};

/// Small models of the library.
const MODELS: [&str; 5] = [
    "gpt2-124m",
    "gpt3-350m",
    "bert-base",
    "qwen2.5-0.5b",
    "llama-3.2-1b",
];
const RUNTIMES: [&str; 4] = [
    "fsdp",
    "fsdp-unfitted",
    "megatron-deepspeed",
    "megatron-deepspeed-2024",
];
/// The user-defined GPU.
pub const OWN_GPU: &str = "mine";

/// Values per token, over all heads.
const HIDDEN: u32 = 512;

/// Probability of an optional key, in per cent.
pub fn share(of: &str, key: &str) -> Option<usize> {
    let share = match (of, key) {
        // The subject writes these where they belong.
        ("ParallelTable", "model" | "sequence" | "precision" | "gpus" | "train" | "optimizer") => 0,
        ("ModelTable", "layers" | "hidden" | "heads" | "vocabulary") => 100,
        ("ModelTable", "experts" | "kv_rank") => 20,
        ("ModelTable", "active_experts" | "expert_ffn" | "shared_experts" | "dense_layers") => 0,
        ("ModelTable", "query_rank" | "rotary_width" | "value_width") => 0,
        ("RuntimeTable", "base" | "activations" | "recompute" | "shard" | "errors") => 50,
        ("RuntimeTable", _) => 10,
        ("GenerationTable" | "Errors", _) => 70,
        ("GpuTable", _) => 40,
        _ => return None,
    };
    Some(share)
}

/// Keys that another key requires.
pub fn together(of: &str, key: &str) -> &'static [&'static str] {
    match (of, key) {
        ("ModelTable", "experts") => &[
            "active_experts",
            "expert_ffn",
            "shared_experts",
            "dense_layers",
        ],
        ("ModelTable", "kv_rank") => &["query_rank", "rotary_width", "value_width", "head_width"],
        _ => &[],
    }
}

/// A value for a key of these tables.
pub fn hint(of: &str, key: &str, walk: &mut Walk<'_>) -> Option<String> {
    let schema = walk.schema;
    if (of, key) == ("ParallelTable", "model") {
        if walk.luck.once_in(2) {
            return one_of(&MODELS, walk.luck);
        }
        return Some(walk.table("ModelTable", schema.definition("ModelTable")));
    }
    if (of, key) == ("ParallelTable", "runtime") {
        if walk.luck.once_in(2) {
            return one_of(&RUNTIMES, walk.luck);
        }
        return Some(walk.table("RuntimeTable", schema.definition("RuntimeTable")));
    }
    if (of, key) == ("ParallelTable", "gpus") {
        let own = walk.table("GpuTable", schema.definition("GpuTable"));
        return Some(format!("{{ {} = {own} }}", quoted(OWN_GPU)));
    }
    if (of, key) == ("RuntimeTable", "generations") {
        let own = walk.table("GenerationTable", schema.definition("GenerationTable"));
        return Some(format!("{{ ampere = {own} }}"));
    }
    let luck = &mut *walk.luck;
    let whole = |all: &[u32], luck: &mut crate::luck::Luck| Some(luck.pick(all).to_string());
    match (of, key) {
        ("ParallelTable", "sequence") | ("ModelTable", "sequence" | "positions") => {
            whole(&[256, 512, 1024], luck)
        }
        ("ParallelTable" | "RuntimeTable", "precision") => {
            one_of(&["fp16", "fp16", "fp32", "tf32", "bf16", "fp8"], luck)
        }
        ("ParallelTable", "train") => {
            one_of(&["full", "lora:8", "qlora:16:attention", "frozen:1"], luck)
        }
        ("ParallelTable", "optimizer") => one_of(&["adamw", "adamw-8bit"], luck),
        ("ModelTable", "layers") => whole(&[2, 3, 4, 8], luck),
        ("ModelTable", "hidden") => Some(HIDDEN.to_string()),
        ("ModelTable", "heads") => whole(&[4, 8, 16], luck),
        ("ModelTable", "kv_heads") => whole(&[1, 2, 4], luck),
        ("ModelTable", "ffn" | "expert_ffn") => whole(&[512, 1376, 2048], luck),
        ("ModelTable", "vocabulary") => whole(&[1000, 32_000, 50_257], luck),
        ("ModelTable", "experts") => whole(&[4, 8], luck),
        ("ModelTable", "active_experts") => whole(&[1, 2], luck),
        ("ModelTable", "shared_experts" | "dense_layers") => whole(&[0, 1], luck),
        ("ModelTable", "head_width" | "value_width" | "rotary_width") => whole(&[32, 64], luck),
        ("ModelTable", "kv_rank" | "query_rank") => whole(&[64, 96], luck),
        ("GpuTable", "tflops") => Some(number(between(20.0, 1000.0, luck))),
        ("GpuTable", "memory_gib") => Some(number(between(12.0, 100.0, luck))),
        ("GpuTable", "memory_gb_per_s") => Some(number(between(300.0, 5000.0, luck))),
        ("GpuTable", "link_gb_per_s") => Some(number(between(20.0, 900.0, luck))),
        ("GpuTable", "multiprocessors") => whole(&[40, 80, 108, 132], luck),
        ("GpuTable", "generation") => one_of(&["volta", "ampere", "hopper"], luck),
        ("RuntimeTable", "base") => one_of(&RUNTIMES, luck),
        ("RuntimeTable", "source" | "fitted_to") => Some(string("generated")),
        ("RuntimeTable", "bucket_bytes") => Some(number(between(1e6, 1e9, luck))),
        ("RuntimeTable", "reserved_bytes" | "live_bytes") => Some(number(between(1e8, 3e9, luck))),
        ("RuntimeTable", "weight_bytes" | "gradient_bytes") => whole(&[2, 4], luck),
        ("RuntimeTable", "optimizer_bytes") => whole(&[8, 12], luck),
        ("RuntimeTable", "memory_spread") => Some(number(between(0.01, 0.2, luck))),
        ("RuntimeTable", "passes" | "gather" | "hiding" | "optimizer" | "pace" | "unpack") => {
            known(1.0, 2.0, luck)
        }
        ("RuntimeTable", key) if key.ends_with("_s") => known(1e-6, 1e-3, luck),
        (
            "RuntimeTable",
            "matmul" | "inner" | "few" | "tile" | "attention" | "memory" | "link" | "network"
            | "fp8",
        )
        | ("GenerationTable", _) => known(0.3, 0.95, luck),
        ("Errors", "gpus") => Some(list([string("A100-40")])),
        ("Errors", "precisions") => Some(list([string("fp16")])),
        ("Errors", "tensors") => Some("[1, 2]".to_owned()),
        ("Errors", "forms") => Some(list([string("virtual-stages")])),
        ("Errors", "most_gpus") => whole(&[0, 8, 64], luck),
        ("Errors", _) => Some(number(between(0.01, 0.3, luck))),
        _ => None,
    }
}

/// A constant, sometimes with its uncertainty.
fn known(least: f64, most: f64, luck: &mut crate::luck::Luck) -> Option<String> {
    let value = number(between(least, most, luck));
    Some(if percent(20, luck) {
        format!("[{value}, {}]", number(between(0.05, 0.5, luck)))
    } else {
        value
    })
}

fn one_of(names: &[&str], luck: &mut crate::luck::Luck) -> Option<String> {
    let name = luck.pick(names);
    Some(string(name))
}
