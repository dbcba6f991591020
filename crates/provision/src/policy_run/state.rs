//! A job on its way: what it has, and what a tick does to it.

use super::outcome::Outcome;
use super::timeline::{Entry, Timeline, TimelineEvent};
use crate::job::{Job, LastTick};
use crate::world::{Market, Place, Window, rental_index};
use scavsim_base::units::SimTime;
use scavsim_data::usage::{EndedBy, VmInterval};
use scavsim_read::input::foreign::harmless;

#[derive(Debug)]
pub(crate) struct PolicyRun<'w> {
    pub(super) window: Window<'w>,
    pub(super) job: &'w Job,
    pub(super) tick: usize,
    pub(super) tick_time: SimTime,
    /// The job's, as the clock counts them.
    pub(super) work: SimTime,
    pub(super) deadline: SimTime,
    /// Work done when machines were last requested or given back, which a checkpoint keeps.
    kept: SimTime,
    /// Work done when the present form began.
    begun: SimTime,
    pub(super) running: Option<Place>,
    /// Form of its present or last machines.
    pub(super) form: usize,
    /// When its machines begin to work, and end it without a loss.
    pub(super) works_from: SimTime,
    pub(super) ends: SimTime,
    /// Zone where it ran last in a passed tick, and where its checkpoint lies.
    pub(super) checkpoint: Option<usize>,
    /// Zone whose machines were lost as this tick began.
    pub(super) lost: Option<usize>,
    pub(super) last_loss: Option<usize>,
    /// Zones with a successful probe in this tick.
    pub(super) probed: Vec<usize>,
    /// Until then no tick can begin the last moment: work that a loss would leave never falls.
    pub(super) in_time_until: SimTime,
    /// Launch of the last rental.
    rented: u32,
    /// Longest time of an on-demand start, wherever the checkpoint then lies.
    pub(super) reserve: SimTime,
    pub(super) outcome: Outcome,
    pub(super) timeline: Option<Timeline>,
}

impl<'w> PolicyRun<'w> {
    pub(super) fn new(window: Window<'w>, job: &'w Job, timeline: Option<Timeline>) -> Self {
        PolicyRun {
            window,
            job,
            tick: 0,
            tick_time: SimTime::from_seconds(window.world().tick_s),
            work: job.work(),
            deadline: job.deadline(),
            kept: SimTime::ZERO,
            begun: SimTime::ZERO,
            running: None,
            form: 0,
            works_from: SimTime::ZERO,
            ends: SimTime::ZERO,
            checkpoint: None,
            lost: None,
            last_loss: None,
            probed: Vec::new(),
            in_time_until: SimTime::ZERO,
            rented: 0,
            reserve: job.slowest_start(&window.world().moving),
            outcome: Outcome {
                probe_s: job.probe_s,
                ..Outcome::default()
            },
            timeline,
        }
    }

    fn begin_of(&self, tick: usize) -> SimTime {
        let length = self.tick_time.nanoseconds();
        SimTime::from_nanoseconds(length.saturating_mul(tick as u64))
    }

    pub(super) fn now(&self) -> SimTime {
        self.begin_of(self.tick)
    }

    pub(super) fn next_tick(&self) -> SimTime {
        self.begin_of(self.tick + 1)
    }

    pub(super) fn done(&self) -> SimTime {
        self.done_at(self.now())
    }

    #[inline]
    pub(super) fn done_at(&self, at: SimTime) -> SimTime {
        let work = self.work;
        match self.running {
            None => self.kept,
            Some(_) if at >= self.ends => work,
            Some(_) => {
                let speed = &self.job.form(self.form).speed;
                let done = speed.done_after(work, self.begun, at - self.works_from);
                // Rounding does not end the work sooner than its end.
                done.min(work - SimTime::from_nanoseconds(1))
            }
        }
    }

    /// Time until its machines work.
    pub(super) fn start_up_left(&self) -> SimTime {
        match self.running {
            Some(_) => self.works_from - self.now(),
            None => SimTime::ZERO,
        }
    }

    pub(super) fn zones(&self) -> usize {
        self.window.world().zones.len()
    }

    #[inline]
    pub(super) fn is_served(&self, zone: usize, form: usize) -> bool {
        self.job
            .form(form)
            .is_served(&self.window.world().zones[zone])
    }

