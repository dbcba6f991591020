use std::sync::Arc;

/// Floating-point operations of a model, and the peaks that they are held against.
#[derive(Debug, Clone, PartialEq)]
pub struct Flops {
    /// FLOPs of a token, forward and backward, as the architecture has them: none for what is computed again.
    pub per_token: f64,
    /// FLOP/s of a GPU at the precision, by its data sheet, by what kinds of nodes call it.
    pub peaks: Vec<(Arc<str>, f64)>,
}
