//! What a stretch of training is asked to reach, and what it came to.

use crate::training::progress::{Advance, Event};
use scavsim_base::units::SimTime;
use scavsim_engine::Queue;

/// Where a stretch of training ends: whatever comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Goal {
    pub updates: u64,
    /// The update whose time is noted; 0 for none.
    pub mark: u64,
    /// This time on the clock. An update at that very time counts.
    pub until: SimTime,
}

impl Goal {
    /// A goal of so many updates, however long they take; the last is marked.
    pub fn updates(updates: u64) -> Self {
        Goal {
            updates,
            mark: updates,
            until: SimTime::from_seconds(f64::INFINITY),
        }
    }

    /// This goal, up to the last moment of the clock at most: later no two moments differ, and a step would take no time.
    #[must_use]
    pub(super) fn on_the_clock(self) -> Self {
        Goal {
            until: self.until.min(SimTime::LAST),
            ..self
        }
    }

    pub fn until(until: SimTime) -> Self {
        Goal {
            updates: u64::MAX,
            mark: 0,
            until,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    /// Times of the stretch. Compute includes waiting; where workers do not step together, both parts are means over
    /// workers, and communication includes queueing at the servers.
    pub advance: Advance,
    /// Updates of the shared parameters.
    pub updates: u64,
    /// Gradients that went into them.
    pub gradients: u64,
    /// Gradients that were begun and dropped by the protocol.
    pub dropped: u64,
    /// Gradients of others that were applied between reading parameters and applying the own one, summed over all gradients.
    pub missed_gradients: f64,
    /// Fraction of the machines' compute time that was spent on what was dropped or done twice.
    pub wasted: f64,
    /// Compute time, in seconds of all machines together; 0 where nothing can be wasted.
    pub computed_s: f64,
    /// Fraction of the time that a parameter server was busy, on average; 0 without servers.
    pub utilisation: f64,
    /// By how many standard deviations a stretch that was taken at once leaves its mean; 0 where every event was.
    pub deviations: f64,
}

impl Stretch {
    pub fn from(start: SimTime) -> Self {
        Stretch {
            advance: Advance::from(start),
            updates: 0,
            gradients: 0,
            dropped: 0,
            missed_gradients: 0.0,
            wasted: 0.0,
            computed_s: 0.0,
            utilisation: 0.0,
            deviations: 0.0,
        }
    }

    /// Mean staleness of a gradient, in gradients of others.
    pub fn mean_staleness(&self) -> f64 {
        ratio(self.missed_gradients, self.gradients as f64)
    }

    /// Counts one update that became complete at `at`; whether it was the last that was asked for.
    #[inline]
    pub(super) fn update(&mut self, at: SimTime, goal: &Goal) -> bool {
        self.updates += 1;
        if self.updates == goal.mark {
            self.advance.at_mark = at;
        }
        self.updates == goal.updates
    }

    /// Counts, of the compute of all machines, `wasted_s` as wasted and the rest as of use.
    pub(super) fn waste(&mut self, wasted_s: f64, useful_s: f64) {
        self.computed_s = useful_s + wasted_s;
        self.wasted = ratio(wasted_s, self.computed_s);
    }

    /// Counts `wasted` as the fraction that was wasted of the compute of the gradients, of `worker_s` seconds each, and
    /// of what was wasted besides.
    pub(super) fn waste_fraction(&mut self, wasted: f64, worker_s: f64) {
        self.wasted = wasted;
        self.computed_s = self.gradients as f64 * worker_s / (1.0 - wasted).max(f64::EPSILON);
    }

    /// Divides the time that has passed since `start`: of it, `communication_s` on average over the workers was not compute.
    pub(super) fn divide(&mut self, elapsed_s: f64, communication_s: f64) {
        self.advance.communication_s = communication_s;
        self.advance.compute_s = (elapsed_s - communication_s).max(0.0);
    }
}

/// By how many `deviation`s a figure is `off`; `slack` of it is no deviation, nor is what is rounded off a figure of `size`.
pub(super) fn deviations(off: f64, slack: f64, deviation: f64, size: f64) -> f64 {
    let off = off.abs() - slack - 1e-9 * size.abs();
    match off.is_nan() || deviation.is_nan() {
        true => f64::INFINITY,
        false if off <= 0.0 => 0.0,
        false => off / deviation,
    }
}

/// a/b, and 0 where nothing was done.
pub(super) fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

/// Gives up every worker-step in progress and moves the clock to `end`.
pub(super) fn give_up(queue: &mut Queue<Event>, end: SimTime) {
    queue.retain(|event| !event.is_step());
    queue.rest_until(end);
}
