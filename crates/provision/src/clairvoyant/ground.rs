//! All that does not change with work done: what is offered when, for how much, and what starts and moves take.

use super::stride::Stride;
use super::way::Rented;
use crate::job::{Job, LastTick, whole};
use crate::life::{Market, Place};
use crate::world::{Window, World};

/// Most parts of a tick that work is counted in.
const MOST_PARTS: usize = 20;
/// Most steps of work done, by tick and mode, that are looked at; with more, work is counted in whole ticks.
const MOST_CELLS: usize = 50_000_000;

/// A start-up: ticks in which it ends, and the time in parts that is left of the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StartUp {
    pub(super) takes: usize,
    pub(super) rest: usize,
}

/// A way from a port to machines: number of the costs of starts, and the egress in USD.
#[derive(Debug, Clone, Copy)]
pub(super) struct Approach {
    pub(super) meets: usize,
    pub(super) egress: f64,
}

/// All that does not change with work done. Modes are numbers: places first, then *ports*, in which it waits; zones that nothing
/// tells apart for whoever comes from there are one port.
pub(super) struct Ground<'w> {
    pub(super) job: &'w Job,
    /// Parts of a tick that work is counted in.
    pub(super) parts: usize,
    /// Ticks there are.
    pub(super) ticks: usize,
    /// Parts of work.
    pub(super) work: usize,
    /// Most parts of work that are done in a tick.
    pub(super) fastest: usize,
    pub(super) zones: usize,
    /// What can be rented, zone by zone.
    pub(super) places: Vec<Rented>,
    pub(super) ports: usize,
    /// Port of each zone.
    pub(super) port: Vec<usize>,
    /// Distinct start-ups, and which of them is that from a port to a zone.
    pub(super) start_ups: Vec<StartUp>,
    start_up: Vec<usize>,
    /// Egress in USD from a port to a zone.
    egress: Vec<f64>,
    /// By port.
    pub(super) approaches: Vec<Vec<Approach>>,
    /// Whether any of them is from any zone.
    pub(super) has_any: bool,
    /// USD of ticks at a place up to one, being late included.
    spent: Vec<Vec<f64>>,
    /// First tick from which a place is not there, per place and tick.
    up_until: Vec<Vec<usize>>,
    /// USD of being late, up to a tick.
    late: Vec<f64>,
    /// What forms do in a tick.
    ticks_work: Vec<Stride>,
    /// What they do in the rest of a start-up's last tick, by start-up.
    rests_work: Vec<Vec<Stride>>,
}

/// The fewest parts of a tick in which all these numbers of ticks are whole.
fn parts_of(ticks: &[f64]) -> Option<usize> {
    let are_whole = |parts: &usize| {
        ticks.iter().all(|&one| {
            let counted = one * *parts as f64;
            (counted - counted.round()).abs() < 1e-6
        })
    };
    (1..=MOST_PARTS).find(are_whole)
}

/// Parts of a tick in which speeds lose least where they are rounded down; the fewest of those that are as good.
fn nearest_parts(job: &Job, has_room: impl Fn(&usize) -> bool) -> Option<usize> {
    let kept = |parts: usize| {
        let speeds = job.forms.iter().flat_map(|form| form.speed.speeds());
        let shares = speeds.map(|speed| {
            let counted = speed * parts as f64;
            (counted + 1e-6).floor() / counted
        });
        shares.fold(f64::INFINITY, f64::min)
    };
    let all = (1..=MOST_PARTS).rev().filter(has_room);
    all.max_by(|&a, &b| kept(a).total_cmp(&kept(b)))
}

/// Sums of a figure per tick.
fn sums(ticks: usize, of: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut sum = 0.0;
    let mut sums = Vec::with_capacity(ticks + 1);
    sums.push(0.0);
    sums.extend((0..ticks).map(|tick| {
        sum += of(tick);
        sum
    }));
    sums
}

/// What moves between zones take, by pairs of zones.
struct Moves {
    zones: usize,
    /// Ticks from a request until machines work.
    start_up: Vec<f64>,
    egress: Vec<f64>,
}

impl Moves {
    fn of(world: &World, job: &Job) -> Moves {
        let (zones, gb) = (world.zones.len(), job.checkpoint_gb);
        let pairs = || (0..zones).flat_map(|from| (0..zones).map(move |to| (from, to)));
        let seconds = |(from, to)| job.changeover_s + world.moving.s_per_gb(from, to) * gb;
        Moves {
            zones,
            start_up: pairs().map(|pair| seconds(pair) / world.tick_s).collect(),
            egress: pairs()
                .map(|(from, to)| world.moving.usd_per_gb(from, to) * gb)
                .collect(),
        }
    }

