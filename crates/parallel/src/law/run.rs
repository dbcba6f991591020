use std::sync::Arc;

use super::constants::Constants;
use super::{GpuNode, LayerLaw};
use crate::architecture::Architecture;
use crate::runtime::{Attention, Recompute, Runtime, Shard};
use crate::{
    Misfit, NodeKind, ParallelPlan, PreparedPlan, ReplicaSharing, Schedule, TrainingMethod,
};

/// A plan on equal GPUs, as it was run.
#[derive(Debug, Clone)]
pub struct PlanRun {
    pub model: Arc<Architecture>,
    pub node: GpuNode,
    pub gpus: u32,
    pub sequence: u32,
    pub tensor: u32,
    pub pipeline: u32,
    pub micro_batch: u32,
    pub global_batch: u32,
    /// How attention was computed, if not the runtime's default.
    pub attention: Option<Attention>,
    pub recompute: Option<Recompute>,
    pub shard: Option<Shard>,
    /// Whether GPUs that share a layer also divided the values between its products.
    pub sequence_parallel: Option<bool>,
    pub training: TrainingMethod,
    /// Virtual stages of each stage; more than one are interleaved.
    pub virtual_stages: u32,
    pub sharing: ReplicaSharing,
}

impl PlanRun {
    /// The plan prepared without randomness, for any size of memory.
    pub fn prepared(
        &self,
        settings: &Runtime,
        constants: &Constants,
    ) -> Result<PreparedPlan, Misfit> {
        let runtime = Runtime {
            attention: self.attention.unwrap_or(settings.attention),
            recompute: self.recompute.unwrap_or(settings.recompute),
            shard: self.shard.unwrap_or(settings.shard),
            sequence_parallel: self.sequence_parallel.unwrap_or(settings.sequence_parallel),
            training: self.training,
            ..settings.clone()
        };
        let law = LayerLaw {
            sharing: self.sharing,
            model: &self.model,
            sequence: self.sequence,
            runtime: &runtime,
            constants,
        };
        let nodes = std::slice::from_ref(&self.node);
        let profile = law.profile(nodes, &[self.tensor], &[self.micro_batch]);
        let links = law.links(nodes);
        let kinds = [NodeKind {
            name: Arc::clone(&self.node.gpu),
            gpu: Arc::clone(&self.node.gpu),
            gpus_per_node: self.node.gpus,
            memory_gib: Some(f64::INFINITY),
            zone: "".into(),
        }];
        let stage_gpus = self.tensor.saturating_mul(self.pipeline).max(1);
        let replicas = self.gpus / stage_gpus;
        // If replicas cannot have equally many micro-batches, those with one more decide.
        let data = replicas / self.sharing.context;
        let at_once = data.saturating_mul(self.micro_batch).max(1);
        let global_batch = self.global_batch.div_ceil(at_once).saturating_mul(at_once);
        let schedule = if self.virtual_stages > 1 {
            Schedule::Interleaved
        } else {
            Schedule::OneForwardOneBackward
        };
        let even = ParallelPlan::even(
            &kinds,
            &vec![0; self.pipeline as usize],
            &self.cuts()?,
            replicas,
            self.tensor,
            self.micro_batch,
            global_batch,
            schedule,
        )?;
        let plan = ParallelPlan {
            sharing: self.sharing,
            ..even
        };
        PreparedPlan::new(&profile, &links, &kinds, &runtime, &plan)
    }

    /// Last layers of the stages: blocks dealt evenly, extra ones to the first stages; embedding first, head last.
    fn cuts(&self) -> Result<Vec<u32>, Misfit> {
        let stages = self.pipeline.saturating_mul(self.virtual_stages);
        let blocks = self.model.layers;
        if stages == 0 || stages > blocks {
            let text = format!("{stages} stages for {blocks} blocks");
            return Err(Misfit::Shape(text));
        }
        let (each, more) = (blocks / stages, blocks % stages);
        let mut last = 0;
        let mut cuts: Vec<u32> = (0..stages)
            .map(|stage| {
                last += each + u32::from(stage < more);
                last
            })
            .collect();
        if let Some(end) = cuts.last_mut() {
            *end += 1;
        }
        Ok(cuts)
    }

    pub fn tokens(&self) -> f64 {
        f64::from(self.global_batch) * f64::from(self.sequence)
    }
}
