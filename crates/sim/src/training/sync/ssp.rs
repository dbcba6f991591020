//! Stale-synchronous: a worker waits only when it is more than `slack` steps ahead of the slowest.
//! An update is the gradient of one worker.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::draws::Draws;
use super::event_protocol::EventProtocol;
use super::fidelity::Invalid;
use super::leap::Leap;
use super::long_run::{LongRun, WarmUp};
use super::network::Network;
use super::renewal::OUT_OF_STEP;
use super::slack;
use super::stationary::Stationary;
use super::stretch::{Goal, Stretch, give_up, ratio};
use super::synchronisation::Synchronisation;
use super::turns;
use crate::training::floor::Floor;
use crate::training::progress::{Event, StalledJob};
use crate::training::stepping::Stepping;
use scavsim_base::units::SimTime;
use scavsim_base::{Declaration, Declared};

/// Settings of `ssp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ssp {
    /// Steps that a worker may be ahead of the slowest. With 0 all step together, as `bsp`; with
    /// more than a run has steps nobody waits, as `asp` without a server.
    pub slack: u32,
}

/// Steps of each worker in which a third of a step is no less than 0.2 %.
const STILL_SEEN: f64 = 200.0;

#[derive(Debug, Clone, Copy)]
struct WorkerClock {
    done: u64,
    /// Updates that the parameters it computes on contain.
    read: u64,
    waits: bool,
}

/// Memory: those of all workers.
#[derive(Debug, Default)]
struct Clocks(Vec<WorkerClock>);

impl Declared for Ssp {
    const DECLARATION: Declaration = Declaration {
        name: "ssp",
        what: "A worker waits only when it is more than `slack` steps ahead of the slowest; its communication is its own.",
        formula: "a worker starts a step if it is at most s = `slack` steps ahead; an update is one gradient",
        source: "Ho et al., More Effective Distributed ML via a Stale Synchronous Parallel Parameter Server, NeurIPS 2013",
        example: "sync.ssp = { slack = 3 }",
    };
}

impl EventProtocol for Ssp {
    fn gradients_per_update(&self, _workers: u32) -> Option<u32> {
        Some(1)
    }

    fn run(&self, floor: &mut Floor<'_>, goal: Goal) -> Result<Stretch, StalledJob> {
        // Decided once per stretch: an event of this protocol is little work.
        if floor.log.is_fine() {
            self.events::<true>(floor, goal)
        } else {
            self.events::<false>(floor, goal)
        }
    }
}

impl Synchronisation for Ssp {
    fn has_barrier(&self) -> bool {
        false
    }

    fn check_fast(&self, stepping: &Stepping, updates: u64) -> Result<(), Invalid> {
        let protocol = Self::DECLARATION.name;
        if self.slack == 0 {
            // All workers go on in the same moment: updates have no even flow.
            Err(Invalid::Entangled { protocol })
        } else if slack::is_ample(self.slack, stepping) {
            slack::unheld(stepping, 1.0).check(stepping.workers, updates)
        } else {
            self.settling(stepping).check(protocol, stepping, updates)
        }
    }

    fn stationary(&self, stepping: &Stepping, rate_error: f64) -> Stationary {
        let is_measured = self.slack > 0 && !slack::is_ample(self.slack, stepping);
        let settling = is_measured.then(|| self.settling(stepping));
        Stationary {
            long_run: settling.and_then(|s| LongRun::new(Arc::new(*self), s, stepping, rate_error)),
            ..Stationary::default()
        }
    }

    fn leap(&self, known: &Stationary, mut leap: Leap<'_>) -> Option<(Stretch, SimTime)> {
        let stepping = leap.stepping;
        let many = match &known.long_run {
            Some(long_run) => long_run.updates(&mut leap, |flow, _| flow),
            None if slack::is_ample(self.slack, stepping) => {
                let (network, _) = leap.drift.factor_at(leap.start);
                let (unheld, limit_s) = (
                    slack::unheld(stepping, network),
                    (leap.goal.until - leap.start).seconds(),
                );
                let expected = leap.goal.updates.min(unheld.updates_in(limit_s));
                let is_long = unheld.check(stepping.workers, expected).is_ok();
                is_long.then(|| slack::updates(self.slack, &mut leap))
            }
            None => None,
        };
        many.or_else(|| turns::updates(self.slack, &mut leap))
    }
}

