//! Which GPUs hold which layers.

use std::sync::Arc;

use crate::{LayerProfile, Misfit, ReplicaSharing, Schedule};

/// A kind of node: some GPUs of a type in one machine.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeKind {
    /// The name: a VM type.
    pub name: Arc<str>,
    /// GPU of the node, by its name in layer profiles.
    pub gpu: Arc<str>,
    pub gpus_per_node: u32,
    /// Memory of one GPU in GiB; `None` if unknown.
    pub memory_gib: Option<f64>,
    pub zone: Arc<str>,
}

/// One replica of a stage: GPUs of one node that share its layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Replica {
    pub kind: u32,
    /// Tensor degree: GPUs that share each layer.
    pub tensor: u32,
    /// The node, numbered over the whole plan from 0.
    pub node: u32,
}

/// Consecutive layers, held once per data-parallel replica.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StageOfPlan {
    pub first_layer: u32,
    pub last_layer: u32,
    /// First and last layers of its further virtual stages, if there are any.
    pub further: Vec<(u32, u32)>,
    /// One per data-parallel replica.
    pub replicas: Vec<Replica>,
}

impl StageOfPlan {
    pub fn parts(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        std::iter::once((self.first_layer, self.last_layer)).chain(self.further.iter().copied())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ParallelPlan {
    /// Replicas of each stage: data-parallel ones, times those that share a sequence.
    pub data: u32,
    pub sharing: ReplicaSharing,
    /// Sequences per micro-batch.
    pub micro_batch: u32,
    /// Sequences per step, over all replicas.
    pub global_batch: u32,
    pub schedule: Schedule,
    pub stages: Vec<StageOfPlan>,
}

impl ParallelPlan {
    /// A plan with equal degrees everywhere: `cuts` are the last layers of each stage, `kinds[stage]` its kind of node. With
    /// n times as many cuts, stages have n virtual stages: the first of all, then the second of all. GPUs are filled in the
    /// order of Megatron: tensor first, then data, then pipeline; a change of kind begins a node. Fails if a node has too few
    /// GPUs for `tensor`, or cuts are no multiple of stages.
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
        let all = [kinds.to_vec()];
        ParallelPlan::unlike(
            nodes,
            &all,
            cuts,
            data,
            tensor,
            micro_batch,
            global_batch,
            schedule,
        )
    }

    /// Like [`ParallelPlan::even`] with mixed replicas: equal parts of them use each of `lanes`, which has the kinds of nodes
    /// of its stages, on separate nodes. Also fails if replicas are no multiple of `lanes`.
    #[allow(clippy::too_many_arguments)]
    pub fn unlike(
        nodes: &[NodeKind],
        lanes: &[Vec<u32>],
        cuts: &[u32],
        data: u32,
        tensor: u32,
        micro_batch: u32,
        global_batch: u32,
        schedule: Schedule,
    ) -> Result<ParallelPlan, Misfit> {
        let count = lanes.first().map_or(0, Vec::len);
        let is_even = lanes.iter().all(|lane| lane.len() == count);
        if count == 0 || cuts.is_empty() || !cuts.len().is_multiple_of(count) || !is_even {
            let text = format!("{count} kinds of nodes for {} stages", cuts.len());
            return Err(Misfit::Shape(text));
        }
        if !data.is_multiple_of(lanes.len() as u32) {
            let text = format!("{data} replicas of {} unlike pipelines", lanes.len());
            return Err(Misfit::Shape(text));
        }
        let of_lane = data / lanes.len() as u32;
        let part = |number: usize| {
            let before = number.checked_sub(1).map(|before| cuts[before]);
            (
                before.map_or(0, |last| last.saturating_add(1)),
                cuts[number],
            )
        };
        let mut stages = Vec::with_capacity(count);
        // Nodes so far, and each lane's current one: its number, kind, GPUs left.
        let mut begun = 0;
        let mut filled: Vec<Option<(u32, u32, u32)>> = vec![None; lanes.len()];
        for number in 0..count {
            let mut replicas = Vec::with_capacity(data as usize);
            for (lane, filling) in lanes.iter().zip(&mut filled) {
                let kind = lane[number];
                let of_kind = node_kind(nodes, kind)?;
                if tensor == 0 || tensor > of_kind.gpus_per_node {
                    let (name, gpus) = (&of_kind.name, of_kind.gpus_per_node);
                    let text =
                        format!("tensor degree {tensor} on {name}, which has {gpus} GPUs per node");
                    return Err(Misfit::Shape(text));
                }
                for _ in 0..of_lane {
                    let (node, left) = match *filling {
                        Some((node, of, left)) if of == kind && left >= tensor => (node, left),
                        _ => {
                            begun += 1;
                            (begun - 1, of_kind.gpus_per_node)
                        }
                    };
                    *filling = Some((node, kind, left - tensor));
                    replicas.push(Replica { kind, tensor, node });
                }
            }
            let (first_layer, last_layer) = part(number);
            let further = (number + count..cuts.len()).step_by(count);
            stages.push(StageOfPlan {
                first_layer,
                last_layer,
                further: further.map(part).collect(),
                replicas,
            });
        }
        Ok(ParallelPlan {
            data,
            sharing: ReplicaSharing::NONE,
            micro_batch,
            global_batch,
            schedule,
            stages,
        })
    }

    pub fn pipeline(&self) -> usize {
        self.stages.len()
    }

    pub fn virtual_stages(&self) -> u32 {
        (self.stages.first()).map_or(1, |stage| 1 + stage.further.len() as u32)
    }

    pub fn micro_batches(&self) -> u32 {
        (u64::from(self.global_batch) / self.at_once().max(1)) as u32
    }

    /// Replicas with sequences of their own.
    fn data_parallel(&self) -> u32 {
        self.data / self.sharing.context.max(1)
    }

    /// Sequences that all replicas process at once.
    fn at_once(&self) -> u64 {
        u64::from(self.data_parallel()) * u64::from(self.micro_batch)
    }

    pub fn gpus(&self) -> u32 {
        let replicas = self.stages.iter().flat_map(|s| &s.replicas);
        replicas.map(|r| r.tensor).sum()
    }

    pub fn nodes(&self) -> u32 {
        let replicas = self.stages.iter().flat_map(|s| &s.replicas);
        replicas.map(|r| r.node + 1).max().unwrap_or(0)
    }

    /// Checks stages (all layers in order, a replica each), GPUs of nodes and whole micro-batches. Returns the number of used
    /// GPUs of each node.
    pub(crate) fn check(
        &self,
        profile: &LayerProfile,
        nodes: &[NodeKind],
    ) -> Result<Vec<u32>, Misfit> {
        let shape = |text: String| Err(Misfit::Shape(text));
        if self.data == 0
            || self.micro_batch == 0
            || self.global_batch == 0
            || self.stages.is_empty()
        {
            return shape(
                "data, micro-batch, global batch and stages must be at least 1".to_owned(),
            );
        }
        let ReplicaSharing { context, expert } = self.sharing;
        let is_shared = |of: u32| of > 0 && self.data.is_multiple_of(of);
        if !is_shared(context) || !is_shared(expert) {
            let data = self.data;
            return shape(format!(
                "{data} replicas are no multiple of {context} that share a sequence and {expert} that share experts"
            ));
        }
        if u64::from(self.global_batch) % self.at_once() != 0 {
            let (batch, data, micro) = (self.global_batch, self.data_parallel(), self.micro_batch);
            return shape(format!(
                "a global batch of {batch} is not a multiple of {data} replicas × micro-batch {micro}"
            ));
        }
        // Operations of a step are counted in 32 bits.
        if self.micro_batches() > 1 << 24 {
            return shape(format!(
                "{} micro-batches per step are over 2^24",
                self.micro_batches()
            ));
        }
        self.check_layers(profile)?;
        self.check_virtual_stages()?;
        let all = self.stages.len() * self.data as usize;
        // Used GPUs of each node, and its kind.
        let mut filled = vec![(0_u32, u32::MAX); all];
        for (number, stage) in self.stages.iter().enumerate() {
            if stage.replicas.len() != self.data as usize {
                let (found, data) = (stage.replicas.len(), self.data);
                return shape(format!(
                    "stage {} has {found} replicas, expected {data}",
                    number + 1
                ));
            }
            for replica in &stage.replicas {
                let kind = node_kind(nodes, replica.kind)?;
                let Some(node) = filled.get_mut(replica.node as usize) else {
                    return shape(format!(
                        "node {} of a plan with at most {all} nodes",
                        replica.node
                    ));
                };
                if node.1 != u32::MAX && node.1 != replica.kind {
                    return shape(format!("node {} is of two kinds", replica.node));
                }
                *node = (node.0.saturating_add(replica.tensor), replica.kind);
                if replica.tensor == 0 || node.0 > kind.gpus_per_node {
                    let (name, gpus) = (&kind.name, kind.gpus_per_node);
                    return shape(format!(
                        "{} GPUs on node {}, a {name} with {gpus}",
                        node.0, replica.node
                    ));
                }
            }
        }
        Ok(filled.into_iter().map(|(gpus, _)| gpus).collect())
    }

    fn check_layers(&self, profile: &LayerProfile) -> Result<(), Misfit> {
        let last = profile.layers - 1;
        let mut next = 0;
        // The first virtual stage of all stages, then the second.
        let rounds = 0..self.virtual_stages() as usize;
        let parts = rounds.flat_map(|round| {
            let stages = self.stages.iter().enumerate();
            stages.map(move |(number, stage)| (round, number, stage.parts().nth(round)))
        });
        for (round, number, part) in parts {
            let Some((first_found, last_found)) = part else {
                let text = format!("stage {} has fewer virtual stages than others", number + 1);
                return Err(Misfit::Shape(text));
            };
            let is_last =
                number + 1 == self.stages.len() && round + 1 == self.virtual_stages() as usize;
            let wrong = if first_found != next {
                Some(format!("begin with {next}"))
            } else if last_found < first_found || last_found > last {
                Some(format!("end between {first_found} and {last}"))
            } else if is_last && last_found != last {
                Some(format!("end with {last}"))
            } else {
                None
            };
            if let Some(expected) = wrong {
                return Err(Misfit::Layers {
                    stage: number as u32,
                    first_found,
                    last_found,
                    last,
                    expected,
                });
            }
            next = last_found + 1;
        }
        Ok(())
    }

    fn check_virtual_stages(&self) -> Result<(), Misfit> {
        let own = self.virtual_stages();
        if own > 1 && !self.schedule.has_virtual_stages() {
            let text = format!(
                "the schedule `{}` has no virtual stages",
                self.schedule.name()
            );
            return Err(Misfit::Shape(text));
        }
        let (stages, micro_batches) = (self.stages.len() as u32, self.micro_batches());
        if self.schedule.has_virtual_stages() && !micro_batches.is_multiple_of(stages) {
            return Err(Misfit::Shape(format!(
                "{micro_batches} micro-batches are not a multiple of {stages} stages, as `{}` needs",
                self.schedule.name()
            )));
        }
        Ok(())
    }
}

pub(crate) fn node_kind(nodes: &[NodeKind], kind: u32) -> Result<&NodeKind, Misfit> {
    let missing = || Misfit::Shape(format!("no kind of node {kind} among {}", nodes.len()));
    nodes.get(kind as usize).ok_or_else(missing)
}
