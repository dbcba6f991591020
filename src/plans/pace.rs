//! The steps of a plan in one replica, in three fidelities.
//!
//! A slot is a stage of a replica: GPUs of one node that compute together. In a step its compute takes as long as its
//! node's factor (one for the whole run) times that of the step say; `step` finds the step by the critical path of the
//! plan, `event` by its events, `fast` takes many steps in one normal draw of the same mean and variance.

use crate::engine::Interrupt;
use crate::parallel::{PreparedPlan, Room, Scratch};
use crate::rng::{ConfigurationKey, Purpose, Stream, Streams, UnitLogNormal};
use crate::training::drift::DriftPath;
use crate::training::variation::WorkerTime;
use crate::training::{Fidelity, Unfinished, Variation};
use crate::units::SimTime;

use super::{Choices, Way};

/// Steps that tell the mean and the deviation of a step with luck.
const TRIAL_STEPS: usize = 256;
/// The same in a run whose nodes differ, which has its own.
const OWN_TRIAL_STEPS: usize = 64;
/// Where trials draw: the number of the first.
const TRIALS: u64 = 1 << 40;

/// What luck makes of a step: its mean over that without luck, and its deviation over its mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// E[step] / step.
    pub mean: f64,
    /// σ(step) / E[step].
    pub cv: f64,
}

impl Spread {
    /// Steps that are all alike.
    pub const NONE: Spread = Spread { mean: 1.0, cv: 0.0 };

    /// Of steps with nodes of these factors; `machines` may be empty.
    fn of(
        plan: &PreparedPlan,
        worker: &WorkerTime,
        machines: &[f64],
        (count, stream): (usize, &mut Stream),
    ) -> Spread {
        let mut scratch = Scratch::default();
        let mut factors = vec![1.0; plan.slots()];
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..count {
            for (slot, factor) in factors.iter_mut().enumerate() {
                *factor = machines.get(slot).copied().unwrap_or(1.0) * drawn(worker, stream);
            }
            let ratio = plan.step_with(&factors, &mut scratch) / plan.step_s();
            sum += ratio;
            squares += ratio * ratio;
        }
        let mean = sum / count as f64;
        let variance = (squares / count as f64 - mean * mean).max(0.0);
        Spread {
            mean,
            cv: variance.sqrt() / mean,
        }
    }

    /// That of a plan on nodes that are alike. The same trials for every plan.
    pub fn alike(plan: &PreparedPlan, variation: &Variation) -> Spread {
        let worker = variation.worker_time();
        if worker.is_constant() {
            return Spread::NONE;
        }
        let mut stream = Streams::new(0).stream(0, Purpose::Trial(TRIALS));
        Spread::of(plan, &worker, &[], (TRIAL_STEPS, &mut stream))
    }

    /// That of a plan over all draws of nodes, too: what is expected of its steps.
    pub fn expected(plan: &PreparedPlan, nodes: &[usize], variation: &Variation) -> Spread {
        if variation.vm_sigma == 0.0 {
            return Spread::alike(plan, variation);
        }
        let worker = variation.worker_time();
        let law = UnitLogNormal::from_sigma(variation.vm_sigma);
        let streams = Streams::new(0);
        let mut sum = 0.0;
        let count = nodes.iter().max().map_or(1, |last| last + 1);
        for trial in 0..TRIAL_STEPS as u64 {
            let mut stream = streams.stream(0, Purpose::Trial(TRIALS + 1 + trial));
            let of_node: Vec<f64> = (0..count).map(|_| law.sample(&mut stream)).collect();
            let machines: Vec<f64> = nodes.iter().map(|node| of_node[*node]).collect();
            sum += Spread::of(plan, &worker, &machines, (1, &mut stream)).mean;
        }
        Spread {
            mean: sum / TRIAL_STEPS as f64,
            cv: 0.0,
        }
    }
}

/// One draw of the factor of a step.
#[inline]
fn drawn(worker: &WorkerTime, stream: &mut Stream) -> f64 {
    if worker.is_constant() {
        return 1.0;
    }
    let mut log = worker.log_scale();
    if worker.sigma > 0.0 {
        log += worker.sigma * stream.normal();
    }
    let factor = libm::exp(log);
    match worker.straggler {
        Some(straggler) if stream.uniform() < straggler.probability => factor * straggler.factor,
        _ => factor,
    }
}

/// What a replica deals to a configuration.
#[derive(Debug, Clone)]
pub struct Luck {
    /// Steps to the target.
    pub steps: u64,
    /// Factor of the whole step.
    placement: f64,
    /// Factor of each slot's compute, where nodes differ.
    machines: Vec<f64>,
}

