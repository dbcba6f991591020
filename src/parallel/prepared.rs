//! A plan with all that does not depend on luck.

use super::{LayerProfile, Links, Misfit, NodeKind, ParallelPlan, Runtime};

/// Where the seconds of a step go, on the replica and stage that is last: they add up to the step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StepBreakdown {
    /// Forward and backward of the slowest stage.
    pub compute_s: f64,
    /// Waiting for other stages.
    pub bubble_s: f64,
    /// Sending activations and their gradients, as far as nothing hides it.
    pub activations_s: f64,
    /// Reducing gradients among replicas, as far as nothing hides it.
    pub gradients_s: f64,
    /// Applying them.
    pub update_s: f64,
}

impl StepBreakdown {
    /// The step in seconds.
    pub fn step_s(&self) -> f64 {
        self.compute_s + self.bubble_s + self.activations_s + self.gradients_s + self.update_s
    }

    /// The share of the step that is spent waiting for other stages.
    pub fn bubble_share(&self) -> f64 {
        self.bubble_s / self.step_s()
    }
}

/// What a GPU is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Work {
    /// A micro-batch goes forward.
    Forward,
    /// A micro-batch goes backward.
    Backward,
    /// Activations are exchanged with the stage before or behind.
    Send,
    /// Gradients are reduced among replicas.
    Reduce,
    /// They are applied.
    Update,
}

/// A piece of the timeline of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// Data-parallel replica, from 0.
    pub replica: u32,
    /// Stage, from 0.
    pub stage: u32,
    /// What is done.
    pub work: Work,
    /// Which micro-batch, from 0; 0 where none is meant.
    pub micro_batch: u32,
    /// Seconds from the beginning of the step.
    pub start_s: f64,
    /// See `start_s`.
    pub end_s: f64,
}

/// Room that events of a step take, kept from step to step.
#[derive(Debug, Clone, Default)]
pub struct Scratch {}

/// A plan with all that does not depend on luck.
#[derive(Debug, Clone)]
pub struct PreparedPlan {}

impl PreparedPlan {
    /// Checks a plan and computes what its steps consist of.
    ///
    /// # Errors
    /// The reason why the plan cannot be run.
    pub fn new(
        _profile: &LayerProfile,
        _links: &Links,
        _nodes: &[NodeKind],
        _runtime: &Runtime,
        _plan: &ParallelPlan,
    ) -> Result<PreparedPlan, Misfit> {
        Ok(PreparedPlan {})
    }

    /// Seconds of a step, by its critical path, without luck.
    pub fn step_s(&self) -> f64 {
        1.0
    }

    /// Where they go.
    pub fn breakdown(&self) -> StepBreakdown {
        StepBreakdown::default()
    }

    /// Most bytes that one GPU of a stage holds in a step, over all replicas.
    pub fn peak_memory_bytes(&self, _stage: usize) -> u64 {
        0
    }

    /// What a checkpoint holds: parameters and optimiser state of the whole model, once.
    pub fn checkpoint_bytes(&self) -> u64 {
        0
    }

    /// Factors that a step takes: one per replica and stage, at `replica × stages + stage`.
    pub fn slots(&self) -> usize {
        1
    }

    /// Seconds of a step, by its critical path, if each slot computes `factors[slot]` times as long.
    pub fn step_with(&self, _factors: &[f64], _scratch: &mut Scratch) -> f64 {
        1.0
    }

    /// Seconds of a step as events, if each pass takes `luck(slot)` times as long; each piece of work is told as it ends.
    pub fn step_events(
        &self,
        _luck: &mut impl FnMut(usize) -> f64,
        _scratch: &mut Scratch,
        _on_span: impl FnMut(Span),
    ) -> f64 {
        1.0
    }

    /// The timeline of one step without luck, by replica, stage and time.
    pub fn timeline(&self) -> Vec<Span> {
        Vec::new()
    }
}