impl Ssp {
    /// Workers drift apart like random walks, until the slowest holds the others back.
    fn settling(&self, stepping: &Stepping) -> WarmUp {
        let cycle_s = stepping.worker_s + stepping.communication_s;
        let cycle_cv = ratio(stepping.time.cv() * stepping.worker_s, cycle_s);
        let apart = (f64::from(self.slack) + 1.0) / cycle_cv;
        let apart = OUT_OF_STEP * apart * apart;
        WarmUp {
            // Of what the start gains, about a step of each worker, a third is still to be lost then: of many steps that
            // is nothing, of few it would be seen.
            rounds: apart + (3.0 * apart).min(STILL_SEEN),
            updates: f64::from(stepping.workers),
            has_own_times: false,
        }
    }

    /// A state machine: the state of all workers in one place, one turn per event.
    #[expect(
        clippy::too_many_lines,
        reason = "a state machine of workers and clocks"
    )]
    fn events<const NOTED: bool>(
        &self,
        floor: &mut Floor<'_>,
        goal: Goal,
    ) -> Result<Stretch, StalledJob> {
        let (queue, drift, stepping, stream, scratch, log) = floor.parts();
        let start = queue.now();
        let mut stretch = Stretch::from(start);
        let slack = u64::from(self.slack);
        let mut draws = Draws::new(stepping);
        let Clocks(clocks) = scratch.memory();
        clocks.clear();
        let fresh = WorkerClock {
            done: 0,
            read: 0,
            waits: false,
        };
        clocks.resize(stepping.workers as usize, fresh);
        // The fewest steps that a worker has done, and how many workers have done no more.
        let (mut least, mut slowest) = (0, stepping.workers);
        let (mut communicated_s, mut missed) = (0.0, 0);
        let mut network = Network::starting_at(start, drift, stepping);
        for worker in 0..stepping.workers {
            let compute = draws.worker(worker, stream);
            if NOTED {
                log.cycle(worker, start, ends(start, compute, network.time));
            }
            queue.after(compute + network.time, Event::Arrived(worker));
        }
        while let Some(&event) = queue.look_until(goal.until) {
            let Event::Arrived(worker) = event else {
                queue.advance();
                continue;
            };
            let now = queue.now();
            communicated_s += network.seconds;
            let clock = &mut clocks[worker as usize];
            clock.done += 1;
            let done = clock.done;
            if slack > 0 {
                missed += stretch.updates - clock.read;
            }
            let is_last = stretch.update(now, &goal);
            if NOTED {
                log.update(stretch.updates, now);
            }
            if is_last {
                break;
            }
            network.follow(now);
            if done - 1 == least {
                slowest -= 1;
            }
            if slowest > 0 {
                let clock = &mut clocks[worker as usize];
                if done - least <= slack {
                    clock.read = stretch.updates;
                    let compute = draws.worker(worker, stream);
                    if NOTED {
                        log.cycle(worker, now, ends(now, compute, network.time));
                    }
                    queue.put_off(compute + network.time);
                } else {
                    queue.advance();
                    if NOTED {
                        log.settle(worker, now);
                    }
                    clock.waits = true;
                }
                continue;
            }
            // The slowest has done a step: whoever waited for it goes on, in the order of numbers.
            queue.advance();
            if NOTED {
                log.settle(worker, now);
            }
            clocks[worker as usize].waits = true;
            least += 1;
            for (number, clock) in (0..).zip(clocks.iter_mut()) {
                slowest += u32::from(clock.done == least);
                if clock.waits && clock.done - least <= slack {
                    clock.waits = false;
                    clock.read = stretch.updates;
                    let compute = draws.worker(number, stream);
                    if NOTED {
                        log.cycle(number, now, ends(now, compute, network.time));
                    }
                    queue.after(compute + network.time, Event::Arrived(number));
                }
            }
        }
        if stretch.updates < goal.updates && queue.is_empty() {
            return Err(StalledJob { at: queue.now() });
        }
        let end = if stretch.updates == goal.updates {
            queue.now()
        } else {
            goal.until
        };
        give_up(queue, end);
        log.end(stretch.updates, end);
        stretch.gradients = stretch.updates;
        stretch.missed_gradients = missed as f64;
        let workers = f64::from(stepping.workers);
        stretch.divide((end - start).seconds(), ratio(communicated_s, workers));
        Ok(stretch)
    }
}

/// When a worker's step that begins now has computed, and communicated.
#[inline]
fn ends(now: SimTime, compute: SimTime, communication: SimTime) -> [SimTime; 3] {
    [now, now + compute, now + compute + communication]
}
