//! What a policy sees of a job on its way, and what it can do.
//!
//! It sees prices of all zones as they are now, and what itself did and met. Whether a spot market has machines it learns
//! by asking for some, or by a probe that is paid; what comes it never sees.

use super::state::PolicyRun;
use crate::world::{Market, Place};
use scavsim_base::units::SimTime;

/// A job on its way, as its policy sees it.
#[derive(Debug)]
pub struct PolicyView<'r, 'w> {
    run: &'r mut PolicyRun<'w>,
}

/// Times of a life, in whole nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) tick: SimTime,
    pub(crate) now: SimTime,
    pub(crate) work: SimTime,
    pub(crate) done: SimTime,
    pub(crate) deadline: SimTime,
    pub(crate) changeover: SimTime,
    pub(crate) start_up_left: SimTime,
}

impl<'r, 'w> PolicyView<'r, 'w> {
    pub(super) fn new(run: &'r mut PolicyRun<'w>) -> Self {
        PolicyView { run }
    }

    /// Number of the tick that begins.
    pub fn tick(&self) -> usize {
        self.run.tick
    }

    /// The times below as the clock counts them.
    pub(crate) fn times(&self) -> Times {
        let run = &*self.run;
        Times {
            tick: run.tick_time,
            now: run.now(),
            work: run.work,
            done: run.done(),
            deadline: run.deadline,
            changeover: run.job.changeover(),
            start_up_left: run.start_up_left(),
        }
    }

    /// Seconds of a tick.
    pub fn tick_s(&self) -> f64 {
        self.run.tick_time.seconds()
    }

    /// Seconds since the begin.
    pub fn elapsed_s(&self) -> f64 {
        self.run.now().seconds()
    }

    /// Ticks that end by the deadline.
    pub fn ticks_left(&self) -> usize {
        let ticks = self.run.job.deadline_ticks(self.tick_s());
        ticks.saturating_sub(self.tick())
    }

    /// Seconds of work of the whole job.
    pub fn work_s(&self) -> f64 {
        self.run.job.work_s
    }

    /// Seconds of work that are done.
    pub fn done_s(&self) -> f64 {
        self.run.done().seconds()
    }

    /// Seconds of work that are left.
    pub fn left_s(&self) -> f64 {
        (self.run.work - self.run.done()).seconds()
    }

    /// Seconds of work that are kept if its machines are lost: what was done until the last checkpoint.
    pub fn saved_s(&self) -> f64 {
        self.run.saved().seconds()
    }

    /// Seconds that may be waited away: until the deadline, without a changeover and the work that is left or at risk, in the form
    /// that ends first.
    pub fn slack_s(&self) -> f64 {
        let (rest, times) = (self.run.job.fastest_rest(self.run.saved()), self.times());
        let needed = times.now + rest + times.changeover;
        // One of the two is zero.
        (times.deadline - needed).seconds() - (needed - times.deadline).seconds()
    }

    /// Seconds from the begin until the deadline.
    pub fn deadline_s(&self) -> f64 {
        self.run.job.deadline_s
    }

    /// Seconds from a request of machines until they work.
    pub fn changeover_s(&self) -> f64 {
        self.run.job.changeover_s
    }

    /// Seconds without work until it goes on in another form on as many machines of the same type; `None` where that takes others.
    pub fn reconfigure_s(&self) -> Option<f64> {
        self.run.job.reconfigure_s
    }

    /// Whether a form runs on the machines of another one.
    pub fn has_machines_of(&self, form: usize, other: usize) -> bool {
        self.run.job.has_machines_of(form, other)
    }

    /// Seconds of work between checkpoints; `None` where nothing is lost with machines.
    pub fn checkpoint_every_s(&self) -> Option<f64> {
        self.run.job.checkpoint_every_s
    }

    /// Seconds that a successful probe of a market is billed for.
    pub fn probe_s(&self) -> f64 {
        self.run.job.probe_s
    }

    /// USD per hour after the deadline, if being late has a price.
    pub fn lateness_usd_per_h(&self) -> Option<f64> {
        self.run.job.lateness_usd_per_h
    }

    /// USD spent.
    pub fn spent_usd(&self) -> f64 {
        self.run.outcome.cost_usd()
    }

    /// Number of forms that the job can run in; those that know of none run in form 0.
    pub fn forms(&self) -> usize {
        self.run.job.forms.len()
    }

    /// Number of these and of further forms, which are never the best.
    pub(crate) fn searched_forms(&self) -> usize {
        self.forms() + self.run.job.searched.len()
    }

    /// Name of a form.
    pub fn form_name(&self, form: usize) -> &str {
        &self.run.job.form(form).name
    }

    /// Machines of a form.
    pub fn form_machines(&self, form: usize) -> u16 {
        self.run.job.form(form).machines
    }

    /// Seconds of work per second in a form, after the work that is done.
    pub fn speed(&self, form: usize) -> f64 {
        let job = self.run.job;
        job.form(form).speed.after(job.work_s, self.done_s())
    }

    /// Seconds that the work that is left takes in a form, without interruptions.
    pub fn rest_s(&self, form: usize) -> f64 {
        self.run.remaining_time(form).seconds()
    }

    /// Whether a zone has the machines of a form, on demand at least.
    pub fn is_served(&self, zone: usize, form: usize) -> bool {
        self.run.is_served(zone, form)
    }

    /// Number of zones.
    pub fn zones(&self) -> usize {
        self.run.zones()
    }

    /// Name of a zone.
    pub fn zone_name(&self, zone: usize) -> &str {
        &self.run.window.world().zones[zone].name
    }

