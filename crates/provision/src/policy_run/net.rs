//! The safety net that keeps a deadline, and the cheapest machines on demand.

use super::state::PolicyRun;
use super::timeline::TimelineEvent;
use crate::policy::OnDemandZone;
use crate::world::Market;
use scavsim_base::units::SimTime;

/// Machines on demand, with the end of the work and its cost.
#[derive(Debug, Clone, Copy)]
struct OnDemandOffer {
    zone: usize,
    form: usize,
    ends: SimTime,
    usd: f64,
}

impl PolicyRun<'_> {
    /// Whether a tick later it is too late to begin from scratch in the fastest form, after the slowest move: a policy may have begun one in
    /// the tick before, or its machines may be lost as they start.
    pub(super) fn is_last_moment(&self) -> bool {
        self.ends_from_scratch(self.next_tick(), self.saved()) > self.deadline
    }

    /// End of the work in the fastest form on machines requested at `from`.
    fn ends_from_scratch(&self, from: SimTime, done: SimTime) -> SimTime {
        from + self.reserve + self.job.fastest_rest(done)
    }

    /// The safety net from the last moment on: on demand until the end; where it `is_patient`, working spot machines stay while their loss
    /// leaves time. Whether it decides in place of the policy.
    pub(super) fn catch(&mut self, is_patient: bool, rule: OnDemandZone) -> bool {
        if !self.outcome.caught {
            let next = self.next_tick();
            if next <= self.in_time_until {
                return false;
            }
            let ends = self.ends_from_scratch(next, self.saved());
            if ends <= self.deadline {
                self.in_time_until = next + (self.deadline - ends);
                return false;
            }
        }
        // Who loses work with machines may have no time left for that.
        let is_patient = is_patient && self.job.checkpoint_every_s.is_none();
        let is_in_time = self.outcome.caught || self.ends <= self.deadline;
        let stays = match self.running {
            Some(place) if place.market == Market::OnDemand && is_in_time => true,
            Some(_) if is_patient && self.can_stay_a_tick() => return true,
            _ => false,
        };
        if !self.outcome.caught {
            self.note(TimelineEvent::Net, None);
        }
        if !stays {
            let forms = |_| 0..self.job.forms.len();
            let OnDemandOffer { zone, form, .. } = self.cheapest_offer(forms, self.work, rule);
            self.launch(Market::OnDemand.in_zone(zone), form);
        }
        self.outcome.caught = true;
        true
    }

    /// Whether working machines end the work in time within the tick, or their loss a tick later leaves time to begin from scratch.
    fn can_stay_a_tick(&self) -> bool {
        let (next, deadline) = (self.next_tick(), self.deadline);
        let then = self.ends_from_scratch(next, self.done_at(next));
        let ends_first = self.ends <= next.min(deadline);
        self.works_from <= self.now() && (ends_first || then <= deadline)
    }

    /// Zone where this work costs least on demand in the first form that it serves, among those that keep the deadline.
    pub(super) fn cheapest_on_demand(&self, work: SimTime) -> usize {
        let first = |zone| self.first_form(zone)..self.first_form(zone) + 1;
        (self.cheapest_offer(first, work, OnDemandZone::Cheapest)).zone
    }

    /// The cheapest machines on demand that keep the deadline, or those that end first; of equal ones, where it ran last.
    fn cheapest_offer(
        &self,
        forms: impl Fn(usize) -> std::ops::Range<usize>,
        work: SimTime,
        rule: OnDemandZone,
    ) -> OnDemandOffer {
        let here = self.checkpoint;
        let elsewhere = (0..self.zones()).filter(|&zone| Some(zone) != here);
        let offers = (here.into_iter().chain(elsewhere)).flat_map(|zone| {
            let served = forms(zone).filter(move |&form| self.is_served(zone, form));
            served.map(move |form| self.offer(zone, form, work))
        });
        let rank = |offer: &OnDemandOffer| {
            let late_end = Some(offer.ends).filter(|&ends| ends > self.deadline);
            let is_shunned = rule == OnDemandZone::Last && Some(offer.zone) != here;
            (late_end, is_shunned)
        };
        let least = offers.min_by(|a, b| rank(a).cmp(&rank(b)).then(a.usd.total_cmp(&b.usd)));
        least.unwrap_or_else(|| self.offer(0, 0, work))
    }

    fn offer(&self, zone: usize, form: usize, work: SimTime) -> OnDemandOffer {
        let place = Market::OnDemand.in_zone(zone);
        let is_here = self.running == Some(place) && self.form == form;
        let start = if is_here {
            self.start_up_left()
        } else {
            self.start(zone)
        };
        let (rest, speed) = (self.remaining_time(form), &self.job.form(form).speed);
        let paid = start + rest - speed.remaining_time(self.work, self.done() + work);
        let usd_per_h = self.usd_per_h(place, form);
        OnDemandOffer {
            zone,
            form,
            ends: self.now() + start + rest,
            usd: usd_per_h * paid.hours() + self.egress_usd(zone),
        }
    }
}
