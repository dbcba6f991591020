//! The time of an update where none is known for all jobs: a formula of the long run, or a run without luck.

use crate::training::drift::DriftPath;
use crate::training::stepping::Stepping;
use crate::training::sync::fast::Pace;
use crate::training::sync::leap::Update;
use crate::training::sync::{Goal, Protocol, Scratch, Stretch};
use crate::training::{Floor, Log};
use scavsim_base::rng::{Purpose, Streams};
use scavsim_base::units::SimTime;
use scavsim_engine::Queue;

/// Worker-steps of a trial run, where no formula tells the time of an update: about 1 % of a step's variation.
const TRIAL_WORKER_STEPS: f64 = 20_000.0;
/// Stragglers that it has to meet, which tells their share to 3 %, and most worker-steps for that: some 20 ms.
const TRIAL_STRAGGLERS: f64 = 1_000.0;
const MOST_TRIAL_WORKER_STEPS: f64 = 1e6;
/// Updates of a trial run in `fast`, which takes no longer for many.
const TRIAL_UPDATES: u64 = 100_000_000;

/// Trials by which the number of updates of a short job is found, and the relative difference that is none.
const MOST_GUESSES: u64 = 4;
const SAME: f64 = 0.005;

#[derive(Default)]
pub(super) struct Trial {
    pub(super) update_s: f64,
    pub(super) gradients: f64,
    /// Mean staleness of a gradient, in gradients of others.
    pub(super) staleness: f64,
}

impl Trial {
    fn from_update(update: Update) -> Trial {
        Trial {
            update_s: update.seconds,
            gradients: update.gradients,
            staleness: update.missed / update.gradients,
        }
    }

    /// The updates behind the mark of a stretch that came to its end at `end`.
    fn from_stretch(stretch: &Stretch, goal: Goal, end: SimTime) -> Trial {
        let counted = (goal.updates - goal.mark).max(1) as f64;
        Trial {
            // The clock can end before.
            update_s: if stretch.updates < goal.updates {
                f64::INFINITY
            } else if goal.mark == 0 {
                end.seconds() / counted
            } else {
                (end - stretch.advance.at_mark).seconds() / counted
            },
            gradients: stretch.gradients as f64 / stretch.updates.max(1) as f64,
            staleness: stretch.mean_staleness(),
        }
    }
}

/// Times an update of `stepping` in a job of so many gradients: by a formula of the long run, where the job gets there, or by
/// a trial run. A job shorter than a trial is run itself, several times: workers begin in step, and may never fall out of it.
pub(super) fn trial(
    protocol: &Protocol,
    pace: &Pace,
    stepping: &Stepping,
    gradients: f64,
) -> Trial {
    let is_long = |each: f64| {
        let updates = (gradients / each).ceil() as u64;
        protocol.check_fast(stepping, updates).is_ok()
    };
    let formula = protocol.long_run_update(stepping);
    if let Some(update) = formula.filter(|update| is_long(update.gradients)) {
        return Trial::from_update(update);
    }
    let mut stream = Streams::new(0).stream(0, Purpose::Trial(0));
    let mut scratch = Scratch::default();
    let each = protocol.gradients_per_update(stepping.workers).unwrap_or(1);
    let goal = |updates: u64, mark: u64| Goal {
        mark,
        ..Goal::updates(updates)
    };
    // What `fast` would measure is dearer than a trial run, and not needed before something runs.
    let is_measured = pace.stationary().is_measured();
    if !is_measured && is_long(f64::from(each)) {
        let (start, goal) = (SimTime::ZERO, goal(TRIAL_UPDATES, TRIAL_UPDATES / 4));
        let mut drift = DriftPath::still();
        let fast = pace.advance(start, &mut drift, stepping, goal, &mut stream, &mut scratch);
        if let Ok((stretch, end)) = fast {
            return Trial::from_stretch(&stretch, goal, end);
        }
    }
    let mut run = |goal: Goal| {
        let mut queue = Queue::new();
        let mut floor = Floor {
            queue: &mut queue,
            drift: &mut DriftPath::still(),
            stepping,
            stream: &mut stream,
            scratch: &mut scratch,
            log: &mut Log::default(),
        };
        match protocol.advance(&mut floor, goal) {
            Ok(stretch) => Trial::from_stretch(&stretch, goal, queue.now()),
            // A run would stall as well, and say so.
            Err(_) => Trial {
                update_s: f64::INFINITY,
                gradients: f64::from(each),
                staleness: 0.0,
            },
        }
    };
    let stragglers = (stepping.time.straggler).map_or(0.0, |s| TRIAL_STRAGGLERS / s.probability);
    let worker_steps = stragglers.clamp(TRIAL_WORKER_STEPS, MOST_TRIAL_WORKER_STEPS);
    let updates = (worker_steps as u64 / u64::from(each.max(1))).max(400);
    // The beginning, where workers start together, is left out.
    let long = run(goal(updates, updates / 4));
    let mut mean = long;
    // In step, updates have other numbers of gradients: a job has more updates or fewer.
    for _ in 0..MOST_GUESSES {
        let job = (gradients / mean.gradients).ceil();
        if !(1.0..updates as f64).contains(&job) {
            break;
        }
        let (before, runs) = (mean.gradients, (updates as f64 / job).ceil());
        mean = Trial::default();
        for _ in 0..runs as u64 {
            let one = run(goal(job as u64, 0));
            mean.update_s += one.update_s / runs;
            mean.gradients += one.gradients / runs;
            mean.staleness += one.staleness / runs;
        }
        if (mean.gradients / before - 1.0).abs() < SAME {
            break;
        }
    }
    mean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{close, protocol, stepping, variation};

    /// Seconds of an update in a job of 900 gradients by 4 workers, and in a job without an end.
    fn times(step_cv: f64) -> [f64; 2] {
        let protocol = protocol("flexible = { after_s = 16.2 }");
        let stepping = stepping(4, [24.0, 12.0], variation(step_cv, None).worker_time());
        let pace = Pace::new(protocol, &stepping);
        [900.0, 1e9].map(|job| {
            let trial = trial(&protocol, &pace, &stepping, job);
            trial.update_s / trial.gradients
        })
    }

    #[test]
    fn a_short_job_stays_in_step_and_a_long_one_does_not() {
        let exact = times(0.0)[0];
        let [short, long] = times(1e-3);
        close(short, exact, 0.02);
        assert!((short / long - 1.0).abs() > 0.04, "{short} {long}");
    }
}
