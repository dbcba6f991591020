//! A runtime as it is written: in a file of its own, or in a scenario.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::errors::Errors;
use super::{Activations, Attention, Recompute, Runtime, Shard, StateBytes};
use crate::law::constants::RUNTIME_CONSTANTS;

/// A constant: its value, or its value and the standard deviation of its logarithm.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number, or a number and its spread")]
pub enum KnownConstant {
    /// The value.
    Value(f64),
    /// The median and the spread.
    Spread([f64; 2]),
}

impl KnownConstant {
    /// The value and its spread, this one where none is said.
    pub(super) fn pair(self, spread: f64) -> (f64, f64) {
        match self {
            KnownConstant::Value(value) => (value, spread),
            KnownConstant::Spread([value, spread]) => (value, spread),
        }
    }
}

/// Factors of a generation of GPUs.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GenerationTable {
    /// What its GPUs reach in products of an Ampere GPU's share of its peak.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matmul: Option<KnownConstant>,
    /// What its GPUs reach in fused attention of an Ampere GPU's share of its peak.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attention: Option<KnownConstant>,
}

macro_rules! runtime_table {
    ($($(#[$doc:meta])* $constant:ident,)*) => {
        /// A runtime as it is written: in a file of its own, or as `[parallel.runtime]`. What is absent is as in its base.
        #[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct RuntimeTable {
            /// The runtime that it is like; the usual one when absent.
            #[schemars(with = "Option<String>")]
            #[serde(skip_serializing)]
            pub base: Option<Spanned<String>>,
            /// What it is, for people.
            pub description: Option<String>,
            /// Where its constants are from.
            pub source: Option<String>,
            /// How stages send each other activations.
            pub activations: Option<Activations>,
            /// Whether the host launches passes while the GPU waits for messages.
            pub host_runs_ahead: Option<bool>,
            /// Whether gradients are reduced while the last micro-batch goes backward.
            pub overlap_gradients: Option<bool>,
            /// Most bytes of gradients that are reduced at once.
            pub bucket_bytes: Option<f64>,
            /// Bytes of a GPU that hold no tensor of the model.
            pub reserved_bytes: Option<f64>,
            /// Room for what is computed right now, in what the largest layer needs.
            pub working_layers: Option<f64>,
            /// Bytes of gathered weights that stay for their next use, where weights are in shards; 0 when absent.
            pub live_bytes: Option<f64>,
            /// Whether a tensor degree that was not profiled is derived from degree 1.
            pub derive_tensor: Option<bool>,
            /// How attention is computed.
            pub attention_kernel: Option<Attention>,
            /// What the backward pass computes again.
            pub recompute: Option<Recompute>,
            /// What replicas hold in parts.
            pub shard: Option<Shard>,
            /// Whether GPUs that share a layer also share what lies between its products.
            pub sequence_parallel: Option<bool>,
            /// Whether the gate of the feed-forward part is one kernel, which keeps what it reads alone.
            pub fused_gate: Option<bool>,
            /// Tokens that experts are given room for, over the mean; 1 when absent.
            pub capacity_factor: Option<f64>,
            /// 10⁹ bytes per second at which a GPU hands activations to the host and takes them back; needed by `offload`.
            pub offload_gb_per_s: Option<f64>,
            /// Sharding that it can do; any when absent.
            pub shards: Option<Vec<Shard>>,
            /// Bytes per parameter of the weights that are computed with.
            pub weight_bytes: Option<f64>,
            /// Bytes per parameter of gradients.
            pub gradient_bytes: Option<f64>,
            /// Bytes per parameter of the optimiser's state.
            pub optimizer_bytes: Option<f64>,
            /// Standard deviation of what a GPU really holds around what is counted, as a fraction.
            pub memory_spread: Option<f64>,
            /// Precision: fp32, tf32, fp16, bf16 or fp8.
            pub precision: Option<String>,
            /// What GPUs of a generation reach of an Ampere GPU's shares.
            pub generations: std::collections::BTreeMap<String, GenerationTable>,
            /// How far predicted steps are off.
            pub errors: Option<Errors>,
            /// Hash (BLAKE3) of the table of runs that constants and errors are fitted to; those runs are judged from its base.
            pub fitted_to: Option<String>,
            $($(#[$doc])* pub $constant: Option<KnownConstant>,)*
        }

        impl RuntimeTable {
            /// All constants in their order.
            pub(super) fn constants(&self) -> [Option<KnownConstant>; RUNTIME_CONSTANTS] {
                [$(self.$constant,)*]
            }

            pub(super) fn constants_mut(&mut self) -> [&mut Option<KnownConstant>; RUNTIME_CONSTANTS] {
                [$(&mut self.$constant,)*]
            }
        }
    };
}

runtime_table! {
    /// Share of the peak that large matrix products reach on an Ampere GPU.
    matmul,
    /// Loss by a short inner dimension k of a product: the share is over 1 + `inner` 100/k + `few` 100/m.
    inner,
    /// Loss by few rows m of a product.
    few,
    /// Power of the share of multiprocessors that the last tiles of a product keep busy.
    tile,
    /// Share of the peak that fused attention reaches on an Ampere GPU.
    attention,
    /// Share of the memory's bandwidth.
    memory,
    /// Passes over memory beside products, as a multiple of those counted.
    passes,
    /// Seconds in which the host launches the forward pass of a block.
    launch_s,
    /// Seconds that it takes beside where tensor parallelism adds kernels.
    tensor_launch_s,
    /// Share of one direction of the link between GPUs of a node that collectives reach.
    link,
    /// Seconds of a collective inside a node beside its bytes.
    link_s,
    /// Share of a node's network that transfers reach.
    network,
    /// Seconds of a transfer between nodes beside its bytes.
    network_s,
    /// Seconds of gathering shards that count, as a multiple of those counted.
    gather,
    /// Norm by which computing and gathering shards add up.
    hiding,
    /// Passes over memory of the optimiser, as a multiple of those counted.
    optimizer,
    /// Seconds of a step that neither the model nor the plan explains.
    step_s,
    /// Seconds of a message between stages beside its bytes.
    message_s,
    /// Seconds that the host takes beside to launch the forward pass of a block's adapters.
    adapter_launch_s,
    /// Seconds that the host takes beside to launch the forward pass of a block whose weights are in shards.
    shard_launch_s,
    /// Passes over memory of unpacking 4-bit weights, as a multiple of reading and writing them once.
    unpack,
    /// What products of 8 bits reach of the share of their peak that products of 16 bits reach.
    fp8,
    /// Seconds of everything, as a multiple of what published runs take.
    pace,
}

impl RuntimeTable {
    pub(super) fn say_settings(&mut self, own: Runtime, shards: &[Shard], precision: &str) {
        self.activations = Some(own.activations);
        self.host_runs_ahead = Some(own.host_runs_ahead);
        self.overlap_gradients = Some(own.overlap_gradients);
        self.bucket_bytes = Some(own.bucket_bytes);
        self.reserved_bytes = Some(own.reserved_bytes);
        self.working_layers = Some(own.working_layers);
        self.live_bytes = Some(own.live_bytes);
        self.derive_tensor = Some(own.derive_tensor);
        self.attention_kernel = Some(own.attention);
        self.recompute = Some(own.recompute);
        self.shard = Some(own.shard);
        self.sequence_parallel = Some(own.sequence_parallel);
        self.fused_gate = Some(own.fused_gate);
        self.capacity_factor = Some(own.capacity_factor);
        self.offload_gb_per_s = Some(own.offload_bytes_per_s * 1e-9);
        self.shards = Some(shards.to_vec());
        self.weight_bytes = own.state_bytes.map(|state| state.weights);
        self.gradient_bytes = own.state_bytes.map(|state| state.gradients);
        self.optimizer_bytes = own.state_bytes.map(|state| state.optimizer);
        self.memory_spread = Some(own.memory_spread);
        self.precision = Some(precision.to_owned());
    }

    pub(super) fn figures(&self) -> [(&'static str, Option<f64>); 10] {
        [
            ("bucket_bytes", self.bucket_bytes),
            ("reserved_bytes", self.reserved_bytes),
            ("working_layers", self.working_layers),
            ("live_bytes", self.live_bytes),
            ("weight_bytes", self.weight_bytes),
            ("gradient_bytes", self.gradient_bytes),
            ("optimizer_bytes", self.optimizer_bytes),
            ("memory_spread", self.memory_spread),
            ("capacity_factor", self.capacity_factor),
            ("offload_gb_per_s", self.offload_gb_per_s),
        ]
    }
}

pub(super) fn settings(table: &RuntimeTable, base: &Runtime) -> Runtime {
    let state = match (
        table.weight_bytes,
        table.gradient_bytes,
        table.optimizer_bytes,
    ) {
        (None, None, None) => base.state_bytes,
        (weights, gradients, optimizer) => {
            let known = base.state_bytes.unwrap_or(StateBytes {
                weights: 4.0,
                gradients: 4.0,
                optimizer: 8.0,
            });
            Some(StateBytes {
                weights: weights.unwrap_or(known.weights),
                gradients: gradients.unwrap_or(known.gradients),
                optimizer: optimizer.unwrap_or(known.optimizer),
            })
        }
    };
    Runtime {
        activations: table.activations.unwrap_or(base.activations),
        host_runs_ahead: table.host_runs_ahead.unwrap_or(base.host_runs_ahead),
        overlap_gradients: table.overlap_gradients.unwrap_or(base.overlap_gradients),
        bucket_bytes: table.bucket_bytes.unwrap_or(base.bucket_bytes),
        reserved_bytes: table.reserved_bytes.unwrap_or(base.reserved_bytes),
        working_layers: table.working_layers.unwrap_or(base.working_layers),
        live_bytes: table.live_bytes.unwrap_or(base.live_bytes),
        derive_tensor: table.derive_tensor.unwrap_or(base.derive_tensor),
        attention: table.attention_kernel.unwrap_or(base.attention),
        recompute: table.recompute.unwrap_or(base.recompute),
        shard: table.shard.unwrap_or(base.shard),
        sequence_parallel: table.sequence_parallel.unwrap_or(base.sequence_parallel),
        fused_gate: table.fused_gate.unwrap_or(base.fused_gate),
        capacity_factor: table.capacity_factor.unwrap_or(base.capacity_factor),
        offload_bytes_per_s: (table.offload_gb_per_s)
            .map_or(base.offload_bytes_per_s, |rate| rate * 1e9),
        state_bytes: state,
        memory_spread: table.memory_spread.unwrap_or(base.memory_spread),
        ..base.clone()
    }
}
