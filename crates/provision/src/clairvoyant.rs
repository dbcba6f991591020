//! The cheapest way for whoever knows what comes: dynamic programming over the known traces, zones and egress included.
//!
//! Work, start-up and moves are counted in whole ticks, rounded up: the way is one that can be gone, and what it costs is
//! what it comes to when it is gone. Where work and changeovers are whole ticks, none is cheaper.

use crate::job::{Job, LastTick, whole};
use crate::life::desk::Desk;
use crate::life::outcome::Outcome;
use crate::life::{Market, Place, live};
use crate::policy::{Net, Policy};
use crate::world::Window;

/// The cheapest way through a window, and what it comes to; `None` where the work cannot be done in time, or, if being
/// late has a price, in the window at all.
pub fn optimum(window: Window<'_>, job: &Job) -> Option<(Way, Outcome)> {
    let way = Way::cheapest(window, job)?;
    let outcome = live(window, job, &mut Follows(&way));
    Some((way, outcome))
}

/// Where to be in each tick.
#[derive(Debug, Clone, PartialEq)]
pub struct Way {
    /// The place of each tick; `None` where it waits.
    pub places: Vec<Option<Place>>,
    /// USD that it costs in whole ticks.
    pub cost_usd: f64,
}

/// Follows a way.
#[derive(Debug)]
struct Follows<'w>(&'w Way);

impl Policy for Follows<'_> {
    fn decide(&mut self, desk: &mut Desk<'_, '_>) {
        let place = self.0.places.get(desk.tick()).copied().flatten();
        // Start-ups end within a tick: work may be done a tick before the way says.
        match place {
            None => desk.stop(),
            Some(Place {
                zone,
                market: Market::Spot,
            }) => {
                desk.try_spot(zone);
            }
            Some(Place { zone, .. }) => desk.go_on_demand(zone),
        }
    }

    fn net(&self) -> Net {
        Net::None
    }
}

/// What a choice is told by: `GO_ON` stays as it is, others are places plus one.
const GO_ON: u8 = 0;

/// All that does not change with work done.
struct Table<'w> {
    window: Window<'w>,
    /// Ticks there are, ticks of work, and so ticks that may be idle.
    ticks: usize,
    work: usize,
    idle: usize,
    zones: usize,
    /// Distinct numbers of ticks of a start-up, and which of them is that from one zone to another.
    start_ups: Vec<usize>,
    start_up: Vec<usize>,
    /// Egress in USD from one zone to another.
    egress: Vec<f64>,
    /// USD of a tick at a place, cumulated over ticks: place by place.
    spent: Vec<Vec<f64>>,
    /// First tick from which spot machines are not offered, per zone and tick.
    up_until: Vec<Vec<usize>>,
    /// USD of being late in a tick.
    late: Vec<f64>,
    /// What of the last tick of work is paid.
    last: f64,
}

impl<'w> Table<'w> {
    fn new(window: Window<'w>, job: &Job) -> Option<Self> {
        let world = window.world();
        let tick_s = world.tick_s;
        let deadline = job.deadline_ticks(tick_s);
        let ticks = match job.lateness_usd_per_h {
            Some(_) => window.ticks(),
            None => window.ticks().min(deadline),
        };
        let work = whole(job.work_s / tick_s, f64::ceil);
        let zones = world.zones.len();
        let mut start_ups = Vec::new();
        let mut start_up = Vec::new();
        let mut egress = Vec::new();
        for from in 0..zones {
            for to in 0..zones {
                let seconds =
                    job.changeover_s + world.moving.s_per_gb(from, to) * job.checkpoint_gb;
                let needs = whole(seconds / tick_s, f64::ceil);
                let at = start_ups.iter().position(|&known| known == needs);
                start_up.push(at.unwrap_or(start_ups.len()));
                if at.is_none() {
                    start_ups.push(needs);
                }
                egress.push(world.moving.usd_per_gb(from, to) * job.checkpoint_gb);
            }
        }
        let per_tick = f64::from(job.machines) * tick_s / 3600.0;
        let (mut spent, mut up_until) = (Vec::new(), Vec::new());
        for zone in 0..zones {
            let mut until = vec![ticks; ticks + 1];
            for tick in (0..ticks).rev() {
                let is_up = window.offered(zone, tick) >= job.machines;
                until[tick] = if is_up { until[tick + 1] } else { tick };
            }
            up_until.push(until);
            let on_demand = world.zones[zone].on_demand_usd_per_h;
            let sums = |price: &dyn Fn(usize) -> f64| {
                let mut sum = 0.0;
                let mut sums = vec![0.0];
                sums.extend((0..ticks).map(|tick| {
                    sum += price(tick) * per_tick;
                    sum
                }));
                sums
            };
            spent.push(sums(&|tick| window.spot_usd_per_h(zone, tick)));
            spent.push(sums(&|_| on_demand));
        }
        let late_usd = job.lateness_usd_per_h.unwrap_or(0.0) * tick_s / 3600.0;
        let late = (0..ticks).map(|tick| if tick < deadline { 0.0 } else { late_usd });
        let last = match job.last_tick {
            LastTick::Whole => 1.0,
            LastTick::Used => 1.0 - (work as f64 - job.work_s / tick_s),
        };
        Some(Table {
            late: late.collect(),
            idle: ticks.checked_sub(work)?,
            window,
            ticks,
            work,
            zones,
            start_ups,
            start_up,
            egress,
            spent,
            up_until,
            last,
        })
    }

