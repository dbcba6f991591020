//! What the training framework does in addition to computing layers.

mod errors;
pub mod preset;
mod table;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tuning::{Optimizer, TrainingMethod};

pub use errors::{Errors, PlanForm, PredictedPlan, PredictionUncertainty, Unmeasured};
pub use preset::RuntimePreset;
pub use table::RuntimeTable;

/// How a training framework runs a plan. The default is Megatron-DeepSpeed.
#[derive(Debug, Clone, PartialEq)]
pub struct Runtime {
    pub activations: Activations,
    /// Seconds of each such message in addition to its bytes: to cut, announce and assemble it, and to wait for the host.
    pub message_s: f64,
    /// Whether the host launches passes while the GPU waits for messages, which then hide behind longer launches.
    pub host_runs_ahead: bool,
    /// Whether gradients are reduced, bucket by bucket, while the last micro-batch still goes backward.
    pub overlap_gradients: bool,
    /// Maximum bytes of gradients that are reduced at once.
    pub bucket_bytes: f64,
    /// Bytes of a GPU without tensors of the model: context, communicators, fragmentation of the allocator.
    pub reserved_bytes: f64,
    /// Memory for the current computation, in the bytes that the stage's largest layer needs in its backward pass.
    pub working_layers: f64,
    /// Bytes of gathered weights that stay for their next use, if weights are sharded.
    pub live_bytes: f64,
    /// Whether a tensor degree that was not profiled is derived from degree 1 and the all-reduces that it adds.
    pub derive_tensor: bool,
    pub attention: Attention,
    pub recompute: Recompute,
    pub shard: Shard,
    /// Whether GPUs that share a layer also divide the values between its products: sums become scatters and gathers of as many
    /// bytes. Source: Korthikanti et al., MLSys 2023.
    pub sequence_parallel: bool,
    /// Whether the gate of the feed-forward part is one kernel with the next product, which keeps only its input.
    pub fused_gate: bool,
    /// Capacity of experts in tokens, over the mean; without a capacity, the fullest expert's tokens over the mean.
    pub capacity_factor: f64,
    /// Bytes per second at which a GPU copies activations to the host's memory and back.
    pub offload_bytes_per_s: f64,
    /// Whether all kept activations are copied to the host.
    pub offload: bool,
    /// Compression factor of messages in transit: all-reduces of GPUs that share layers, and messages between stages.
    /// 1: no compression. Source: MCBench (MLSys 2024).
    pub compress: u32,
    /// Bytes of messages per second that a GPU encodes; it decodes as fast.
    pub coding_bytes_per_s: f64,
    /// Bytes per parameter of weights, of gradients and of the optimiser's state; `None`: from the layer profile.
    pub state_bytes: Option<StateBytes>,
    pub step_s: f64,
    pub gather: f64,
    pub hiding: f64,
    /// Standard deviation of the real memory of a GPU around the predicted one, as a fraction.
    pub memory_spread: f64,
    /// The training method of the model.
    pub training: TrainingMethod,
    pub optimizer: Optimizer,
}

impl Runtime {
    /// Bytes of a message in transit, and the seconds of encoding and decoding it.
    pub(crate) fn coded(&self, bytes: f64) -> (f64, f64) {
        if self.compress < 2 {
            return (bytes, 0.0);
        }
        let coding_s = 2.0 * bytes / self.coding_bytes_per_s;
        (bytes / f64::from(self.compress), coding_s)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StateBytes {
    pub weights: f64,
    pub gradients: f64,
    /// Moments, and weights of full precision.
    pub optimizer: f64,
}

/// How stages send each other activations and their gradients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Activations {
    /// Both ends wait until it is done, one message after the other: DeepSpeed.
    Serial,
    /// Both ends wait, but messages to and fro pass each other.
    Duplex,
    /// While both ends compute on: what is sent waits only for what was sent before it.
    Overlapped,
}

/// How attention is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Attention {
    /// Scores go through the memory, and are kept.
    Plain,
    /// Fused: scores stay on the multiprocessors, and are computed again on the way back.
    /// Source: Dao, FlashAttention-2, ICLR 2024.
    Flash,
}

/// What the forward pass does not keep, and the backward pass computes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recompute {
    /// Nothing: all is kept.
    None,
    /// Scores of attention.
    Selective,
    /// All but the input of each block.
    Full,
}

/// What data-parallel replicas hold in parts.
/// Source: Rajbhandari et al., ZeRO, SC 2020.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Shard {
    /// Nothing.
    None,
    /// The optimiser's state: ZeRO-1.
    Optimizer,
    /// Gradients, too: ZeRO-2.
    Gradients,
    /// Weights, too, which are gathered for every pass: ZeRO-3, FSDP.
    Full,
}

impl Default for Runtime {
    /// `message_s` minimises the mean error of 11 pipelines, `reserved_bytes` is from one plan of one node:
    /// `docs/model/plans.md` has the errors on held-out ones. `bucket_bytes` are DeepSpeed's 5 × 10⁸ values of four bytes.
    fn default() -> Self {
        Runtime {
            activations: Activations::Serial,
            message_s: 2.9e-3,
            host_runs_ahead: true,
            overlap_gradients: false,
            bucket_bytes: 2e9,
            reserved_bytes: 4.6e9,
            working_layers: 2.0,
            live_bytes: 0.0,
            derive_tensor: false,
            attention: Attention::Plain,
            recompute: Recompute::None,
            shard: Shard::None,
            sequence_parallel: false,
            fused_gate: false,
            capacity_factor: 1.0,
            offload_bytes_per_s: 0.0,
            offload: false,
            compress: 1,
            coding_bytes_per_s: 0.0,
            state_bytes: None,
            step_s: 0.0,
            gather: 1.0,
            hiding: 1.0,
            memory_spread: 0.0,
            training: TrainingMethod::Full,
            optimizer: Optimizer::AdamW,
        }
    }
}

scavsim_base::named!(Recompute: None = "none", Selective = "selective", Full = "full");
scavsim_base::named!(Shard: None = "none", Optimizer = "optimizer", Gradients = "gradients", Full = "full");
