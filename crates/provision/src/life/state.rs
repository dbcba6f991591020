//! The state of a job on its way: what it has, and what a tick does to it.

use super::outcome::Outcome;
use super::timeline::{Timeline, What};
use crate::job::{DONE_S, Job, LastTick, whole};
use crate::world::Window;

/// How machines are rented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Market {
    /// Cheap, while there are any.
    Spot,
    /// Always there, never lost.
    OnDemand,
}

/// Machines in a zone, of one market.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Number of the zone.
    pub zone: usize,
    /// How they are rented.
    pub market: Market,
}

/// A job on its way.
#[derive(Debug)]
pub(crate) struct Life<'w> {
    pub(super) window: Window<'w>,
    pub(super) job: &'w Job,
    pub(super) tick: usize,
    pub(super) done_s: f64,
    /// Work that was done when machines were last given back, which a checkpoint then keeps.
    kept_s: f64,
    pub(super) running: Option<Place>,
    /// Seconds until the machines that it has work.
    pub(super) start_up_left_s: f64,
    /// Whether the machines that it has did no work yet.
    is_starting: bool,
    /// Zone where it ran last, and where its checkpoint lies.
    pub(super) checkpoint: Option<usize>,
    /// Zone whose machines were lost as this tick began.
    pub(super) lost: Option<usize>,
    /// Zones that were probed with success in this tick.
    pub(super) probed: Vec<usize>,
    /// Whether the safety net has taken over.
    caught: bool,
    /// Seconds that machines on demand may take until they work, wherever the checkpoint then lies.
    reserve_s: f64,
    pub(super) outcome: Outcome,
    pub(super) timeline: Option<Timeline>,
}

impl<'w> Life<'w> {
    pub(super) fn new(window: Window<'w>, job: &'w Job, timeline: Option<Timeline>) -> Self {
        Life {
            window,
            job,
            tick: 0,
            done_s: 0.0,
            kept_s: 0.0,
            running: None,
            start_up_left_s: 0.0,
            is_starting: false,
            checkpoint: None,
            lost: None,
            probed: Vec::new(),
            caught: false,
            reserve_s: job.slowest_start_s(&window.world().moving),
            outcome: Outcome::default(),
            timeline,
        }
    }

    pub(super) fn tick_s(&self) -> f64 {
        self.window.world().tick_s
    }

    pub(super) fn elapsed_s(&self) -> f64 {
        self.tick as f64 * self.tick_s()
    }

    pub(super) fn left_s(&self) -> f64 {
        self.job.work_s - self.done_s
    }

    /// Whole ticks until the deadline.
    pub(super) fn ticks_left(&self) -> usize {
        let deadline = self.job.deadline_ticks(self.tick_s());
        deadline.saturating_sub(self.tick)
    }

    pub(super) fn is_offered(&self, zone: usize) -> bool {
        self.window.offered(zone, self.tick) >= self.job.machines
    }

    /// USD per hour of all machines of a place in this tick.
    pub(super) fn usd_per_h(&self, place: Place) -> f64 {
        let price = match place.market {
            Market::Spot => self.window.spot_usd_per_h(place.zone, self.tick),
            Market::OnDemand => self.window.world().zones[place.zone].on_demand_usd_per_h,
        };
        price * f64::from(self.job.machines)
    }

    pub(super) fn egress_usd(&self, to: usize) -> f64 {
        let from = self.checkpoint.unwrap_or(to);
        self.window.world().moving.usd_per_gb(from, to) * self.job.checkpoint_gb
    }

    /// Seconds of work that are kept if machines are lost now.
    pub(super) fn saved_s(&self) -> f64 {
        let has_spot = (self.running).is_some_and(|place| place.market == Market::Spot);
        match self.job.checkpoint_every_s {
            Some(every_s) if has_spot => {
                let written_s = (self.done_s / every_s).floor() * every_s;
                written_s.min(self.done_s).max(self.kept_s)
            }
            _ => self.done_s,
        }
    }

    /// Takes spot machines away that the market has no more.
    pub(super) fn lose(&mut self) {
        self.lost = None;
        if let Some(Place {
            zone,
            market: Market::Spot,
        }) = self.running
            && !self.is_offered(zone)
        {
            let saved_s = self.saved_s();
            self.outcome.lost_work_s += self.done_s - saved_s;
            self.done_s = saved_s;
            self.running = None;
            self.lost = Some(zone);
            self.outcome.losses += 1;
            self.note(What::Lost, Some(zone));
        }
    }

    /// Whether ticks left are but those that it takes on machines from scratch, after the slowest move: a policy may have
    /// begun one in the tick before, or its machines may be lost as they start.
    pub(super) fn is_last_moment(&self) -> bool {
        let at_risk_s = self.done_s - self.saved_s();
        let needed = (self.left_s() + at_risk_s + self.reserve_s) / self.tick_s();
        whole(needed, f64::ceil) >= self.ticks_left()
    }

    /// The safety net, from the last moment on that keeps the deadline: on demand until the end; spot machines that work
    /// may stay where it `is_patient`, since time enough is left when they are lost. Whether it decides in place of the policy.
    pub(super) fn catch(&mut self, is_patient: bool) -> bool {
        if !(self.caught || self.is_last_moment()) {
            return false;
        }
        // Who loses work with machines may have no time left for that.
        let is_patient = is_patient && self.job.checkpoint_every_s.is_none();
        let zone = match self.running {
            Some(place) if place.market == Market::OnDemand => None,
            Some(_) if is_patient && self.start_up_left_s <= 0.0 => return true,
            Some(place) => Some(place.zone),
            None => Some(self.cheapest_on_demand()),
        };
        if !self.caught {
            self.note(What::Net, None);
        }
        if let Some(zone) = zone {
            self.launch(Place {
                zone,
                market: Market::OnDemand,
            });
        }
        self.caught = true;
        self.outcome.caught = true;
        true
    }

