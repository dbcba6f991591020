//! Runtimes, precisions and forms among which a plan is chosen.

use std::path::Path;

use super::question::{ModelQuestion, is_path, unknown};
use super::tuning::{self, Tuning};
use scavsim_parallel::architecture::Architecture;
use scavsim_parallel::gpu::{GpuSheet, Precision};
use scavsim_parallel::law::constants::GENERATIONS;
use scavsim_parallel::runtime::{
    Activations, Attention, PlanForm, PredictedPlan, Recompute, RuntimePreset, Shard, Unmeasured,
    preset,
};
use scavsim_read::input::{Diagnostics, Source};

/// Default runtimes to choose from; the first is the reference for the others.
const USUAL: [&str; 2] = ["fsdp", "megatron-core"];
/// Numbers of pipeline stages that are tried.
const STAGES: [u32; 4] = [1, 2, 4, 8];
/// Number of virtual stages of a GPU that are tried.
const VIRTUAL_STAGES: u32 = 4;
/// Sequences of a micro-batch that are tried, for large models only up to a limit.
const MICRO_BATCHES: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
const LARGE_MICRO_BATCH: u32 = 8;
/// Number of parameters from which virtual stages are tried: smaller models need few stages.
const DEEP_MODEL: u64 = 10_000_000_000;
/// Number of parameters of a large model.
const LARGE_MODEL: u64 = 2_000_000_000;
/// Replicas that share experts: a node's GPUs.
const EXPERT_GROUP: u32 = 8;
/// The generation without fused attention.
const UNFUSED: &str = "volta";

/// A runtime at a precision, with the forms that are tried.
#[derive(Debug, Clone)]
pub(super) struct Setup {
    pub(super) runtime: RuntimePreset,
    pub(super) precision: Precision,
    shard: Shard,
    /// The name in a scenario.
    key: String,
    forms: Vec<String>,
    /// Whether it has the runtime's defaults, as the reference.
    is_usual: bool,
    needs_fused: bool,
    /// A precision that its GPUs lack and this one replaces.
    instead_of: Option<Precision>,
}

impl Setup {
    /// Lines of `[parallel]`.
    pub(super) fn lines(&self) -> String {
        self.lines_of("")
    }

    /// Lines of `[parallel]` for one plan, given by its name in rankings.
    pub(super) fn lines_of(&self, plan: &str) -> String {
        let mut lines = format!(
            "runtime = {}\nprecision = {:?}\n",
            self.key,
            self.precision.name()
        );
        let key_of = |form: &String| form.split(' ').next().unwrap_or_default().to_owned();
        let is_left = |form: &&String| value_of(plan, &key_of(form)).is_none();
        for form in self.forms.iter().filter(is_left) {
            lines += &format!("{form}\n");
        }
        for (key, value) in plan.split(';').filter_map(|pair| pair.split_once('=')) {
            let is_number = value.parse::<u32>().is_ok();
            // One virtual stage means none, and has no key.
            if (key, value) != ("virtual_stages", "1") {
                lines += &if is_number {
                    format!("{key} = [{value}]\n")
                } else {
                    format!("{key} = {value:?}\n")
                };
            }
        }
        lines
    }

    pub(super) fn runs_on(&self, gpu: &GpuSheet) -> bool {
        let is_fused = GENERATIONS[gpu.generation] != UNFUSED;
        let lacks = |one: Precision| gpu.tflops(one).is_none();
        !lacks(self.precision)
            && (is_fused || !self.needs_fused)
            && self.instead_of.is_none_or(lacks)
    }

    /// Whether a plan, given by its name in rankings, is the default form of the runtime.
    pub(super) fn is_plain(&self, plan: &str) -> bool {
        let usual = &self.runtime.settings;
        let is = |key: &str, word: &str| value_of(plan, key).is_none_or(|own| own == word);
        self.is_usual
            && is("recompute", usual.recompute.name())
            && is("schedule", "1f1b")
            && is("expert", "1")
    }

    /// Features of a plan on a GPU without a known run under the runtime.
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
            forms: &PlanForm::with([
                is_split,
                has_many("context"),
                model.experts.is_some(),
                false,
            ]),
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
        let shard = match self.shard {
            Shard::None => "nothing in shards",
            Shard::Optimizer => "optimiser in shards",
            Shard::Gradients => "optimiser and gradients in shards",
            Shard::Full => "all in shards",
        };
        let attention = if self.key.starts_with('{') {
            ", fused attention"
        } else {
            ""
        };
        format!(
            "{} under `{}`{attention}, {recompute}, {shard}",
            self.precision.name(),
            self.runtime.name
        )
    }
}

/// The value of one axis in a plan's name.
fn value_of<'p>(plan: &'p str, key: &str) -> Option<&'p str> {
    let mut pairs = plan.split(';').filter_map(|pair| pair.split_once('='));
    pairs.find(|(name, _)| *name == key).map(|(_, value)| value)
}

