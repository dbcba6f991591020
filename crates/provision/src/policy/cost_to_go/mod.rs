//! Our own policy: the least expected cost until the work is done.
//!
//! Per zone, a `table` gives the expected cost of the rest by work and slack left, at the `rates` of losses and returns learned so far.
//! A job of several forms has such tables for each, as if it stayed in it; it takes the form that is expected to cost least now. A move costs the egress and a start; waiting costs slack, worth little while there is much. On demand it first watches a new run
//! where that is worth more than the run's first hours. Rates are posterior means: a run that lasts makes itself likelier to last.

mod grid;
mod rates;
mod table;
mod table_cache;

use std::sync::Arc;

use super::order::try_form;
use super::{Policy, Recipe};
use crate::policy_run::policy_view::PolicyView;
use crate::policy_run::{Market, Place};
use rates::{Age, Prior, Rates};
use scavsim_base::settings;
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};
use scavsim_read::input::checked::Positive;
use table::{Position, Table};
use table_cache::{RoundedTerms, Shape};

settings! {
    /// Settings of the policy `cost-to-go`.
    pub struct CostToGoSettings {
        /// Ends of runs and pauses that the prior is worth.
        pub prior_ends: Option<Positive>,
        /// Hours per loss of old runs, before any was seen.
        pub prior_run_h: Option<Positive>,
        /// Hours per return in old pauses, before any was seen.
        pub prior_pause_h: Option<Positive>,
        /// Hours after which what was seen counts half.
        pub half_life_h: Option<Positive>,
    }

    name: "cost-to-go",
    what: "whatever is expected to cost least until the work is done, by losses and returns that are learned as it goes",
    formula: "least over zones and markets of egress + E[cost until done | work and slack left, rates of losses and returns]",
    source: "this project",
    example: "policy.names = [\"cost-to-go\"]",
}

impl Recipe for CostToGoSettings {
    fn policy(&self) -> Box<dyn Policy> {
        let known = Prior::default();
        let or = |given: Option<Positive>, known: f64| given.map_or(known, Positive::get);
        Box::new(CostToGo::new(Prior {
            ends: or(self.prior_ends, known.ends),
            run_h: [known.run_h[0], or(self.prior_run_h, known.run_h[1])],
            pause_h: [known.pause_h[0], or(self.prior_pause_h, known.pause_h[1])],
            half_life_h: or(self.half_life_h, known.half_life_h),
        }))
    }
}

#[derive(Debug)]
pub struct CostToGo {
    prior: Prior,
    /// One for each form, or one for the first form of every zone where no zone serves several.
    plans: Vec<FormPlan>,
    /// Choices of this tick; kept to reuse memory.
    choices: Vec<Course>,
    tick_h: f64,
    /// The form whose machines it had at the end of the last tick.
    held_form: Option<usize>,
}

const H_PER_S: f64 = 1.0 / SECONDS_PER_HOUR;
const H_PER_NS: f64 = 1e-9 * H_PER_S;

/// Machines of a form over those of the smallest.
fn share_of_least(view: &PolicyView<'_, '_>, form: usize) -> f64 {
    let least = (0..view.forms()).map(|form| view.form_machines(form)).min();
    f64::from(view.form_machines(form)) / least.map_or(1.0, f64::from)
}

/// What is expected of a job that stays in one form.
#[derive(Debug)]
struct FormPlan {
    /// `None` for the first form that each zone serves.
    form: Option<usize>,
    shape: Shape,
    /// Zones that serve the form.
    zones: Vec<KnownZone>,
    /// Hours of work that their tables go to.
    table_work_h: f64,
    /// What is left in this tick.
    position: Position,
}

#[derive(Debug)]
struct KnownZone {
    zone: usize,
    /// The plan's form, or the first that the zone serves.
    form: usize,
    rates: Rates,
    /// USD per hour of all machines; the spot price of this tick.
    spot_usd_per_h: f64,
    on_demand_usd_per_h: f64,
    /// By itself, with the terms of the table.
    alone: Option<(RoundedTerms, Arc<Table>)>,
    /// With the choice to leave it, where there are others; else the one by itself.
    table: Option<Arc<Table>>,
}

impl KnownZone {
    fn table(&self) -> &Table {
        (self.table.as_deref()).expect("tables are made before they are asked")
    }
}

/// A choice with its expected cost until the end.
#[derive(Debug, Clone, Copy)]
struct Course {
    usd: f64,
    /// Expected cost in hours of this zone on demand.
    hours: f64,
    place: Place,
    /// Number of the plan.
    plan: usize,
}

