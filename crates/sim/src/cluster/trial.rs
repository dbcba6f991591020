//! The time of an update where no formula tells it: a run without luck.

use crate::engine::Queue;
use crate::training::drift::DriftPath;
use crate::training::stepping::Stepping;
use crate::training::sync::fast::Pace;
use crate::training::sync::leap::Update;
use crate::training::sync::{Goal, Protocol, Scratch, Stretch};
use crate::training::{Floor, Log};
use scavsim_base::rng::{Purpose, Streams};
use scavsim_base::units::SimTime;

/// Worker-steps of a trial run, where no formula tells the time of an update: about 1 % of a step's variation.
const TRIAL_WORKER_STEPS: u64 = 20_000;
/// Updates of a trial run in `fast`, which takes no longer for many.
const TRIAL_UPDATES: u64 = 100_000_000;

/// What a trial run without luck shows.
pub(super) struct Trial {
    pub(super) update_s: f64,
    pub(super) gradients: f64,
    /// Mean staleness of a gradient, in gradients of others.
    pub(super) staleness: f64,
}

impl Trial {
    /// What a formula says instead.
    pub(super) fn from_update(update: Update) -> Trial {
        Trial {
            update_s: update.seconds,
            gradients: update.gradients,
            staleness: update.missed / update.gradients,
        }
    }
}

/// Runs `stepping` under `protocol`.
pub(super) fn trial(protocol: &Protocol, pace: &Pace, stepping: &Stepping) -> Trial {
    let streams = Streams::new(0);
    let mut stream = streams.stream(0, Purpose::Trial(0));
    let mut drift = DriftPath::still();
    let mut scratch = Scratch::default();
    let goal = |updates: u64| Goal {
        updates,
        mark: updates / 4,
        until: SimTime::from_seconds(f64::INFINITY),
    };
    let of = |stretch: &Stretch, updates: u64, end: SimTime| {
        // The beginning, where workers start together, is left out.
        let counted = (updates - updates / 4).max(1) as f64;
        Trial {
            // The clock can end before.
            update_s: if stretch.updates < updates {
                f64::INFINITY
            } else {
                (end - stretch.advance.at_mark).seconds() / counted
            },
            gradients: stretch.gradients as f64 / stretch.updates.max(1) as f64,
            staleness: stretch.mean_staleness(),
        }
    };
    // What `fast` would measure is dearer than a trial run, and not needed before something runs.
    let is_measured = pace.stationary().is_measured();
    if !is_measured && protocol.check_fast(stepping, u64::MAX).is_ok() {
        let goal = goal(TRIAL_UPDATES);
        let start = SimTime::ZERO;
        let fast = pace.advance(start, &mut drift, stepping, goal, &mut stream, &mut scratch);
        if let Ok((stretch, end)) = fast {
            return of(&stretch, TRIAL_UPDATES, end);
        }
    }
    let each = protocol.gradients_per_update(stepping.workers).unwrap_or(1);
    let updates = (TRIAL_WORKER_STEPS / u64::from(each.max(1))).max(400);
    let mut queue = Queue::new();
    let mut log = Log::default();
    let mut floor = Floor {
        queue: &mut queue,
        drift: &mut drift,
        stepping,
        stream: &mut stream,
        scratch: &mut scratch,
        log: &mut log,
    };
    match protocol.advance(&mut floor, goal(updates)) {
        Ok(stretch) => of(&stretch, updates, queue.now()),
        // A run would stall as well, and say so.
        Err(_) => Trial {
            update_s: f64::INFINITY,
            gradients: f64::from(each),
            staleness: 0.0,
        },
    }
}
