//! The steps of a plan in one replica, in both fidelities. A slot is a stage of a replica: GPUs of one node that compute
//! together. Its compute in a step is scaled by the node's factor (one for the whole run) and the step's; `event` finds the
//! step by its events, `fast` takes many steps in one normal draw of the same mean and variance.

use scavsim_base::rng::{ConfigurationKey, Purpose, Stream, Streams, UnitLogNormal};
use scavsim_base::stats::{Pair, Welford};
use scavsim_base::units::SimTime;
use scavsim_engine::Interrupt;
use scavsim_parallel::{PathScratch, PreparedPlan, Room};
use scavsim_sim::training::drift::DriftPath;
use scavsim_sim::training::variation::WorkerTime;
use scavsim_sim::training::{Fidelity, UnfinishedJob, Variation};

use crate::{Choices, FeasiblePlan};

/// Trial steps that tell the mean and the deviation of a step with luck, half of them the other half mirrored: at least, and as many
/// more as it takes until the standard error of the mean is below `TRIAL_ERROR` of it.
const FEWEST_TRIALS: usize = 64;
const MOST_TRIALS: usize = 4096;
const TRIAL_ERROR: f64 = 0.0015;
/// Trials whose luck is kept for all plans; further ones draw theirs.
const KEPT_TRIALS: usize = 256;
/// Slots whose luck is kept for all plans; plans of more draw theirs.
const MOST_KEPT: usize = 4096;
/// Where trials draw: the number of the first, of steps and of nodes.
const TRIALS: u64 = 1 << 40;
const NODE_TRIALS: u64 = 1 << 41;

/// The luck of trial steps, the same for every plan: factors of slots and of nodes, drawn once.
#[derive(Debug)]
pub struct TrialEffects {
    worker: WorkerTime,
    machine: UnitLogNormal,
    slots: usize,
    steps: Vec<f64>,
    nodes: Vec<f64>,
}

impl TrialEffects {
    pub fn new(variation: &Variation, slots: usize) -> TrialEffects {
        let mut luck = TrialEffects {
            worker: variation.worker_time(),
            machine: UnitLogNormal::from_sigma(variation.vm_sigma),
            slots: slots.clamp(1, MOST_KEPT),
            steps: Vec::new(),
            nodes: Vec::new(),
        };
        let (varies, differ) = (luck.varies(), luck.differ());
        for trial in 0..KEPT_TRIALS {
            if varies {
                let row = luck.drawn_steps(trial, luck.slots);
                luck.steps.extend(row);
            }
            if differ {
                let row = luck.drawn_nodes(trial, luck.slots);
                luck.nodes.extend(row);
            }
        }
        luck
    }

    fn varies(&self) -> bool {
        !self.worker.is_constant()
    }

    fn differ(&self) -> bool {
        self.machine.sigma() > 0.0
    }

    fn stream(trial: usize, first: u64) -> Stream {
        let stream = Streams::new(0).stream(0, Purpose::Trial(first + trial as u64 / 2));
        if trial % 2 == 1 {
            stream.mirrored()
        } else {
            stream
        }
    }

    fn drawn_steps(&self, trial: usize, count: usize) -> impl Iterator<Item = f64> + use<> {
        let (worker, mut stream) = (self.worker, TrialEffects::stream(trial, TRIALS));
        (0..count).map(move |_| drawn(&worker, &mut stream))
    }

    fn drawn_nodes(&self, trial: usize, count: usize) -> impl Iterator<Item = f64> + use<> {
        let (law, mut stream) = (self.machine, TrialEffects::stream(trial, NODE_TRIALS));
        (0..count).map(move |_| law.sample(&mut stream))
    }

    fn steps(&self, trial: usize, count: usize, into: &mut Vec<f64>) {
        into.clear();
        if count <= self.slots && trial < KEPT_TRIALS {
            into.extend_from_slice(&self.steps[trial * self.slots..][..count]);
        } else {
            into.extend(self.drawn_steps(trial, count));
        }
    }

    fn nodes(&self, trial: usize, count: usize, into: &mut Vec<f64>) {
        into.clear();
        if count <= self.slots && trial < KEPT_TRIALS {
            into.extend_from_slice(&self.nodes[trial * self.slots..][..count]);
        } else {
            into.extend(self.drawn_nodes(trial, count));
        }
    }
}

/// What luck makes of the steps of a plan, each over the step without luck.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Mean over steps, on nodes that are alike.
    alike: f64,
    /// Mean over steps and nodes, over the mean over nodes alone.
    beyond_nodes: f64,
    /// Mean over steps and nodes.
    pub expected: f64,
    /// σ over mean of steps, on nodes that are alike.
    cv: f64,
}