impl FormPlan {
    fn new(prior: Prior, form: Option<usize>, view: &PolicyView<'_, '_>) -> FormPlan {
        let work_s = form.map_or(view.work_s(), |form| view.rest_s(form));
        let prior = form.map_or(prior, |form| prior.of_machines(share_of_least(view, form)));
        let served = |&zone: &usize| form.is_none_or(|form| view.is_served(zone, form));
        let known = |zone| {
            let first = || (0..view.forms()).find(|&form| view.is_served(zone, form));
            let form = form.or_else(first).unwrap_or(0);
            KnownZone {
                zone,
                form,
                rates: Rates::new(prior),
                spot_usd_per_h: 0.0,
                on_demand_usd_per_h: view.on_demand_usd_per_h_as(zone, form),
                alone: None,
                table: None,
            }
        };
        FormPlan {
            form,
            table_work_h: -1.0,
            position: Position::default(),
            zones: (0..view.zones()).filter(served).map(known).collect(),
            shape: Shape {
                run_h: prior.run_h,
                pause_h: prior.pause_h,
                changeover_h: view.changeover_s() * H_PER_S,
                work_h: work_s * H_PER_S,
                slack_h: (view.deadline_s() - work_s).max(0.0) * H_PER_S,
            },
        }
    }

    fn known_zone(&self, zone: usize) -> Option<&KnownZone> {
        self.zones.iter().find(|known| known.zone == zone)
    }

    /// Notes what is left and what machines cost, and replaces tables whose rates and prices have changed.
    fn prepare(&mut self, view: &PolicyView<'_, '_>) {
        // Times of lives are far below what is signed.
        let hours = |time: SimTime| time.nanoseconds().cast_signed() as f64 * H_PER_NS;
        let times = view.times();
        let left = times.deadline - times.now;
        let rest = |form| SimTime::from_seconds(view.rest_s(form));
        let work = self.form.map_or(times.work - times.done, rest);
        let work_h = hours(work);
        let mut has_changed = work_h > self.table_work_h;
        for known in &mut self.zones {
            known.spot_usd_per_h = view.spot_usd_per_h_as(known.zone, known.form);
            let price = [known.spot_usd_per_h, known.on_demand_usd_per_h];
            let now = [price, known.rates.losses(), known.rates.returns()];
            let made_for = known.alone.as_ref().map(|(made_for, _)| made_for);
            if !made_for.is_some_and(|made_for| made_for.covers(&now)) {
                let rounded = RoundedTerms::new(&now, self.shape);
                known.alone = Some((rounded, rounded.table()));
                has_changed = true;
            }
        }
        if has_changed {
            self.table_work_h = work_h;
            for at in 0..self.zones.len() {
                self.zones[at].table = self.with_others(view, at);
            }
        }
        if let Some(known) = self.zones.first() {
            // One of the two is zero.
            let slack_h = hours(left - work) - hours(work - left);
            self.position = known.table().position(work_h, slack_h, &self.position);
        }
    }

    /// The table of a zone that may be left once, for any other, for as much work at most.
    fn with_others(&self, view: &PolicyView<'_, '_>, at: usize) -> Option<Arc<Table>> {
        let mut elsewhere: Vec<f64> = Vec::new();
        let KnownZone {
            zone,
            on_demand_usd_per_h: unit_usd,
            ref alone,
            ..
        } = self.zones[at];
        let (made_for, own) = alone.as_ref()?;
        for known in self.zones.iter().filter(|known| known.zone != zone) {
            let egress = view.egress_between_usd(zone, known.zone) / unit_usd;
            let unit = known.on_demand_usd_per_h / unit_usd;
            let (_, alone) = known.alone.as_ref()?;
            elsewhere.resize(own.cells_until(self.table_work_h), f64::INFINITY);
            for (least, entry) in elsewhere.iter_mut().zip(alone.entries()) {
                *least = least.min(egress + unit * entry);
            }
        }
        if elsewhere.is_empty() {
            return Some(Arc::clone(own));
        }
        Some(Arc::new(Table::new(&made_for.terms(), Some(&elsewhere))))
    }

    /// Expected USD of waiting for the best zone.
    fn waiting(&self, view: &PolicyView<'_, '_>) -> f64 {
        let waits = |known: &KnownZone| {
            let age = known.rates.pause_age();
            let waiting = known.table().waiting(&self.position, age);
            view.egress_usd(known.zone) + known.on_demand_usd_per_h * waiting
        };
        self.zones.iter().map(waits).fold(f64::INFINITY, f64::min)
    }

