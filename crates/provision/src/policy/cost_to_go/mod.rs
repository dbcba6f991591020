//! Our own policy: whatever is expected to cost least until the work is done.
//!
//! For each zone a `table` says what the rest is expected to cost from there, by work and slack left, if losses and
//! returns of its market come at the `rates` that were learned so far. Going elsewhere costs the egress and a start;
//! waiting costs slack, which is worth little while there is much of it. Rates are posterior means: they begin with a
//! prior, and a run that lasts makes itself likelier to last.

mod rates;
mod table;

use serde::Deserialize;

use super::{Policy, Recipe};
use crate::life::desk::Desk;
use crate::life::{Market, Place};
use rates::{Prior, Rates};
use scavsim_base::{Declaration, Declared};
use scavsim_read::input::checked::Positive;
use table::{Table, Terms};

/// Settings of the policy `cost-to-go`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
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

impl Declared for CostToGoSettings {
    const DECLARATION: Declaration = Declaration {
        name: "cost-to-go",
        what: "whatever is expected to cost least until the work is done, by losses and returns that are learned as it goes",
        formula: "least over zones and markets of egress + E[cost until done | work and slack left, rates of losses and returns]",
        source: "this project",
        example: "policy.names = [\"cost-to-go\"]",
    };
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

/// Goes wherever it is expected to cost least.
#[derive(Debug)]
pub struct CostToGo {
    prior: Prior,
    zones: Vec<KnownZone>,
    /// What the tables were made for.
    shape: Option<(f64, f64)>,
}

#[derive(Debug)]
struct KnownZone {
    rates: Rates,
    /// By itself, and what the table was made of.
    alone: Option<(Terms, Table)>,
    /// With the choice to leave it, where there are others.
    table: Option<Table>,
}

/// Something that it may do, and what it is expected to cost until the end.
#[derive(Debug, Clone, Copy)]
struct Course {
    usd: f64,
    place: Option<Place>,
}

impl CostToGo {
    fn new(prior: Prior) -> Self {
        CostToGo {
            prior,
            zones: Vec::new(),
            shape: None,
        }
    }

    /// Makes the tables that are not there, or whose rates and prices have changed.
    fn prepare(&mut self, desk: &Desk<'_, '_>) {
        let (work_h, slack_h) = self.shape.unwrap_or_default();
        let mut has_changed = false;
        for (zone, known) in self.zones.iter_mut().enumerate() {
            let terms = Terms {
                spot_usd_per_h: desk.spot_usd_per_h(zone),
                on_demand_usd_per_h: desk.on_demand_usd_per_h(zone),
                losses_per_h: known.rates.losses_per_h(),
                returns_per_h: known.rates.returns_per_h(),
                changeover_h: desk.changeover_s() / 3600.0,
                work_h,
                slack_h,
            };
            let fits = (known.alone.as_ref()).is_some_and(|(made_for, _)| made_for.is_near(&terms));
            if !fits {
                known.alone = Some((terms, Table::of(&terms, None)));
                has_changed = true;
            }
        }
        if has_changed && self.zones.len() > 1 {
            for zone in 0..self.zones.len() {
                self.zones[zone].table = self.with_others(desk, zone);
            }
        }
    }

    /// The table of a zone that may be left once, for any other.
    fn with_others(&self, desk: &Desk<'_, '_>, zone: usize) -> Option<Table> {
        let mut elsewhere: Vec<f64> = Vec::new();
        let others = (self.zones.iter().enumerate()).filter(|(other, _)| *other != zone);
        for (other, known) in others {
            let egress = desk.egress_between_usd(zone, other);
            let (_, alone) = known.alone.as_ref()?;
            elsewhere.resize(alone.entry.len(), f64::INFINITY);
            for (least, entry) in elsewhere.iter_mut().zip(&alone.entry) {
                *least = least.min(egress + entry);
            }
        }
        let (terms, _) = self.zones[zone].alone.as_ref()?;
        Some(Table::of(terms, Some(&elsewhere)))
    }

