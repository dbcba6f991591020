//! What the training framework does beside computing layers.

/// How a training framework runs a plan. The default is Megatron-DeepSpeed.
#[derive(Debug, Clone, PartialEq)]
pub struct Runtime {
    /// Whether gradients are reduced while the last micro-batch goes backward.
    pub overlap_gradients: bool,
    /// Whether activations are sent while the next micro-batch computes.
    pub overlap_activations: bool,
}

impl Default for Runtime {
    fn default() -> Self {
        Runtime {
            overlap_gradients: false,
            overlap_activations: false,
        }
    }
}
