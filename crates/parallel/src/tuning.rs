//! Fine-tuning: which parameters of a model are trained, and the format of the others.

use std::fmt;

use crate::Architecture;

/// Bytes of a parameter in 4 bits: one constant of 8 bits for each block of 64, and one of 32 bits for each 256 of those.
/// Source: Dettmers et al., QLoRA, NeurIPS 2023, section 3.
pub const FOUR_BIT_BYTES: f64 = (4.0 + 8.0 / 64.0 + 32.0 / (64.0 * 256.0)) / 8.0;
/// Bytes of both moments of a parameter in 8 bits: a constant of 32 bits for each block of 256 values.
/// Source: Dettmers et al., 8-bit Optimizers via Block-wise Quantization, ICLR 2022.
pub const EIGHT_BIT_MOMENTS_BYTES: f64 = 2.0 * (8.0 + 32.0 / 256.0) / 8.0;

/// The training method of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TrainingMethod {
    #[default]
    Full,
    /// Low-rank adapters next to frozen matrices. Source: Hu et al., LoRA, ICLR 2022.
    Lora(Adapters),
    /// Low-rank adapters next to matrices in 4 bits, which are unpacked for every pass. Source: Dettmers et al., QLoRA,
    /// NeurIPS 2023.
    Qlora(Adapters),
    /// Everything except the embedding and this number of first blocks.
    Frozen(u32),
}

/// A pair of matrices next to each of some matrices of a block: inner dimension × rank, and rank × columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Adapters {
    pub rank: u32,
    pub targets: AdapterTargets,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdapterTargets {
    /// All matrices of blocks; neither embedding nor head.
    Linear,
    /// Queries, keys, values and output of attention.
    Attention,
}

scavsim_base::named!(AdapterTargets: Linear = "linear", Attention = "attention");

/// The format of the optimiser's moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Optimizer {
    /// Moments of 32 bits and a 32-bit copy of the weights, or the runtime's own format.
    AdamW,
    /// Moments of 8 bits, and no copy of the weights.
    AdamW8Bit,
}

scavsim_base::named!(Optimizer: AdamW = "adamw", AdamW8Bit = "adamw-8bit");

/// A word that names no method, or an impossible one for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImpossibleMethod {
    pub title: String,
    pub help: String,
}

/// Default rank of adapters.
pub const USUAL_RANK: u32 = 16;

const LEGAL: &str = "allowed here: full; lora, qlora, lora:RANK and qlora:RANK, with adapters of rank 16 or RANK beside all matrices of blocks, or lora:16:attention; \
                     frozen:BLOCKS, like frozen:24";

impl TrainingMethod {
    /// Parses a method, like `lora:16`, for a model.
    pub fn read(word: &str, model: &Architecture) -> Result<TrainingMethod, ImpossibleMethod> {
        let impossible = |title: String, help: &str| ImpossibleMethod {
            title,
            help: help.to_owned(),
        };
        let unknown = || impossible(format!("unknown method of training `{word}`"), LEGAL);
        let parts: Vec<&str> = word.split(':').collect();
        let count = |text: &str| text.parse::<u32>().map_err(|_| unknown());
        let method = match parts[..] {
            ["full"] => TrainingMethod::Full,
            ["frozen", blocks] => TrainingMethod::Frozen(count(blocks)?),
            [method @ ("lora" | "qlora"), ref rank_and_targets @ ..] => {
                let (rank, targets) = match rank_and_targets {
                    [] => (USUAL_RANK, &[][..]),
                    [rank, targets @ ..] => (count(rank)?, targets),
                };
                let targets = match targets {
                    [] => AdapterTargets::Linear,
                    [name] => AdapterTargets::named(name).ok_or_else(unknown)?,
                    _ => return Err(unknown()),
                };
                let adapters = Adapters { rank, targets };
                if method == "lora" {
                    TrainingMethod::Lora(adapters)
                } else {
                    TrainingMethod::Qlora(adapters)
                }
            }
            _ => return Err(unknown()),
        };
        match method {
            TrainingMethod::Frozen(blocks) if blocks > model.layers => Err(impossible(
                format!("`{word}`: {} has {} blocks", model.model, model.layers),
                "freeze at most as many blocks as there are",
            )),
            TrainingMethod::Lora(of) | TrainingMethod::Qlora(of)
                if !(1..=model.hidden).contains(&of.rank) =>
            {
                Err(impossible(
                    format!("`{word}`: a rank of {} makes no adapter", of.rank),
                    &format!(
                        "expected a rank from 1 to the {} values of the hidden width; 8 to 64 are usual",
                        model.hidden
                    ),
                ))
            }
            legal => Ok(legal),
        }
    }

