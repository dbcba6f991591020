//! Our own policy: the least expected cost until the work is done.
//!
//! Per zone, a `table` gives the expected cost of the rest by work and slack left, at the `rates` of losses and returns learned so far.
//! A move costs the egress and a start; waiting costs slack, worth little while there is much. On demand it first watches a new run
//! where that is worth more than the run's first hours. Rates are posterior means: a run that lasts makes itself likelier to last.

mod grid;
mod rates;
mod table;
mod table_cache;

use std::sync::Arc;

use super::{Policy, Recipe};
use crate::policy_run::policy_view::PolicyView;
use crate::policy_run::{Market, Place};
use rates::{Age, Prior, Rates};
use scavsim_base::settings;
use scavsim_read::input::checked::Positive;
use table::Table;
use table_cache::{Ratios, RoundedTerms, Shape};

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
    zones: Vec<KnownZone>,
    shape: Option<Shape>,
    /// Choices of this tick; kept to reuse memory.
    choices: Vec<Course>,
}

#[derive(Debug)]
struct KnownZone {
    rates: Rates,
    /// By itself, with the terms of the table.
    alone: Option<(RoundedTerms, Arc<Table>)>,
    /// With the choice to leave it, where there are others.
    table: Option<Table>,
}

impl KnownZone {
    fn table(&self) -> &Table {
        let alone = self.alone.as_ref().map(|(_, table)| &**table);
        (self.table.as_ref().or(alone)).expect("tables are made before they are asked")
    }
}

/// A choice with its expected cost until the end.
#[derive(Debug, Clone, Copy)]
struct Course {
    usd: f64,
    place: Place,
}

#[derive(Debug, Clone, Copy)]
struct RemainingHours {
    work_h: f64,
    slack_h: f64,
}

impl CostToGo {
    fn new(prior: Prior) -> Self {
        CostToGo {
            prior,
            zones: Vec::new(),
            shape: None,
            choices: Vec::new(),
        }
    }

    fn begin(&mut self, view: &PolicyView<'_, '_>) -> Shape {
        let zone = |_| KnownZone {
            rates: Rates::new(self.prior),
            alone: None,
            table: None,
        };
        self.zones = (0..view.zones()).map(zone).collect();
        Shape {
            run_h: self.prior.run_h,
            pause_h: self.prior.pause_h,
            changeover_h: view.changeover_s() / 3600.0,
            work_h: view.work_s() / 3600.0,
            slack_h: (view.deadline_s() - view.work_s()).max(0.0) / 3600.0,
        }
    }

    /// Replaces tables whose rates and prices have changed.
    fn prepare(&mut self, view: &PolicyView<'_, '_>, shape: Shape) {
        let mut has_changed = false;
        for (zone, known) in self.zones.iter_mut().enumerate() {
            let ratios = Ratios {
                ratio: view.spot_usd_per_h(zone) / view.on_demand_usd_per_h(zone),
                losses: known.rates.losses(),
                returns: known.rates.returns(),
            };
            let made_for = known.alone.as_ref().map(|(made_for, _)| made_for);
            if !made_for.is_some_and(|made_for| made_for.covers(ratios)) {
                let rounded = RoundedTerms::new(ratios, shape);
                known.alone = Some((rounded, rounded.table()));
                has_changed = true;
            }
        }
        if has_changed && self.zones.len() > 1 {
            for zone in 0..self.zones.len() {
                self.zones[zone].table = self.with_others(view, zone);
            }
        }
    }

    /// The table of a zone that may be left once, for any other.
    fn with_others(&self, view: &PolicyView<'_, '_>, zone: usize) -> Option<Table> {
        let mut elsewhere: Vec<f64> = Vec::new();
        let unit_usd = view.on_demand_usd_per_h(zone);
        let others = (self.zones.iter().enumerate()).filter(|(other, _)| *other != zone);
        for (other, known) in others {
            let egress = view.egress_between_usd(zone, other) / unit_usd;
            let unit = view.on_demand_usd_per_h(other) / unit_usd;
            let (_, alone) = known.alone.as_ref()?;
            elsewhere.resize(alone.entry.len(), f64::INFINITY);
            for (least, entry) in elsewhere.iter_mut().zip(&alone.entry) {
                *least = least.min(egress + unit * entry);
            }
        }
        let (made_for, _) = self.zones[zone].alone.as_ref()?;
        Some(Table::new(&made_for.terms(), Some(&elsewhere)))
    }

