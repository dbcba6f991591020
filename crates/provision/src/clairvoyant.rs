//! The cheapest way for whoever knows what comes: dynamic programming over the known traces, zones and egress included.
//!
//! Decisions are made as ticks begin; work is counted in parts of a tick, so fine that work and start-ups are whole numbers of
//! parts where [`MOST_PARTS`] are enough for that, and memory: then no way is cheaper. Else they are rounded up to whole
//! ticks, and what comes out is a way that can be gone, but may not be the cheapest.

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
    // Whoever knows what comes writes a checkpoint before machines are lost.
    let loses_nothing = Job {
        checkpoint_every_s: None,
        ..*job
    };
    let outcome = live(window, &loses_nothing, &mut Follows(&way));
    Some((way, outcome))
}

/// Most parts of a tick that work is counted in.
pub const MOST_PARTS: usize = 20;
/// Most choices that are kept for that; with more, work is counted in whole ticks.
const MOST_CELLS: usize = 50_000_000;

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
/// The choice of whoever runs to do as those who wait there.
const GIVE_BACK: u8 = 1;

/// All that does not change with work done.
struct Ground<'w> {
    window: Window<'w>,
    job: &'w Job,
    /// Parts of a tick that work is counted in.
    parts: usize,
    /// Ticks there are.
    ticks: usize,
    /// Parts of work.
    work: usize,
    /// Parts that may be idle.
    idle: usize,
    zones: usize,
    /// Distinct start-ups in parts, and which of them is that from one zone to another.
    start_ups: Vec<usize>,
    start_up: Vec<usize>,
    /// Egress in USD from one zone to another.
    egress: Vec<f64>,
    /// USD of ticks at a place up to one, place by place; being late included.
    spent: Vec<Vec<f64>>,
    /// First tick from which spot machines are not offered, per zone and tick.
    up_until: Vec<Vec<usize>>,
    /// USD of being late, up to a tick.
    late: Vec<f64>,
}

/// The fewest parts of a tick in which all these numbers of ticks are whole; 1 where there are none.
fn parts_of(ticks: &[f64]) -> usize {
    let are_whole = |parts: &usize| {
        ticks.iter().all(|&one| {
            let counted = one * *parts as f64;
            (counted - counted.round()).abs() < 1e-6
        })
    };
    (1..=MOST_PARTS).find(are_whole).unwrap_or(1)
}

/// Sums of a figure per tick.
fn sums(ticks: usize, of: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut sum = 0.0;
    let mut sums = vec![0.0];
    sums.extend((0..ticks).map(|tick| {
        sum += of(tick);
        sum
    }));
    sums
}

