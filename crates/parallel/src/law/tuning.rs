//! Effects of adapters and frozen weights on the seconds of a block.

use super::kernels::{Kernels, TILE};
use super::shape::Shape;
use crate::Architecture;
use crate::tuning::{AdapterTargets, Adapters, FOUR_BIT_BYTES, TrainingMethod};

/// Passes over each input value and each output value of an adapted matrix: forward dropout of the input (a read and a
/// write), scaling (two) and adding (three) of the output.
const FORWARD_PASSES: (f64, f64) = (2.0, 5.0);
/// Passes backward: dropout and adding of the input's gradient, scaling of the output's gradient.
const BACKWARD_PASSES: (f64, f64) = (5.0, 2.0);

/// Equal matrices of a block that may have adapters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AdaptedMatrices {
    pub(crate) count: u64,
    pub(crate) inner: u64,
    pub(crate) columns: u64,
    /// Number of them for each one that a token uses.
    of: u64,
}

impl Architecture {
    /// Matrices of a block as frameworks name them: queries, keys and values are three.
    pub(crate) fn adapted_matrices(
        &self,
        block: u32,
        targets: AdapterTargets,
    ) -> Vec<AdaptedMatrices> {
        let one = |inner: f64, columns: f64| AdaptedMatrices {
            count: 1,
            inner: inner as u64,
            columns: columns as u64,
            of: 1,
        };
        let hidden = f64::from(self.hidden);
        let mut all = match &self.latent {
            Some(_) => {
                let products = self.attention_products(1.0).into_iter();
                products
                    .map(|(inner, columns)| one(inner, columns))
                    .collect()
            }
            None => {
                let (heads, kept) = (
                    f64::from(self.heads * self.head_width),
                    f64::from(self.kv_heads * self.head_width),
                );
                vec![
                    one(hidden, heads),
                    one(hidden, kept),
                    one(hidden, kept),
                    one(heads, hidden),
                ]
            }
        };
        if targets == AdapterTargets::Attention {
            return all;
        }
        let ffn = self.feed_forward(block);
        let up = if self.gated { 2 } else { 1 };
        let mut add = |count: f64, width: f64, of: f64| {
            if count * width > 0.0 {
                let many = |count: u64, inner: f64, columns: f64| AdaptedMatrices {
                    count,
                    of: of as u64,
                    ..one(inner, columns)
                };
                all.push(many(up * count as u64, hidden, width));
                all.push(many(count as u64, width, hidden));
            }
        };
        add(ffn.count, ffn.width, ffn.count / ffn.active);
        add(1.0, ffn.always, 1.0);
        all
    }
}

/// Seconds in addition to the passes of a block with all its weights.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TunedSeconds {
    /// Adapters forward, and unpacking weights.
    pub(super) forward: f64,
    /// Both gradients of adapters, and unpacking weights again.
    pub(super) backward: f64,
    /// Gradients of weights of adapters, a part of `backward`.
    pub(super) weights: f64,
    /// Launching time of adapters on the host, forward.
    pub(super) launch: f64,
}

pub(super) fn tuned_seconds(
    model: &Architecture,
    block: u32,
    method: TrainingMethod,
    kernels: &Kernels<'_>,
    shape: Shape,
) -> TunedSeconds {
    let Some(adapters) = method.adapters() else {
        return TunedSeconds::default();
    };
    let [products, forward, backward] = adapter_seconds(model, block, adapters, kernels, shape);
    let unpacking = match method {
        TrainingMethod::Qlora(_) => {
            let parameters = model.held_parameters(block, shape.sharing.expert);
            let bytes = FOUR_BIT_BYTES + kernels.value_bytes();
            kernels.unpack_s(parameters * shape.share() * bytes)
        }
        _ => 0.0,
    };
    TunedSeconds {
        forward: products + forward + unpacking,
        backward: 2.0 * products + backward + unpacking,
        weights: products,
        launch: kernels.adapter_launch_s(),
    }
}

/// Seconds of the products of a block's adapters forward, and of their passes over memory forward and backward.
fn adapter_seconds(
    model: &Architecture,
    block: u32,
    adapters: Adapters,
    kernels: &Kernels<'_>,
    shape: Shape,
) -> [f64; 3] {
    let (rank, share) = (whole_tiles(f64::from(adapters.rank)), shape.share());
    let [mut products, mut forward, mut backward] = [0.0; 3];
    for of in model.adapted_matrices(block, adapters.targets) {
        let rows = shape.tokens() / of.of as f64;
        let (inner, columns) = (of.inner as f64, of.columns as f64 * share);
        let one = kernels.product_s(rows, inner, rank) + kernels.product_s(rows, rank, columns);
        products += of.count as f64 / f64::from(shape.sharing.expert.min(of.count as u32)) * one;
        let passes = |(read, made): (f64, f64)| {
            let values = rows * (read * inner * share + made * columns);
            kernels.passes_s(of.count as f64 * values * kernels.value_bytes())
        };
        forward += passes(FORWARD_PASSES);
        backward += passes(BACKWARD_PASSES);
    }
    [products, forward, backward]
}

/// The rank that kernels compute: above a tile, whole tiles.
fn whole_tiles(rank: f64) -> f64 {
    if rank > TILE {
        (rank / TILE).ceil() * TILE
    } else {
        rank
    }
}
