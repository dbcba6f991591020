use crate::profile::Weights;
use crate::runtime::{Shard, StateBytes};
use crate::tuning::{EIGHT_BIT_MOMENTS_BYTES, Optimizer};
use crate::{LayerProfile, Runtime, TrainingMethod};

pub const GIB: f64 = 1_073_741_824.0;

/// Normal quantile of the ends of a 90 % interval.
const NINETY: f64 = 1.645;

/// The load of a GPU of a stage.
#[derive(Debug, Clone, Copy)]
pub struct StageLoad<'a> {
    /// First and last layers of its virtual stages, each with the number of sequences whose activations are kept at once.
    pub parts: &'a [((u32, u32), f64)],
    pub micro_batch: f64,
    pub data: u32,
}

/// Maximum bytes on one GPU of a stage: trained parameters, their gradients and optimiser state, and frozen ones (sharding
/// leaves each replica a part of these); the activations of the sequences in flight; space for the largest computed layer,
/// gathered if it is sharded; and the framework's reserve.
pub fn stage_bytes(
    profile: &LayerProfile,
    runtime: &Runtime,
    weights: &Weights,
    held: &StageLoad<'_>,
) -> f64 {
    let layers = || held.parts.iter().map(|part| part.0);
    let most = |of: &dyn Fn(u32, u32) -> u64| {
        layers()
            .map(|(first, last)| of(first, last))
            .max()
            .unwrap_or(0) as f64
    };
    let state = state_bytes(profile, runtime);
    let part = |from: Shard| {
        if runtime.shard >= from {
            1.0 / f64::from(held.data)
        } else {
            1.0
        }
    };
    let per_parameter = state.weights * part(Shard::Full)
        + state.gradients * part(Shard::Gradients)
        + state.optimizer * part(Shard::Optimizer);
    let parameters: u64 = layers()
        .map(|(first, last)| weights.parameters(first, last))
        .sum();
    let frozen: u64 = layers()
        .map(|(first, last)| weights.frozen_bytes(first, last))
        .sum();
    let state_held = parameters as f64 * per_parameter + frozen as f64 * part(Shard::Full);
    let gathered = if runtime.shard == Shard::Full {
        let per_trained = state.weights + state.gradients;
        most(&|first, last| weights.largest_weight_bytes(first, last, per_trained))
            * runtime.working_layers
            + runtime.live_bytes
    } else {
        0.0
    };
    // With activations on the host, a GPU holds those of the current micro-batch and of the one that is sent.
    let most_kept = if runtime.offload {
        2.0 * held.micro_batch
    } else {
        f64::INFINITY
    };
    let kept = held.parts.iter();
    let stored: f64 = kept
        .map(|((first, last), sequences)| {
            weights.stored_bytes(*first, *last) as f64 * sequences.min(most_kept)
        })
        .sum();
    let working = most(&|first, last| weights.largest_bytes(first, last))
        * held.micro_batch
        * runtime.working_layers;
    state_held + gathered + stored + working + runtime.reserved_bytes
}

fn state_bytes(profile: &LayerProfile, runtime: &Runtime) -> StateBytes {
    let usual = runtime.state_bytes.unwrap_or(StateBytes {
        weights: profile.bytes_per_value,
        gradients: profile.bytes_per_value,
        optimizer: profile.optimizer_bytes,
    });
    trained_bytes(runtime.training, runtime.optimizer, usual)
}

/// Bytes per trained parameter, given the runtime's usual number. Adapters have 32 bits with their gradients and two moments,
/// and one copy while the optimiser steps over all of them at once.
pub(crate) fn trained_bytes(
    method: TrainingMethod,
    optimizer: Optimizer,
    usual: StateBytes,
) -> StateBytes {
    let full = match method.adapters() {
        Some(_) => StateBytes {
            weights: 4.0,
            gradients: 4.0,
            optimizer: 12.0,
        },
        None => usual,
    };
    match optimizer {
        Optimizer::AdamW => full,
        Optimizer::AdamW8Bit => StateBytes {
            gradients: full.gradients.min(full.weights),
            optimizer: EIGHT_BIT_MOMENTS_BYTES,
            ..full
        },
    }
}

/// Minimum and maximum bytes of 90 % of GPUs with this predicted number.
pub fn interval(runtime: &Runtime, counted: f64) -> (f64, f64) {
    let off = NINETY * runtime.memory_spread;
    (counted * (1.0 - off).max(0.0), counted * (1.0 + off))
}

/// Bytes of a checkpoint: parameters and optimiser state of the whole model, once.
pub fn checkpoint_bytes(profile: &LayerProfile, runtime: &Runtime) -> u64 {
    let state = state_bytes(profile, runtime);
    (profile.parameters as f64 * (state.weights + state.optimizer)) as u64
}