    fn staying(&self, view: &PolicyView<'_, '_>, left: RemainingHours) -> f64 {
        let Some(place) = view.running() else {
            let waits = |(zone, known): (usize, &KnownZone)| {
                let age = known.rates.pause_age();
                let waiting = known.table().waiting(left.work_h, left.slack_h, age);
                view.egress_usd(zone) + view.on_demand_usd_per_h(zone) * waiting
            };
            let zones = self.zones.iter().enumerate();
            return zones.map(waits).fold(f64::INFINITY, f64::min);
        };
        let known = &self.zones[place.zone];
        let start_up_h = view.start_up_left_s() / 3600.0;
        let slack_h = left.slack_h - start_up_h;
        let unit_usd = view.on_demand_usd_per_h(place.zone);
        match place.market {
            Market::Spot => {
                let works = known
                    .table()
                    .on_spot(left.work_h, slack_h, known.rates.run_age());
                start_up_h * view.spot_usd_per_h(place.zone) + unit_usd * works
            }
            Market::OnDemand => {
                unit_usd * (start_up_h + known.table().on_demand(left.work_h, slack_h))
            }
        }
    }

    /// Whether nothing can beat its spot machines, known without costs.
    fn stays(&self, view: &PolicyView<'_, '_>, left: RemainingHours) -> bool {
        let is_on_spot = (view.running()).is_some_and(|place| place.market == Market::Spot);
        self.zones.len() == 1
            && is_on_spot
            && view.start_up_left_s() <= 0.0
            && self.zones[0].table().stays(left.slack_h)
    }

    /// All places better than staying, the least cost first.
    fn choose(&mut self, view: &PolicyView<'_, '_>, left: RemainingHours, stay_usd: f64) {
        self.choices.clear();
        for (zone, known) in self.zones.iter().enumerate() {
            let (table, egress) = (known.table(), view.egress_usd(zone));
            let unit_usd = view.on_demand_usd_per_h(zone);
            for market in [Market::Spot, Market::OnDemand] {
                let place = Place { zone, market };
                if view.running() == Some(place) {
                    continue;
                }
                let hours = match market {
                    Market::Spot => {
                        table.start_spot(left.work_h, left.slack_h, known.rates.run_age())
                    }
                    Market::OnDemand => table.start_on_demand(left.work_h, left.slack_h),
                };
                let usd = unit_usd * hours + egress;
                if usd < stay_usd {
                    self.choices.push(Course { usd, place });
                }
            }
        }
        self.choices.sort_by(|a, b| a.usd.total_cmp(&b.usd));
    }

    /// Whether watching a new run is worth more than taking its machines: their cost if soon lost, against on-demand costs meanwhile.
    fn looks_first(&self, view: &PolicyView<'_, '_>, zone: usize, left: RemainingHours) -> bool {
        let works = (view.running()).is_some_and(|place| place.market == Market::OnDemand);
        let known = &self.zones[zone];
        if !works || known.rates.run_age() == Age::Old {
            return false;
        }
        let table = known.table();
        let now = table.start_spot(left.work_h, left.slack_h, Age::Young);
        table.look_first(left.work_h, left.slack_h) < now
    }

    /// Probes a zone, unless it has just shown machines.
    fn look(&mut self, view: &mut PolicyView<'_, '_>, zone: usize) {
        let rates = &mut self.zones[zone].rates;
        if rates.is_worth_a_look() {
            rates.see(view.probe(zone));
        }
    }

    /// Notes what this tick shows of the markets for free.
    fn observe(&mut self, view: &PolicyView<'_, '_>) {
        let tick_h = view.tick_s() / 3600.0;
        for (zone, known) in self.zones.iter_mut().enumerate() {
            known.rates.pass(tick_h);
            if view.lost() == Some(zone) {
                known.rates.see(false);
            } else if view
                .running()
                .is_some_and(|at| at.zone == zone && at.market == Market::Spot)
            {
                known.rates.see(true);
            }
        }
    }
}

impl Policy for CostToGo {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        let shape = match self.shape {
            Some(shape) => shape,
            None => self.begin(view),
        };
        self.shape = Some(shape);
        self.observe(view);
        self.prepare(view, shape);
        let (work_h, times) = (view.left_s() / 3600.0, view.times());
        let left = RemainingHours {
            work_h,
            slack_h: (times.deadline - times.now).hours() - work_h,
        };
        if self.stays(view, left) {
            return;
        }
        let stay_usd = self.staying(view, left);
        self.choose(view, left, stay_usd);
        for at in 0..self.choices.len() {
            let Place { zone, market } = self.choices[at].place;
            if market == Market::OnDemand {
                view.go_on_demand(zone);
                return;
            }
            if self.looks_first(view, zone, left) {
                self.look(view, zone);
                continue;
            }
            let is_up = view.try_spot(zone);
            self.zones[zone].rates.see(is_up);
            if is_up {
                return;
            }
        }
    }
}