impl Spread {
    pub const NONE: Spread = Spread {
        alike: 1.0,
        beyond_nodes: 1.0,
        expected: 1.0,
        cv: 0.0,
    };

    pub fn is_none(variation: &Variation) -> bool {
        variation.worker_time().is_constant() && variation.vm_sigma == 0.0
    }

    /// `ratio` is a step with so many factors over that without luck; `nodes` is asked for where nodes differ.
    pub fn from_trials(
        luck: &TrialEffects,
        slots: usize,
        nodes: impl FnOnce() -> Vec<usize>,
        mut ratio: impl FnMut(&[f64]) -> f64,
    ) -> Spread {
        let (varies, differ) = (luck.varies(), luck.differ());
        let nodes = if differ { nodes() } else { Vec::new() };
        let count = nodes.iter().max().map_or(1, |last| last + 1);
        let [mut steps, mut of_node, mut both] = [const { Vec::new() }; 3];
        let [mut own, mut of_nodes, mut of_both] = [Welford::default(); 3];
        // Means of a trial and its mirror image: they, not trials, know nothing of each other.
        let (mut halves, mut first) = (Pair::default(), None::<[f64; 2]>);
        for trial in 0..MOST_TRIALS {
            if Interrupt::is_raised_here() {
                break;
            }
            let (mut with, mut without) = (1.0, 1.0);
            if differ {
                luck.nodes(trial, count, &mut of_node);
                both.clear();
                both.extend((0..slots).map(|slot| match nodes.get(slot) {
                    Some(node) => of_node[*node],
                    None => 1.0,
                }));
                without = ratio(&both);
                of_nodes.add(without);
            }
            if varies {
                luck.steps(trial, slots, &mut steps);
                with = ratio(&steps);
                own.add(with);
            }
            if differ && varies {
                both.iter_mut().zip(&steps).for_each(|(a, b)| *a *= b);
                with = ratio(&both);
                of_both.add(with);
            }
            let (over, under) = if varies {
                (with, without)
            } else {
                (without, 1.0)
            };
            match first.take() {
                None => first = Some([over, under]),
                Some([a, b]) => halves.add([0.5 * (a + over), 0.5 * (b + under)]),
            }
            let is_whole = first.is_none() && trial + 1 >= FEWEST_TRIALS;
            if is_whole && halves.ratio_error() < TRIAL_ERROR {
                break;
            }
        }
        let alike = if varies { own.mean() } else { 1.0 };
        Spread {
            alike,
            beyond_nodes: match (differ, varies) {
                (true, true) => of_both.mean() / of_nodes.mean(),
                _ => 1.0,
            },
            expected: match (differ, varies) {
                (true, true) => of_both.mean(),
                (true, false) => of_nodes.mean(),
                _ => alike,
            },
            cv: if varies {
                own.standard_deviation() / alike
            } else {
                0.0
            },
        }
    }
}

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

#[derive(Debug, Clone)]
pub struct PlanEffects {
    pub steps: u64,
    /// Factor of the whole step.
    pub(crate) placement: f64,
    /// Factor of each slot's compute, where nodes differ.
    pub(crate) machines: Vec<f64>,
}

