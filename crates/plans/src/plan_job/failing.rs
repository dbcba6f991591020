//! Failures of machines as the clock of one replica meets them. The next failure comes once the rate of all that are held,
//! summed over time, has reached an exponential draw of mean 1. One that would hit a machine which is still starting does not
//! happen.

use super::held::HeldVms;
use crate::Failures;
use crate::failures::FailureScope;
use scavsim_base::rng::{Purpose, Stream, Streams};
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};

#[derive(Debug, Clone)]
pub(super) struct FailureClock {
    stream: Stream,
    streams: Streams,
    replica: u64,
    /// Rate × time until the next failure.
    left: f64,
    /// Failures per second of all that is held.
    rate: f64,
    /// The failure that a job waits for.
    due: Option<Failure>,
    /// Failed machines whose place nobody has taken yet.
    unreplaced: u32,
}

#[derive(Debug, Clone, Copy)]
struct Failure {
    at: SimTime,
    place: usize,
    /// Rate × time from then until the next.
    then: f64,
}

impl FailureClock {
    pub(super) fn new(streams: &Streams, replica: u64) -> FailureClock {
        let mut stream = streams.stream(replica, Purpose::Failures);
        let left = exponential(&mut stream);
        FailureClock {
            stream,
            streams: *streams,
            replica,
            left,
            rate: 0.0,
            due: None,
            unreplaced: 0,
        }
    }

    /// Failures per hour of a machine of so many GPUs that is asked for, by its number among all requests. The place of one that failed is
    /// taken by one that failed before: it is a lemon as often as those are.
    pub(super) fn of_machine_h(&mut self, failures: &Failures, gpus: u32, number: u32) -> f64 {
        let mean_h = failures.of_node_h(gpus);
        let Some(lemons) = failures.lemons else {
            return mean_h;
        };
        let mut stream = self
            .streams
            .stream(self.replica, Purpose::Lemon(u64::from(number)));
        let (others, lemon) = lemons.weights();
        let share = match self.unreplaced {
            0 => lemons.share,
            _ => lemons.share * lemon,
        };
        self.unreplaced = self.unreplaced.saturating_sub(1);
        if stream.uniform() < share {
            mean_h * lemon
        } else {
            mean_h * others
        }
    }

    /// Nobody is held any more: machines that are asked for from now on take no failed one's place.
    pub(super) fn release_all(&mut self) {
        self.unreplaced = 0;
    }

    pub(super) fn watch(&mut self, vms: &HeldVms) {
        self.rate = vms.failures_h / SECONDS_PER_HOUR;
    }

    /// When the next failure comes, if nobody goes or comes.
    pub(super) fn next(&self, now: SimTime) -> SimTime {
        if self.rate <= 0.0 {
            return SimTime::LAST;
        }
        now + SimTime::from_seconds(self.left / self.rate)
    }

    pub(super) fn pass(&mut self, seconds: f64) {
        self.left = (self.left - seconds * self.rate).max(0.0);
    }

    /// Whether the failure due at `at` hits a machine that runs by then; else another comes after it.
    pub(super) fn hits(&mut self, vms: &HeldVms, at: SimTime) -> bool {
        let then = exponential(&mut self.stream);
        let place = vms.place_at(self.stream.uniform() * vms.failures_h);
        let hit = place.filter(|place| vms.all()[*place].vm.runs <= at);
        self.due = hit.map(|place| Failure { at, place, then });
        if hit.is_none() {
            self.left += then;
        }
        hit.is_some()
    }

    /// If the failure is here, the VMs that it takes are lost at `now`: seconds until somebody begins to restart the job.
    pub(super) fn strike(
        &mut self,
        failures: &Failures,
        vms: &mut HeldVms,
        now: SimTime,
    ) -> Option<f64> {
        let Failure {
            place: number,
            then,
            ..
        } = self.due.take_if(|due| due.at <= now)?;
        self.left = then;
        let gpus = vms.all()[number].gpus;
        let mut left = self.stream.uniform() * failures.of_node_h(gpus);
        let cause = failures.causes.iter().find(|cause| {
            left -= cause.of_node_h(gpus);
            left < 0.0
        });
        let group = failures.nodes_per_switch.max(1) as usize;
        match cause.or(failures.causes.last()).map(|cause| cause.loses) {
            Some(FailureScope::Gpu | FailureScope::Node) => {
                vms.strike(number..number + 1, now);
                self.unreplaced += 1;
            }
            Some(FailureScope::Switch) => {
                let first = number / group * group;
                vms.strike(first..first + group, now);
                self.unreplaced += 1;
            }
            Some(FailureScope::Nothing) | None => {}
        }
        let by_hand = match failures.by_hand {
            Some((share, mean_s)) if self.stream.uniform() < share => {
                mean_s * exponential(&mut self.stream)
            }
            _ => 0.0,
        };
        Some(failures.detection.seconds() + by_hand)
    }
}

fn exponential(stream: &mut Stream) -> f64 {
    -libm::log1p(-stream.uniform())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failures::{Cause, UnreliableNodes};
    use scavsim_base::tests::near;
    use scavsim_sim::cluster::{Checkpoints, Keeps, Pause, RecoveryTerms, Write};

    /// One in ten, and not the half of them that take the place of one that failed.
    #[test]
    fn machines_after_a_release_are_lemons_as_often_as_all() {
        let (share, factor) = (0.1, 9.0);
        let failures = Failures {
            causes: vec![Cause {
                name: "any".into(),
                loses: FailureScope::Node,
                per_gpu_h: 0.0,
                per_node_h: 1.0,
            }],
            lemons: Some(UnreliableNodes { share, factor }),
            nodes_per_switch: 2,
            detection: SimTime::ZERO,
            by_hand: None,
            maintenance: None,
            upkeep: RecoveryTerms {
                replacement: Pause::NONE,
                restart: None,
                keeps: Keeps::Steps,
                checkpoints: Checkpoints::Young,
                write: Write::Fixed(SimTime::ZERO),
            },
        };
        let streams = Streams::new(3);
        let are_lemons = (0..2000).filter(|replica| {
            let mut clock = FailureClock::new(&streams, *replica);
            clock.unreplaced = 1;
            clock.release_all();
            clock.of_machine_h(&failures, 8, 0) > 1.0
        });
        // Four standard errors.
        near(are_lemons.count() as f64 / 2000.0, 0.1, 0.027);
    }
}