    fn table(&self, zone: usize) -> &Table {
        let known = &self.zones[zone];
        let alone = known.alone.as_ref().map(|(_, table)| table);
        (known.table.as_ref().or(alone)).expect("tables are made before they are asked")
    }

    /// What it is expected to cost to stay as it is.
    fn staying(&self, desk: &Desk<'_, '_>, work_h: f64, slack_h: f64) -> Course {
        let start_up_h = desk.start_up_left_s() / 3600.0;
        let usd = match desk.running() {
            Some(place) => {
                let table = self.table(place.zone);
                let slack_h = slack_h - start_up_h;
                match place.market {
                    Market::Spot => {
                        let age = self.zones[place.zone].rates.run_age();
                        let works = table.on_spot(work_h, slack_h, age);
                        start_up_h * desk.spot_usd_per_h(place.zone) + works
                    }
                    Market::OnDemand => {
                        start_up_h * desk.on_demand_usd_per_h(place.zone)
                            + table.on_demand(work_h, slack_h)
                    }
                }
            }
            None => {
                let waits = |zone: usize| {
                    let age = self.zones[zone].rates.pause_age();
                    desk.egress_usd(zone) + self.table(zone).waiting(work_h, slack_h, age)
                };
                (0..desk.zones()).map(waits).fold(f64::INFINITY, f64::min)
            }
        };
        Course {
            usd,
            place: desk.running(),
        }
    }

    /// All other places, the least cost first.
    fn others(&self, desk: &Desk<'_, '_>, work_h: f64, slack_h: f64) -> Vec<Course> {
        let mut choices = Vec::new();
        for zone in 0..desk.zones() {
            let (table, egress) = (self.table(zone), desk.egress_usd(zone));
            for market in [Market::Spot, Market::OnDemand] {
                let place = Some(Place { zone, market });
                let usd = match market {
                    Market::Spot => {
                        table.start_spot(work_h, slack_h, self.zones[zone].rates.run_age())
                    }
                    Market::OnDemand => table.start_on_demand(work_h, slack_h),
                };
                if place != desk.running() {
                    choices.push(Course {
                        usd: usd + egress,
                        place,
                    });
                }
            }
        }
        choices.sort_by(|a, b| a.usd.total_cmp(&b.usd));
        choices
    }

    /// Takes in what this tick says of the markets without asking.
    fn observe(&mut self, desk: &Desk<'_, '_>) {
        let tick_h = desk.tick_s() / 3600.0;
        for (zone, known) in self.zones.iter_mut().enumerate() {
            known.rates.pass(tick_h);
            if desk.lost() == Some(zone) {
                known.rates.see(false);
            } else if desk
                .running()
                .is_some_and(|at| at.zone == zone && at.market == Market::Spot)
            {
                known.rates.see(true);
            }
        }
    }
}

impl Policy for CostToGo {
    fn decide(&mut self, desk: &mut Desk<'_, '_>) {
        if self.zones.is_empty() {
            let zone = |_| KnownZone {
                rates: Rates::new(self.prior),
                alone: None,
                table: None,
            };
            self.zones = (0..desk.zones()).map(zone).collect();
            let slack_h = (desk.deadline_s() - desk.work_s()).max(0.0) / 3600.0;
            self.shape = Some((desk.work_s() / 3600.0, slack_h));
        }
        self.observe(desk);
        self.prepare(desk);
        let work_h = desk.left_s() / 3600.0;
        let slack_h = desk.ticks_left() as f64 * desk.tick_s() / 3600.0 - work_h;
        let stay = self.staying(desk, work_h, slack_h);
        for choice in self.others(desk, work_h, slack_h) {
            if choice.usd >= stay.usd {
                break;
            }
            match choice.place {
                Some(Place {
                    zone,
                    market: Market::Spot,
                }) => {
                    let is_up = desk.try_spot(zone);
                    self.zones[zone].rates.see(is_up);
                    if is_up {
                        return;
                    }
                }
                Some(Place { zone, .. }) => {
                    desk.go_on_demand(zone);
                    return;
                }
                None => {}
            }
        }
    }
}
