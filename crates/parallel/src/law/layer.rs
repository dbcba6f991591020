//! Seconds of the layers of a model on one of the GPUs that share them.

use super::kernels::Kernels;
use super::shape::Shape;
use super::tuning::tuned_seconds;
use crate::architecture::Architecture;
use crate::runtime::{Attention, Recompute, Runtime};
use crate::tuning::TrainingMethod;

/// Bytes of memory passes per value of the hidden width: normalising and adding, forward.
const WIDTH_PASSES: f64 = 12.0;
/// Passes over each value of the feed-forward width, and the additional ones of a gate.
const FFN_PASSES: f64 = 3.0;
const GATE_PASSES: f64 = 1.5;
/// Passes over each score of attention without fusion: scaling, masking, softmax, dropout.
const SCORE_PASSES: f64 = 7.0;
/// Passes over each value that is sent to an expert and back.
const ROUTE_PASSES: f64 = 4.0;
/// Passes over 32-bit values of the logits.
const LOGIT_PASSES: f64 = 2.0;
/// Compute of a backward pass, in forward passes: the gradients of both factors of each product.
const BACKWARD: f64 = 2.0;
/// Fused attention recomputes its scores in the backward pass: five products instead of two.
const FUSED_BACKWARD: f64 = 2.5;
/// Launching time of the backward pass, relative to the forward pass.
const LAUNCH_BACKWARD: f64 = 1.5;
/// Bytes of optimiser state, gradients and parameters that an update reads and writes per parameter.
const UPDATE_BYTES: f64 = 20.0;

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LayerSeconds {
    pub forward: f64,
    /// Backward, including recomputation.
    pub backward: f64,
    /// Applying the gradients of all its parameters on the GPU.
    pub update: f64,
    /// The part of `backward` that computes the gradients of weights.
    pub weights: f64,
    /// The part of both passes in which GPUs that share the layer sum their results.
    pub communication: f64,
}

/// A transformer block: its products, attention and passes over memory, at least the host's launching time; with tensor
/// parallelism two all-reduces each way.
pub fn block(
    model: &Architecture,
    layer: u32,
    runtime: &Runtime,
    kernels: &Kernels<'_>,
    shape: Shape,
) -> LayerSeconds {
    let (products, beside) = products(model, layer, runtime, kernels, shape);
    let (scores, fused) = scores(model, runtime, kernels, shape);
    let method = runtime.training;
    let tuned = tuned_seconds(model, layer, method, kernels, shape);
    let is_trained = method.trains_block(layer);
    let launch = kernels.launch_s(shape.tensor, runtime.shard) + tuned.launch;
    let reducing = if shape.tensor > 1 {
        2.0 * shape.all_reduce_s
    } else {
        0.0
    };
    let plain = products + beside;
    let forward = kernels.launched_s(plain + scores + tuned.forward, launch) + reducing;
    if !method.reaches_block(layer) {
        return LayerSeconds {
            forward,
            communication: reducing,
            ..LayerSeconds::default()
        };
    }
    let attention_back = if fused { FUSED_BACKWARD } else { BACKWARD };
    // One of the two backward products for each product with weights.
    let weights = if is_trained { products } else { tuned.weights };
    let needless = if is_trained { 0.0 } else { products };
    let computed = BACKWARD * plain - needless + attention_back * scores + tuned.backward;
    let trained = match method.adapters() {
        Some(adapters) => adapters.parameters(model, layer) as f64,
        None => model.held_parameters(layer, shape.sharing.expert),
    };
    let (again, passes) = match runtime.recompute {
        Recompute::None => (0.0, 2.0),
        Recompute::Selective => (scores, 2.0),
        Recompute::Full => (forward, 3.0),
    };
    LayerSeconds {
        forward,
        backward: kernels.launched_s(computed, LAUNCH_BACKWARD * launch) + reducing + again,
        update: kernels.optimizer_s(UPDATE_BYTES * trained) * shape.share(),
        weights,
        communication: passes * reducing,
    }
}