    pub fn adapters(self) -> Option<Adapters> {
        match self {
            TrainingMethod::Lora(adapters) | TrainingMethod::Qlora(adapters) => Some(adapters),
            TrainingMethod::Full | TrainingMethod::Frozen(_) => None,
        }
    }

    /// Whether the matrices of a block are trained themselves.
    pub fn trains_block(self, block: u32) -> bool {
        match self {
            TrainingMethod::Full => true,
            TrainingMethod::Frozen(blocks) => block >= blocks,
            TrainingMethod::Lora(_) | TrainingMethod::Qlora(_) => false,
        }
    }

    /// Whether a block goes backward: it, or something before it, is trained.
    pub fn reaches_block(self, block: u32) -> bool {
        self.adapters().is_some() || self.trains_block(block)
    }

    pub fn trains_embedding(self) -> bool {
        self == TrainingMethod::Full
    }

    pub fn trains_head(self, model: &Architecture) -> bool {
        match self {
            TrainingMethod::Full => true,
            TrainingMethod::Frozen(_) => !model.tied,
            TrainingMethod::Lora(_) | TrainingMethod::Qlora(_) => false,
        }
    }

    /// Bytes of a frozen parameter of a block, for values of `value_bytes` bytes.
    pub fn frozen_bytes(self, value_bytes: f64) -> f64 {
        match self {
            TrainingMethod::Qlora(_) => FOUR_BIT_BYTES,
            _ => value_bytes,
        }
    }

    /// Number of trained parameters.
    pub fn trained_parameters(self, model: &Architecture) -> u64 {
        let of_block = |block: u32| match self.adapters() {
            Some(adapters) => adapters.parameters(model, block),
            None if self.trains_block(block) => model.block_parameters(block),
            None => 0,
        };
        let mut all: u64 = (0..model.layers).map(of_block).sum();
        if self.trains_embedding() {
            all += model.embedding_parameters();
        }
        if self.trains_head(model) {
            all += model.head_parameters();
        }
        all
    }

    /// FLOPs of a token of a step, without recomputation: of the six per active parameter, two are for gradients of weights,
    /// which frozen ones do not have; blocks without trained parameters in them or before them only go forward.
    pub fn token_flops(self, model: &Architecture, sequence: f64) -> f64 {
        let whole = model.token_flops(sequence);
        let products = 6.0 * model.active_parameters() as f64;
        let head = f64::from(model.hidden) * f64::from(model.vocabulary);
        let scores = whole - products;
        match self {
            TrainingMethod::Full => whole,
            TrainingMethod::Lora(_) | TrainingMethod::Qlora(_) => {
                let adapters = self.trained_parameters(model) as f64;
                whole - products / 3.0 + 6.0 * adapters
            }
            TrainingMethod::Frozen(blocks) => {
                let share = f64::from(blocks) / f64::from(model.layers);
                let frozen = share * (products - 6.0 * head + scores);
                let of_head = if self.trains_head(model) { 0.0 } else { 2.0 };
                whole - frozen * 2.0 / 3.0 - of_head * head
            }
        }
    }
}

impl Adapters {
    pub fn parameters(self, model: &Architecture, block: u32) -> u64 {
        let matrices = model.adapted_matrices(block, self.targets);
        let each = matrices.iter().map(|of| of.count * (of.inner + of.columns));
        u64::from(self.rank) * each.sum::<u64>()
    }
}

impl fmt::Display for TrainingMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, adapters) = match self {
            TrainingMethod::Full => return f.write_str("full"),
            TrainingMethod::Frozen(blocks) => return write!(f, "frozen:{blocks}"),
            TrainingMethod::Lora(adapters) => ("lora", adapters),
            TrainingMethod::Qlora(adapters) => ("qlora", adapters),
        };
        write!(f, "{name}:{}", adapters.rank)?;
        match adapters.targets {
            AdapterTargets::Linear => Ok(()),
            AdapterTargets::Attention => write!(f, ":{}", adapters.targets.name()),
        }
    }
}

#[cfg(test)]
mod tests;
