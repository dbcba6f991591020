//! Stretches of `ssp` that are too short for a law: every worker-step by itself, but in no queue.
//!
//! Worker k ends step n + 1 at T_k(n + 1) = max(T_k(n), max_j T_j(n − s)) + x: when all have done n − s steps it may go on. So a step
//! needs those of earlier rounds alone, and update N is the Nth smallest of all times.

use super::draws::Draws;
use super::leap::Leap;
use super::stretch::Stretch;
use scavsim_base::units::SimTime;

/// Updates beyond which a stretch is not short.
pub(super) const MOST_UPDATES: u64 = 5_000;

/// Memory: times of steps in seconds, round by round; when all had done so many; a copy to be put in order; who waited, from
/// when to when, before which step.
#[derive(Debug, Default)]
struct StepRounds {
    times: Vec<f64>,
    all_done: Vec<f64>,
    order: Vec<f64>,
    waited: Vec<(f64, f64, usize)>,
}

/// Updates until the goal is reached; `None`, with nothing drawn, where they are not few, or the network changes meanwhile.
pub(super) fn updates(slack: u32, leap: &mut Leap<'_>) -> Option<(Stretch, SimTime)> {
    let (stepping, goal, start) = (leap.stepping, leap.goal, leap.start);
    let workers = stepping.workers as usize;
    let (network, changes) = leap.drift.factor_at(start);
    let communication_s = stepping.communication_s * network;
    let until_s = (goal.until - start).seconds();
    let in_time = until_s / (stepping.worker_s + communication_s) * f64::from(stepping.workers);
    if goal.updates.min(in_time as u64) > MOST_UPDATES {
        return None;
    }
    let before = leap.stream.clone();
    let draws = Draws::new(stepping);
    let StepRounds {
        times,
        all_done,
        order,
        waited,
    } = leap.scratch.memory();
    times.clear();
    all_done.clear();
    all_done.push(0.0);
    waited.clear();
    let mut least = 0.0;
    let is_enough = |times: &[f64], least: f64| {
        let done = times.iter().filter(|time| **time <= least).count();
        least > until_s || done as u64 >= goal.updates
    };
    // No step to come ends before the least of the last round.
    while (times.len() as u64) < goal.updates.min(MOST_UPDATES) || !is_enough(times, least) {
        let round = all_done.len() - 1;
        let gate = round
            .checked_sub(slack as usize)
            .map_or(0.0, |at| all_done[at]);
        let (mut first, mut last) = (f64::INFINITY, 0.0_f64);
        for worker in 0..workers {
            let own = match round {
                0 => 0.0,
                _ => times[(round - 1) * workers + worker],
            };
            if gate > own {
                waited.push((own, gate, times.len()));
            }
            let time = own.max(gate) + draws.seconds(worker as u32, leap.stream) + communication_s;
            (first, last) = (first.min(time), last.max(time));
            times.push(time);
        }
        least = first;
        all_done.push(last);
        if least > until_s || leap.interrupt.is_raised() {
            break;
        }
    }
    order.clone_from(times);
    let mut nth = |n: u64| {
        let at = (n as usize).saturating_sub(1).min(order.len() - 1);
        *order.select_nth_unstable_by(at, f64::total_cmp).1
    };
    let reached_s = nth(goal.updates);
    let is_reached = times.len() as u64 >= goal.updates && reached_s <= until_s;
    let end_s = if is_reached { reached_s } else { until_s };
    if start + SimTime::from_seconds(end_s) > changes {
        *leap.stream = before;
        return None;
    }
    let mut stretch = Stretch::from(start);
    let done = times.iter().filter(|time| **time <= end_s).count() as u64;
    stretch.updates = done.min(goal.updates);
    stretch.gradients = stretch.updates;
    if (1..=stretch.updates).contains(&goal.mark) {
        stretch.advance.at_mark = start + SimTime::from_seconds(nth(goal.mark));
    }
    let so_far = Updates {
        times,
        workers,
        slack: slack as usize,
    };
    stretch.missed_gradients = so_far.missed(end_s, waited) as f64;
    let communicated = stretch.updates as f64 / f64::from(stepping.workers) * communication_s;
    stretch.divide(end_s, communicated);
    Some((stretch, start + SimTime::from_seconds(end_s)))
}

struct Updates<'t> {
    times: &'t [f64],
    workers: usize,
    slack: usize,
}

impl Updates<'_> {
    /// How many come by the end `time` of a step of this round, or by when another went on for it.
    fn by(&self, time: f64, round: usize) -> u64 {
        let (workers, around) = (self.workers, self.slack + 2);
        // All steps of rounds so far back were done before anybody could begin that one.
        let low = round.saturating_sub(around) * workers;
        let high = ((round + around + 1) * workers).min(self.times.len());
        let near = &self.times[low..high];
        (low + near.iter().filter(|t| **t <= time).count()) as u64
    }

    /// Updates of others that gradients missed: of each worker all up to its last, less its own and those while it waited.
    fn missed(&self, end_s: f64, waited: &[(f64, f64, usize)]) -> u64 {
        let mut missed = 0;
        for worker in 0..self.workers {
            let own = self.times[worker..].iter().step_by(self.workers);
            let done = own.take_while(|time| **time <= end_s).count();
            if let Some(round) = done.checked_sub(1) {
                let last = self.times[round * self.workers + worker];
                missed += self.by(last, round).saturating_sub(done as u64);
            }
        }
        // Before steps that were done.
        let waits = waited.iter().filter(|wait| self.times[wait.2] <= end_s);
        let waited: u64 = waits
            .map(|&(own, went_on, step)| {
                let round = step / self.workers;
                self.by(went_on, round) - self.by(own, round)
            })
            .sum();
        missed.saturating_sub(waited)
    }
}