    /// Zones that differ for whoever comes from there: the first of each port, and the port of each zone.
    fn ports(&self) -> (Vec<usize>, Vec<usize>) {
        let row = |of: &[f64], zone: usize| of[zone * self.zones..][..self.zones].to_vec();
        let is_alike = |a: usize, b: usize| {
            row(&self.start_up, a) == row(&self.start_up, b)
                && row(&self.egress, a) == row(&self.egress, b)
        };
        let (mut firsts, mut port): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for zone in 0..self.zones {
            let known = firsts.iter().position(|&first| is_alike(first, zone));
            port.push(known.unwrap_or(firsts.len()));
            if known.is_none() {
                firsts.push(zone);
            }
        }
        (firsts, port)
    }
}

impl<'w> Ground<'w> {
    /// `None` where the work cannot be done in the window.
    pub(super) fn new(window: Window<'w>, job: &'w Job) -> Option<Self> {
        let world = window.world();
        let (tick_s, zones) = (world.tick_s, world.zones.len());
        let deadline = job.deadline_ticks(tick_s);
        let ticks = match job.lateness_usd_per_h {
            Some(_) => window.ticks(),
            None => window.ticks().min(deadline),
        };
        let moves = Moves::of(world, job);
        let (firsts, port) = moves.ports();
        let places = places_of(world, job);
        let parts = parts(job, &moves, tick_s, (ticks, places.len() + firsts.len()));
        let counted = |ticks: f64| whole(ticks * parts as f64, f64::ceil);
        let (mut start_ups, mut start_up, mut egress) = (Vec::new(), Vec::new(), Vec::new());
        for pair in (firsts.iter()).flat_map(|&from| from * zones..(from + 1) * zones) {
            let needs = counted(moves.start_up[pair]);
            let takes = needs.div_ceil(parts);
            let rest = takes * parts - needs;
            let one = StartUp { takes, rest };
            let at = start_ups.iter().position(|&known| known == one);
            start_up.push(at.unwrap_or(start_ups.len()));
            if at.is_none() {
                start_ups.push(one);
            }
            egress.push(moves.egress[pair]);
        }
        let work = counted(job.work_s / tick_s);
        let strides = |time: usize| -> Vec<Stride> {
            let forms = job.forms.iter();
            forms
                .map(|form| Stride::new(&form.speed, work, time))
                .collect()
        };
        let ticks_work = strides(parts);
        let fastest = ticks_work.iter().map(Stride::most).max().unwrap_or(0);
        let late_usd = job.lateness_usd_per_h.unwrap_or(0.0) * tick_s / 3600.0;
        let late = |tick: usize| if tick < deadline { 0.0 } else { late_usd };
        let rents = |one: &Rented| rent(window, job, one, ticks, late);
        let (spent, up_until) = places.iter().map(rents).unzip();
        if work > ticks * fastest {
            return None;
        }
        let mut ground = Ground {
            approaches: Vec::new(),
            has_any: false,
            rests_work: start_ups.iter().map(|one| strides(one.rest)).collect(),
            late: sums(ticks, late),
            ports: firsts.len(),
            job,
            parts,
            ticks,
            work,
            fastest,
            zones,
            places,
            port,
            start_ups,
            start_up,
            egress,
            spent,
            up_until,
            ticks_work,
        };
        ground.approaches = (0..ground.ports)
            .map(|port| ground.approaches_of(port))
            .collect();
        let mut approaches = ground.approaches.iter().flatten();
        ground.has_any =
            ground.start_ups.len() == 1 && approaches.any(|one| one.meets == ground.zones);
        Some(ground)
    }

    /// Modes that there are.
    pub(super) fn modes(&self) -> usize {
        self.places.len() + self.ports
    }

    /// Number of the mode of waiting in a port.
    pub(super) fn waiting(&self, port: usize) -> usize {
        self.places.len() + port
    }

    /// Port where it waits after it was at a place.
    pub(super) fn port_of(&self, place: usize) -> usize {
        self.port[self.places[place].place.zone]
    }

    /// USD of being late in a tick.
    pub(super) fn late_usd(&self, tick: usize) -> f64 {
        self.late[tick + 1] - self.late[tick]
    }

    /// USD of a place over some ticks; `None` where it is not there all the time.
    pub(super) fn usd(&self, place: usize, from: usize, to: usize) -> Option<f64> {
        let is_there = to <= self.ticks && self.up_until[place][from] >= to;
        is_there.then(|| self.spent[place][to] - self.spent[place][from])
    }

    /// Mode of whoever ran at a place in the tick before: waiting, where that is gone.
    pub(super) fn mode_at(&self, place: usize, tick: usize) -> usize {
        let is_gone = tick < self.ticks && self.up_until[place][tick] <= tick;
        if is_gone {
            self.waiting(self.port_of(place))
        } else {
            place
        }
    }

