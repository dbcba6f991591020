//! Parameters and bytes of the layers of a model on one of the GPUs that share them.

use crate::ReplicaSharing;
use crate::architecture::Architecture;
use crate::runtime::{Attention, Recompute, Runtime};
use crate::tuning::{AdapterTargets, TrainingMethod};

/// Memory of a layer on one GPU, for one sequence.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LayerBytes {
    /// Number of trained parameters.
    pub parameters: u64,
    /// Bytes of frozen parameters.
    pub frozen: u64,
    /// Bytes that are kept for the backward pass.
    pub stored: u64,
    /// Bytes during the backward pass of the layer: everything that it needs, recomputed or kept.
    pub working: u64,
    /// Bytes of its output.
    pub output: u64,
    pub all_reduces: u64,
    /// Parameters of experts, whose gradients fewer replicas reduce.
    pub expert_parameters: u64,
    /// Bytes of keys and values, which replicas that share a sequence gather.
    pub gathered: u64,
    /// Bytes of tokens that are sent to experts, and back.
    pub routed: u64,
}

#[derive(Debug, Clone, Copy)]
pub struct BytesOf {
    pub sequence: f64,
    pub tensor: u32,
    pub sharing: ReplicaSharing,
    pub value_bytes: f64,
    /// Bytes of a value that is kept as the input of a product: 1 if products have 8 bits.
    pub input_bytes: f64,
}

impl BytesOf {
    /// Tokens of a sequence that a replica holds.
    fn tokens(&self) -> f64 {
        self.sequence / f64::from(self.sharing.context)
    }
}

/// A transformer block. With full recomputation only its input is kept; with selective, all except the scores of attention.
/// Source of the counts: Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models, MLSys 2023, there
/// without a gate, with as many key-value heads as heads, and with dropout.
pub fn block(model: &Architecture, layer: u32, runtime: &Runtime, of: BytesOf) -> LayerBytes {
    let BytesOf {
        sequence: whole,
        tensor,
        sharing,
        value_bytes,
        ..
    } = of;
    let sequence = of.tokens();
    let share = 1.0 / f64::from(tensor);
    let hidden = f64::from(model.hidden);
    let outside_share = if runtime.sequence_parallel {
        share
    } else {
        1.0
    };
    let ffn = model.feed_forward(layer);
    let method = runtime.training;
    let per_token = kept_per_token(model, layer, runtime, of);
    let scores = match runtime.attention {
        Attention::Flash => 0.0,
        Attention::Plain => {
            // Scores after the softmax; before and after dropout, with its mask of one byte.
            let each = if model.dropout {
                2.0 * value_bytes + 1.0
            } else {
                value_bytes
            };
            f64::from(model.heads) * share * whole * each
        }
    };
    let output = sequence * hidden * value_bytes;
    let working = sequence * (per_token + scores);
    let stored = match runtime.recompute {
        _ if !method.reaches_block(layer) => 0.0,
        Recompute::None => working,
        Recompute::Selective => sequence * per_token,
        Recompute::Full => output * outside_share,
    };
    let experts = model.expert_parameters(layer) as f64 / f64::from(sharing.expert);
    let (keys, values) = model.attention_widths();
    let kept = match &model.latent {
        None => f64::from(model.kv_heads) * share * (keys + values),
        // All heads are computed from the latent ones.
        Some(latent) => f64::from(latent.kv_rank + latent.rotary),
    };
    let routed = if ffn.count > 1.0 {
        sequence * hidden * value_bytes * ffn.active * outside_share * runtime.capacity_factor
    } else {
        0.0
    };
    let held = model.held_parameters(layer, sharing.expert);
    let (trained, trained_experts) = match method.adapters() {
        Some(adapters) => (adapters.parameters(model, layer) as f64, 0.0),
        None if method.trains_block(layer) => (held, experts),
        None => (0.0, 0.0),
    };
    let frozen = if method.trains_block(layer) {
        0.0
    } else {
        held * method.frozen_bytes(value_bytes)
    };
    LayerBytes {
        parameters: shared(trained.ceil() as u64, tensor),
        frozen: shared(frozen.ceil() as u64, tensor),
        expert_parameters: shared(trained_experts.ceil() as u64, tensor),
        gathered: (whole * kept * value_bytes) as u64,
        routed: routed as u64,
        stored: stored as u64,
        working: working as u64,
        output: output as u64,
        all_reduces: 2,
    }
}

/// Bytes that a block keeps of each token, except the scores of attention: values, and masks of one byte.
fn kept_per_token(model: &Architecture, layer: u32, runtime: &Runtime, of: BytesOf) -> f64 {
    let share = 1.0 / f64::from(of.tensor);
    let outside_share = if runtime.sequence_parallel {
        share
    } else {
        1.0
    };
    let hidden = f64::from(model.hidden) * outside_share;
    let masks = if model.dropout { 2.0 * hidden } else { 0.0 };
    let kept_ffn = match (model.gated, runtime.fused_gate) {
        (false, _) => 2.0,
        (true, false) => 4.0,
        // The output of the gate is recomputed.
        (true, true) => 3.0,
    };
    let (outside, kept_ffn) = match runtime.training.adapters().map(|own| own.targets) {
        // Frozen matrices need no inputs: in the feed-forward part, the normed input and the input of the down projection are dropped.
        Some(AdapterTargets::Attention) => (3.0 * hidden, kept_ffn - 1.0),
        _ => (4.0 * hidden, kept_ffn),
    };
    let ffn = model.feed_forward(layer);
    let widths = ffn.active * ffn.width + ffn.always;
    let inside = model.kept_by_attention() + kept_ffn * widths;
    // The backward pass of attention itself needs the inputs of its product.
    let inputs = 2.0 * hidden + widths * share;
    of.value_bytes * (outside + inside * share) - (of.value_bytes - of.input_bytes) * inputs + masks
}

/// The embedding keeps only its tokens.
pub fn embedding(model: &Architecture, method: TrainingMethod, of: BytesOf) -> LayerBytes {
    let (sequence, value_bytes) = (of.tokens(), of.value_bytes);
    let output = sequence * f64::from(model.hidden) * value_bytes;
    let (parameters, frozen) =
        count_held(model.embedding_parameters(), method.trains_embedding(), of);
    LayerBytes {
        parameters,
        frozen,
        stored: (8.0 * sequence) as u64,
        working: output as u64,
        output: output as u64,
        all_reduces: 0,
        ..LayerBytes::default()
    }
}

/// The head keeps its input and the logits in 32 bits.
pub fn head(model: &Architecture, method: TrainingMethod, of: BytesOf) -> LayerBytes {
    let (sequence, tensor, value_bytes) = (of.tokens(), of.tensor, of.value_bytes);
    let input = sequence * f64::from(model.hidden) * value_bytes;
    let logits = 4.0 * sequence * f64::from(model.vocabulary) / f64::from(tensor);
    let (parameters, frozen) = count_held(model.head_parameters(), method.trains_head(model), of);
    LayerBytes {
        parameters,
        frozen,
        stored: (input + logits) as u64,
        working: (input + logits) as u64,
        output: 0,
        all_reduces: 1,
        ..LayerBytes::default()
    }
}

/// Trained parameters of a layer outside of blocks, and bytes of frozen ones.
fn count_held(parameters: u64, is_trained: bool, of: BytesOf) -> (u64, u64) {
    let own = shared(parameters, of.tensor);
    if is_trained {
        (own, 0)
    } else {
        (0, (own as f64 * of.value_bytes) as u64)
    }
}

fn shared(parameters: u64, tensor: u32) -> u64 {
    parameters.div_ceil(u64::from(tensor))
}