impl<'w> Ground<'w> {
    fn new(window: Window<'w>, job: &'w Job) -> Option<Self> {
        let world = window.world();
        let (tick_s, zones) = (world.tick_s, world.zones.len());
        let deadline = job.deadline_ticks(tick_s);
        let ticks = match job.lateness_usd_per_h {
            Some(_) => window.ticks(),
            None => window.ticks().min(deadline),
        };
        let pairs = || (0..zones).flat_map(|from| (0..zones).map(move |to| (from, to)));
        let start_up_ticks = |(from, to): (usize, usize)| {
            (job.changeover_s + world.moving.s_per_gb(from, to) * job.checkpoint_gb) / tick_s
        };
        let mut lengths: Vec<f64> = pairs().map(start_up_ticks).collect();
        lengths.push(job.work_s / tick_s);
        let spare =
            |parts: usize| (ticks * parts).saturating_sub((job.work_s / tick_s) as usize * parts);
        let has_room = |parts: &usize| ticks * (spare(*parts) + 1) * 3 * zones <= MOST_CELLS;
        let parts = Some(parts_of(&lengths)).filter(has_room).unwrap_or(1);
        let counted = |ticks: f64| whole(ticks * parts as f64, f64::ceil);
        let (mut start_ups, mut start_up) = (Vec::new(), Vec::new());
        for pair in pairs() {
            let needs = counted(start_up_ticks(pair));
            let at = start_ups.iter().position(|&known| known == needs);
            start_up.push(at.unwrap_or(start_ups.len()));
            if at.is_none() {
                start_ups.push(needs);
            }
        }
        let egress =
            pairs().map(|(from, to)| world.moving.usd_per_gb(from, to) * job.checkpoint_gb);
        let late_usd = job.lateness_usd_per_h.unwrap_or(0.0) * tick_s / 3600.0;
        let late = |tick: usize| if tick < deadline { 0.0 } else { late_usd };
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
            let spot = |tick| window.spot_usd_per_h(zone, tick) * per_tick + late(tick);
            spent.push(sums(ticks, spot));
            spent.push(sums(ticks, |tick| on_demand * per_tick + late(tick)));
        }
        let work = counted(job.work_s / tick_s);
        Some(Ground {
            late: sums(ticks, late),
            idle: (ticks * parts).checked_sub(work)?,
            egress: egress.collect(),
            window,
            job,
            parts,
            ticks,
            work,
            zones,
            start_ups,
            start_up,
            spent,
            up_until,
        })
    }

    fn places(&self) -> usize {
        2 * self.zones
    }

    /// Number of the mode of waiting in a zone; places come first.
    fn waiting(&self, zone: usize) -> usize {
        self.places() + zone
    }

    /// USD of a place over some ticks; `None` where it is not there all the time.
    fn usd(&self, place: usize, from: usize, to: usize) -> Option<f64> {
        let is_spot = place.is_multiple_of(2);
        let is_there = to <= self.ticks && (!is_spot || self.up_until[place / 2][from] >= to);
        is_there.then(|| self.spent[place][to] - self.spent[place][from])
    }

    /// Ticks of a start-up, and parts of work that are done in the last of them.
    fn ticks_of(&self, start_up: usize) -> (usize, usize) {
        let ticks = start_up.div_ceil(self.parts);
        (ticks, ticks * self.parts - start_up)
    }
}

/// What the rest costs, by mode and idle parts, for some ticks that follow each other.
struct Costs {
    /// A ring: modes of a tick, each over idle parts.
    layers: Vec<Vec<Vec<f64>>>,
}

impl Costs {
    fn at(&self, tick: usize, mode: usize) -> &[f64] {
        &self.layers[tick % self.layers.len()][mode]
    }
}

/// What was chosen, by tick, mode and idle parts.
struct Choices {
    wide: usize,
    modes: usize,
    chosen: Vec<u8>,
    /// Before the first start: by tick.
    first: Vec<u8>,
}

impl Choices {
    fn of(&mut self, tick: usize, mode: usize) -> &mut [u8] {
        let at = (tick * self.modes + mode) * self.wide;
        &mut self.chosen[at..at + self.wide]
    }
}

impl Way {
    fn cheapest(window: Window<'_>, job: &Job) -> Option<Way> {
        let ground = Ground::new(window, job)?;
        let (modes, wide) = (ground.places() + ground.zones, ground.idle + 1);
        let starts = ground.start_ups.iter().map(|&one| ground.ticks_of(one).0);
        let ring = starts.max().unwrap_or(0).max(1) + 1;
        let never = || vec![vec![f64::INFINITY; wide]; modes];
        let mut costs = Costs {
            layers: (0..ring).map(|_| never()).collect(),
        };
        let mut choices = Choices {
            wide,
            modes,
            chosen: vec![GO_ON; ground.ticks * modes * wide],
            first: vec![GO_ON; ground.ticks],
        };
        let mut launches =
            vec![vec![f64::INFINITY; wide]; ground.places() * ground.start_ups.len()];
        let mut first = f64::INFINITY;
        for tick in (0..=ground.ticks).rev() {
            let mut layer = std::mem::take(&mut costs.layers[tick % ring]);
            if tick < ground.ticks {
                let reach = ground.reach(tick);
                ground.launches(&costs, tick, reach, &mut launches);
                ground.decide(&costs, &launches, (tick, reach), &mut layer, &mut choices);
                first = ground.first(&launches, tick, first, &mut choices.first[tick]);
            } else {
                layer.iter_mut().for_each(|mode| mode.fill(f64::INFINITY));
            }
            // Whoever has no work left pays nothing.
            let done = (tick * ground.parts).checked_sub(ground.work);
            for mode in &mut layer {
                mode.iter_mut()
                    .take(done.map_or(0, |idle| idle + 1))
                    .for_each(|cost| *cost = 0.0);
            }
            costs.layers[tick % ring] = layer;
        }
        first.is_finite().then(|| Way {
            places: ground.walk(&mut choices),
            cost_usd: first,
        })
    }
}