    /// Region of a zone.
    pub fn region(&self, zone: usize) -> &str {
        &self.run.window.world().zones[zone].region
    }

    /// USD per hour of all machines of the first form that a zone serves, on demand.
    pub fn on_demand_usd_per_h(&self, zone: usize) -> f64 {
        self.on_demand_usd_per_h_as(zone, self.run.first_form(zone))
    }

    /// USD per hour of all machines of a form on demand.
    pub fn on_demand_usd_per_h_as(&self, zone: usize, form: usize) -> f64 {
        self.run.usd_per_h(Market::OnDemand.in_zone(zone), form)
    }

    /// USD per hour of all machines of the first form that a zone serves, in the spot market, now, whether it has any or not.
    pub fn spot_usd_per_h(&self, zone: usize) -> f64 {
        self.spot_usd_per_h_as(zone, self.run.first_form(zone))
    }

    /// USD per hour of all machines of a form in the spot market, now, whether it has any or not.
    pub fn spot_usd_per_h_as(&self, zone: usize, form: usize) -> f64 {
        self.run.usd_per_h(Market::Spot.in_zone(zone), form)
    }

    /// USD to carry the checkpoint from where it lies to a zone.
    pub fn egress_usd(&self, to: usize) -> f64 {
        self.run.egress_usd(to)
    }

    /// USD to carry the checkpoint from one zone to another.
    pub fn egress_between_usd(&self, from: usize, to: usize) -> f64 {
        let moving = &self.run.window.world().moving;
        self.run.job.egress_usd(moving, from, to)
    }

    /// Where it runs.
    pub fn running(&self) -> Option<Place> {
        self.run.running
    }

    /// The form that it runs in.
    pub fn running_form(&self) -> Option<usize> {
        self.run.running.map(|_| self.run.form)
    }

    /// Seconds until the machines that it has work.
    pub fn start_up_left_s(&self) -> f64 {
        self.run.start_up_left().seconds()
    }

    /// Zone where the checkpoint lies: where it ran last.
    pub fn checkpoint(&self) -> Option<usize> {
        self.run.checkpoint
    }

    /// Zone whose machines were lost as this tick began.
    pub fn lost(&self) -> Option<usize> {
        self.run.lost
    }

    /// How often spot machines were lost.
    pub fn losses(&self) -> u32 {
        self.run.outcome.losses
    }

    /// Zone whose machines were lost last, whenever that was.
    pub fn last_loss(&self) -> Option<usize> {
        self.run.last_loss
    }

    /// Asks for spot machines in a zone, in the first form that it serves, as [`try_spot_as`](Self::try_spot_as) does.
    pub fn try_spot(&mut self, zone: usize) -> bool {
        self.try_spot_as(zone, self.run.first_form(zone))
    }

    /// Asks for spot machines of a form in a zone. Where there are enough, it goes there, and whatever it had is given back;
    /// where there are not, nothing changes, and nothing is paid. Going on in another form takes a changeover, as every start
    /// does, unless the job can be [reconfigured](crate::job::Job::reconfigure_s) on the same machines.
    pub fn try_spot_as(&mut self, zone: usize, form: usize) -> bool {
        let place = Market::Spot.in_zone(zone);
        if self.has(place, form) || self.run.reconfigure(place, form) {
            return true;
        }
        if !self.run.is_offered(zone, form) {
            self.run.outcome.refused += 1;
            return false;
        }
        self.run.launch(place, form);
        true
    }

    /// Goes on demand in a zone, in the first form that it serves, which is always possible.
    pub fn go_on_demand(&mut self, zone: usize) {
        self.go_on_demand_as(zone, self.run.first_form(zone));
    }

    /// Goes on demand in a zone in a form; whether the zone serves it. Where it does, there are always enough.
    pub fn go_on_demand_as(&mut self, zone: usize, form: usize) -> bool {
        let place = Market::OnDemand.in_zone(zone);
        let is_served = self.run.is_served(zone, form);
        if is_served && !self.has(place, form) && !self.run.reconfigure(place, form) {
            self.run.launch(place, form);
        }
        is_served
    }

    pub(crate) fn has(&self, place: Place, form: usize) -> bool {
        self.run.running == Some(place) && self.run.form == form
    }

    /// Gives all machines back, and waits.
    pub fn stop(&mut self) {
        self.run.stop();
    }

    /// Gives all machines back for good: the life ends, whatever net there is, and being late is billed as of work that was
    /// never done.
    pub fn give_up(&mut self) {
        self.run.give_up();
    }

    /// Says that the policy itself has failed, and why: the life ends and has no result. The other policies go on.
    pub fn fail(&mut self, why: &str) {
        self.run.fail(why);
    }

    /// Starts machines of the first form that a zone serves in its spot market to see whether there are any, and gives them
    /// back: billed for [`Job::probe_s`](crate::job::Job::probe_s) where there are.
    pub fn probe(&mut self, zone: usize) -> bool {
        let is_offered = self.run.is_offered(zone, self.run.first_form(zone));
        if is_offered && !self.run.probed.contains(&zone) {
            self.run.probed.push(zone);
        }
        is_offered
    }

    /// Whether a tick later machines from scratch do not keep the deadline.
    pub fn is_last_moment(&self) -> bool {
        self.run.is_last_moment()
    }

    /// Zone where so many seconds of work cost least on demand, start and egress included, of those that keep the deadline to
    /// the end of all work; in the first form that a zone serves.
    pub fn cheapest_on_demand(&self, work_s: f64) -> usize {
        self.run.cheapest_on_demand(SimTime::from_seconds(work_s))
    }
}
