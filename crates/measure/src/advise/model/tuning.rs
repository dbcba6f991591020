//! A fine-tuning as requested: what is trained, and on how much data.

use scavsim_base::text::words::{plural, short_figure};
use scavsim_parallel::architecture::Architecture;
use scavsim_parallel::gpu::Precision;
use scavsim_parallel::runtime::Shard;
use scavsim_parallel::tuning::{AdapterTargets, Optimizer, TrainingMethod};
use scavsim_read::input::{Diagnostic, Diagnostics, nearest_or_all};

/// Default runtime.
pub const RUNTIME: &str = "transformers";
/// Default maximum number of GPUs: a VM.
pub const MOST_GPUS: u32 = 8;
/// Default tokens of a sequence, or more if samples are longer: the value in examples of Axolotl and Unsloth.
const SEQUENCE: u32 = 2048;
/// Default sequences of a step. Source: Dettmers et al., QLoRA, NeurIPS 2023, table 9, of 7 and 13 billion parameters.
const BATCH: u32 = 16;

/// The options of a fine-tuning, in addition to the options of any model.
#[derive(Debug, Clone)]
pub struct TuningQuestion {
    /// What is trained, as written: `lora:16`.
    pub train: String,
    /// The optimiser's name; the runtime's by default.
    pub optimizer: Option<String>,
}

/// Samples of a mean length, and how they are packed into sequences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleSet {
    pub samples: u64,
    /// Mean tokens of a sample.
    pub mean_length: u32,
    /// Passes over all samples.
    pub epochs: f64,
    /// Whether each sample is padded to a sequence of its own; otherwise samples are packed one after the other.
    pub is_padded: bool,
}

impl SampleSet {
    /// Number of tokens of all samples, over all passes.
    pub fn tokens(&self) -> f64 {
        self.epochs * self.samples as f64 * f64::from(self.mean_length)
    }

    /// Number of tokens that are computed, padding included.
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

/// The usual tokens of a sequence and sequences of a step for this amount of data, if not given.
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
    /// Lines of `[parallel]` for a runtime with these shards; layers are neither split nor shared.
    pub(super) fn forms(&self, shard: Shard) -> Vec<String> {
        vec![
            format!("train = {:?}", self.method.to_string()),
            format!("optimizer = {:?}", self.optimizer.name()),
            format!("shard = {:?}", shard.name()),
            "pipeline = [1]".to_owned(),
            "tensor = [1]".to_owned(),
        ]
    }

    /// What is trained, and the format of the other weights.
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

/// The amount of training data, and how it becomes sequences.
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
