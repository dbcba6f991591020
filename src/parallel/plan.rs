//! Which GPUs hold which layers.

use std::sync::Arc;

use super::{Misfit, Schedule};

/// A kind of node: some GPUs of a type in one machine.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeKind {
    /// What it is called: a VM type.
    pub name: Arc<str>,
    /// Its GPU, as layer profiles call it.
    pub gpu: Arc<str>,
    /// GPUs in a node.
    pub gpus_per_node: u32,
    /// Memory of one GPU in GiB; `None`: not known.
    pub memory_gib: Option<f64>,
    /// Where it is.
    pub zone: Arc<str>,
}

/// One replica of a stage: GPUs of one node that share its layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Replica {
    /// Which of the kinds of nodes.
    pub kind: u32,
    /// Tensor degree: GPUs that share each layer.
    pub tensor: u32,
    /// Which node, numbered over the whole plan.
    pub node: u32,
}

/// Consecutive layers, held once per data-parallel replica.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StageOfPlan {
    /// Its first layer, from 0.
    pub first_layer: u32,
    /// Its last layer.
    pub last_layer: u32,
    /// One per data-parallel replica.
    pub replicas: Vec<Replica>,
}

/// How one model is cut over GPUs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ParallelPlan {
    /// Data-parallel replicas.
    pub data: u32,
    /// Sequences per micro-batch.
    pub micro_batch: u32,
    /// Sequences per step, over all replicas.
    pub global_batch: u32,
    /// In which order a stage computes its micro-batches.
    pub schedule: Schedule,
    /// From the first layers to the last.
    pub stages: Vec<StageOfPlan>,
}

impl ParallelPlan {
    /// A plan with the same degrees everywhere: `cuts` are the last layers of each stage, `kinds[stage]` its node kind.
    /// GPUs are filled as Megatron does: tensor first, then data, then pipeline.
    ///
    /// # Errors
    /// If a node does not have a multiple of `tensor` GPUs, or there is not a kind per stage.
    #[allow(clippy::too_many_arguments)]
    pub fn even(
        nodes: &[NodeKind],
        kinds: &[u32],
        cuts: &[u32],
        data: u32,
        tensor: u32,
        micro_batch: u32,
        global_batch: u32,
        schedule: Schedule,
    ) -> Result<ParallelPlan, Misfit> {
        let _ = nodes;
        let mut first_layer = 0;
        let mut stages = Vec::with_capacity(cuts.len());
        for (&last_layer, &kind) in cuts.iter().zip(kinds) {
            let replicas = (0..data)
                .map(|_| Replica {
                    kind,
                    tensor,
                    node: 0,
                })
                .collect();
            stages.push(StageOfPlan {
                first_layer,
                last_layer,
                replicas,
            });
            first_layer = last_layer + 1;
        }
        Ok(ParallelPlan {
            data,
            micro_batch,
            global_batch,
            schedule,
            stages,
        })
    }

    /// Stages.
    pub fn pipeline(&self) -> usize {
        self.stages.len()
    }

    /// Micro-batches per replica and step.
    pub fn micro_batches(&self) -> u32 {
        self.global_batch / (self.data * self.micro_batch).max(1)
    }

    /// GPUs in all.
    pub fn gpus(&self) -> u32 {
        (self.stages.iter().flat_map(|s| &s.replicas))
            .map(|r| r.tensor)
            .sum()
    }
}