    #[inline]
    pub(super) fn first_form(&self, zone: usize) -> usize {
        let mut forms = 0..self.job.forms.len();
        forms.find(|&form| self.is_served(zone, form)).unwrap_or(0)
    }

    /// Whether a zone's spot market has all machines of a form in this tick.
    pub(super) fn is_offered(&self, zone: usize, form: usize) -> bool {
        let machines = self.job.form(form).machines;
        self.window.offered(zone, self.tick) >= machines && self.is_served(zone, form)
    }

    pub(super) fn remaining_time(&self, form: usize) -> SimTime {
        self.job
            .form(form)
            .speed
            .remaining_time(self.work, self.done())
    }

    /// Time from a request of machines in a zone until they work.
    pub(super) fn start(&self, zone: usize) -> SimTime {
        let from = self.checkpoint.unwrap_or(zone);
        self.job.start(&self.window.world().moving, from, zone)
    }

    /// USD per hour of all machines of a form in this tick.
    #[inline]
    pub(super) fn usd_per_h(&self, place: Place, form: usize) -> f64 {
        self.window.usd_per_h(place, self.tick) * f64::from(self.job.form(form).machines)
    }

    pub(super) fn egress_usd(&self, to: usize) -> f64 {
        let from = self.checkpoint.unwrap_or(to);
        self.job.egress_usd(&self.window.world().moving, from, to)
    }

    /// Work that a loss now would leave.
    pub(super) fn saved(&self) -> SimTime {
        let has_spot = (self.running).is_some_and(|place| place.market == Market::Spot);
        let done = self.done();
        match self.job.checkpoint_every_s {
            Some(every_s) if has_spot => {
                let every = SimTime::from_seconds(every_s).nanoseconds().max(1);
                let written = done.nanoseconds() / every * every;
                SimTime::from_nanoseconds(written).max(self.kept)
            }
            _ => done,
        }
    }

    /// Takes away spot machines that the market has no more.
    pub(super) fn lose(&mut self) {
        self.lost = None;
        if let Some(Place {
            zone,
            market: Market::Spot,
        }) = self.running
            && !self.is_offered(zone, self.form)
        {
            let (done, saved) = (self.done(), self.saved());
            self.outcome.lost_work += done - saved;
            self.kept = saved;
            self.running = None;
            if let Some(rental) = self.outcome.rentals.last_mut() {
                rental.ended_by = EndedBy::Provider;
            }
            self.lost = Some(zone);
            self.last_loss = Some(zone);
            self.outcome.losses += 1;
            self.note(TimelineEvent::Lost, Some(zone));
        }
    }

    pub(super) fn launch(&mut self, place: Place, form: usize) {
        if self.is_over() {
            return;
        }
        let (done, rest) = (self.done(), self.remaining_time(form));
        (self.kept, self.begun) = (done, done);
        self.works_from = self.now() + self.start(place.zone);
        self.ends = self.works_from + rest;
        self.running = Some(place);
        self.form = form;
        self.outcome.launches += 1;
        let what = match place.market {
            Market::Spot => TimelineEvent::Spot,
            Market::OnDemand => TimelineEvent::OnDemand,
        };
        let egress_usd = self.egress_usd(place.zone);
        self.note_at(self.now(), egress_usd, what, Some(place.zone));
    }

    /// Goes on in another form on the machines that it has; whether it can. No checkpoint is written.
    pub(super) fn reconfigure(&mut self, place: Place, form: usize) -> bool {
        if self.running != Some(place) || self.is_over() {
            return false;
        }
        let Some(wait) = self.job.reconfiguration(self.form, form) else {
            return false;
        };
        let (done, rest) = (self.done(), self.remaining_time(form));
        self.begun = done;
        self.works_from = self.works_from.max(self.now() + wait);
        self.ends = self.works_from + rest;
        self.form = form;
        self.note(TimelineEvent::Reconfigured, Some(place.zone));
        true
    }

    pub(super) fn stop(&mut self) {
        if self.running.is_some() {
            self.give_back();
            self.note(TimelineEvent::Wait, None);
        }
    }

    fn give_back(&mut self) {
        self.kept = self.done();
        self.running = None;
    }

    /// Ends the life: nothing runs, and it is late until its window ends.
    pub(super) fn give_up(&mut self) {
        if self.outcome.gave_up {
            return;
        }
        self.give_back();
        self.outcome.gave_up = true;
        self.note(TimelineEvent::GaveUp, None);
        self.be_late_until(self.begin_of(self.window.ticks()));
    }

