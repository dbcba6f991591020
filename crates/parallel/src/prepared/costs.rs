//! Computes seconds per stage from profile, links and plan.

use std::sync::Arc;

use super::{PreparedPlan, StageCost, VirtualShare};
use crate::memory::StageLoad;
use crate::misfit::Misfit;
use crate::plan::{Replica, StageOfPlan, node_kind};
use crate::profile::{Seconds, Times, Weights};
use crate::runtime::Shard;
use crate::schedule::Place;
use crate::{Activations, LayerProfile, Links, NodeKind, ParallelPlan, Runtime, Scope, memory};

pub(super) struct Basis<'a> {
    pub(super) profile: &'a LayerProfile,
    pub(super) links: &'a Links,
    pub(super) nodes: &'a [NodeKind],
    pub(super) runtime: &'a Runtime,
    pub(super) plan: &'a ParallelPlan,
    /// For each kind of node of the plan: the index of its GPU in the profile and among the links.
    gpus: Vec<Option<(Option<usize>, Option<u16>)>>,
}

impl PreparedPlan {
    pub fn new(
        profile: &LayerProfile,
        links: &Links,
        nodes: &[NodeKind],
        runtime: &Runtime,
        plan: &ParallelPlan,
    ) -> Result<PreparedPlan, Misfit> {
        plan.check(profile, nodes)?;
        // Only the plan's own kinds: there may be many more.
        let mut gpus = vec![None; nodes.len()];
        for replica in plan.stages.iter().flat_map(|stage| &stage.replicas) {
            let at = replica.kind as usize;
            if let (Some(numbers @ None), Some(kind)) = (gpus.get_mut(at), nodes.get(at)) {
                *numbers = Some((profile.gpu(&kind.gpu), links.gpu(&kind.gpu)));
            }
        }
        let basis = Basis {
            profile,
            links,
            nodes,
            runtime,
            plan,
            gpus,
        };
        let stages = plan.stages.len();
        let mut memory = Vec::with_capacity(stages);
        let mut may_not_fit = false;
        for stage in 0..stages {
            let (bytes, is_close) = basis.memory(stage)?;
            memory.push(bytes);
            may_not_fit |= is_close;
        }
        if plan.schedule.needs_overlap() && runtime.activations != Activations::Overlapped {
            return Err(Misfit::Shape(format!(
                "the schedule `{}` needs a runtime whose messages travel while both ends compute: activations = \"overlapped\"",
                plan.schedule.name()
            )));
        }
        let UnlikePipelines {
            costs: lanes,
            shares,
            lane_of,
        } = basis.lanes()?;
        let mut reductions = Vec::with_capacity(stages);
        for stage in &plan.stages {
            reductions.push(basis.reduction(stage)?);
        }
        Ok(PreparedPlan {
            schedule: plan.schedule,
            activations: runtime.activations,
            overlap_gradients: runtime.overlap_gradients,
            stages: stages as u32,
            micro_batches: plan.micro_batches(),
            lanes,
            shares,
            virtual_stages: plan.virtual_stages(),
            lane_of,
            reductions,
            memory,
            may_not_fit,
            checkpoint_bytes: memory::checkpoint_bytes(profile, runtime),
        })
    }
}

/// Distinct pipelines, with the costs of their stages and the shares of virtual ones; and the pipeline of each replica.
#[derive(Default)]
struct UnlikePipelines {
    costs: Vec<Vec<StageCost>>,
    shares: Vec<Vec<VirtualShare>>,
    lane_of: Vec<u32>,
}

