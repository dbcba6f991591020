//! The state of a job on its way: what it has, and what a tick does to it.

use super::outcome::Outcome;
use super::timeline::{Entry, Timeline, What};
use crate::job::{DONE_S, Job, LastTick};
use crate::world::Window;
use scavsim_read::input::foreign::harmless;

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
    /// Form that it runs in, or ran in last.
    pub(super) form: usize,
    /// Seconds until the machines that it has work.
    pub(super) start_up_left_s: f64,
    /// Whether the machines that it has did no work yet.
    is_starting: bool,
    /// Zone where it ran last, and where its checkpoint lies.
    pub(super) checkpoint: Option<usize>,
    /// Zone whose machines were lost as this tick began.
    pub(super) lost: Option<usize>,
    /// Zone whose machines were lost last.
    pub(super) last_loss: Option<usize>,
    /// Zones that were probed with success in this tick.
    pub(super) probed: Vec<usize>,
    /// Whether the safety net has taken over.
    pub(super) caught: bool,
    /// Seconds that machines on demand may take until they work, wherever the checkpoint then lies.
    pub(super) reserve_s: f64,
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
            form: 0,
            start_up_left_s: 0.0,
            is_starting: false,
            checkpoint: None,
            lost: None,
            last_loss: None,
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

    pub(super) fn zones(&self) -> usize {
        self.window.world().zones.len()
    }

    /// Whether a zone has machines of a form at all.
    pub(super) fn is_served(&self, zone: usize, form: usize) -> bool {
        self.job.forms[form].is_served(&self.window.world().zones[zone])
    }

    /// The first form that a zone serves.
    pub(super) fn first_form(&self, zone: usize) -> usize {
        let mut forms = 0..self.job.forms.len();
        forms.find(|&form| self.is_served(zone, form)).unwrap_or(0)
    }

    /// Whether a zone's spot market has all machines of a form in this tick.
    pub(super) fn is_offered(&self, zone: usize, form: usize) -> bool {
        let machines = self.job.forms[form].machines;
        self.window.offered(zone, self.tick) >= machines && self.is_served(zone, form)
    }

    /// Seconds that the work that is left takes in a form.
    pub(super) fn rest_s(&self, form: usize) -> f64 {
        self.job.forms[form]
            .speed
            .rest_s(self.job.work_s, self.done_s)
    }

    /// Seconds from a request of machines in a zone until they work.
    pub(super) fn start_s(&self, zone: usize) -> f64 {
        let from = self.checkpoint.unwrap_or(zone);
        let moving = self.window.world().moving.s_per_gb(from, zone);
        self.job.changeover_s + moving * self.job.checkpoint_gb
    }

    /// USD per hour of all machines of a form at a place in this tick.
    pub(super) fn usd_per_h(&self, place: Place, form: usize) -> f64 {
        let price = match place.market {
            Market::Spot => self.window.spot_usd_per_h(place.zone, self.tick),
            Market::OnDemand => self.window.world().zones[place.zone].on_demand_usd_per_h,
        };
        price * f64::from(self.job.forms[form].machines)
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
            && !self.is_offered(zone, self.form)
        {
            let saved_s = self.saved_s();
            self.outcome.lost_work_s += self.done_s - saved_s;
            self.done_s = saved_s;
            self.running = None;
            self.lost = Some(zone);
            self.last_loss = Some(zone);
            self.outcome.losses += 1;
            self.note(What::Lost, Some(zone));
        }
    }

    pub(super) fn launch(&mut self, place: Place, form: usize) {
        if self.is_over() {
            return;
        }
        self.kept_s = self.done_s;
        let egress = self.egress_usd(place.zone);
        let moved = self.checkpoint.is_some_and(|from| from != place.zone);
        if moved {
            self.outcome.moves += 1;
            self.outcome.egress_usd += egress;
        }
        self.start_up_left_s = self.start_s(place.zone);
        self.is_starting = true;
        self.running = Some(place);
        self.form = form;
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

    /// Ends the life without a result, for a reason that is shown as it stands here.
    pub(super) fn fail(&mut self, why: &str) {
        if self.outcome.failed.is_none() {
            self.outcome.failed = Some(harmless(why).into_owned());
            self.note(What::Failed, None);
        }
    }

    /// Whether the policy ended it.
    pub(super) fn is_over(&self) -> bool {
        self.outcome.gave_up || self.outcome.failed.is_some()
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
            // Whoever has spot machines there has seen them for nothing.
            let market = Market::Spot;
            let place = Place { zone, market };
            if self.running != Some(place) {
                let price = self.usd_per_h(place, self.first_form(zone));
                self.outcome.probes_usd += price * self.job.probe_s / 3600.0;
            }
        }
        let mut used_s = tick_s;
        if let Some(place) = self.running {
            let waits_s = self.start_up_left_s.min(tick_s);
            let works_s = (tick_s - waits_s).min(self.rest_s(self.form));
            if self.is_starting && works_s > 0.0 {
                self.is_starting = false;
                let spent_usd = self.usd_per_h(place, self.form) * waits_s / 3600.0;
                self.note_at(
                    self.elapsed_s() + waits_s,
                    spent_usd,
                    What::Works,
                    Some(place.zone),
                );
            }
            self.start_up_left_s = (self.start_up_left_s - waits_s).max(0.0);
            let speed = &self.job.forms[self.form].speed;
            self.done_s += speed.work_in(self.job.work_s, self.done_s, works_s);
            let is_last = self.left_s() <= DONE_S;
            if is_last {
                used_s = waits_s + works_s;
            }
            let billed_s = match self.job.last_tick {
                LastTick::Whole => tick_s,
                LastTick::Used => used_s,
            };
            let usd = self.usd_per_h(place, self.form) * billed_s / 3600.0;
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
            timeline.entries.push(Entry {
                at_s,
                done_s,
                spent_usd,
                what,
                zone,
                form: self.form,
            });
        }
    }
}
