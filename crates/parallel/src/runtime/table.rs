//! A runtime as written in a file of its own, or in a scenario.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::errors::Errors;
use super::{Activations, Attention, Recompute, Runtime, Shard, StateBytes};
use crate::law::constants::{RUNTIME_CONSTANTS, with_constants};
use scavsim_read::input::Spanned;

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
    /// The value and its spread, by default this one.
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
    pub matmul: Option<KnownConstant>,
    /// What its GPUs reach in fused attention of an Ampere GPU's share of its peak.
    pub attention: Option<KnownConstant>,
}

macro_rules! runtime_table {
    ($($(#[$doc:meta])* $constant:ident $key:ident $power_of_pace:literal,)*) => {
        /// A runtime as it is written: in a file of its own, or as `[parallel.runtime]`. What is absent is as in its base.
        #[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct RuntimeTable {
            /// The runtime that it is like; the usual one when absent.
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
            /// 10⁹ bytes per second at which a GPU encodes messages, and decodes them; needed by `compress`.
            pub coding_gb_per_s: Option<f64>,
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
            $($(#[$doc])* pub $key: Option<KnownConstant>,)*
        }

        impl RuntimeTable {
            /// All constants in their order.
            pub(super) fn constants(&self) -> [Option<KnownConstant>; RUNTIME_CONSTANTS] {
                [$(self.$key,)*]
            }

            pub(super) fn constants_mut(&mut self) -> [&mut Option<KnownConstant>; RUNTIME_CONSTANTS] {
                [$(&mut self.$key,)*]
            }
        }
    };
}

with_constants!(runtime_table);

/// Settings that a table and a runtime share.
macro_rules! plain_settings {
    ($($setting:ident)*) => {
        impl RuntimeTable {
            fn say_plain(&mut self, own: &Runtime) {
                $(self.$setting = Some(own.$setting);)*
            }

            fn plain_over(&self, base: &Runtime) -> Runtime {
                Runtime {
                    $($setting: self.$setting.unwrap_or(base.$setting),)*
                    ..base.clone()
                }
            }
        }
    };
}

plain_settings! {
    activations host_runs_ahead overlap_gradients bucket_bytes reserved_bytes working_layers live_bytes derive_tensor
    recompute shard sequence_parallel fused_gate capacity_factor memory_spread
}

impl RuntimeTable {
    pub(super) fn say_settings(&mut self, own: Runtime, shards: &[Shard], precision: &str) {
        self.say_plain(&own);
        self.attention_kernel = Some(own.attention);
        self.offload_gb_per_s = Some(own.offload_bytes_per_s * 1e-9);
        self.coding_gb_per_s = Some(own.coding_bytes_per_s * 1e-9);
        self.shards = Some(shards.to_vec());
        self.weight_bytes = own.state_bytes.map(|state| state.weights);
        self.gradient_bytes = own.state_bytes.map(|state| state.gradients);
        self.optimizer_bytes = own.state_bytes.map(|state| state.optimizer);
        self.precision = Some(precision.to_owned());
    }

    pub(super) fn figures(&self) -> [(&'static str, Option<f64>); 11] {
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
            ("coding_gb_per_s", self.coding_gb_per_s),
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
        attention: table.attention_kernel.unwrap_or(base.attention),
        offload_bytes_per_s: (table.offload_gb_per_s)
            .map_or(base.offload_bytes_per_s, |rate| rate * 1e9),
        coding_bytes_per_s: (table.coding_gb_per_s)
            .map_or(base.coding_bytes_per_s, |rate| rate * 1e9),
        state_bytes: state,
        ..table.plain_over(base)
    }
}