/// All requested setups; for a runtime in a file, which is fitted to a user's runs, only its own form.
pub(super) fn read(
    question: &ModelQuestion,
    (model, tuning): (&Architecture, Option<&Tuning>),
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
    if let Some(tuning) = tuning {
        let word = question.runtime.as_deref().unwrap_or(tuning::RUNTIME);
        let runtime = if is_path(word) {
            in_file(word, d)?
        } else {
            embedded(word, d)?
        };
        return of_tuning(&runtime, (word, asked), tuning);
    }
    match question.runtime.as_deref() {
        Some(word) if is_path(word) => {
            let runtime = in_file(word, d)?;
            Some(vec![Setup {
                precision: asked.or(Precision::named(&runtime.precision))?,
                shard: runtime.settings.shard,
                key: format!("{word:?}"),
                forms: Vec::new(),
                is_usual: true,
                needs_fused: false,
                instead_of: None,
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

fn in_file(path: &str, d: &mut Diagnostics) -> Option<RuntimePreset> {
    let source = Source::read(Path::new(path), d)?;
    RuntimePreset::read(path, &source, d)
}

/// Setups of a fine-tuning: whole on each GPU, or sharded, at the requested precision. By default, GPUs without BF16 compute
/// with FP16.
fn of_tuning(
    runtime: &RuntimePreset,
    (word, asked): (&str, Option<Precision>),
    tuning: &Tuning,
) -> Option<Vec<Setup>> {
    let usual = asked.or(Precision::named(&runtime.precision))?;
    let mut precisions = vec![(usual, None)];
    if asked.is_none() && usual == Precision::Bf16 {
        precisions.push((Precision::Fp16, Some(usual)));
    }
    let shards = [Shard::None, Shard::Full];
    let shards = shards
        .into_iter()
        .filter(|shard| runtime.shards.contains(shard));
    let of = |(shard, (precision, instead_of))| Setup {
        runtime: runtime.clone(),
        precision,
        shard,
        key: format!("{word:?}"),
        forms: tuning.forms(shard),
        is_usual: false,
        needs_fused: false,
        instead_of,
    };
    let each = shards.flat_map(|shard| precisions.iter().map(move |one| (shard, *one)));
    Some(each.map(of).collect())
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
    // If attention is not fused by default, fusion is also tried.
    let kernels: &[bool] = if is_plain { &[false, true] } else { &[true] };
    let usual_shard = runtime.settings.shard;
    let mut shards = vec![usual_shard, Shard::Optimizer, Shard::Full];
    shards.retain(|shard| *shard >= usual_shard && runtime.shards.contains(shard));
    shards.sort_unstable();
    shards.dedup();
    let mut all = Vec::new();
    for (precision, is_fused) in
        (precisions.iter()).flat_map(|one| kernels.iter().map(move |kernel| (*one, *kernel)))
    {
        let is_changed = is_fused && is_plain;
        let key = if is_changed {
            let name = &runtime.name;
            format!("{{ base = {name:?}, attention_kernel = \"flash\" }}")
        } else {
            format!("{:?}", runtime.name)
        };
        let is_usual = asked.or(usual) == Some(precision) && !is_changed;
        all.extend(shards.iter().map(|&shard| Setup {
            runtime: runtime.clone(),
            precision,
            shard,
            key: key.clone(),
            forms: forms(&runtime, (shard, is_fused), model, question),
            is_usual: is_usual && shard == usual_shard,
            needs_fused: is_changed || precision == Precision::Fp8,
            instead_of: None,
        }));
    }
    all
}

/// Lines of a scenario that name the forms of a runtime with these shards.
fn forms(
    runtime: &RuntimePreset,
    (shard, is_fused): (Shard, bool),
    model: &Architecture,
    question: &ModelQuestion,
) -> Vec<String> {
    // Fused attention stores no scores.
    let recompute = (Recompute::ALL.into_iter())
        .filter(|one| !is_fused || *one != Recompute::Selective)
        .map(Recompute::name);
    let micro: Vec<u32> = (MICRO_BATCHES.into_iter())
        .filter(|micro| *micro <= LARGE_MICRO_BATCH || model.parameters() < LARGE_MODEL)
        .collect();
    let mut lines = vec![
        format!("recompute = {:?}", recompute.collect::<Vec<_>>()),
        format!("shard = {:?}", shard.name()),
        format!("micro_batch = {micro:?}"),
    ];
    // Sharded weights leave nothing to partition.
    if shard != Shard::Full {
        let most = question.most_gpus().min(model.layers);
        let stages: Vec<u32> = STAGES.into_iter().filter(|one| *one <= most).collect();
        lines.push(format!("pipeline = {stages:?}"));
        let deepest = stages.last().copied().unwrap_or(1);
        if runtime.settings.activations == Activations::Overlapped
            && deepest > 1
            && model.parameters() >= DEEP_MODEL
            && deepest * VIRTUAL_STAGES <= model.layers
        {
            lines.push("schedule = [\"1f1b\", \"interleaved-1f1b\"]".to_owned());
            lines.push(format!("virtual_stages = {VIRTUAL_STAGES}"));
        }
    }
    let shared = (model.experts).is_some_and(|experts| experts.count.is_multiple_of(EXPERT_GROUP));
    if shared && question.most_gpus() >= EXPERT_GROUP {
        lines.push(format!("expert = [1, {EXPERT_GROUP}]"));
    }
    lines
}