impl Luck {
    /// That of a replica.
    pub fn draw(
        choices: &Choices,
        at: usize,
        variation: &Variation,
        (streams, replica): (&Streams, u64),
    ) -> Luck {
        let way = &choices.ways[at];
        let mut luck = Luck {
            steps: way.steps.ceil().max(1.0) as u64,
            placement: 1.0,
            machines: Vec::new(),
        };
        if variation.placement_sigma > 0.0 || variation.epoch_cv > 0.0 {
            let mut stream = streams.stream(replica, Purpose::Luck(way.key));
            let law = UnitLogNormal::from_sigma(variation.placement_sigma);
            luck.placement = law.sample(&mut stream);
            let epochs = UnitLogNormal::from_cv(variation.epoch_cv).sample(&mut stream);
            luck.steps = (way.steps * epochs).ceil().max(1.0) as u64;
        }
        if variation.vm_sigma > 0.0 {
            let law = UnitLogNormal::from_sigma(variation.vm_sigma);
            let of_node: Vec<f64> = (way.nodes.iter())
                .flat_map(|(vm, count)| {
                    let key = choices.vm_types[usize::from(*vm)].1;
                    let mut stream = streams.stream(replica, Purpose::Machines(key));
                    (0..*count)
                        .map(move |_| law.sample(&mut stream))
                        .collect::<Vec<f64>>()
                })
                .collect();
            let nodes = slot_nodes(choices, at);
            let factor = |node: &usize| of_node.get(*node).copied().unwrap_or(1.0);
            luck.machines = nodes.iter().map(factor).collect();
        }
        luck
    }
}

/// Which VM of a plan each slot runs on: at `replica × stages + stage`.
pub fn slot_nodes(choices: &Choices, at: usize) -> Vec<usize> {
    let Ok(plan) = choices.plan(at) else {
        return Vec::new();
    };
    let stages = plan.stages.len();
    let mut nodes = vec![0; stages * plan.data as usize];
    for (stage, own) in plan.stages.iter().enumerate() {
        for (replica, slot) in own.replicas.iter().enumerate() {
            nodes[replica * stages + stage] = slot.node as usize;
        }
    }
    nodes
}

/// What steps took.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Advance {
    /// Complete steps.
    pub steps: u64,
    /// Seconds in which GPUs computed or waited for others.
    pub compute_s: f64,
    /// Seconds of communication that nothing hid.
    pub communication_s: f64,
}

/// The steps of a plan on the nodes of a replica.
#[derive(Debug)]
pub struct Pace {
    fidelity: Fidelity,
    worker: WorkerTime,
    placement: f64,
    machines: Vec<f64>,
    /// Mean seconds of a step, of these communication, and the deviation of a step.
    mean_s: f64,
    communication_s: f64,
    deviation_s: f64,
    /// The plan, where single steps have luck.
    plan: Option<PreparedPlan>,
    factors: Vec<f64>,
    scratch: Scratch,
    room: Room,
}

impl Pace {
    /// That of a configuration. `alike`: what luck makes of its steps where nodes are alike.
    pub fn new(
        way: &Way,
        luck: &Luck,
        variation: &Variation,
        fidelity: Fidelity,
        alike: impl FnOnce() -> Spread,
        prepared: impl FnOnce() -> Option<PreparedPlan>,
    ) -> Pace {
        let worker = variation.worker_time();
        let mut pace = Pace {
            fidelity,
            worker,
            placement: luck.placement,
            machines: luck.machines.clone(),
            mean_s: way.step_s * luck.placement,
            communication_s: way.communication_s * luck.placement,
            deviation_s: 0.0,
            plan: None,
            factors: Vec::new(),
            scratch: Scratch::default(),
            room: Room::default(),
        };
        let varies = !worker.is_constant();
        if luck.machines.is_empty() && fidelity == Fidelity::Fast {
            if varies {
                pace.spread(way, alike());
            }
            return pace;
        }
        if luck.machines.is_empty() && !varies && fidelity == Fidelity::Step {
            return pace;
        }
        pace.plan = prepared();
        let Some(plan) = &pace.plan else { return pace };
        pace.factors = match luck.machines.is_empty() {
            true => vec![1.0; plan.slots()],
            false => luck.machines.clone(),
        };
        match (fidelity, varies) {
            // All steps are alike.
            (Fidelity::Event, false) => {
                let factors = &pace.factors;
                let mut of = |slot: usize| factors[slot];
                let step_s = plan.step_events(&mut of, &mut pace.room, |_| {});
                pace.mean_s = step_s * luck.placement;
                pace.plan = None;
            }
            (_, false) => {
                pace.mean_s = plan.step_with(&pace.factors, &mut pace.scratch) * luck.placement;
                pace.plan = None;
            }
            (Fidelity::Fast, true) => {
                let mut stream = Streams::new(0).stream(0, Purpose::Trial(TRIALS));
                let count = (OWN_TRIAL_STEPS, &mut stream);
                let spread = Spread::of(plan, &worker, &luck.machines, count);
                pace.spread(way, spread);
                pace.plan = None;
            }
            (_, true) => {}
        }
        pace
    }