    /// Expected USD of going on at a place that works after some hours.
    fn going_on(&self, place: Place, start_up_h: f64) -> Option<f64> {
        let known = self.known_zone(place.zone)?;
        let table = known.table();
        let at = &self.position;
        let at = &table.position(at.work_h, at.slack_h - start_up_h, at);
        let (usd_per_h, works_h) = match place.market {
            Market::Spot => (
                known.spot_usd_per_h,
                table.on_spot(at, known.rates.run_age()),
            ),
            Market::OnDemand => (known.on_demand_usd_per_h, table.on_demand(at)),
        };
        Some(start_up_h * usd_per_h + known.on_demand_usd_per_h * works_h)
    }

    /// Adds all places better than what it has now.
    fn add_choices(
        &self,
        view: &PolicyView<'_, '_>,
        (plan, runs): (usize, bool),
        stay_usd: f64,
        choices: &mut Vec<Course>,
    ) {
        for known in &self.zones {
            let (zone, table) = (known.zone, known.table());
            let egress = view.egress_usd(zone);
            for market in [Market::Spot, Market::OnDemand] {
                let place = market.in_zone(zone);
                if runs && view.running() == Some(place) {
                    continue;
                }
                let hours = match market {
                    Market::Spot => table.start_spot(&self.position, known.rates.run_age()),
                    Market::OnDemand => table.start_on_demand(&self.position),
                };
                let mut usd = known.on_demand_usd_per_h * hours + egress;
                if let Some(start_up_h) = self.reconfigured_after_h(view, place) {
                    usd = self.going_on(place, start_up_h).unwrap_or(usd);
                }
                if usd < stay_usd {
                    choices.push(Course {
                        usd,
                        hours,
                        place,
                        plan,
                    });
                }
            }
        }
    }

    /// Hours until the machines at a place work in this form, where it has them in another one.
    fn reconfigured_after_h(&self, view: &PolicyView<'_, '_>, place: Place) -> Option<f64> {
        let (form, other) = (self.form?, view.running_form()?);
        let keeps = view.running() == Some(place) && view.has_machines_of(form, other);
        let reconfigure_h = view.reconfigure_s().filter(|_| keeps)? * H_PER_S;
        Some(view.start_up_left_s() * H_PER_S + reconfigure_h)
    }

    /// Whether nothing can beat its spot machines, known without costs.
    fn stays(&self, view: &PolicyView<'_, '_>) -> bool {
        let is_on_spot = (view.running()).is_some_and(|place| place.market == Market::Spot);
        self.zones.len() == 1
            && is_on_spot
            && view.start_up_left_s() <= 0.0
            && self.zones[0].table().stays(self.position.slack_h)
    }

    /// Whether watching a new run is worth more than taking its machines for a cost in `hours`: that if soon lost, against on-demand
    /// costs meanwhile.
    fn looks_first(&self, view: &PolicyView<'_, '_>, known: &KnownZone, hours: f64) -> bool {
        let works = (view.running()).is_some_and(|place| place.market == Market::OnDemand);
        if self.form.is_some() || !works || known.rates.run_age() == Age::Old {
            return false;
        }
        known.table().look_first(&self.position) < hours
    }

    fn machines(&self, view: &PolicyView<'_, '_>) -> u16 {
        self.form.map_or(0, |form| view.form_machines(form))
    }
}

impl CostToGo {
    fn new(prior: Prior) -> Self {
        CostToGo {
            prior,
            plans: Vec::new(),
            choices: Vec::new(),
            tick_h: 0.0,
            held_form: None,
        }
    }

    fn begin(&mut self, view: &PolicyView<'_, '_>) {
        let served =
            |zone: usize| (0..view.forms()).filter(move |&form| view.is_served(zone, form));
        let several = (0..view.zones()).any(|zone| served(zone).count() > 1);
        let forms = (0..view.forms()).map(Some).filter(|_| several);
        let forms: Vec<Option<usize>> = if several { forms.collect() } else { vec![None] };
        let plan = |form: Option<usize>| FormPlan::new(self.prior, form, view);
        self.plans = forms.into_iter().map(plan).collect();
        self.tick_h = view.tick_s() * H_PER_S;
    }

    /// Notes in all plans what machines of a form show of a zone: as many or fewer are there where these are, as many or more are not
    /// where these are not.
    fn see(&mut self, view: &PolicyView<'_, '_>, zone: usize, form: Option<usize>, is_up: bool) {
        let machines = form.map_or(0, |form| view.form_machines(form));
        for plan in &mut self.plans {
            let own = plan.machines(view);
            let says_so = plan.form.is_none()
                || if is_up {
                    own <= machines
                } else {
                    own >= machines
                };
            let known = plan.zones.iter_mut().find(|known| known.zone == zone);
            if let Some(known) = known.filter(|_| says_so) {
                known.rates.see(is_up);
            }
        }
    }

