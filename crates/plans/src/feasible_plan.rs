//! A plan that fits, in figures; and what plans are made of.

use std::collections::HashMap;
use std::sync::Arc;

use crate::{Axes, Draft, PreparedForm};
use scavsim_base::rng::ConfigurationKey;
use scavsim_parallel::Links;
use scavsim_parallel::runtime::PredictionUncertainty;

/// The fastest plan on so many GPUs or fewer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FastestOn {
    pub gpus: u32,
    pub step_s: f64,
    pub data: u32,
    pub at: usize,
}

/// For each offer and batch: the fastest plans, on ever more GPUs.
pub type Fastest = HashMap<(u32, u32), Arc<[FastestOn]>>;

/// Floating-point operations of a model, and the peaks that they are held against.
#[derive(Debug, Clone, PartialEq)]
pub struct Flops {
    /// FLOPs of a token, forward and backward, as the architecture has them: none for what is computed again.
    pub per_token: f64,
    /// FLOP/s of a GPU at the precision, by its data sheet, by what kinds of nodes call it.
    pub peaks: Vec<(Arc<str>, f64)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// Sequences to the target with a small batch, E₀.
    pub sequences: f64,
    /// Noise scale in sequences, B₀: with a batch of B it takes E₀ (1 + B/B₀). `None`: the same with every batch.
    pub noise_scale: Option<f64>,
}

impl Target {
    /// Sequences to the target with a batch of so many, over those with a small one: 1 + B/B₀.
    /// Source: McCandlish et al. 2018.
    pub fn epochs(&self, batch: u32) -> f64 {
        self.noise_scale
            .map_or(1.0, |scale| 1.0 + f64::from(batch) / scale)
    }

    pub fn steps(&self, batch: u32) -> f64 {
        self.sequences * self.epochs(batch) / f64::from(batch.max(1))
    }
}

/// A plan that fits, in figures that do not depend on luck.
#[derive(Debug, Clone)]
pub struct FeasiblePlan {
    pub draft: Draft,
    /// VMs of the plan: type among `Choices::types`, how many.
    pub nodes: Box<[(u16, u32)]>,
    pub on_spot: bool,
    pub steps: f64,
    pub step_s: f64,
    /// Communication of a step that nothing hides, between stages and replicas.
    pub communication_s: f64,
    /// Communication inside of its passes; `None` where measured layers hold it.
    pub inside_s: Option<f64>,
    /// Least of a step that computing takes on the slowest stage.
    pub compute_s: f64,
    /// Share of the step in which a stage waits for others.
    pub bubble_share: f32,
    /// Most GiB that a GPU holds.
    pub peak_gib: f32,
    pub may_not_fit: bool,
    pub state_bytes: f64,
    pub(crate) cuts: Arc<[u32]>,
    pub key: ConfigurationKey,
}

impl FeasiblePlan {
    /// A plan on the VMs of another offer that has the same kinds of nodes.
    pub(crate) fn offered(&self, draft: Draft, axes: &Axes, places: &[[u16; 3]]) -> FeasiblePlan {
        let on_spot = axes.offers[draft.offer as usize].on_spot;
        let degrees = (draft.replicas(), draft.pipeline, draft.tensor);
        // Drafts fill their nodes.
        let nodes = axes.nodes_of(draft.offer, degrees).unwrap_or_default();
        FeasiblePlan {
            draft,
            nodes: (nodes.iter())
                .map(|(kind, nodes)| (places[*kind as usize][terms_place(on_spot)], *nodes))
                .collect(),
            on_spot: on_spot == Some(true),
            ..self.clone()
        }
    }

    pub fn vms(&self) -> u32 {
        self.nodes.iter().map(|node| node.1).sum()
    }

    /// Seconds to the target without luck.
    pub fn calm_s(&self) -> f64 {
        self.steps.ceil() * self.step_s
    }
}

#[derive(Debug)]
pub struct Parts {
    pub name: String,
    pub target: Target,
    pub axes: Axes,
    /// Names of zones, where something is said of them.
    pub zones: Vec<Arc<str>>,
    /// Forms of the plans; at least one.
    pub forms: Vec<PreparedForm>,
    pub links: Arc<Links>,
    pub doubt: PredictionUncertainty,
    pub flops: Option<Flops>,
    /// Hashes of the tables behind it.
    pub hashes: Vec<String>,
}

/// The place of terms among those of a kind of nodes.
pub(crate) fn terms_place(on_spot: Option<bool>) -> usize {
    match on_spot {
        None => 0,
        Some(false) => 1,
        Some(true) => 2,
    }
}