    /// The zone where the rest costs least on demand, with what it takes to go there.
    pub(super) fn cheapest_on_demand(&self) -> usize {
        let hours = self.left_s() / 3600.0;
        let cost = |zone: usize| {
            let place = Place {
                zone,
                market: Market::OnDemand,
            };
            self.usd_per_h(place) * hours + self.egress_usd(zone)
        };
        let zones = 0..self.window.world().zones.len();
        zones
            .min_by(|&a, &b| cost(a).total_cmp(&cost(b)))
            .unwrap_or(0)
    }

    pub(super) fn launch(&mut self, place: Place) {
        if self.outcome.gave_up {
            return;
        }
        self.kept_s = self.done_s;
        let egress = self.egress_usd(place.zone);
        let moved = self.checkpoint.is_some_and(|from| from != place.zone);
        if moved {
            self.outcome.moves += 1;
            self.outcome.egress_usd += egress;
        }
        let from = self.checkpoint.unwrap_or(place.zone);
        let moving = self.window.world().moving.s_per_gb(from, place.zone);
        self.start_up_left_s = self.job.changeover_s + moving * self.job.checkpoint_gb;
        self.is_starting = true;
        self.running = Some(place);
        self.checkpoint = Some(place.zone);
        self.outcome.launches += 1;
        let what = match place.market {
            Market::Spot => What::Spot,
            Market::OnDemand => What::OnDemand,
        };
        self.note(what, Some(place.zone));
    }

    pub(super) fn stop(&mut self) {
        if self.running.take().is_some() {
            self.note(What::Wait, None);
        }
    }

    /// Ends the life: nothing runs any more, and it is late until its window ends.
    pub(super) fn give_up(&mut self) {
        if self.outcome.gave_up {
            return;
        }
        self.running = None;
        self.outcome.gave_up = true;
        self.note(What::GaveUp, None);
        let ends_s = self.window.ticks() as f64 * self.tick_s();
        self.outcome.late_s = (ends_s - self.job.deadline_s).max(0.0);
        self.bill_lateness();
    }

    fn bill_lateness(&mut self) {
        if let Some(price) = self.job.lateness_usd_per_h {
            self.outcome.lateness_usd = price * self.outcome.late_s / 3600.0;
        }
    }

    /// Lets the tick pass: bills it, and does the work.
    pub(super) fn pass(&mut self) {
        let tick_s = self.tick_s();
        for zone in std::mem::take(&mut self.probed) {
            if self.running.is_none_or(|place| place.zone != zone) {
                let price = self.usd_per_h(Place {
                    zone,
                    market: Market::Spot,
                });
                self.outcome.probes_usd += price * self.job.probe_s / 3600.0;
            }
        }
        let mut used_s = tick_s;
        if let Some(place) = self.running {
            let waits_s = self.start_up_left_s.min(tick_s);
            let works_s = (tick_s - waits_s).min(self.left_s());
            if self.is_starting && works_s > 0.0 {
                self.is_starting = false;
                let spent_usd = self.usd_per_h(place) * waits_s / 3600.0;
                self.note_at(
                    self.elapsed_s() + waits_s,
                    spent_usd,
                    What::Works,
                    Some(place.zone),
                );
            }
            self.start_up_left_s = (self.start_up_left_s - waits_s).max(0.0);
            self.done_s += works_s;
            let is_last = self.left_s() <= DONE_S;
            if is_last {
                used_s = waits_s + works_s;
            }
            let billed_s = match self.job.last_tick {
                LastTick::Whole => tick_s,
                LastTick::Used => used_s,
            };
            let usd = self.usd_per_h(place) * billed_s / 3600.0;
            self.outcome.start_up_s += waits_s;
            match place.market {
                Market::Spot => {
                    self.outcome.spot_usd += usd;
                    self.outcome.spot_s += used_s;
                }
                Market::OnDemand => {
                    self.outcome.on_demand_usd += usd;
                    self.outcome.on_demand_s += used_s;
                }
            }
        }
        let end_s = self.elapsed_s() + used_s;
        self.tick += 1;
        let is_done = self.left_s() <= DONE_S;
        let is_over = is_done || self.tick == self.window.ticks();
        if is_done {
            self.outcome.finished_s = Some(end_s);
        }
        if is_over {
            self.outcome.late_s = (end_s - self.job.deadline_s).max(0.0);
        }
        self.bill_lateness();
        if is_over {
            let what = if is_done {
                What::Done
            } else {
                What::Unfinished
            };
            self.note_at(end_s, 0.0, what, None);
        }
    }

    pub(super) fn note(&mut self, what: What, zone: Option<usize>) {
        self.note_at(self.elapsed_s(), 0.0, what, zone);
    }

    /// Notes what happens at a second, with USD that are not billed yet.
    fn note_at(&mut self, at_s: f64, unbilled_usd: f64, what: What, zone: Option<usize>) {
        let done_s = self.done_s;
        let spent_usd = self.outcome.cost_usd() + unbilled_usd;
        if let Some(timeline) = &mut self.timeline {
            timeline.push(at_s, done_s, spent_usd, what, zone);
        }
    }
}
