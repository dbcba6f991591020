//! What can happen in a job, and what a stretch of it comes to.

use std::borrow::Cow;

use scavsim_base::units::SimTime;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    VmsReady,
    Restored,
    /// One worker has finished its compute of this step.
    WorkerFinished,
    /// A worker has finished its compute of this step, where it matters which.
    Arrived(u32),
    CopyFinished(u32),
    /// Worker-steps that still run have taken longer than most.
    Overdue,
    StepComplete,
    CheckpointWritten,
    VmLost,
    /// A batch of steps, simulated without single events, is over.
    StepsDone,
}

impl Event {
    /// Whether it belongs to a step in progress, and means nothing once that is given up.
    #[inline]
    pub fn is_step(&self) -> bool {
        match self {
            Event::WorkerFinished
            | Event::Arrived(_)
            | Event::CopyFinished(_)
            | Event::Overdue
            | Event::StepComplete => true,
            Event::VmsReady
            | Event::Restored
            | Event::CheckpointWritten
            | Event::VmLost
            | Event::StepsDone => false,
        }
    }
}

/// A job that has no event left but is not where it should be: a defect of the simulator or its input, never a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the simulated job stalled at {:.3} s: no event is left and the target is not reached", .at.seconds())]
pub struct StalledJob {
    pub at: SimTime,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnfinishedJob {
    /// A defect.
    #[error(transparent)]
    Stalled(#[from] StalledJob),
    #[error("the provider took away the chief at {:.0} s, which ends the run", .at.seconds())]
    ChiefLost { at: SimTime },
    #[error("too few VMs are left at {:.0} s, and none will come", .at.seconds())]
    NobodyLeft { at: SimTime },
    #[error("the run ended at {:.0} s without having reached the target", .at.seconds())]
    Unreached { at: SimTime },
    #[error("the simulated clock ended, after 584 years")]
    ClockEnded,
    #[error("interrupted at {:.0} s", .at.seconds())]
    Interrupted { at: SimTime },
    /// Losses come so often that it would take too long, in the mean.
    #[error("losses leave no time to train: it needs about {} in the mean", hours_text(*.needs_h as f64))]
    Hopeless {
        /// When that was said.
        at: SimTime,
        /// How many hours it would take; no more than fit.
        needs_h: u64,
    },
    #[error("losses leave no time to train by {:.0} s", .at.seconds())]
    TooManyLosses { at: SimTime },
}

impl UnfinishedJob {
    pub fn defect(at: SimTime) -> Self {
        UnfinishedJob::Stalled(StalledJob { at })
    }

    pub fn ended_at(&self) -> SimTime {
        match self {
            UnfinishedJob::Stalled(StalledJob { at })
            | UnfinishedJob::ChiefLost { at }
            | UnfinishedJob::NobodyLeft { at }
            | UnfinishedJob::Unreached { at }
            | UnfinishedJob::Interrupted { at }
            | UnfinishedJob::Hopeless { at, .. }
            | UnfinishedJob::TooManyLosses { at } => *at,
            UnfinishedJob::ClockEnded => SimTime::LAST,
        }
    }

    /// The reason in results, which do not depend on the moment.
    pub fn reason(&self) -> Cow<'static, str> {
        let reason = match self {
            UnfinishedJob::Hopeless { .. } => return self.to_string().into(),
            UnfinishedJob::Stalled(_) => "the simulated job stalled",
            UnfinishedJob::ChiefLost { .. } => "the provider took away the chief",
            UnfinishedJob::NobodyLeft { .. } => "too few VMs are left, and none will come",
            UnfinishedJob::Unreached { .. } => "the chosen configuration did not reach the target",
            UnfinishedJob::ClockEnded => "the simulated clock ended, after 584 years",
            UnfinishedJob::Interrupted { .. } => "interrupted",
            UnfinishedJob::TooManyLosses { .. } => "losses leave no time to train",
        };
        reason.into()
    }
}

/// Hours to two digits, as people say them: 3,400 h, 10^15 h.
pub fn hours_text(hours: f64) -> String {
    if hours.is_nan() || hours >= 1e6 {
        return if hours.is_finite() {
            format!("10^{:.0} h", libm::log10(hours))
        } else {
            "forever".to_owned()
        };
    }
    let unit = libm::pow(10.0, libm::log10(hours.max(1.0)).floor() - 1.0).max(1.0);
    let whole = ((hours / unit).round() * unit) as u64;
    if whole >= 1000 {
        format!("{},{:03} h", whole / 1000, whole % 1000)
    } else {
        format!("{whole} h")
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Advance {
    /// When the marked step was complete; the start when the mark is 0.
    pub at_mark: SimTime,
    /// Seconds in which workers computed or waited at the barrier.
    pub compute_s: f64,
    pub communication_s: f64,
}

impl Advance {
    pub fn from(start: SimTime) -> Self {
        Advance {
            at_mark: start,
            compute_s: 0.0,
            communication_s: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_are_said_to_two_digits() {
        let text = hours_text;
        assert_eq!(text(3.4), "3 h");
        assert_eq!(text(347.0), "350 h");
        assert_eq!(text(3_444.0), "3,400 h");
        assert_eq!(text(123_456.0), "120,000 h");
        assert_eq!(text(2.3e15), "10^15 h");
        assert_eq!(text(f64::INFINITY), "forever");
    }
}