    /// From where costs of starts are taken for whoever waits in a port, with the egress: from zones, or from any, as far as the
    /// farthest. Going to a nearer zone for more than it takes is never the least.
    fn approaches_of(&self, port: usize) -> Vec<Approach> {
        let moves: Vec<(usize, f64)> = (0..self.zones)
            .map(|zone| self.move_to(port, zone))
            .collect();
        let farthest = moves.iter().map(|&(_, egress)| egress).fold(0.0, f64::max);
        let far = moves
            .iter()
            .filter(|&&(_, egress)| egress >= farthest)
            .count();
        let is_one = self.start_ups.len() == 1 && far > 1;
        let zones = moves
            .iter()
            .enumerate()
            .map(|(zone, &(start_up, egress))| Approach {
                meets: start_up * self.zones + zone,
                egress,
            });
        let mut approaches: Vec<Approach> = zones
            .filter(|one| !is_one || one.egress < farthest)
            .collect();
        if is_one {
            approaches.push(Approach {
                meets: self.zones,
                egress: farthest,
            });
        }
        approaches
    }

    /// Number of the start-up from a port to a zone, and the egress.
    pub(super) fn move_to(&self, port: usize, zone: usize) -> (usize, f64) {
        let at = port * self.zones + zone;
        (self.start_up[at], self.egress[at])
    }

    /// What is done at a place in a tick, or after a start-up in the rest of its last tick: ticks that pass, the work, and
    /// parts of the last tick that passed before.
    pub(super) fn stride(&self, place: usize, start_up: Option<usize>) -> (usize, &Stride, usize) {
        let form = self.places[place].form;
        let starts = start_up.filter(|&at| self.start_ups[at].takes > 0);
        match starts {
            None => (1, &self.ticks_work[form], 0),
            Some(at) => {
                let StartUp { takes, rest } = self.start_ups[at];
                (takes, &self.rests_work[at][form], self.parts - rest)
            }
        }
    }

    /// Share of its last tick that is billed, of which some parts passed before the work.
    pub(super) fn billed(&self, parts: f64) -> f64 {
        match self.job.last_tick {
            LastTick::Used => parts,
            LastTick::Whole => self.parts as f64,
        }
    }
}

/// What can be rented: of each zone the forms that it serves.
fn places_of(world: &World, job: &Job) -> Vec<Rented> {
    let mut places = Vec::new();
    for (zone, known) in world.zones.iter().enumerate() {
        let forms = job.forms.iter().enumerate();
        for (form, _) in forms.filter(|(_, form)| form.is_served(known)) {
            for market in [Market::Spot, Market::OnDemand] {
                let place = Place { zone, market };
                places.push(Rented { place, form });
            }
        }
    }
    places
}

/// Parts of a tick that work is counted in.
fn parts(job: &Job, moves: &Moves, tick_s: f64, (ticks, modes): (usize, usize)) -> usize {
    let mut lengths = moves.start_up.clone();
    lengths.push(job.work_s / tick_s);
    let is_plain = job.forms.iter().all(|form| form.speed.speeds().eq([1.0]));
    if !is_plain {
        let speeds = || job.forms.iter().flat_map(|form| form.speed.speeds());
        let starts: Vec<f64> = (speeds())
            .flat_map(|speed| moves.start_up.iter().map(move |start| speed * start))
            .collect();
        lengths.extend(speeds().chain(starts));
    }
    let has_room = |parts: &usize| {
        let work = job.work_s / tick_s * *parts as f64;
        let spare = (ticks * parts) as f64 * job.work_s / job.fastest_rest_s(0.0) - work;
        (ticks * modes) as f64 * (work.min(spare).max(0.0) + 1.0) <= MOST_CELLS as f64
    };
    let exact = parts_of(&lengths).filter(has_room);
    let near = || (!is_plain).then(|| nearest_parts(job, has_room)).flatten();
    exact.or_else(near).unwrap_or(1)
}

/// USD of a place up to each tick, and the first tick from which it is not there.
fn rent(
    window: Window<'_>,
    job: &Job,
    one: &Rented,
    ticks: usize,
    late: impl Fn(usize) -> f64,
) -> (Vec<f64>, Vec<usize>) {
    let world = window.world();
    let zone = one.place.zone;
    let machines = job.forms[one.form].machines;
    let per_tick = f64::from(machines) * world.tick_s / 3600.0;
    let mut until = vec![ticks; ticks + 1];
    match one.place.market {
        Market::Spot => {
            for tick in (0..ticks).rev() {
                let is_up = window.offered(zone, tick) >= machines;
                until[tick] = if is_up { until[tick + 1] } else { tick };
            }
            let usd = |tick| window.spot_usd_per_h(zone, tick) * per_tick + late(tick);
            (sums(ticks, usd), until)
        }
        Market::OnDemand => {
            let usd_per_h = world.zones[zone].on_demand_usd_per_h;
            (sums(ticks, |tick| usd_per_h * per_tick + late(tick)), until)
        }
    }
}
