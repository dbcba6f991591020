//! A job with a deadline, and the price of being late.

use crate::forms::Form;
use crate::world::transfer_costs::TransferCosts;
use scavsim_base::units::SimTime;

#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Seconds of work at speed 1, without interruptions.
    pub work_s: f64,
    pub deadline_s: f64,
    /// Seconds from a request of machines until work goes on: boot, restore and all else.
    pub changeover_s: f64,
    /// Seconds without work where it goes on in another form on the machines that it has. `None`: they are given back, and others
    /// are requested.
    pub reconfigure_s: Option<f64>,
    /// GB, for the price of moves between regions.
    pub checkpoint_gb: f64,
    /// Seconds of work from one checkpoint to the next: later work is lost with spot machines. `None` where nothing is lost.
    pub checkpoint_every_s: Option<f64>,
    /// At least one.
    pub forms: Vec<Form>,
    /// Further forms, numbered after these, which only searches take: those that are never the best.
    pub searched: Vec<Form>,
    /// USD per hour after the deadline; `None` where lateness is only counted.
    pub lateness_usd_per_h: Option<f64>,
    pub last_tick: LastTick,
    /// Billed seconds of a successful probe.
    pub probe_s: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LastTick {
    #[default]
    Used,
    /// All of it, as simulators by ticks do.
    Whole,
}

impl Job {
    /// A form by its number.
    pub fn form(&self, number: usize) -> &Form {
        match number.checked_sub(self.forms.len()) {
            None => &self.forms[number],
            Some(further) => &self.searched[further],
        }
    }

    /// Time without work until it goes on in another form on the same machines; `None` where that takes others.
    pub fn reconfiguration(&self, from: usize, to: usize) -> Option<SimTime> {
        let seconds = self.reconfigure_s?;
        let is_possible = self.has_machines_of(from, to);
        is_possible.then(|| SimTime::from_seconds(seconds))
    }

    /// Whether a form has as many machines of the same type as another one.
    pub fn has_machines_of(&self, form: usize, other: usize) -> bool {
        let [own, other] = [form, other].map(|number| self.form(number));
        (own.machines, &own.vm) == (other.machines, &other.vm)
    }

    pub fn work(&self) -> SimTime {
        SimTime::from_seconds(self.work_s)
    }

    pub fn deadline(&self) -> SimTime {
        SimTime::from_seconds(self.deadline_s)
    }

    pub fn changeover(&self) -> SimTime {
        SimTime::from_seconds(self.changeover_s)
    }

    /// Time from a request of machines until work goes on, with the checkpoint's move between zones.
    pub(crate) fn start(&self, moving: &TransferCosts, from: usize, to: usize) -> SimTime {
        let move_s = moving.s_per_gb(from, to) * self.checkpoint_gb;
        SimTime::from_seconds(self.changeover_s + move_s)
    }

    /// USD to carry the checkpoint from one zone to another.
    pub(crate) fn egress_usd(&self, moving: &TransferCosts, from: usize, to: usize) -> f64 {
        moving.usd_per_gb(from, to) * self.checkpoint_gb
    }

    /// Ticks that begin before the deadline.
    pub fn ticks(&self, tick_s: f64) -> usize {
        let tick = SimTime::from_seconds(tick_s).nanoseconds().max(1);
        self.deadline().nanoseconds().div_ceil(tick) as usize
    }

    pub fn deadline_ticks(&self, tick_s: f64) -> usize {
        let tick = SimTime::from_seconds(tick_s).nanoseconds().max(1);
        (self.deadline().nanoseconds() / tick) as usize
    }

    /// Time from a request of machines until work goes on, after the slowest move.
    pub fn slowest_start(&self, moving: &TransferCosts) -> SimTime {
        SimTime::from_seconds(self.changeover_s + moving.slowest_s_per_gb() * self.checkpoint_gb)
    }

    /// Time of the rest of the work in the form that ends first.
    pub fn fastest_rest(&self, done: SimTime) -> SimTime {
        let rests = (self.forms.iter()).map(|form| form.speed.remaining_time(self.work(), done));
        rests.min().unwrap_or_default()
    }

    /// Whether machines that are never lost keep the deadline.
    pub fn can_be_kept(&self) -> bool {
        self.fastest_rest(SimTime::ZERO) + self.changeover() <= self.deadline()
    }
}

/// A number of ticks, rounded without errors of floating point.
pub(crate) fn whole_ticks(ticks: f64, round: fn(f64) -> f64) -> usize {
    let nearest = ticks.round();
    let exact = if (ticks - nearest).abs() < 1e-7 * nearest.max(1.0) {
        nearest
    } else {
        round(ticks)
    };
    exact.max(0.0) as usize
}