    fn places(&self) -> usize {
        2 * self.zones
    }

    /// USD of a place over some ticks, lateness included; `None` where it is not there all the time.
    fn usd(&self, place: usize, from: usize, to: usize) -> Option<f64> {
        let is_spot = place.is_multiple_of(2);
        if to > self.ticks || (is_spot && self.up_until[place / 2][from] < to) {
            return None;
        }
        let late: f64 = self.late[from..to].iter().sum();
        Some(self.spent[place][to] - self.spent[place][from] + late)
    }
}

/// What the rest costs, per tick, idle ticks until then, and mode: places first, then waiting per zone.
struct Costs {
    layers: Vec<Vec<f64>>,
    idle: usize,
    modes: usize,
}

impl Costs {
    fn of(&self, tick: usize, idle: usize, mode: usize) -> f64 {
        if idle > self.idle {
            return f64::INFINITY;
        }
        self.layers[tick % self.layers.len()][idle * self.modes + mode]
    }
}

impl Way {
    fn cheapest(window: Window<'_>, job: &Job) -> Option<Way> {
        let table = Table::new(window, job)?;
        let (places, zones) = (table.places(), table.zones);
        let modes = places + zones;
        let wide = table.idle + 1;
        let longest = table.start_ups.iter().copied().max().unwrap_or(0);
        let mut costs = Costs {
            layers: vec![vec![f64::INFINITY; wide * modes]; longest.max(1) + 1],
            idle: table.idle,
            modes,
        };
        let mut choices = vec![GO_ON; table.ticks * wide * modes];
        // Before the first start there is no zone to leave.
        let mut first = vec![(f64::INFINITY, GO_ON); table.idle + 2];
        let mut launches = vec![f64::INFINITY; places * table.start_ups.len()];
        for tick in (0..=table.ticks).rev() {
            let mut layer = std::mem::take(&mut costs.layers[tick % (longest.max(1) + 1)]);
            for idle in 0..wide {
                let cells = &mut layer[idle * modes..(idle + 1) * modes];
                let Some(left) = (table.work + idle).checked_sub(tick) else {
                    cells.fill(0.0);
                    continue;
                };
                if idle > tick || left == 0 || tick == table.ticks {
                    cells.fill(if left == 0 { 0.0 } else { f64::INFINITY });
                    continue;
                }
                table.launches(&costs, tick, idle, &mut launches);
                let at = (tick * wide + idle) * modes;
                let chosen = &mut choices[at..at + modes];
                table.decide(&costs, &launches, (tick, idle, left), cells, chosen);
                if left == table.work {
                    first[tick] = table.first(&launches, tick, first[tick + 1].0);
                }
            }
            costs.layers[tick % (longest.max(1) + 1)] = layer;
        }
        let cost_usd = first[0].0;
        cost_usd.is_finite().then(|| Way {
            places: table.walk(&first, &choices),
            cost_usd,
        })
    }
}

