//! The safety net: what keeps a deadline when its last moment has come.

use super::state::{Life, Market, Place};
use super::timeline::What;
use crate::job::{DONE_S, whole};

/// Machines on demand, and what the rest comes to with them.
struct Rescue {
    zone: usize,
    form: usize,
    rest_s: f64,
    usd: f64,
}

impl Life<'_> {
    /// Whether ticks left are but those that the fastest form takes on machines from scratch, after the slowest move: a policy
    /// may have begun one in the tick before, or its machines may be lost as they start.
    pub(super) fn is_last_moment(&self) -> bool {
        self.ticks_from_scratch(self.saved_s()) >= self.ticks_left()
    }

    /// Ticks that the rest takes after so much work in the form that ends first, on machines that are still to be requested.
    fn ticks_from_scratch(&self, done_s: f64) -> usize {
        self.ticks_of(self.job.fastest_rest_s(done_s) + self.reserve_s)
    }

    fn ticks_of(&self, seconds: f64) -> usize {
        whole(seconds / self.tick_s(), f64::ceil)
    }

    /// The safety net, from the last moment on that keeps the deadline: on demand until the end; spot machines that work
    /// may stay where it `is_patient`, as long as time enough is left when they are lost a tick later. Whether it decides in
    /// place of the policy.
    pub(super) fn catch(&mut self, is_patient: bool) -> bool {
        if !(self.caught || self.is_last_moment()) {
            return false;
        }
        // Who loses work with machines may have no time left for that.
        let is_patient = is_patient && self.job.checkpoint_every_s.is_none();
        let goes = match self.running {
            Some(place) if place.market == Market::OnDemand && self.is_in_time() => None,
            Some(_) if is_patient && self.can_stay_a_tick() => return true,
            Some(place) => Some(self.rescue(Some(place.zone))),
            None => Some(self.rescue(None)),
        };
        if !self.caught {
            self.note(What::Net, None);
        }
        if let Some(Rescue { zone, form, .. }) = goes {
            let market = Market::OnDemand;
            self.launch(Place { zone, market }, form);
        }
        self.caught = true;
        self.outcome.caught = true;
        true
    }

    /// Whether the machines that it has end the work in time if they are never lost.
    fn is_in_time(&self) -> bool {
        self.caught || {
            let rest_s = self.rest_s(self.form) + self.start_up_left_s;
            self.ticks_of(rest_s) <= self.ticks_left()
        }
    }

    /// Whether machines that work can be lost a tick later, and time enough is left to begin from scratch.
    fn can_stay_a_tick(&self) -> bool {
        if self.start_up_left_s > 0.0 {
            return false;
        }
        let speed = &self.job.forms[self.form].speed;
        let done_s = self.done_s + speed.work_in(self.job.work_s, self.done_s, self.tick_s());
        self.job.work_s - done_s <= DONE_S || self.ticks_from_scratch(done_s) < self.ticks_left()
    }

    /// Machines on demand that keep the deadline, those where the rest costs least; of `here`, if any of that zone do.
    fn rescue(&self, here: Option<usize>) -> Rescue {
        let mut found: Option<Rescue> = None;
        let mut fastest = Rescue {
            zone: 0,
            form: 0,
            rest_s: f64::INFINITY,
            usd: f64::INFINITY,
        };
        for zones in [here.map_or(0..0, |zone| zone..zone + 1), 0..self.zones()] {
            for zone in zones {
                for form in (0..self.job.forms.len()).filter(|&form| self.is_served(zone, form)) {
                    let one = self.rescue_by(zone, form);
                    let keeps = self.ticks_of(one.rest_s) <= self.ticks_left();
                    if keeps && found.as_ref().is_none_or(|best| one.usd < best.usd) {
                        found = Some(one);
                    } else if one.rest_s < fastest.rest_s {
                        fastest = one;
                    }
                }
            }
            if found.is_some() {
                break;
            }
        }
        found.unwrap_or(fastest)
    }

    fn rescue_by(&self, zone: usize, form: usize) -> Rescue {
        let market = Market::OnDemand;
        let works_s = self.rest_s(form);
        let usd_per_h = self.usd_per_h(Place { zone, market }, form);
        Rescue {
            zone,
            form,
            rest_s: works_s + self.start_s(zone),
            usd: usd_per_h * works_s / 3600.0 + self.egress_usd(zone),
        }
    }
}