fn products(
    model: &Architecture,
    layer: u32,
    runtime: &Runtime,
    kernels: &Kernels<'_>,
    shape: Shape,
) -> (f64, f64) {
    let (n, share) = (shape.tokens(), shape.share());
    let hidden = f64::from(model.hidden);
    let mut seconds = 0.0;
    let mut cast = 0.0;
    for (inner, columns) in model.attention_products(share) {
        seconds += kernels.product_s(n, inner, columns);
        cast += inner;
    }
    let ffn = model.feed_forward(layer);
    let gates = if model.gated { 2.0 } else { 1.0 };
    // Replicas that share experts exchange tokens: each keeps its number of tokens, for fewer experts. Buffers larger than
    // the mean, or the fullest expert without buffers, decide.
    let (here, of) = if ffn.count > 1.0 {
        let shared = f64::from(shape.sharing.expert);
        (ffn.count / shared, shared * runtime.capacity_factor)
    } else {
        (ffn.count, 1.0)
    };
    let per_expert = n * ffn.active / ffn.count * of;
    let one = kernels.product_s(per_expert, hidden, gates * ffn.width * share)
        + kernels.product_s(per_expert, ffn.width * share, hidden);
    seconds += here * one;
    if ffn.always > 0.0 {
        seconds += kernels.product_s(n, hidden, gates * ffn.always * share)
            + kernels.product_s(n, ffn.always * share, hidden);
    }
    let mut passes = FFN_PASSES;
    if model.gated {
        passes += GATE_PASSES;
    }
    let outside = if runtime.sequence_parallel {
        WIDTH_PASSES * share
    } else {
        WIDTH_PASSES
    };
    let mut values = outside * hidden + passes * (ffn.active * ffn.width + ffn.always) * share;
    if ffn.count > 1.0 {
        values += ROUTE_PASSES * hidden * ffn.active;
    }
    cast += hidden + (ffn.active * ffn.width + ffn.always) * share;
    let bytes = values * kernels.value_bytes() + cast * kernels.cast_bytes();
    (seconds, kernels.passes_s(n * bytes))
}

/// Seconds of attention between queries, keys and values, and whether it is fused.
fn scores(
    model: &Architecture,
    runtime: &Runtime,
    kernels: &Kernels<'_>,
    shape: Shape,
) -> (f64, bool) {
    let (s, heads) = (
        shape.sequence,
        shape.micro_batch * f64::from(model.heads) * shape.share(),
    );
    // Queries of its own part of the sequence, with all keys: parts are dealt so that each replica has equally many.
    let own = s / f64::from(shape.sharing.context);
    let (keys, values) = model.attention_widths();
    match runtime.attention {
        Attention::Flash => {
            let seen = if model.causal { 0.5 } else { 1.0 };
            let flops = 2.0 * heads * own * s * (keys + values) * seen;
            (kernels.attention_s(flops), true)
        }
        Attention::Plain => {
            let kernels = kernels.wide();
            let products =
                kernels.products_s(heads, own, keys, s) + kernels.products_s(heads, own, s, values);
            let bytes = SCORE_PASSES * heads * own * s * kernels.value_bytes();
            (products + kernels.passes_s(bytes), false)
        }
    }
}

/// The embedding: one pass forward and two backward.
pub fn embedding(
    model: &Architecture,
    method: TrainingMethod,
    kernels: &Kernels<'_>,
    shape: Shape,
) -> LayerSeconds {
    let bytes = shape.tokens() * f64::from(model.hidden) * 4.0 * kernels.value_bytes();
    let forward = kernels.passes_s(bytes);
    if !method.trains_embedding() {
        return LayerSeconds {
            forward,
            ..LayerSeconds::default()
        };
    }
    LayerSeconds {
        forward,
        backward: BACKWARD * forward,
        update: kernels.optimizer_s(UPDATE_BYTES * model.embedding_parameters() as f64)
            * shape.share(),
        // Its backward pass computes nothing else.
        weights: BACKWARD * forward,
        communication: 0.0,
    }
}

/// The head with the loss: the product with the vocabulary, never in 8 bits, and passes over the logits in 32 bits.
pub fn head(
    model: &Architecture,
    method: TrainingMethod,
    kernels: &Kernels<'_>,
    shape: Shape,
) -> LayerSeconds {
    let (n, columns) = (shape.tokens(), f64::from(model.vocabulary) * shape.share());
    let product = (kernels.wide()).product_s(n, f64::from(model.hidden), columns);
    let computed = product + kernels.passes_s(LOGIT_PASSES * 4.0 * n * columns);
    let reducing = if shape.tensor > 1 {
        shape.all_reduce_s
    } else {
        0.0
    };
    let (weights, parameters) = if method.trains_head(model) {
        (product, model.head_parameters())
    } else {
        (0.0, 0)
    };
    LayerSeconds {
        forward: computed + reducing,
        backward: BACKWARD * computed - (product - weights),
        update: kernels.optimizer_s(UPDATE_BYTES * parameters as f64) * shape.share(),
        weights,
        communication: reducing,
    }
}