impl Table<'_> {
    /// What the rest costs if machines of each place are started now, by the ticks that it takes.
    fn launches(&self, costs: &Costs, tick: usize, idle: usize, launches: &mut [f64]) {
        for (kind, &takes) in self.start_ups.iter().enumerate() {
            for place in 0..self.places() {
                let then = tick + takes;
                let usd = if takes == 0 {
                    self.work_usd(costs, tick, idle, place)
                } else {
                    let usd = self.usd(place, tick, then);
                    usd.map(|usd| usd + costs.of(then, idle + takes, place))
                };
                launches[kind * self.places() + place] = usd.unwrap_or(f64::INFINITY);
            }
        }
    }

    /// What the rest costs if machines of a place work in this tick.
    fn work_usd(&self, costs: &Costs, tick: usize, idle: usize, place: usize) -> Option<f64> {
        let usd = self.usd(place, tick, tick + 1)?;
        let is_last = self.work + idle - tick == 1;
        let paid = if is_last { usd * self.last } else { usd };
        Some(paid + costs.of(tick + 1, idle, place))
    }

    fn decide(
        &self,
        costs: &Costs,
        launches: &[f64],
        (tick, idle, _): (usize, usize, usize),
        cells: &mut [f64],
        chosen: &mut [u8],
    ) {
        let places = self.places();
        for zone in 0..self.zones {
            let mode = places + zone;
            let mut best = (costs.of(tick + 1, idle + 1, mode) + self.late[tick], GO_ON);
            for place in 0..places {
                let pair = zone * self.zones + place / 2;
                let kind = self.start_up[pair];
                let cost = launches[kind * places + place] + self.egress[pair];
                if cost < best.0 {
                    best = (cost, place as u8 + 1);
                }
            }
            (cells[mode], chosen[mode]) = best;
        }
        for place in 0..places {
            let mode = places + place / 2;
            let works = self.work_usd(costs, tick, idle, place);
            let works = works.unwrap_or(f64::INFINITY);
            // One means: give it back, and do as whoever waits here does.
            (cells[place], chosen[place]) = if works <= cells[mode] {
                (works, GO_ON)
            } else {
                (cells[mode], 1)
            };
        }
    }

    fn first(&self, launches: &[f64], tick: usize, wait: f64) -> (f64, u8) {
        let mut best = (wait + self.late[tick], GO_ON);
        for place in 0..self.places() {
            let zone = place / 2;
            let kind = self.start_up[zone * self.zones + zone];
            let cost = launches[kind * self.places() + place];
            if cost < best.0 {
                best = (cost, place as u8 + 1);
            }
        }
        best
    }

    /// Follows the choices from the begin.
    fn walk(&self, first: &[(f64, u8)], choices: &[u8]) -> Vec<Option<Place>> {
        let (places, wide) = (self.places(), self.idle + 1);
        let modes = places + self.zones;
        let place_of = |place: usize| {
            let market = if place.is_multiple_of(2) {
                Market::Spot
            } else {
                Market::OnDemand
            };
            Some(Place {
                zone: place / 2,
                market,
            })
        };
        let (mut tick, mut idle) = (0, 0);
        let mut mode: Option<usize> = None;
        let mut way = Vec::new();
        while tick < self.ticks && tick < self.work + idle {
            let choice = |mode: usize| choices[(tick * wide + idle) * modes + mode];
            let mut launch = GO_ON;
            match mode {
                None => launch = first[tick].1,
                Some(at) if at < places => {
                    if choice(at) != GO_ON {
                        let waits = places + at / 2;
                        mode = Some(waits);
                        launch = choice(waits);
                    }
                }
                Some(waits) => launch = choice(waits),
            }
            if launch == GO_ON {
                let at = mode.filter(|&mode| mode < places);
                way.push(at.and_then(place_of));
                idle += usize::from(at.is_none());
                tick += 1;
                continue;
            }
            let place = usize::from(launch) - 1;
            let from = mode.map_or(place / 2, |mode| mode - places);
            let kind = self.start_up[from * self.zones + place / 2];
            let takes = self.start_ups[kind];
            mode = Some(place);
            if takes == 0 {
                way.push(place_of(place));
                tick += 1;
                continue;
            }
            way.extend((0..takes).map(|_| place_of(place)));
            idle += takes;
            tick += takes;
        }
        debug_assert!(way.len() <= self.window.ticks());
        way
    }
}
