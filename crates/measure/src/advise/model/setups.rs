//! Runtimes, precisions and forms among which a plan is chosen.

use std::path::Path;

use super::scenario::{ModelQuestion, is_path, unknown};
use scavsim_parallel::architecture::Architecture;
use scavsim_parallel::gpu::{GpuSheet, Precision};
use scavsim_parallel::law::constants::GENERATIONS;
use scavsim_parallel::runtime::{
    Activations, Attention, PlanForm, PredictedPlan, Recompute, RuntimePreset, Shard, Unmeasured,
    preset,
};
use scavsim_read::input::{Diagnostics, Source};

/// Runtimes among which is chosen where none is named; the first is what others are compared with.
const USUAL: [&str; 2] = ["fsdp", "megatron-core"];
/// Stages of a pipeline that are tried.
const STAGES: [u32; 5] = [1, 2, 4, 8, 16];
/// Virtual stages of a GPU that are tried.
const VIRTUAL_STAGES: [u32; 2] = [2, 4];
/// Replicas that share experts: a node's GPUs.
const EXPERT_GROUP: u32 = 8;
/// The generation for which no fused attention is written.
const UNFUSED: &str = "volta";

/// A runtime at a precision, with the forms that are tried under it.
#[derive(Debug, Clone)]
pub(super) struct Setup {
    pub(super) runtime: RuntimePreset,
    pub(super) precision: Precision,
    /// What a scenario names it by.
    key: String,
    forms: Vec<String>,
    /// Whether it is as its users run it who change nothing: where that is compared with.
    is_usual: bool,
    needs_fused: bool,
}

impl Setup {
    /// Lines of `[parallel]`.
    pub(super) fn lines(&self) -> String {
        let mut lines = format!(
            "runtime = {}\nprecision = {:?}\n",
            self.key,
            self.precision.name()
        );
        for form in &self.forms {
            lines += form;
            lines.push('\n');
        }
        lines
    }

    pub(super) fn runs_on(&self, gpu: &GpuSheet) -> bool {
        let is_fused = GENERATIONS[gpu.generation] != UNFUSED;
        gpu.tflops(self.precision).is_some() && (is_fused || !self.needs_fused)
    }

    /// Whether a plan, as ranked plans are called, is the form that users of the runtime get who change nothing.
    pub(super) fn is_plain(&self, plan: &str) -> bool {
        let usual = &self.runtime.settings;
        let is = |key: &str, word: &str| value_of(plan, key).is_none_or(|own| own == word);
        self.is_usual
            && is("recompute", usual.recompute.name())
            && is("shard", usual.shard.name())
            && is("schedule", "1f1b")
            && is("expert", "1")
    }

    /// What a plan on a GPU has of which no run under the runtime is known.
    pub(super) fn unmeasured(
        &self,
        model: &Architecture,
        gpu: &GpuSheet,
        gpus: u32,
        plan: &str,
    ) -> Vec<Unmeasured> {
        let has_many = |key: &str| value_of(plan, key).is_some_and(|of| of != "1");
        let is_split = value_of(plan, "schedule").is_some_and(|own| own != "1f1b");
        let tensor = value_of(plan, "tensor").and_then(|of| of.parse().ok());
        self.runtime.errors.unmeasured(&PredictedPlan {
            gpus: &[&*gpu.name],
            count: gpus,
            precision: self.precision.name(),
            tensor: tensor.unwrap_or(1),
            is_unlike: false,
            forms: &PlanForm::of(is_split, has_many("context"), model.experts.is_some()),
        })
    }

    /// The form of a plan in words.
    pub(super) fn form(&self, plan: &str) -> String {
        let usual = &self.runtime.settings;
        let recompute = match value_of(plan, "recompute").unwrap_or(usual.recompute.name()) {
            "none" => "no recomputation",
            "selective" => "scores recomputed",
            _ => "blocks recomputed",
        };
        let shard = match value_of(plan, "shard").unwrap_or(usual.shard.name()) {
            "none" => "nothing in shards",
            "optimizer" => "optimiser in shards",
            "gradients" => "optimiser and gradients in shards",
            _ => "all in shards",
        };
        format!(
            "{} under `{}`, {recompute}, {shard}",
            self.precision.name(),
            self.runtime.name
        )
    }
}

/// What a plan says of one of its axes.
fn value_of<'p>(plan: &'p str, key: &str) -> Option<&'p str> {
    let mut pairs = plan.split(';').filter_map(|pair| pair.split_once('='));
    pairs.find(|(name, _)| *name == key).map(|(_, value)| value)
}

