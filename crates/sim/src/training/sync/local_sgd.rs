//! Local SGD: every worker takes H steps on its own parameters, then all meet, average them, and go on.
//! An update is such a round of H·K gradients; with H = 1 it is `bsp`.

use serde::{Deserialize, Serialize};

use super::draws::Draws;
use super::event_protocol::EventProtocol;
use super::fidelity::Invalid;
use super::leap::Leap;
use super::stationary::Stationary;
use super::steps;
use super::stretch::{Goal, Stretch, give_up};
use super::synchronisation::{Synchronisation, WrongWorkers};
use crate::training::floor::Floor;
use crate::training::progress::{Event, StalledJob};
use crate::training::stepping::{StepCondition, Stepping};
use scavsim_base::rng::Stream;
use scavsim_base::units::SimTime;
use scavsim_base::{Declaration, Declared};
use scavsim_data::workload::Staleness;
use scavsim_read::input::checked::{Count, Penalty};

/// Settings of `local-sgd`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LocalSgd {
    /// Steps that a worker takes between two averages, H.
    pub period: Count,
    /// Fraction of further steps that each local step but the first costs on the way to the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_per_local_step: Option<Penalty>,
}

impl Declared for LocalSgd {
    const DECLARATION: Declaration = Declaration {
        name: "local-sgd",
        what: "Every worker takes `period` steps by itself, then all meet, communicate once and average; with 1 it is `bsp`. Each local step but the first costs `cost_per_local_step` of further steps.",
        formula: "a round of H = `period` steps; an update is H·K gradients; gradients to the target × (1 + c·(H − 1)), c = `cost_per_local_step`",
        source: "Stich, Local SGD Converges Fast and Communicates Little, ICLR 2019; its cost per local step is ours",
        example: "sync.local-sgd = { period = 8, cost_per_local_step = 0.01 }",
    };
}

impl EventProtocol for LocalSgd {
    fn gradients_per_update(&self, workers: u32) -> Option<u32> {
        self.period.get().checked_mul(workers)
    }

    fn run(&self, floor: &mut Floor<'_>, goal: Goal) -> Result<Stretch, StalledJob> {
        let (queue, drift, stepping, stream, scratch, log) = floor.parts();
        let workers = stepping.workers;
        let round = u64::from(workers) * u64::from(self.period.get());
        let mut draws = Draws::new(stepping);
        let RemainingSteps(left) = scratch.memory();
        let (mut begun, mut finished) = (true, 0);
        let mut start = queue.now();
        let mut stretch = Stretch::from(start);
        loop {
            if std::mem::take(&mut begun) {
                left.clear();
                left.resize(workers as usize, self.period.get());
                (finished, start) = (0, queue.now());
                queue.together((0..workers).map(|worker| {
                    let compute = draws.worker(worker, stream);
                    log.computes(worker, start + compute);
                    (compute, Event::Arrived(worker))
                }));
            }
            let Some(event) = queue.advance_until(goal.until) else {
                break;
            };
            match event {
                Event::Arrived(worker) => {
                    let left = &mut left[worker as usize];
                    *left -= 1;
                    if *left > 0 {
                        let compute = draws.worker(worker, stream);
                        log.computes(worker, queue.now() + compute);
                        queue.after(compute, Event::Arrived(worker));
                        continue;
                    }
                    finished += 1;
                    if finished == workers {
                        let (network, _) = drift.factor_at(queue.now());
                        let communication_s = stepping.communication_s * network;
                        stretch.advance.compute_s += (queue.now() - start).seconds();
                        stretch.advance.communication_s += communication_s;
                        let communication = SimTime::from_seconds(communication_s);
                        log.barrier(workers, queue.now(), queue.now() + communication);
                        queue.after(communication, Event::StepComplete);
                    }
                }
                Event::StepComplete => {
                    stretch.gradients += round;
                    let is_last = stretch.update(queue.now(), &goal);
                    log.step(stretch.updates, queue.now());
                    if is_last {
                        log.end(stretch.updates, queue.now());
                        return Ok(stretch);
                    }
                    begun = true;
                }
                _ => {}
            }
        }
        if queue.is_empty() {
            return Err(StalledJob { at: queue.now() });
        }
        give_up(queue, goal.until);
        log.end(stretch.updates, goal.until);
        Ok(stretch)
    }
}

impl Synchronisation for LocalSgd {
    fn check(&self, workers: u32) -> Result<(), WrongWorkers> {
        let steps = self.period.get();
        (steps.checked_mul(workers).map(drop)).ok_or(WrongWorkers::LongRound(steps))
    }

    fn check_fast(&self, _: &Stepping, _updates: u64) -> Result<(), Invalid> {
        if self.period == Count::ONE {
            return Ok(());
        }
        // No formula is known for the slowest of K sums of H steps.
        Err(Invalid::NoFormula {
            protocol: Self::DECLARATION.name,
        })
    }

    fn leap(&self, _: &Stationary, leap: Leap<'_>) -> Option<(Stretch, SimTime)> {
        let stepping = leap.stepping;
        let draws = Draws::new(stepping);
        let draw = |stream: &mut Stream, given: StepCondition| match given {
            // A round is a step here.
            StepCondition::Nothing => (0..stepping.workers).fold(0.0, |slowest_s, worker| {
                f64::max(slowest_s, draws.seconds(worker, stream))
            }),
            StepCondition::Straggler => stepping.draw_slowest_given_s(given, stream),
        };
        let (mut stretch, end) = steps::take_steps(leap, stepping.slowest, draw);
        stretch.gradients = stretch.updates * u64::from(stepping.workers);
        Some((stretch, end))
    }

    fn expected_update_s(&self, step_s: f64) -> Option<f64> {
        (self.period == Count::ONE).then_some(step_s)
    }

    fn gradients_factor(&self, _: f64, _: Option<Staleness>) -> f64 {
        let further = f64::from(self.period.get() - 1);
        1.0 + self.cost_per_local_step.map_or(0.0, Penalty::get) * further
    }
}

/// Steps that each worker has left in the round.
#[derive(Debug, Default)]
struct RemainingSteps(Vec<u32>);
