//! What a stage holds.

use super::profile::Weights;
use super::{LayerProfile, Runtime};

/// Bytes of a GiB.
pub const GIB: f64 = 1_073_741_824.0;

/// Most bytes on one GPU of a stage: parameters, their gradients and optimiser state, the activations of `held` sequences in
/// flight, room for the largest layer that is computed with `micro_batch` sequences, and what the framework reserves.
pub fn stage_bytes(
    profile: &LayerProfile,
    runtime: &Runtime,
    weights: &Weights,
    (first, last): (u32, u32),
    held: f64,
    micro_batch: f64,
) -> f64 {
    let per_parameter = 2.0 * profile.bytes_per_value + profile.optimizer_bytes;
    let state = weights.parameters(first, last) as f64 * per_parameter;
    let stored = weights.stored_bytes(first, last) as f64 * held;
    let working = weights.largest_bytes(first, last) as f64 * micro_batch * runtime.working_layers;
    state + stored + working + runtime.reserved_bytes
}

/// Bytes of a checkpoint: parameters and optimiser state of the whole model, once.
pub fn checkpoint_bytes(profile: &LayerProfile) -> u64 {
    let per_parameter = profile.bytes_per_value + profile.optimizer_bytes;
    (profile.parameters as f64 * per_parameter) as u64
}