/// All setups that are asked for; of a runtime in a file, which is fitted to somebody's runs, its own form alone.
pub(super) fn read(
    question: &ModelQuestion,
    model: &Architecture,
    d: &mut Diagnostics,
) -> Option<Vec<Setup>> {
    let asked = match question.precision.as_deref() {
        None => None,
        Some(word) => {
            let found = Precision::named(word);
            if found.is_none() {
                unknown("precision", word, &Precision::ALL.map(Precision::name), d);
            }
            Some(found?)
        }
    };
    match question.runtime.as_deref() {
        Some(word) if is_path(word) => {
            let source = Source::read(Path::new(word), d)?;
            let runtime = RuntimePreset::read(word, &source, d)?;
            Some(vec![Setup {
                precision: asked.or(Precision::named(&runtime.precision))?,
                key: format!("{word:?}"),
                forms: Vec::new(),
                is_usual: true,
                needs_fused: false,
                runtime,
            }])
        }
        Some(word) => Some(of_runtime(embedded(word, d)?, asked, model, question)),
        None => {
            let mut all = Vec::new();
            for word in USUAL {
                let own = of_runtime(embedded(word, d)?, asked, model, question);
                let is_first = all.is_empty();
                all.extend(own.into_iter().map(|setup| Setup {
                    is_usual: setup.is_usual && is_first,
                    ..setup
                }));
            }
            Some(all)
        }
    }
}

fn embedded(word: &str, d: &mut Diagnostics) -> Option<RuntimePreset> {
    let found = preset::embedded(word, d);
    if found.is_none() {
        unknown("runtime", word, &preset::names(), d);
    }
    found
}

fn of_runtime(
    runtime: RuntimePreset,
    asked: Option<Precision>,
    model: &Architecture,
    question: &ModelQuestion,
) -> Vec<Setup> {
    let usual = Precision::named(&runtime.precision);
    let is_wide = matches!(usual, Some(Precision::Bf16 | Precision::Fp16));
    let precisions: Vec<Precision> = match asked {
        Some(asked) => vec![asked],
        None => (usual.into_iter())
            .chain(is_wide.then_some(Precision::Fp8))
            .collect(),
    };
    let is_plain = runtime.settings.attention == Attention::Plain;
    // Where attention is not fused by default, it may be.
    let kernels: &[bool] = if is_plain { &[false, true] } else { &[true] };
    let mut all = Vec::new();
    for precision in precisions {
        for &is_fused in kernels {
            let key = match is_fused && is_plain {
                true => format!(
                    "{{ base = {:?}, attention_kernel = \"flash\" }}",
                    runtime.name
                ),
                false => format!("{:?}", runtime.name),
            };
            all.push(Setup {
                runtime: runtime.clone(),
                precision,
                key,
                forms: forms(&runtime, is_fused, model, question),
                is_usual: (asked.or(usual) == Some(precision)) && (is_fused != is_plain),
                needs_fused: is_fused && is_plain || precision == Precision::Fp8,
            });
        }
    }
    all
}

/// Lines of a scenario that name the forms of a runtime.
fn forms(
    runtime: &RuntimePreset,
    is_fused: bool,
    model: &Architecture,
    question: &ModelQuestion,
) -> Vec<String> {
    // Fused attention keeps no scores.
    let recompute = [Recompute::None, Recompute::Selective, Recompute::Full];
    let recompute = recompute
        .iter()
        .filter(|one| !is_fused || **one != Recompute::Selective);
    let usual = runtime.settings.shard;
    let shards = [Shard::Optimizer, Shard::Full].into_iter().chain([usual]);
    let mut shards: Vec<Shard> = shards
        .filter(|shard| *shard >= usual && runtime.shards.contains(shard))
        .collect();
    shards.sort_unstable();
    shards.dedup();
    let stages: Vec<u32> = (STAGES.into_iter())
        .filter(|stages| *stages <= question.most_gpus && *stages <= model.layers)
        .collect();
    let mut lines = vec![
        format!(
            "recompute = {:?}",
            recompute.map(|one| one.name()).collect::<Vec<_>>()
        ),
        format!(
            "shard = {:?}",
            shards.iter().map(|one| one.name()).collect::<Vec<_>>()
        ),
        format!("pipeline = {stages:?}"),
    ];
    let most = VIRTUAL_STAGES.into_iter().max().unwrap_or(1);
    let has_pipelines = usual != Shard::Full && stages.len() > 1;
    if has_pipelines
        && runtime.settings.activations == Activations::Overlapped
        && stages[stages.len() - 1] * most <= model.layers
    {
        lines.push("schedule = [\"1f1b\", \"interleaved-1f1b\"]".to_owned());
        lines.push(format!("virtual_stages = {VIRTUAL_STAGES:?}"));
    }
    let shared = model
        .experts
        .is_some_and(|experts| experts.count.is_multiple_of(EXPERT_GROUP));
    if shared && question.most_gpus >= EXPERT_GROUP {
        lines.push(format!("expert = [1, {EXPERT_GROUP}]"));
    }
    lines
}