    /// Ends the life without a result, for a reason that is shown.
    pub(super) fn fail(&mut self, why: &str) {
        if self.outcome.failed.is_none() {
            self.outcome.failed = Some(harmless(why).into_owned());
            self.note(TimelineEvent::Failed, None);
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.outcome.gave_up || self.outcome.failed.is_some()
    }

    fn be_late_until(&mut self, end: SimTime) {
        self.outcome.late = end - self.deadline;
        let price = self.job.lateness_usd_per_h;
        self.outcome.bill.lateness = price.map(|usd_per_h| usd_per_h * self.outcome.late.hours());
    }

    /// Lets the tick pass: bills it, and does the work.
    pub(super) fn pass(&mut self) {
        for at in 0..self.probed.len() {
            let zone = self.probed[at];
            // Whoever has spot machines there has seen them for nothing.
            let place = Market::Spot.in_zone(zone);
            if self.running != Some(place) {
                let price = self.usd_per_h(place, self.first_form(zone));
                self.outcome.probes.push(price);
                self.outcome.bill.probes += price * self.job.probe_s / 3600.0;
            }
        }
        self.probed.clear();
        let (begin, tick_end) = (self.now(), self.next_tick());
        let mut end = tick_end;
        if let Some(place) = self.running {
            // The checkpoint moves only now: a policy may start machines elsewhere as long as the tick has not begun to pass.
            if self.checkpoint.is_some_and(|from| from != place.zone) {
                self.outcome.moves += 1;
                self.outcome.bill.egress += self.egress_usd(place.zone);
            }
            self.checkpoint = Some(place.zone);
            end = end.min(self.ends);
            let usd_per_h = self.usd_per_h(place, self.form);
            let waits = self.works_from.min(end) - begin;
            if self.works_from >= begin && self.works_from < end {
                let spent_usd = usd_per_h * waits.hours();
                self.note_at(
                    self.works_from,
                    spent_usd,
                    TimelineEvent::Works,
                    Some(place.zone),
                );
            }
            let used = end - begin;
            let billed = match self.job.last_tick {
                LastTick::Whole => self.tick_time,
                LastTick::Used => used,
            };
            let usd = usd_per_h * billed.hours();
            self.rent(place, begin, begin + billed);
            self.outcome.start_up += waits;
            match place.market {
                Market::Spot => {
                    self.outcome.bill.spot += usd;
                    self.outcome.spot += used;
                }
                Market::OnDemand => {
                    self.outcome.bill.on_demand += usd;
                    self.outcome.on_demand += used;
                }
            }
        }
        let is_done = self.running.is_some() && self.ends <= tick_end;
        self.tick += 1;
        if is_done {
            self.outcome.finished = Some(end);
        }
        if is_done || self.tick == self.window.ticks() {
            self.be_late_until(end);
            let what = if is_done {
                TimelineEvent::Done
            } else {
                TimelineEvent::Unfinished
            };
            self.note_at(end, 0.0, what, None);
        }
    }

    /// Adds a tick to what is rented: to the last rental, or as a new one after a launch.
    fn rent(&mut self, place: Place, from: SimTime, to: SimTime) {
        if self.rented == self.outcome.launches
            && let Some(rental) = self.outcome.rentals.last_mut()
        {
            rental.to = to;
            return;
        }
        self.rented = self.outcome.launches;
        let machines = u32::from(self.job.form(self.form).machines);
        let rented = (rental_index(place), machines);
        self.outcome
            .rentals
            .push(VmInterval::given_back(rented, from, to));
    }

    pub(super) fn note(&mut self, what: TimelineEvent, zone: Option<usize>) {
        self.note_at(self.now(), 0.0, what, zone);
    }

    /// Notes an event with USD that are not billed yet.
    fn note_at(
        &mut self,
        at: SimTime,
        unbilled_usd: f64,
        what: TimelineEvent,
        zone: Option<usize>,
    ) {
        let noted = self.timeline.is_some().then(|| Entry {
            at_s: at.seconds(),
            done_s: self.done_at(at).seconds(),
            spent_usd: self.outcome.cost_usd() + unbilled_usd,
            what,
            zone,
            form: self.form,
        });
        if let Some(timeline) = &mut self.timeline {
            timeline.entries.extend(noted);
        }
    }
}
