//! `scavsim list models`, `list gpus` and `list runtimes`: the inputs for predictions of plans.

use serde_json::{Value, json};

use scavsim_base::text::{Column, Sheet};
use scavsim_parallel::Architecture;
use scavsim_parallel::architecture::library;
use scavsim_parallel::gpu::{self, GpuSheet, Precision};
use scavsim_parallel::law::constants::GENERATIONS;
use scavsim_parallel::runtime::{RuntimePreset, preset};
use scavsim_read::input::Diagnostics;

pub(super) fn models() -> Sheet<'static, &'static Architecture> {
    type ModelRow = &'static Architecture;
    let whole =
        |head, of: fn(ModelRow) -> u32| Column::number(head, move |m: &ModelRow| json!(of(m)));
    let billions = |parameters: u64| json!(format!("{:.2}", parameters as f64 * 1e-9));
    Sheet::new(
        library::all()
            .map(|model| &**model)
            .collect::<Vec<ModelRow>>(),
        [
            Column::text("model", |m: &ModelRow| json!(&*m.name)),
            Column::number("10⁹_parameters", move |m: &ModelRow| {
                billions(m.parameters())
            }),
            whole("layers", |m| m.layers),
            whole("hidden", |m| m.hidden),
            whole("heads", |m| m.heads),
            whole("kv_heads", |m| m.kv_heads),
            whole("ffn", |m| m.ffn),
            whole("vocabulary", |m| m.vocabulary),
            whole("sequence", |m| m.sequence),
            Column::number("experts", |m: &ModelRow| {
                m.experts
                    .map_or(Value::Null, |experts| json!(experts.count))
            }),
            Column::text("source", |m: &ModelRow| json!(m.source)).long(),
        ],
    )
}

pub(super) fn gpus() -> Sheet<'static, &'static GpuSheet> {
    type GpuRow = &'static GpuSheet;
    let tflops = |head, precision| {
        Column::number(head, move |g: &GpuRow| match g.tflops(precision) {
            Some(tflops) => json!(tflops),
            None => Value::Null,
        })
    };
    Sheet::new(
        gpu::all().iter().collect::<Vec<GpuRow>>(),
        [
            Column::text("gpu", |g: &GpuRow| json!(&*g.name)),
            Column::text("generation", |g: &GpuRow| json!(GENERATIONS[g.generation])),
            tflops("fp32", Precision::Fp32),
            tflops("tf32", Precision::Tf32),
            tflops("fp16", Precision::Fp16),
            tflops("bf16", Precision::Bf16),
            tflops("fp8_tflops", Precision::Fp8),
            Column::number("memory_gib", |g: &GpuRow| json!(g.memory_gib)),
            Column::number("gb_per_s", |g: &GpuRow| json!(g.memory_gb_per_s)),
            Column::number("link_gb_per_s", |g: &GpuRow| json!(g.link_gb_per_s)),
            Column::text("source", |g: &GpuRow| json!(g.source)).long(),
        ],
    )
}

pub(super) fn runtimes() -> Sheet<'static, RuntimePreset> {
    let mut diagnostics = Diagnostics::default();
    let all: Vec<RuntimePreset> = (preset::names().into_iter())
        .filter_map(|name| preset::embedded(name, &mut diagnostics))
        .collect();
    Sheet::new(
        all,
        [
            Column::text("runtime", |r: &RuntimePreset| json!(&*r.name)),
            Column::text("precision", |r: &RuntimePreset| json!(r.precision)),
            Column::number("off_%", |r: &RuntimePreset| {
                let off = 100.0 * r.errors.step;
                if off > 0.0 {
                    json!(format!("{off:.0}"))
                } else {
                    Value::Null
                }
            }),
            Column::text("what", |r: &RuntimePreset| json!(r.description)).wrapped(),
            Column::text("source", |r: &RuntimePreset| json!(r.source)).long(),
        ],
    )
}
