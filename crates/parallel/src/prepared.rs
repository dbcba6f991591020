//! A plan prepared without randomness, and its steps.

mod costs;
mod events;
mod outline;
mod path;
mod peers;
mod reduction;

use crate::runtime::Activations;
use crate::schedule::{Operation, Place, Schedule};

pub use outline::StepOutline;
pub use path::PathScratch;

/// Work of a stage for each micro-batch and step, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct StageCost {
    /// Until a forward pass has been launched and computed.
    forward: f64,
    backward: f64,
    /// Part of `forward` in which the GPU computes.
    busy_forward: f64,
    busy_backward: f64,
    /// Part of `backward` that computes the gradients of weights.
    weights: f64,
    /// Part of both passes that is communication; `None` if it is included in the measurements.
    communication: Option<f64>,
    message: f64,
    update: f64,
}

impl StageCost {
    /// On a machine that needs `factor` times as long.
    fn scaled(self, factor: f64) -> StageCost {
        StageCost {
            forward: self.forward * factor,
            backward: self.backward * factor,
            busy_forward: self.busy_forward * factor,
            busy_backward: self.busy_backward * factor,
            weights: self.weights * factor,
            communication: self.communication.map(|own| own * factor),
            message: self.message,
            update: self.update * factor,
        }
    }
}

/// The share of a stage's seconds in a virtual stage.
#[derive(Debug, Clone, Copy, PartialEq)]
struct VirtualShare {
    forward: f64,
    backward: f64,
}

/// Seconds of a pass: until it has been launched and computed, and during which the GPU computes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct PassCost {
    seconds: f64,
    busy: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Reduction {
    buckets: u32,
    bucket_s: f64,
}

impl Reduction {
    /// When the first bucket is ready, if the last backward pass ends at `end` and lasts `last`: buckets become ready one after another.
    #[inline]
    fn first_bucket(self, end: f64, last: f64) -> f64 {
        end - last * (1.0 - 1.0 / f64::from(self.buckets.max(1)))
    }

    #[inline]
    fn seconds(self) -> f64 {
        f64::from(self.buckets) * self.bucket_s
    }
}

/// The parts of a step's seconds, on the stage that ends last: they add up to the step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StepBreakdown {
    pub compute_s: f64,
    /// The part of `compute_s` in which GPUs exchange shared values: sums of a layer, weights, keys and values, tokens of
    /// experts. `None` if it is included in measured layers.
    pub inside_s: Option<f64>,
    pub bubble_s: f64,
    /// Sending activations and their gradients, without the hidden part.
    pub activations_s: f64,
    /// Reducing gradients among replicas, and waiting for them, without the hidden part.
    pub gradients_s: f64,
    pub update_s: f64,
}

impl StepBreakdown {
    pub fn step_s(&self) -> f64 {
        self.compute_s + self.bubble_s + self.activations_s + self.gradients_s + self.update_s
    }

