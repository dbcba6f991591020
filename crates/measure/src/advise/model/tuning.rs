//! Fine-tuning as it is asked for: what is trained, over how much data, and what would fit where nothing does.

use super::scenario::ResolvedQuestion;
use scavsim_base::text::words::{figure, plural, short_figure};
use scavsim_parallel::architecture::Architecture;
use scavsim_parallel::gpu::{self, GpuSheet};
use scavsim_parallel::law::GpuNode;
use scavsim_parallel::law::run::PlanRun;
use scavsim_parallel::memory::GIB;
use scavsim_parallel::runtime::{Recompute, RuntimePreset, Shard};
use scavsim_parallel::tuning::{AdapterTargets, Adapters, Optimizer, TrainingMethod};
use scavsim_parallel::{ReplicaSharing, gpu::Precision};
use scavsim_read::input::{Diagnostic, Diagnostics, nearest_or_all};

/// Runtime of who names none.
pub const RUNTIME: &str = "transformers";
/// Most GPUs of who says nothing: a VM.
pub const MOST_GPUS: u32 = 8;
/// Tokens of a sequence of who says nothing, or more where samples are longer: what Axolotl and Unsloth have in their examples.
const SEQUENCE: u32 = 2048;
/// Sequences of a step of who says nothing. Source: Dettmers et al., QLoRA, NeurIPS 2023, table 9, of 7 and 13 billion parameters.
const BATCH: u32 = 16;
/// Rank of adapters that are proposed where nothing fits.
const PROPOSED: Adapters = Adapters {
    rank: 16,
    targets: AdapterTargets::Linear,
};

/// What is asked of a fine-tuning beside what is asked of any model.
#[derive(Debug, Clone)]
pub struct TuningQuestion {
    /// What is trained, as it is written: `lora:16`.
    pub train: String,
    /// The optimiser's name; the runtime's when absent.
    pub optimizer: Option<String>,
}

/// Samples of some mean length, and how they are laid into sequences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleSet {
    pub samples: u64,
    /// Tokens of a sample, in the mean.
    pub mean_length: u32,
    /// Passes over all samples.
    pub epochs: f64,
    /// Whether each sample has a sequence of its own, filled up to its length; packed one after the other otherwise.
    pub is_padded: bool,
}

impl SampleSet {
    /// Tokens of all samples, of all passes.
    pub fn tokens(&self) -> f64 {
        self.epochs * self.samples as f64 * f64::from(self.mean_length)
    }

    /// Tokens that are computed, padding included.
    pub fn computed_tokens(&self, sequence: u32) -> f64 {
        if self.is_padded {
            self.epochs * self.samples as f64 * f64::from(sequence)
        } else {
            self.tokens()
        }
    }