    /// Notes what this tick shows of the markets for free.
    fn observe(&mut self, view: &PolicyView<'_, '_>) {
        for known in self.plans.iter_mut().flat_map(|plan| &mut plan.zones) {
            known.rates.pass(self.tick_h);
        }
        let on_spot = (view.running()).filter(|place| place.market == Market::Spot);
        let lost = view.lost();
        if let Some(zone) = lost {
            self.see(view, zone, self.held_form, false);
        }
        if let Some(place) = on_spot.filter(|place| lost != Some(place.zone)) {
            self.see(view, place.zone, view.running_form(), true);
        }
    }

    /// Whether a plan can still keep the deadline.
    fn is_in_time(&self, plan: usize, view: &PolicyView<'_, '_>) -> bool {
        let plan = &self.plans[plan];
        if plan.form.is_none() {
            return true;
        }
        let start_up_h = if plan.form == view.running_form() {
            view.start_up_left_s() * H_PER_S
        } else {
            plan.shape.changeover_h
        };
        plan.position.slack_h >= start_up_h
    }

    /// Expected USD of what it has now, or of waiting.
    fn staying(&self, view: &PolicyView<'_, '_>) -> f64 {
        let in_time = || {
            let numbered = self.plans.iter().enumerate();
            numbered
                .filter(|(at, _)| self.is_in_time(*at, view))
                .map(|(_, plan)| plan)
        };
        let waiting = || {
            let all = in_time().map(|plan| plan.waiting(view));
            all.fold(f64::INFINITY, f64::min)
        };
        let Some(place) = view.running() else {
            return waiting();
        };
        let running =
            in_time().find(|plan| plan.form.is_none() || plan.form == view.running_form());
        let start_up_h = view.start_up_left_s() * H_PER_S;
        // In a form that is too slow it works while it waits for one that is not.
        let goes_on = running.and_then(|plan| plan.going_on(place, start_up_h));
        goes_on.unwrap_or_else(waiting)
    }

    /// Takes the first choice that is there; whether spot machines were refused and nothing was taken.
    fn take_best_choice(&mut self, view: &mut PolicyView<'_, '_>) -> bool {
        let mut is_refused = false;
        for at in 0..self.choices.len() {
            let Course {
                place, plan, hours, ..
            } = self.choices[at];
            let (zone, form) = (place.zone, self.plans[plan].form);
            let Some(known) = self.plans[plan].known_zone(zone) else {
                continue;
            };
            if place.market == Market::OnDemand {
                view.go_on_demand_as(zone, known.form);
                return false;
            }
            if self.plans[plan].looks_first(view, known, hours) {
                // A zone that has just shown machines is not probed.
                if known.rates.is_worth_a_look() {
                    let is_up = view.probe(zone);
                    self.see(view, zone, form, is_up);
                }
                continue;
            }
            let is_up = view.try_spot_as(zone, known.form);
            self.see(view, zone, form, is_up);
            if is_up {
                return false;
            }
            is_refused = true;
        }
        is_refused
    }

    /// Takes spot machines of the fastest form that is too slow for the deadline: less is left for those that are waited for.
    fn work_meanwhile(&mut self, view: &mut PolicyView<'_, '_>) {
        let slow = (0..self.plans.len()).filter(|&plan| !self.is_in_time(plan, view));
        let mut forms: Vec<usize> = slow.filter_map(|plan| self.plans[plan].form).collect();
        forms.sort_by(|&a, &b| view.rest_s(a).total_cmp(&view.rest_s(b)));
        _ = forms.iter().any(|&form| try_form(view, form));
    }
}

impl Policy for CostToGo {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        if self.plans.is_empty() {
            self.begin(view);
        }
        self.observe(view);
        for plan in &mut self.plans {
            plan.prepare(view);
        }
        let is_settled = matches!(&self.plans[..], [only] if only.stays(view));
        if !is_settled {
            let stay_usd = self.staying(view);
            let mut choices = std::mem::take(&mut self.choices);
            choices.clear();
            for (at, plan) in self.plans.iter().enumerate() {
                if self.is_in_time(at, view) {
                    let runs = plan.form.is_none() || plan.form == view.running_form();
                    plan.add_choices(view, (at, runs), stay_usd, &mut choices);
                }
            }
            choices.sort_by(|a, b| a.usd.total_cmp(&b.usd));
            self.choices = choices;
            if self.take_best_choice(view) && view.running().is_none() {
                self.work_meanwhile(view);
            }
        }
        self.held_form = view.running_form();
    }
}
