//! What the training framework does beside computing layers.

/// How a training framework runs a plan. The default is Megatron-DeepSpeed.
#[derive(Debug, Clone, PartialEq)]
pub struct Runtime {
    /// How stages send each other activations and their gradients.
    pub activations: Activations,
    /// Seconds that each such message takes beside its bytes: to cut it among the GPUs of a stage, announce it, put it
    /// together and wait for the host.
    pub message_s: f64,
    /// Whether the host launches passes while the GPU waits for messages, so that these hide behind launches that take longer
    /// than computing.
    pub host_runs_ahead: bool,
    /// Whether gradients are reduced, bucket by bucket, while the last micro-batch still goes backward.
    pub overlap_gradients: bool,
    /// Most bytes of gradients that are reduced at once.
    pub bucket_bytes: f64,
    /// Bytes of a GPU that hold no tensor of the model: context, communicators, what the allocator cannot give.
    pub reserved_bytes: f64,
    /// Room for what is computed right now, in stored activations of the stage's largest layer.
    pub working_layers: f64,
    /// Whether a tensor degree that was not profiled is derived from degree 1 and the all-reduces that it adds.
    pub derive_tensor: bool,
}

/// How stages send each other activations and their gradients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activations {
    /// Both ends wait until it is done, one message after the other: DeepSpeed.
    Serial,
    /// Both ends wait, but messages to and fro pass each other.
    Duplex,
    /// While both ends compute on: what is sent waits only for what was sent before it.
    Overlapped,
}

impl Default for Runtime {
    /// `message_s` is from one plan of two nodes, `reserved_bytes` from one of one node: `docs/model.md` has the errors on all
    /// others. `bucket_bytes` are DeepSpeed's 5 × 10⁸ values of four bytes.
    fn default() -> Self {
        Runtime {
            activations: Activations::Serial,
            message_s: 3.3e-3,
            host_runs_ahead: true,
            overlap_gradients: false,
            bucket_bytes: 2e9,
            reserved_bytes: 4.6e9,
            working_layers: 2.0,
            derive_tensor: false,
        }
    }
}