impl Ground<'_> {
    /// Numbers of idle parts that can be in a tick: no more parts were idle than have passed.
    fn reach(&self, tick: usize) -> usize {
        self.idle.min(tick * self.parts) + 1
    }

    /// What the rest costs if machines work for a tick, from the costs of the next.
    fn work_usd(&self, next: &[f64], usd: f64, tick: usize, into: &mut [f64]) {
        for (cost, then) in into.iter_mut().zip(next) {
            *cost = usd + then;
        }
        // In the last tick of work no more may be paid than is used.
        if self.job.last_tick == LastTick::Used {
            let Some(done) = (tick * self.parts + self.parts).checked_sub(self.work) else {
                return;
            };
            let first = (done + 1).saturating_sub(self.parts);
            let last_ticks = into.iter_mut().enumerate().take(done + 1).skip(first);
            for (idle, cost) in last_ticks {
                let left = (self.work + idle).saturating_sub(tick * self.parts);
                *cost = usd * left as f64 / self.parts as f64;
            }
        }
    }

    /// What the rest costs if machines of each place are started now, by kind of start-up.
    fn launches(&self, costs: &Costs, tick: usize, reach: usize, launches: &mut [Vec<f64>]) {
        for (kind, &start_up) in self.start_ups.iter().enumerate() {
            let (takes, credit) = self.ticks_of(start_up);
            let shift = takes * self.parts - credit;
            for place in 0..self.places() {
                let into = &mut launches[kind * self.places() + place][..reach];
                into.fill(f64::INFINITY);
                let then = tick + takes;
                let Some(usd) = self.usd(place, tick, then.max(tick + 1)) else {
                    continue;
                };
                if takes == 0 {
                    self.work_usd(costs.at(tick + 1, place), usd, tick, into);
                } else if shift <= self.idle {
                    let next = &costs.at(then, place)[shift..];
                    for (cost, then) in into.iter_mut().zip(next) {
                        *cost = usd + then;
                    }
                }
                if takes > 0 && self.job.last_tick == LastTick::Used {
                    self.ends_starting(place, tick, (takes, credit), into);
                }
            }
        }
    }

    /// What is paid where all work that is left is done in the last tick of a start-up.
    fn ends_starting(
        &self,
        place: usize,
        tick: usize,
        (takes, credit): (usize, usize),
        into: &mut [f64],
    ) {
        let last = tick + takes - 1;
        let (Some(usd), Some(last_usd)) =
            (self.usd(place, tick, last), self.usd(place, last, last + 1))
        else {
            return;
        };
        for left in 1..=credit {
            let idle = (tick * self.parts + left).checked_sub(self.work);
            if let Some(cost) = idle.and_then(|idle| into.get_mut(idle)) {
                let used = self.parts - credit + left;
                *cost = usd + last_usd * used as f64 / self.parts as f64;
            }
        }
    }

    fn decide(
        &self,
        costs: &Costs,
        launches: &[Vec<f64>],
        (tick, reach): (usize, usize),
        layer: &mut [Vec<f64>],
        choices: &mut Choices,
    ) {
        let late = self.late[tick + 1] - self.late[tick];
        for zone in 0..self.zones {
            let mode = self.waiting(zone);
            let cells = &mut layer[mode][..reach];
            let chosen = &mut choices.of(tick, mode)[..reach];
            cells.fill(f64::INFINITY);
            chosen.fill(GO_ON);
            let next = costs.at(tick + 1, mode);
            for (cell, then) in cells.iter_mut().zip(&next[self.parts.min(next.len())..]) {
                *cell = late + then;
            }
            for place in 0..self.places() {
                let pair = zone * self.zones + place / 2;
                let launch = &launches[self.start_up[pair] * self.places() + place];
                let egress = self.egress[pair];
                for ((cell, chosen), cost) in cells.iter_mut().zip(chosen.iter_mut()).zip(launch) {
                    // Without branches: which is less cannot be foreseen.
                    let usd = cost + egress;
                    let is_less = usd < *cell;
                    *cell = if is_less { usd } else { *cell };
                    *chosen = if is_less { place as u8 + 1 } else { *chosen };
                }
            }
        }
        let (running, waiting) = layer.split_at_mut(self.places());
        for (place, cells) in running.iter_mut().enumerate() {
            let cells = &mut cells[..reach];
            match self.usd(place, tick, tick + 1) {
                Some(usd) => self.work_usd(costs.at(tick + 1, place), usd, tick, cells),
                None => cells.fill(f64::INFINITY),
            }
            let chosen = choices.of(tick, place);
            for ((cell, chosen), wait) in cells.iter_mut().zip(chosen).zip(&waiting[place / 2]) {
                let is_less = *wait < *cell;
                *cell = if is_less { *wait } else { *cell };
                *chosen = if is_less { GIVE_BACK } else { GO_ON };
            }
        }
    }

    /// What all costs from a tick on if nothing was started before.
    fn first(&self, launches: &[Vec<f64>], tick: usize, wait: f64, chosen: &mut u8) -> f64 {
        let idle = tick * self.parts;
        if idle > self.idle {
            return f64::INFINITY;
        }
        let mut best = wait + self.late[tick + 1] - self.late[tick];
        for place in 0..self.places() {
            let zone = place / 2;
            let kind = self.start_up[zone * self.zones + zone];
            let cost = launches[kind * self.places() + place][idle];
            if cost < best {
                best = cost;
                *chosen = place as u8 + 1;
            }
        }
        best
    }

    /// Follows the choices from the begin.
    fn walk(&self, choices: &mut Choices) -> Vec<Option<Place>> {
        let place_of = |place: usize| Place {
            zone: place / 2,
            market: if place.is_multiple_of(2) {
                Market::Spot
            } else {
                Market::OnDemand
            },
        };
        let (mut tick, mut idle) = (0, 0);
        let mut mode: Option<usize> = None;
        let mut way = Vec::new();
        while tick < self.ticks && tick * self.parts < self.work + idle {
            let mut launch = match mode {
                None => choices.first[tick],
                Some(at) => choices.of(tick, at)[idle],
            };
            if let Some(at) = mode.filter(|&at| at < self.places() && launch == GIVE_BACK) {
                let waits = self.waiting(at / 2);
                mode = Some(waits);
                launch = choices.of(tick, waits)[idle];
            }
            if launch == GO_ON {
                let at = mode.filter(|&mode| mode < self.places());
                way.push(at.map(place_of));
                idle += if at.is_none() { self.parts } else { 0 };
                tick += 1;
                continue;
            }
            let place = usize::from(launch) - 1;
            let from = mode.map_or(place / 2, |mode| mode - self.places());
            let kind = self.start_up[from * self.zones + place / 2];
            let (takes, credit) = self.ticks_of(self.start_ups[kind]);
            mode = Some(place);
            way.extend((0..takes.max(1)).map(|_| Some(place_of(place))));
            idle += takes * self.parts - credit;
            tick += takes.max(1);
        }
        debug_assert!(way.len() <= self.window.ticks());
        way
    }
}