    /// The shortest usual sequence that holds them.
    fn sequence(&self) -> u32 {
        self.mean_length.next_power_of_two()
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuning {
    pub method: TrainingMethod,
    pub optimizer: Optimizer,
    pub trained: u64,
}

impl TuningQuestion {
    pub(super) fn read(&self, model: &Architecture, d: &mut Diagnostics) -> Option<Tuning> {
        let optimizer = match self.optimizer.as_deref() {
            None => Optimizer::AdamW,
            Some(word) => match Optimizer::named(word) {
                Some(optimizer) => optimizer,
                None => {
                    let help = nearest_or_all(word, Optimizer::ALL.map(Optimizer::name));
                    let title = format!("unknown optimiser `{word}`");
                    d.push(Diagnostic::general(title).with_help(help));
                    return None;
                }
            },
        };
        match TrainingMethod::read(&self.train, model) {
            Ok(method) => Some(Tuning {
                method,
                optimizer,
                trained: method.trained_parameters(model),
            }),
            Err(wrong) => {
                d.push(Diagnostic::general(wrong.title).with_help(wrong.help));
                None
            }
        }
    }
}

/// Tokens of a sequence and sequences of a step that people take for so much data, where they are not asked for.
pub(super) fn usual_step(
    model: &Architecture,
    data: Option<&SampleSet>,
    (sequence, batch): (Option<u32>, Option<u32>),
) -> (u32, u32) {
    let longest = data.map_or(SEQUENCE, |data| SEQUENCE.max(data.sequence()));
    (
        sequence.unwrap_or(longest.min(model.sequence)),
        batch.unwrap_or(BATCH),
    )
}

impl Tuning {
    /// Keys of `[parallel]`: the method, and whether replicas hold all or a part; layers are neither cut nor shared.
    pub(super) fn lines(&self, runtime: &RuntimePreset) -> String {
        let forms = |key: &str, names: &[&str]| format!("{key} = {names:?}\n");
        let text = format!(
            "train = {:?}\noptimizer = {:?}\n",
            self.method.to_string(),
            self.optimizer.name()
        );
        let shards = [Shard::None, Shard::Full];
        let own: Vec<&str> = (shards.iter())
            .filter(|shard| runtime.shards.contains(shard))
            .map(|shard| shard.name())
            .collect();
        text + &forms("shard", &own) + "pipeline = [1]\ntensor = [1]\n"
    }

    /// What is trained, and in what form the rest is held.
    pub(super) fn sentence(&self, precision: Precision) -> String {
        let trained = short_figure(self.trained as f64 * 1e-6);
        let what = match self.method {
            TrainingMethod::Full => "all parameters are trained".to_owned(),
            TrainingMethod::Frozen(blocks) => format!(
                "embedding and the first {blocks} blocks are frozen; {trained} × 10⁶ parameters are trained"
            ),
            TrainingMethod::Lora(of) | TrainingMethod::Qlora(of) => {
                let beside = match of.targets {
                    AdapterTargets::Linear => "all matrices of blocks",
                    AdapterTargets::Attention => "matrices of attention",
                };
                let held = match self.method {
                    TrainingMethod::Qlora(_) => "4 bits",
                    _ => precision.name(),
                };
                format!(
                    "adapters of rank {} beside {beside}: {trained} × 10⁶ parameters are trained, frozen matrices are held in {held}",
                    of.rank
                )
            }
        };
        let moments = match self.optimizer {
            Optimizer::AdamW => "AdamW",
            Optimizer::AdamW8Bit => "AdamW with moments of 8 bits",
        };
        format!("`{}`: {what}; {moments} (--optimizer)", self.method)
    }
}

/// How much data is trained on, and what becomes of it in sequences.
pub(super) fn data_sentence(data: &SampleSet, (sequence, batch): (u32, u32)) -> String {
    let computed = data.computed_tokens(sequence);
    let steps = (computed / (f64::from(sequence) * f64::from(batch))).ceil();
    let laid = if data.is_padded {
        let idle = 1.0 - data.tokens() / computed;
        format!(
            "each padded to a sequence, {} % of which is padding (--padding)",
            short_figure(100.0 * idle)
        )
    } else {
        "packed into full sequences (--padding: one each)".to_owned()
    };
    format!(
        "{} of {} tokens in the mean × {}: {} × 10⁶ tokens, {laid}; {}",
        plural(data.samples, "sample"),
        data.mean_length,
        match data.epochs {
            1.0 => "1 epoch".to_owned(),
            more => format!("{} epochs", short_figure(more)),
        },
        short_figure(data.tokens() * 1e-6),
        plural(steps as u64, "step"),
    )
}

/// GiB on each of `gpus` GPUs at the least: all computed again, all in shards, one sequence at a time.
fn least_gib(
    asked: &ResolvedQuestion,
    method: TrainingMethod,
    sheet: &GpuSheet,
    gpus: u32,
) -> Option<f64> {
    let precision = asked.precision_on(sheet)?;
    let run = PlanRun {
        model: std::sync::Arc::clone(&asked.model),
        node: GpuNode {
            gpu: std::sync::Arc::clone(&sheet.name),
            device: sheet.device(precision)?,
            gpus,
            link_bytes_per_s: sheet.link_bytes_per_s(),
            network_bytes_per_s: Some(1e9),
        },
        gpus,
        sequence: asked.sequence,
        tensor: 1,
        pipeline: 1,
        micro_batch: 1,
        global_batch: gpus,
        attention: None,
        recompute: Some(Recompute::Full),
        shard: Some(if gpus > 1 && asked.runtime.shards.contains(&Shard::Full) {
            Shard::Full
        } else {
            Shard::None
        }),
        sequence_parallel: None,
        training: method,
        virtual_stages: 1,
        sharing: ReplicaSharing::NONE,
    };
    let mut settings = asked.runtime.settings.clone();
    settings.optimizer = asked.tuning.map_or(Optimizer::AdamW, |of| of.optimizer);
    let prepared = run.prepared(&settings, &asked.runtime.prior.medians).ok()?;
    Some(prepared.peak_memory_bytes(0) as f64 / GIB)
}

/// Whether some plan of VMs with so many GPUs each fits, of those that the plans of a fine-tuning are.
pub(super) fn fits_vm(asked: &ResolvedQuestion, tuning: &Tuning, vm: &str, most_gpus: u32) -> bool {
    let Some((sheet, count)) = gpu::of_vm(vm).and_then(|of| Some((of.gpu?, of.count))) else {
        return false;
    };
    let counts = (count..=most_gpus).step_by(count as usize);
    let even = counts.filter(|gpus| asked.batch.is_multiple_of(*gpus));
    let mut least = even.filter_map(|gpus| least_gib(asked, tuning.method, sheet, gpus));
    least.any(|gib| gib <= sheet.memory_gib)
}

/// Why nothing fits, and what would: the same on more or larger GPUs, or another method on those that were asked for.
pub(super) fn misfit(asked: &ResolvedQuestion, tuning: &Tuning, most_gpus: u32) -> Diagnostic {
    let sheets = || asked.gpus.iter().filter_map(|name| gpu::named(name));
    let Some(largest) = sheets().max_by(|a, b| a.memory_gib.total_cmp(&b.memory_gib)) else {
        return Diagnostic::general("no GPU was asked for");
    };
    let counts = || std::iter::successors(Some(1_u32), |n| n.checked_mul(2));
    let needs = |method, gpus| least_gib(asked, method, largest, gpus);
    let most = counts().take_while(|n| *n <= most_gpus).last().unwrap_or(1);
    let gib = needs(tuning.method, most).unwrap_or(f64::INFINITY);
    let title = format!(
        "`{}` of {} needs {} GiB on {}, and a {} has {}",
        tuning.method,
        asked.model.model,
        figure(gib),
        match most {
            1 => "one GPU".to_owned(),
            more => format!("each of {more} GPUs"),
        },
        largest.name,
        figure(largest.memory_gib),
    );
    let fits = |method, sheet: &GpuSheet, gpus| {
        least_gib(asked, method, sheet, gpus).is_some_and(|gib| gib <= sheet.memory_gib)
    };
    let others = [
        TrainingMethod::Lora(PROPOSED),
        TrainingMethod::Qlora(PROPOSED),
    ];
    let mut would: Vec<String> = Vec::new();
    let other = others
        .into_iter()
        .find(|method| fits(*method, largest, most));
    would.extend(other.map(|method| format!("--train {method} on these")));
    let more = counts()
        .take_while(|n| *n <= 64)
        .find(|n| fits(tuning.method, largest, *n));
    would.extend(more.map(|n| format!("{n} × {} (--most-gpus {n})", largest.name)));
    let rented = gpu::all().iter().filter(|sheet| asked.is_rented(sheet));
    let larger = rented
        .filter(|sheet| sheet.memory_gib > largest.memory_gib && fits(tuning.method, sheet, 1))
        .min_by(|a, b| a.memory_gib.total_cmp(&b.memory_gib));
    would.extend(larger.map(|sheet| format!("one {}", sheet.name)));
    let help = if would.is_empty() {
        "a shorter --sequence, more GPUs (--most-gpus), or a smaller model".to_owned()
    } else {
        format!("what would fit: {}", would.join("; or "))
    };
    Diagnostic::general(title).with_help(help)
}
