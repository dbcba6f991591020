//! Backup workers: the step ends at arrival number N of the K = N + r workers. Late gradients are
//! dropped, and their workers start again with the next step. An update is a step of N gradients.

use serde::{Deserialize, Serialize};

use super::bsp;
use super::draws::Draws;
use super::event_protocol::EventProtocol;
use super::fidelity::Invalid;
use super::leap::Leap;
use super::stationary::Stationary;
use super::steps;
use super::stretch::{Goal, Stretch, ratio};
use super::synchronisation::{Synchronisation, WrongWorkers};
use crate::training::floor::Floor;
use crate::training::progress::StalledJob;
use crate::training::slowest::{self, Moments};
use crate::training::stepping::{StepCondition, Stepping};
use scavsim_base::rng::Stream;
use scavsim_base::units::SimTime;
use scavsim_base::{Declaration, Declared};
use scavsim_read::input::checked::Count;

/// Settings of `backup`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Backup {
    /// Workers that no step waits for, r. They are among the K of the configuration.
    pub spare: Count,
}

impl Backup {
    /// Gradients that a step waits for, N; at least 1.
    pub fn needed(&self, workers: u32) -> u32 {
        workers.saturating_sub(self.spare.get()).max(1)
    }

    pub fn moments(&self, stepping: &Stepping) -> Moments {
        slowest::moments_of_nth(
            self.needed(stepping.workers),
            stepping.workers,
            stepping.time,
        )
    }

    /// Draws the compute seconds of a step; `times` is memory.
    fn draw_s(
        &self,
        stepping: &Stepping,
        draws: &Draws<'_>,
        times: &mut Vec<f64>,
        given: StepCondition,
        stream: &mut Stream,
    ) -> f64 {
        times.clear();
        let workers = stepping.workers;
        match given {
            StepCondition::Nothing => {
                times.extend((0..workers).map(|worker| draws.seconds(worker, stream)));
            }
            StepCondition::Straggler => {
                stepping.draw_workers_given_s(given, stream, |time_s| times.push(time_s));
            }
        }
        let nth = self.needed(workers) as usize - 1;
        let (_, barrier_s, _) = times.select_nth_unstable_by(nth, f64::total_cmp);
        *barrier_s
    }
}

impl Declared for Backup {
    const DECLARATION: Declaration = Declaration {
        name: "backup",
        what: "The step does not wait for the last `spare` workers: it ends at arrival number N, the late gradients are dropped, and their workers start again with the others.",
        formula: "N = K − r, r = `spare`; step = N-th of K compute times + communication; an update sums N gradients",
        source: "Chen et al., Revisiting Distributed Synchronous SGD, 2016",
        example: "sync.backup = { spare = 1 }",
    };
}

impl EventProtocol for Backup {
    fn gradients_per_update(&self, workers: u32) -> Option<u32> {
        Some(self.needed(workers))
    }

    fn run(&self, floor: &mut Floor<'_>, goal: Goal) -> Result<Stretch, StalledJob> {
        let needed = self.needed(floor.stepping.workers);
        bsp::rounds(floor, needed, goal)
    }
}

impl Synchronisation for Backup {
    fn check(&self, workers: u32) -> Result<(), WrongWorkers> {
        some_compute(self.spare.get(), workers)
    }

    fn effective_batch(&self, batch: f64, workers: u32) -> f64 {
        batch * f64::from(self.needed(workers)) / f64::from(workers)
    }

    fn check_fast(&self, stepping: &Stepping, _updates: u64) -> Result<(), Invalid> {
        match stepping.machines {
            Some(_) => Err(Invalid::UnequalMachines {
                protocol: Self::DECLARATION.name,
            }),
            None => Ok(()),
        }
    }

    fn stationary(&self, stepping: &Stepping, _rate_error: f64) -> Stationary {
        let (k, time) = (stepping.workers, stepping.time);
        let needed = self.needed(k);
        let late = f64::from(k - needed);
        let barrier = self.moments(stepping);
        // All K arrivals together have mean K.
        let missing: f64 = (needed + 1..=k)
            .map(|n| slowest::moments_of_nth(n, k, time).mean)
            .sum();
        let wasted = late * barrier.mean;
        let useful = f64::from(k) - missing;
        Stationary {
            barrier: Some(barrier),
            wasted: ratio(wasted, useful + wasted),
            ..Stationary::default()
        }
    }

    fn leap(&self, known: &Stationary, leap: Leap<'_>) -> Option<(Stretch, SimTime)> {
        let stepping = leap.stepping;
        let one = known.barrier.unwrap_or(stepping.slowest);
        let draws = Draws::new(stepping);
        let mut times = Vec::new();
        let draw =
            |stream: &mut Stream, given| self.draw_s(stepping, &draws, &mut times, given, stream);
        let (mut stretch, end) = steps::take_steps(leap, one, draw);
        let needed = u64::from(self.needed(stepping.workers));
        stretch.gradients = stretch.updates * needed;
        stretch.dropped = stretch.updates * (u64::from(stepping.workers) - needed);
        // Few steps are drawn, and not as they come.
        stretch.waste_fraction(known.wasted, stepping.worker_s);
        Some((stretch, end))
    }
}

/// Whether `spare` of so many workers leave any to compute.
pub(super) fn some_compute(spare: u32, workers: u32) -> Result<(), WrongWorkers> {
    if spare < workers {
        return Ok(());
    }
    Err(WrongWorkers::NoneComputes { spare, workers })
}