impl Basis<'_> {
    fn kind(&self, replica: Replica) -> Result<&NodeKind, Misfit> {
        node_kind(self.nodes, replica.kind)
    }

    fn gpu(&self, replica: Replica) -> (Option<usize>, Option<u16>) {
        let numbers = self.gpus.get(replica.kind as usize).copied().flatten();
        numbers.unwrap_or_default()
    }

    fn lanes(&self) -> Result<UnlikePipelines, Misfit> {
        // The inputs of a replica's costs, stage by stage.
        type CostKey = (u32, u32, u32, Option<Scope>);
        let stages = &self.plan.stages;
        let mut keys: Vec<Vec<CostKey>> = Vec::new();
        let mut lanes = UnlikePipelines::default();
        // The last stage passes on to the first, if it has virtual stages.
        let ends = if self.plan.virtual_stages() > 1 { 0 } else { 1 };
        let busy: Vec<Vec<u32>> = stages.iter().map(sending).collect();
        let mut key = Vec::with_capacity(stages.len());
        for index in 0..self.plan.data as usize {
            key.clear();
            for (stage, busy) in stages.iter().zip(&busy) {
                let replica = stage.replicas[index];
                key.push((replica.kind, replica.tensor, busy[index], None));
            }
            for (number, own) in key.iter_mut().enumerate().take(stages.len() - ends) {
                let ends = [number, (number + 1) % stages.len()].map(|s| stages[s].replicas[index]);
                own.3 = Some(self.scope(ends[0], ends[1])?);
            }
            let known = keys.iter().position(|known| *known == key);
            let lane = match known {
                Some(lane) => lane,
                None => {
                    let (costs, shares) = self.lane(index, &busy)?;
                    lanes.costs.push(costs);
                    lanes.shares.push(shares);
                    keys.push(key.clone());
                    keys.len() - 1
                }
            };
            lanes.lane_of.push(lane as u32);
        }
        Ok(lanes)
    }

    pub(super) fn scope(&self, one: Replica, other: Replica) -> Result<Scope, Misfit> {
        Ok(if one.node == other.node {
            Scope::InNode
        } else if self.kind(one)?.zone == self.kind(other)?.zone {
            Scope::BetweenNodes
        } else {
            Scope::BetweenZones
        })
    }

    /// The pipeline of one replica, and the shares of its virtual stages in its stages' seconds, if it has any.
    fn lane(
        &self,
        index: usize,
        busy: &[Vec<u32>],
    ) -> Result<(Vec<StageCost>, Vec<VirtualShare>), Misfit> {
        let stages = &self.plan.stages;
        let mut lane = Vec::with_capacity(stages.len());
        let mut shares = Vec::new();
        for (number, stage) in stages.iter().enumerate() {
            let replica = stage.replicas[index];
            let mut seconds = Seconds {
                communication: Some(0.0),
                ..Seconds::default()
            };
            let mut of_parts = Vec::new();
            for layers in stage.parts() {
                let own = self.part(stage, layers, index)?;
                of_parts.push(own);
                seconds.add(own);
            }
            if of_parts.len() > 1 {
                let whole = |sum: f64| sum.max(f64::MIN_POSITIVE);
                shares.extend(of_parts.iter().map(|own| VirtualShare {
                    forward: own.forward / whole(seconds.forward),
                    backward: own.backward / whole(seconds.backward),
                }));
            }
            if self.runtime.shard >= Shard::Optimizer {
                seconds.update /= f64::from(self.plan.data);
            }
            let next = match stages.get(number + 1) {
                None if of_parts.len() > 1 => Some(0),
                None => None,
                Some(_) => Some(number + 1),
            };
            let message = match next {
                None => 0.0,
                Some(next) => {
                    let ends = (replica, stages[next].replicas[index]);
                    let busy = (busy[number][index], busy[next][index]);
                    self.message(stage.last_layer, ends, busy)?
                }
            };
            lane.push(StageCost {
                forward: seconds.forward,
                backward: seconds.backward,
                busy_forward: seconds.busy_forward,
                busy_backward: seconds.busy_backward,
                weights: seconds.weights,
                communication: seconds.communication,
                update: seconds.update + self.runtime.step_s,
                message,
            });
        }
        Ok((lane, shares))
    }

    fn part(
        &self,
        stage: &StageOfPlan,
        layers: (u32, u32),
        index: usize,
    ) -> Result<Seconds, Misfit> {
        let replica = stage.replicas[index];
        let mut seconds = self.seconds(layers, replica)?;
        if !self.runtime.host_runs_ahead {
            seconds.busy_forward = seconds.forward;
            seconds.busy_backward = seconds.backward;
        }
        if self.runtime.shard == Shard::Full {
            self.gather((stage, layers), index, &mut seconds)?;
        }
        self.share((stage, layers), index, &mut seconds)?;
        self.offload(layers, replica, &mut seconds)?;
        Ok(seconds)
    }

    /// Seconds of a stage's layers: as profiled, or derived from those of a whole layer on one GPU.
    fn seconds(&self, (first, last): (u32, u32), replica: Replica) -> Result<Seconds, Misfit> {
        let micro_batch = self.plan.micro_batch;
        let times = |tensor| {
            let gpu = self.gpu(replica).0?;
            self.profile.times(gpu, tensor, micro_batch)
        };
        if let Some(times) = times(replica.tensor) {
            return Ok(times.seconds_between(first, last));
        }
        if self.runtime.derive_tensor
            && let Some(whole) = times(1)
        {
            return self.derived(whole, first, last, replica);
        }
        let gpu = &self.kind(replica)?.gpu;
        Err(Misfit::NoProfile {
            model: Arc::clone(&self.profile.name),
            gpu: Arc::clone(gpu),
            micro_batch,
            tensor: replica.tensor,
            profiled: profiled(self.profile, gpu, replica.tensor),
        })
    }

    /// Each GPU computes its share, and after every piece all of them sum their results.
    fn derived(
        &self,
        whole: &Times,
        first: u32,
        last: u32,
        replica: Replica,
    ) -> Result<Seconds, Misfit> {
        let whole = whole.seconds_between(first, last);
        let share = 1.0 / f64::from(replica.tensor);
        let weights = self.weights(1)?;
        let bytes = self.activation_bytes();
        let all_reduces = weights.all_reduces(first, last) as f64;
        let adding = all_reduces * self.in_node(replica, 2.0, bytes)?;
        Ok(Seconds {
            forward: whole.forward * share + adding,
            backward: whole.backward * share + adding,
            update: whole.update * share,
            busy_forward: whole.busy_forward * share + adding,
            busy_backward: whole.busy_backward * share + adding,
            weights: whole.weights * share,
            communication: Some(2.0 * adding),
        })
    }

    /// Bytes of the activations of a micro-batch between two layers.
    fn activation_bytes(&self) -> f64 {
        let values = f64::from(self.plan.micro_batch)
            * f64::from(self.profile.sequence)
            * f64::from(self.profile.hidden);
        values * self.profile.bytes_per_value
    }

    /// Seconds of a ring over a replica's GPUs that passes `bytes` `rounds` times: 1 to gather, 2 to reduce and gather.
    fn in_node(&self, replica: Replica, rounds: f64, bytes: f64) -> Result<f64, Misfit> {
        if replica.tensor < 2 {
            return Ok(0.0);
        }
        let own = f64::from(replica.tensor);
        let bytes = rounds * (own - 1.0) / own * bytes;
        self.link(
            Scope::InNode,
            (replica, replica),
            (replica.tensor, replica.tensor),
            bytes,
        )
    }

    pub(super) fn link(
        &self,
        scope: Scope,
        ends: (Replica, Replica),
        gpus: (u32, u32),
        bytes: f64,
    ) -> Result<f64, Misfit> {
        let seconds = match (self.gpu(ends.0).1, self.gpu(ends.1).1) {
            (Some(from), Some(to)) => self.links.seconds(scope, (from, to), gpus, bytes),
            _ => None,
        };
        match seconds {
            Some(seconds) => Ok(seconds),
            None => Err(Misfit::NoLink {
                scope,
                from: Arc::clone(&self.kind(ends.0)?.gpu),
                to: Arc::clone(&self.kind(ends.1)?.gpu),
            }),
        }
    }

    /// Seconds of one message between two stages: each GPU of the sender sends its share of the last layer's output, or of
    /// its gradient, at once with all others of the node; the receivers gather the whole.
    fn message(
        &self,
        layer: u32,
        ends: (Replica, Replica),
        busy: (u32, u32),
    ) -> Result<f64, Misfit> {
        let bytes = self.weights(ends.0.tensor)?.output_bytes(layer) as f64
            * f64::from(self.plan.micro_batch);
        let (bytes, coding_s) = self.runtime.coded(bytes);
        let scope = self.scope(ends.0, ends.1)?;
        let sharing = f64::from(busy.0) / f64::from(ends.0.tensor);
        let sent = self.link(scope, ends, busy, bytes * sharing)?;
        // With sequence parallelism each GPU needs its own share only.
        let whole = if self.runtime.sequence_parallel {
            0.0
        } else {
            bytes
        };
        let gathered = [ends.0, ends.1].map(|end| match whole {
            0.0 => Ok(0.0),
            whole => self.in_node(end, 1.0, whole),
        });
        let [one, other] = gathered;
        Ok(sent + one?.max(other?) + coding_s + self.runtime.message_s)
    }

    pub(super) fn weights(&self, tensor: u32) -> Result<&Weights, Misfit> {
        self.profile
            .weights(tensor)
            .ok_or_else(|| Misfit::MemoryUnknown {
                model: Arc::clone(&self.profile.name),
                tensor,
            })
    }

    /// Maximum bytes of any replica of a stage, if all fit, and whether one may not.
    fn memory(&self, stage: usize) -> Result<(u64, bool), Misfit> {
        let of_plan = &self.plan.stages[stage];
        let place = Place {
            stage: stage as u32,
            stages: self.plan.stages.len() as u32,
            micro_batches: self.plan.micro_batches(),
            virtual_stages: self.plan.virtual_stages(),
        };
        // Layers of each virtual stage, and the number of sequences whose activations are kept.
        let parts: Vec<((u32, u32), f64)> = (0..)
            .zip(of_plan.parts())
            .map(|(number, layers)| {
                let in_flight = f64::from(self.plan.schedule.in_flight(place, number));
                (layers, f64::from(self.plan.micro_batch) * in_flight)
            })
            .collect();
        let mut most = 0;
        let mut may_not_fit = false;
        let mut last: Option<Replica> = None;
        for &replica in &of_plan.replicas {
            // Most replicas equal the one before.
            if last.is_some_and(|last| (last.kind, last.tensor) == (replica.kind, replica.tensor)) {
                continue;
            }
            last = Some(replica);
            let weights = self.weights(replica.tensor)?;
            let held = StageLoad {
                parts: &parts,
                micro_batch: f64::from(self.plan.micro_batch),
                data: self.plan.data,
            };
            let needed = memory::stage_bytes(self.profile, self.runtime, weights, &held);
            let kind = self.kind(replica)?;
            let Some(available_gib) = kind.memory_gib else {
                return Err(Misfit::GpuMemoryUnknown {
                    node: Arc::clone(&kind.name),
                });
            };
            let (least, largest) = memory::interval(self.runtime, needed);
            if least / memory::GIB > available_gib {
                return Err(Misfit::Memory {
                    stage: stage as u32,
                    gpu: Arc::clone(&kind.gpu),
                    needed_gib: needed / memory::GIB,
                    available_gib,
                });
            }
            may_not_fit |= largest / memory::GIB > available_gib;
            most = most.max(needed as u64);
        }
        Ok((most, may_not_fit))
    }
}