    fn spread(&mut self, way: &Way, spread: Spread) {
        self.mean_s = way.step_s * spread.mean * self.placement;
        self.deviation_s = self.mean_s * spread.cv;
    }

    /// Mean seconds of a step, as far as that is known before it.
    pub fn mean_s(&self) -> f64 {
        self.mean_s
    }

    /// Seconds of one step, and of these its communication, in which the network takes `network` times as long.
    fn step(&mut self, network: f64, stream: &mut Stream) -> (f64, f64) {
        let communication_s = self.communication_s * network;
        let more = communication_s - self.communication_s;
        let Some(plan) = &self.plan else {
            return (self.mean_s + more, communication_s);
        };
        for (slot, factor) in self.factors.iter_mut().enumerate() {
            *factor = self.machines.get(slot).copied().unwrap_or(1.0) * drawn(&self.worker, stream);
        }
        let factors = &self.factors;
        let step_s = match self.fidelity {
            Fidelity::Event => {
                let mut of = |slot: usize| factors[slot];
                plan.step_events(&mut of, &mut self.room, |_| {})
            }
            _ => plan.step_with(factors, &mut self.scratch),
        };
        (step_s * self.placement + more, communication_s)
    }

    /// Up to `steps` steps from `from` on, but none that is not complete at `limit`. When the last was complete, and what
    /// they took.
    ///
    /// # Errors
    /// [`Unfinished::Interrupted`].
    pub fn advance(
        &mut self,
        steps: u64,
        (from, limit): (SimTime, SimTime),
        drift: &mut DriftPath,
        stream: &mut Stream,
        interrupt: &Interrupt,
    ) -> Result<(Advance, SimTime), Unfinished> {
        let mut advance = Advance::default();
        let mut now = from;
        let singly = self.plan.is_some();
        while advance.steps < steps {
            if interrupt.is_raised() {
                return Err(Unfinished::Interrupted { at: now });
            }
            let left = steps - advance.steps;
            let compute_s = (self.mean_s - self.communication_s).max(0.0);
            let block = match singly {
                true => None,
                false => drift.block(now, limit, (compute_s, self.communication_s)),
            };
            let (count, total_s, communication_s) = match block {
                Some((step_s, ends)) => {
                    let count = whole((ends - now).seconds() / step_s).clamp(1, left);
                    let total_s = self.total(count, step_s, stream);
                    (count, total_s, count as f64 * (step_s - compute_s).max(0.0))
                }
                None => {
                    let (network, ends) = drift.at(now);
                    if singly {
                        let (step_s, communication_s) = self.step(network, stream);
                        (1, step_s, communication_s)
                    } else {
                        let communication_s = self.communication_s * network;
                        let step_s = compute_s + communication_s;
                        let count = match ends < SimTime::LAST {
                            true => whole(((ends - now).seconds() / step_s).ceil()).clamp(1, left),
                            false => left,
                        };
                        let total_s = self.total(count, step_s, stream);
                        (count, total_s, count as f64 * communication_s)
                    }
                }
            };
            let end = now + SimTime::from_seconds(total_s);
            if end > limit {
                let share = (limit - now).seconds() / total_s;
                let done = whole(share * count as f64).min(count);
                let part = done as f64 / count as f64;
                advance.add(done, part * total_s, part * communication_s);
                now += SimTime::from_seconds(part * total_s);
                break;
            }
            advance.add(count, total_s, communication_s);
            now = end;
            if now >= SimTime::LAST {
                return Err(Unfinished::ClockEnded);
            }
        }
        Ok((advance, now))
    }

    /// Seconds of so many steps in one draw.
    fn total(&self, count: u64, step_s: f64, stream: &mut Stream) -> f64 {
        let n = count as f64;
        let mean_s = n * step_s;
        if self.deviation_s == 0.0 {
            return mean_s;
        }
        // Few steps have no normal sum; they take half their mean at least.
        (mean_s + n.sqrt() * self.deviation_s * stream.normal()).max(0.5 * mean_s)
    }
}

impl Advance {
    fn add(&mut self, steps: u64, total_s: f64, communication_s: f64) {
        let communication_s = communication_s.min(total_s);
        self.steps += steps;
        self.compute_s += total_s - communication_s;
        self.communication_s += communication_s;
    }
}

/// Whole steps; a rounding error too few are none too few.
fn whole(steps: f64) -> u64 {
    (steps * (1.0 + 1e-12)) as u64
}

/// Key of the stream of the steps of a probe, by how often the configuration was probed before, or of the run.
pub fn steps_of(key: ConfigurationKey, visit: Option<u64>) -> Purpose {
    match visit {
        Some(visit) => Purpose::Probe(key, visit),
        None => Purpose::Run(key),
    }
}