impl PlanEffects {
    pub fn draw(
        choices: &Choices,
        at: usize,
        variation: &Variation,
        streams: &Streams,
        replica: u64,
    ) -> PlanEffects {
        let way = &choices.ways[at];
        let mut luck = PlanEffects {
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

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PlanAdvance {
    pub steps: u64,
    /// Seconds in which GPUs computed or waited for others.
    pub compute_s: f64,
    /// Seconds of communication that nothing hid.
    pub communication_s: f64,
}

#[derive(Debug)]
pub struct PlanPace {
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
    room: Room,
}

impl PlanPace {
    pub fn new(
        way: &FeasiblePlan,
        luck: &PlanEffects,
        variation: &Variation,
        fidelity: Fidelity,
        spread: impl FnOnce() -> Spread,
        prepared: impl FnOnce() -> Option<PreparedPlan>,
    ) -> PlanPace {
        let worker = variation.worker_time();
        let mut pace = PlanPace {
            worker,
            placement: luck.placement,
            machines: luck.machines.clone(),
            mean_s: way.step_s * luck.placement,
            communication_s: way.communication_s * luck.placement,
            deviation_s: 0.0,
            plan: None,
            factors: Vec::new(),
            room: Room::default(),
        };
        let varies = !worker.is_constant();
        let are_alike = luck.machines.is_empty();
        if are_alike && fidelity == Fidelity::Fast {
            if varies {
                let spread = spread();
                pace.mean_s *= spread.alike;
                pace.deviation_s = pace.mean_s * spread.cv;
            }
            return pace;
        }
        let Some(plan) = prepared() else { return pace };
        pace.factors = if are_alike {
            vec![1.0; plan.slots()]
        } else {
            luck.machines.clone()
        };
        let factors = &pace.factors;
        let step_s = match (fidelity, varies) {
            (Fidelity::Event, false) => {
                let mut of = |slot: usize| factors[slot];
                plan.step_events(&mut of, &mut pace.room, |_| {})
            }
            _ => plan.step_with(factors, &mut PathScratch::default()),
        };
        pace.mean_s = step_s * luck.placement;
        match (fidelity, varies) {
            // All steps are alike.
            (_, false) => {}
            (Fidelity::Fast, true) => {
                let spread = spread();
                pace.mean_s *= spread.beyond_nodes;
                pace.deviation_s = pace.mean_s * spread.cv;
            }
            (Fidelity::Event, true) => pace.plan = Some(plan),
        }
        pace
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
        let step_s = plan.step_events(&mut |slot| factors[slot], &mut self.room, |_| {});
        (step_s * self.placement + more, communication_s)
    }

    /// Up to `steps` steps from `from` on that are complete by `limit`; when the last was complete, and what they took.
    pub fn advance(
        &mut self,
        steps: u64,
        (from, limit): (SimTime, SimTime),
        drift: &mut DriftPath,
        stream: &mut Stream,
        interrupt: &Interrupt,
    ) -> Result<(PlanAdvance, SimTime), UnfinishedJob> {
        let mut advance = PlanAdvance::default();
        let mut now = from;
        let singly = self.plan.is_some();
        while advance.steps < steps {
            if interrupt.is_raised() {
                return Err(UnfinishedJob::Interrupted { at: now });
            }
            let left = steps - advance.steps;
            let compute_s = (self.mean_s - self.communication_s).max(0.0);
            let block = if singly {
                None
            } else {
                drift.block(now, || limit, (compute_s, self.communication_s))
            };
            let (count, total_s, communication_s) = match block {
                Some((step_s, ends)) => {
                    let count = floor_steps((ends - now).seconds() / step_s).clamp(1, left);
                    let total_s = self.total(count, step_s, stream);
                    (count, total_s, count as f64 * (step_s - compute_s).max(0.0))
                }
                None => {
                    let (network, ends) = drift.factor_at(now);
                    if singly {
                        let (step_s, communication_s) = self.step(network, stream);
                        (1, step_s, communication_s)
                    } else {
                        let communication_s = self.communication_s * network;
                        let step_s = compute_s + communication_s;
                        let count = if ends < SimTime::LAST {
                            floor_steps(((ends - now).seconds() / step_s).ceil()).clamp(1, left)
                        } else {
                            left
                        };
                        let total_s = self.total(count, step_s, stream);
                        (count, total_s, count as f64 * communication_s)
                    }
                }
            };
            let end = now + SimTime::from_seconds(total_s);
            if end > limit {
                let share = (limit - now).seconds() / total_s;
                let done = floor_steps(share * count as f64).min(count);
                let part = done as f64 / count as f64;
                advance.add(done, part * total_s, part * communication_s);
                now += SimTime::from_seconds(part * total_s);
                break;
            }
            advance.add(count, total_s, communication_s);
            now = end;
            if now >= SimTime::LAST {
                return Err(UnfinishedJob::ClockEnded);
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

impl PlanAdvance {
    pub(crate) fn add_all(&mut self, other: &PlanAdvance) {
        self.steps += other.steps;
        self.compute_s += other.compute_s;
        self.communication_s += other.communication_s;
    }

    fn add(&mut self, steps: u64, total_s: f64, communication_s: f64) {
        let communication_s = communication_s.min(total_s);
        self.steps += steps;
        self.compute_s += total_s - communication_s;
        self.communication_s += communication_s;
    }
}

/// Whole steps; a rounding error too few are none too few.
fn floor_steps(steps: f64) -> u64 {
    (steps * (1.0 + 1e-12)) as u64
}

/// Key of the stream of the steps of a probe, by how often the configuration was probed before, or of the run.
pub fn steps_of(key: ConfigurationKey, visit: Option<u64>) -> Purpose {
    match visit {
        Some(visit) => Purpose::Probe(key, visit),
        None => Purpose::Run(key),
    }
}

#[cfg(test)]
mod tests;