/// For each replica: GPUs of its node that hold one stage. They send at one time.
pub(super) fn sending(stage: &StageOfPlan) -> Vec<u32> {
    // Replicas of one node are nearly always adjacent; others are searched.
    let of_node = |node: u32| -> u32 {
        let replicas = stage.replicas.iter().filter(|r| r.node == node);
        replicas.map(|r| r.tensor).sum()
    };
    let mut last: Option<(u32, u32)> = None;
    let mut all = Vec::with_capacity(stage.replicas.len());
    let ordered = stage.replicas.is_sorted_by_key(|r| r.node);
    let mut at = 0;
    while at < stage.replicas.len() {
        let node = stage.replicas[at].node;
        if ordered {
            let run = stage.replicas[at..].iter().take_while(|r| r.node == node);
            let (count, gpus) = run.fold((0, 0), |(n, gpus), r| (n + 1, gpus + r.tensor));
            all.extend(std::iter::repeat_n(gpus, count));
            at += count;
        } else {
            let gpus = match last {
                Some((known, gpus)) if known == node => gpus,
                _ => of_node(node),
            };
            last = Some((node, gpus));
            all.push(gpus);
            at += 1;
        }
    }
    all
}

fn profiled(profile: &LayerProfile, gpu: &str, tensor: u32) -> String {
    let list = |numbers: &[u32]| {
        let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
        words.join(", ")
    };
    let degrees = profile.tensor_degrees(gpu);
    if degrees.is_empty() {
        return format!("GPUs {}", profile.gpus().collect::<Vec<_>>().join(", "));
    }
    if !degrees.contains(&tensor) {
        return format!("tensor degrees {}", list(&degrees));
    }
    let micro_batches = profile.micro_batches(gpu, tensor);
    format!("micro-batches {}", list(&micro_batches))
}
