//! How far a run has come, what a loss would take of it, and when it is taken not to come to an end.

use super::stage::Stage;
use crate::training::progress::UnfinishedJob;
use scavsim_base::units::SimTime;
use scavsim_data::usage::Phase;

/// Rounding errors of sums of steps stay below this fraction of a step.
pub(super) const RELIEF: f64 = 1e-6;
/// Turns of a run without progress or time after which it stalls.
const MOST_IDLE: u32 = 10_000;
/// Losses without any work saved in between after which a job is taken not to come to an end.
const MOST_LOSSES: u32 = 20_000;
/// Time without saved work after which a job is given up, as a multiple of what all steps take without losses.
const LONGEST: f64 = 1000.0;

#[derive(Debug)]
pub(super) struct JobWork {
    /// Steps complete, of the configuration, B samples each.
    pub(super) done: f64,
    /// How many of the steps are in a checkpoint.
    saved: f64,
    /// Where the next checkpoint is due, once that is known.
    pub(super) due: Option<f64>,
    /// Seconds of training since the last checkpoint.
    pub(super) unsafe_s: f64,
    patience: Patience,
}

/// Guards against runs without an end.
#[derive(Debug)]
struct Patience {
    /// How long it may take until work is saved.
    length: SimTime,
    /// Losses since then, and until when it must happen.
    losses: u32,
    latest: SimTime,
    /// Clock and progress of the turn before, and how many turns changed neither.
    seen: (SimTime, u64),
    idle: u32,
}

impl JobWork {
    pub(super) fn new(expected_s: f64) -> Self {
        JobWork {
            done: 0.0,
            saved: 0.0,
            due: None,
            unsafe_s: 0.0,
            patience: Patience {
                length: SimTime::from_seconds(LONGEST * expected_s.max(1.0)),
                losses: 0,
                latest: SimTime::LAST,
                seen: (SimTime::LAST, 0),
                idle: 0,
            },
        }
    }

    pub(super) fn save(&mut self, stage: &mut Stage) {
        let now = stage.now();
        let patience = &mut self.patience;
        if self.done > self.saved || patience.latest == SimTime::LAST {
            (patience.losses, patience.latest) = (0, now + patience.length);
        }
        self.saved = self.done;
        self.unsafe_s = 0.0;
        stage.ledger.work_is_safe(now);
    }

    /// What was done in `phase` since work was saved is lost.
    pub(super) fn fall_back(&mut self, phase: Phase, stage: &mut Stage) {
        let now = stage.now();
        self.done = self.saved;
        stage.ledger.lose_unsafe_work(phase, now);
        stage.log.relabel(phase, Phase::Lost, self.unsafe_s, now);
        self.unsafe_s = 0.0;
    }

    /// Counts another turn of the run; fails after too many without progress or time.
    pub(super) fn turn(&mut self, now: SimTime) -> Result<(), UnfinishedJob> {
        let at = (now, self.done.to_bits());
        let patience = &mut self.patience;
        patience.idle = if at == patience.seen {
            patience.idle + 1
        } else {
            0
        };
        patience.seen = at;
        if patience.idle > MOST_IDLE {
            Err(UnfinishedJob::defect(now))
        } else {
            Ok(())
        }
    }

    /// Counts another loss; fails after too many, or too much time, without any work saved.
    pub(super) fn count_loss(&mut self, now: SimTime) -> Result<(), UnfinishedJob> {
        self.patience.losses += 1;
        if self.patience.losses > MOST_LOSSES || now > self.patience.latest {
            Err(UnfinishedJob::TooManyLosses { at: now })
        } else {
            Ok(())
        }
    }
}