    pub fn bubble_share(&self) -> f64 {
        self.bubble_s / self.step_s().max(f64::MIN_POSITIVE)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Work {
    Forward,
    Backward,
    Weights,
    /// Activations or their gradients are exchanged with the stage before.
    Receive,
    /// Activations or their gradients are exchanged with the next stage.
    Send,
    Reduce,
    Update,
}

scavsim_base::named! {
    Work:
    Forward = "forward", Backward = "backward", Weights = "weights", Receive = "exchange-previous",
    Send = "exchange-next", Reduce = "reduce", Update = "update",
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    pub replica: u32,
    pub stage: u32,
    pub work: Work,
    /// The micro-batch, from 0; 0 if none applies.
    pub micro_batch: u32,
    /// Seconds from the beginning of the step.
    pub start_s: f64,
    pub end_s: f64,
}

#[derive(Debug, Clone)]
pub struct PreparedPlan {
    schedule: Schedule,
    activations: Activations,
    overlap_gradients: bool,
    stages: u32,
    micro_batches: u32,
    /// Distinct pipelines, each with its stages.
    lanes: Vec<Vec<StageCost>>,
    /// Shares of virtual stages, for each distinct pipeline, at `stage × virtual stages + virtual stage`; empty without virtual stages.
    shares: Vec<Vec<VirtualShare>>,
    virtual_stages: u32,
    /// For each replica: the index of its pipeline in `lanes`.
    lane_of: Vec<u32>,
    /// Per stage.
    reductions: Vec<Reduction>,
    memory: Vec<u64>,
    /// Whether a GPU may need more memory than it has: it fits, or nearly, by the prediction, but not by its error interval.
    pub may_not_fit: bool,
    pub checkpoint_bytes: u64,
}

impl PreparedPlan {
    #[inline]
    pub fn stages(&self) -> usize {
        self.stages as usize
    }

    /// Whether its random steps have an outline: the schedule waits as 1F1B does, and so do both ends of messages.
    pub fn has_outline(&self) -> bool {
        self.activations == Activations::Serial && !self.schedule.needs_overlap()
    }

    /// Seconds of a pass of a stage of the pipeline `lane` whose costs are `cost`; `None` if it has none.
    #[inline]
    fn pass(
        &self,
        cost: &StageCost,
        (lane, stage): (usize, usize),
        of: Operation,
    ) -> Option<PassCost> {
        let mut pass = match of {
            Operation::Forward(_) => PassCost {
                seconds: cost.forward,
                busy: cost.busy_forward,
            },
            Operation::Backward(_) if self.schedule == Schedule::ZeroBubble => PassCost {
                seconds: cost.backward - cost.weights,
                busy: (cost.busy_backward - cost.weights).max(0.0),
            },
            Operation::Backward(_) => PassCost {
                seconds: cost.backward,
                busy: cost.busy_backward,
            },
            Operation::Weights(_) => PassCost {
                seconds: cost.weights,
                busy: cost.weights.min(cost.busy_backward),
            },
            Operation::Previous(_) | Operation::Next(_) => return None,
        };
        if self.virtual_stages > 1
            && let Operation::Forward(number) | Operation::Backward(number) = of
        {
            let own = stage * self.virtual_stages as usize + (number / self.micro_batches) as usize;
            let share = self.shares[lane][own];
            let share = match of {
                Operation::Forward(_) => share.forward,
                _ => share.backward,
            };
            pass = PassCost {
                seconds: pass.seconds * share,
                busy: pass.busy * share,
            };
        }
        Some(pass)
    }

    /// Seconds of the last pass of a stage, in which its gradients become ready: that of its first layers.
    fn last_backward(&self, cost: &StageCost, (lane, stage): (usize, usize)) -> f64 {
        if self.schedule == Schedule::ZeroBubble {
            return cost.weights;
        }
        let share = (self.shares.get(lane))
            .and_then(|shares| shares.get(stage * self.virtual_stages as usize))
            .map_or(1.0, |share| share.backward);
        cost.backward * share
    }

    /// The next stage: the last is followed by the first, with its next virtual stage.
    #[inline]
    fn behind(&self, stage: usize) -> usize {
        if stage + 1 == self.stages() {
            0
        } else {
            stage + 1
        }
    }

    #[inline]
    fn before(&self, stage: usize) -> usize {
        stage.checked_sub(1).unwrap_or(self.stages() - 1)
    }

    #[inline]
    pub fn replicas(&self) -> usize {
        self.lane_of.len()
    }

    /// Seconds of a step, by its critical path, without randomness.
    pub fn step_s(&self) -> f64 {
        self.step_in(&mut PathScratch::default())
    }

    /// Seconds of a step like [`PreparedPlan::step_s`], with reused memory.
    pub fn step_in(&self, scratch: &mut PathScratch) -> f64 {
        scratch.begin(self.stages());
        for (number, lane) in self.lanes.iter().enumerate() {
            scratch.costs.clone_from(lane);
            self.walk(number, scratch);
            self.meet(number, scratch);
        }
        self.finish(scratch)
    }

    /// Seconds of a step if each slot, `replica × stages + stage`, computes `factors[slot]` times as long.
    pub fn step_with(&self, factors: &[f64], scratch: &mut PathScratch) -> f64 {
        scratch.begin(self.stages());
        for (replica, &lane) in self.lane_of.iter().enumerate() {
            let own = factors.iter().skip(replica * self.stages());
            let number = lane as usize;
            let lane = &self.lanes[number];
            scratch.costs.clear();
            let scaled = lane
                .iter()
                .zip(own)
                .map(|(cost, factor)| cost.scaled(*factor));
            scratch.costs.extend(scaled);
            // Fewer factors than slots: the rest are 1.
            let given = scratch.costs.len();
            scratch.costs.extend_from_slice(&lane[given..]);
            self.walk(number, scratch);
            self.meet(number, scratch);
        }
        self.finish(scratch)
    }

    /// Number of factors of [`PreparedPlan::step_with`]: one per replica and stage.
    #[inline]
    pub fn slots(&self) -> usize {
        self.replicas() * self.stages()
    }

    /// The end of the step, from the ends of the stages of all replicas.
    fn finish(&self, scratch: &PathScratch) -> f64 {
        let stages = scratch.met.iter().zip(&self.reductions);
        let ends = stages.map(|(met, &reduction)| {
            self.reduced(reduction, met.end, met.first_bucket) + met.update
        });
        ends.fold(0.0, f64::max)
    }

    /// When a stage's gradients are reduced, if all replicas ended at `end` and have their first bucket at `first_bucket`.
    #[inline]
    fn reduced(&self, reduction: Reduction, end: f64, first_bucket: f64) -> f64 {
        if !self.overlap_gradients {
            return end + reduction.seconds();
        }
        // In each replica buckets become ready at equal intervals, so over all of them ever later: either the first decides,
        // and all follow at once, or the last.
        (first_bucket + reduction.seconds()).max(end + reduction.bucket_s)
    }

    /// Maximum seconds of a step that a stage computes forward.
    pub fn forward_s(&self) -> f64 {
        let all = self.lanes.iter().flatten().map(|cost| cost.forward);
        f64::from(self.micro_batches) * all.fold(0.0, f64::max)
    }

    pub fn breakdown(&self) -> StepBreakdown {
        self.step_with_breakdown(&mut PathScratch::default()).1
    }

    /// Seconds of a step like [`PreparedPlan::step_s`], and their parts, with reused memory.
    pub fn step_with_breakdown(&self, scratch: &mut PathScratch) -> (f64, StepBreakdown) {
        let stages = self.stages();
        scratch.begin(stages);
        // The ends of each stage of each pipeline.
        let mut ended = std::mem::take(&mut scratch.ended);
        ended.clear();
        for (number, lane) in self.lanes.iter().enumerate() {
            scratch.costs.clone_from(lane);
            self.walk(number, scratch);
            self.meet(number, scratch);
            ended.extend((0..stages).map(|stage| scratch.end(stage)));
        }
        let step_s = self.finish(scratch);
        let mut stage = 0;
        let mut latest = f64::NEG_INFINITY;
        for (number, (met, &r)) in scratch.met.iter().zip(&self.reductions).enumerate() {
            let end = self.reduced(r, met.end, met.first_bucket) + met.update;
            if end > latest {
                (latest, stage) = (end, number);
            }
        }
        // The pipeline that ends last at this stage.
        let (mut end, mut lane) = (f64::NEG_INFINITY, 0);
        for index in 0..self.lanes.len() {
            let own = ended[index * stages + stage];
            if own > end {
                (end, lane) = (own, index);
            }
        }
        scratch.ended = ended;
        let update_s = scratch.met[stage].update;
        (
            step_s,
            self.parts(&self.lanes[lane], stage, end, step_s, update_s),
        )
    }

    fn parts(
        &self,
        costs: &[StageCost],
        stage: usize,
        end: f64,
        step_s: f64,
        update_s: f64,
    ) -> StepBreakdown {
        let own = costs[stage];
        let compute_s = f64::from(self.micro_batches) * (own.forward + own.backward);
        let waits = (end - compute_s).max(0.0);
        let sent = match self.activations {
            Activations::Overlapped => 0.0,
            _ => self.exchanged(costs, stage),
        };
        let activations_s = sent.min(waits);
        StepBreakdown {
            compute_s: compute_s.min(end),
            inside_s: (own.communication).map(|each| f64::from(self.micro_batches) * each),
            bubble_s: waits - activations_s,
            activations_s,
            gradients_s: step_s - end - update_s,
            update_s,
        }
    }

    /// Seconds in which a stage exchanges activations and gradients in a step.
    fn exchanged(&self, costs: &[StageCost], stage: usize) -> f64 {
        let order = self.schedule.order(self.place(stage));
        let mut sum = 0.0;
        for number in 0..order.operations() {
            sum += match order.operation(number) {
                Operation::Previous(e) => self.exchange_s(e.messages(), costs[stage - 1].message),
                Operation::Next(e) => self.exchange_s(e.messages(), costs[stage].message),
                _ => 0.0,
            };
        }
        sum
    }

    #[inline]
    fn exchange_s(&self, messages: u32, message: f64) -> f64 {
        match self.activations {
            Activations::Serial => f64::from(messages) * message,
            _ => message,
        }
    }

    #[inline]
    fn place(&self, stage: usize) -> Place {
        Place {
            stage: stage as u32,
            stages: self.stages,
            micro_batches: self.micro_batches,
            virtual_stages: self.virtual_stages,
        }
    }

    /// Maximum bytes that one GPU of a stage holds in a step, over all replicas.
    pub fn peak_memory_bytes(&self, stage: usize) -> u64 {
        self.memory.get(stage).copied().unwrap_or(0)
    }
}

pub use events::Room;

#[cfg(test)]
mod forms_tests;
#[cfg(test)]
mod tests;
