//! What is to be done, until when, and what being late costs.

use crate::forms::Form;
use crate::world::transfer_costs::TransferCosts;
use scavsim_base::units::SimTime;

/// A job with a deadline, and what changing its machines takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Seconds of work at speed 1, without interruptions.
    pub work_s: f64,
    /// Seconds from the begin until it shall be done.
    pub deadline_s: f64,
    /// Seconds from a request of machines until work goes on: boot, restore, whatever else.
    pub changeover_s: f64,
    /// Size of its checkpoint in GB, which moves between regions are paid by.
    pub checkpoint_gb: f64,
    /// Seconds of work from one checkpoint to the next: what was done since the last is lost with spot machines. `None` where
    /// nothing is lost.
    pub checkpoint_every_s: Option<f64>,
    /// What it can run on; at least one.
    pub forms: Vec<Form>,
    /// USD per hour after the deadline; `None` where no price was given, and being late is counted only.
    pub lateness_usd_per_h: Option<f64>,
    /// What is billed of the tick in which it ends.
    pub last_tick: LastTick,
    /// Seconds that a successful probe of a market is billed for.
    pub probe_s: f64,
}

/// What is billed of the tick in which a job ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LastTick {
    /// The seconds that were used.
    #[default]
    Used,
    /// All of it, as simulators by ticks do.
    Whole,
}

impl Job {
    /// The work as the clock counts it, in whole nanoseconds at speed 1.
    pub fn work(&self) -> SimTime {
        SimTime::from_seconds(self.work_s)
    }

    /// The deadline as the clock counts it.
    pub fn deadline(&self) -> SimTime {
        SimTime::from_seconds(self.deadline_s)
    }

    /// The changeover as the clock counts it.
    pub fn changeover(&self) -> SimTime {
        SimTime::from_seconds(self.changeover_s)
    }

    /// Ticks that begin before the deadline.
    pub fn ticks(&self, tick_s: f64) -> usize {
        let tick = SimTime::from_seconds(tick_s).nanoseconds().max(1);
        self.deadline().nanoseconds().div_ceil(tick) as usize
    }

    /// Ticks that end by the deadline.
    pub fn deadline_ticks(&self, tick_s: f64) -> usize {
        let tick = SimTime::from_seconds(tick_s).nanoseconds().max(1);
        (self.deadline().nanoseconds() / tick) as usize
    }

    /// Time from a request of machines until work goes on, after the slowest move that there is.
    pub fn slowest_start(&self, moving: &TransferCosts) -> SimTime {
        SimTime::from_seconds(self.changeover_s + moving.slowest_s_per_gb() * self.checkpoint_gb)
    }

    /// Seconds that the work takes from `done_s` on in the form that ends first.
    pub fn fastest_rest_s(&self, done_s: f64) -> f64 {
        let rests = (self.forms.iter()).map(|form| form.speed.rest_s(self.work_s, done_s));
        rests.fold(f64::INFINITY, f64::min)
    }

    /// Time that the work takes from `done` on in the form that ends first.
    pub fn fastest_rest(&self, done: SimTime) -> SimTime {
        let rests = (self.forms.iter()).map(|form| form.speed.remaining_time(self.work(), done));
        rests.min().unwrap_or_default()
    }

    /// Whether machines that are never lost keep the deadline.
    pub fn can_be_kept(&self) -> bool {
        self.fastest_rest(SimTime::ZERO) + self.changeover() <= self.deadline()
    }
}

/// A number of ticks, rounded after errors of floating point are taken out.
pub(crate) fn whole_ticks(ticks: f64, round: fn(f64) -> f64) -> usize {
    let nearest = ticks.round();
    let exact = if (ticks - nearest).abs() < 1e-7 * nearest.max(1.0) {
        nearest
    } else {
        round(ticks)
    };
    exact.max(0.0) as usize
}
