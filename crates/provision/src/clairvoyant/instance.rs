//! States of a job, and the steps from one tick to the next.

use crate::job::{Job, LastTick};
use crate::policy_run::{Market, Place};
use crate::world::{Window, World};
use scavsim_base::units::SimTime;

pub(super) struct RentalOffer {
    pub(super) place: Place,
    pub(super) form: usize,
    /// State of waiting after they were given back.
    pub(super) waiting: usize,
    /// USD per tick; infinite where there are none.
    pub(super) usd: Vec<f64>,
}

pub(super) struct Step {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) offer: usize,
    /// Whether machines are started.
    pub(super) is_start: bool,
    /// Whether the form changes on the same machines.
    pub(super) is_reconfiguration: bool,
    pub(super) egress_usd: f64,
    waits_ns: i64,
    works_ns: i64,
    pub(super) gains_ns: Vec<i64>,
}

/// All that does not change with work done. States are numbers: first those on machines, by machines and rest of their start-up; then
/// those of waiting, by the checkpoint's zone; last the one before the first start.
pub(super) struct Instance<'w> {
    job: &'w Job,
    pub(super) tick_ns: i64,
    pub(super) ticks: usize,
    pub(super) offers: Vec<RentalOffer>,
    /// Ordered by `from`.
    pub(super) steps: Vec<Step>,
    /// Number of the machines of each state on machines.
    pub(super) running: Vec<usize>,
    /// Rest of the start-up of each.
    lefts_ns: Vec<i64>,
    pub(super) states: usize,
    /// Ends of segments of work without a change of speed; the last is the whole work.
    pub(super) ends_ns: Vec<i64>,
    /// Work from one checkpoint to the next.
    pub(super) checkpoint_ns: Option<i64>,
}

/// States that a step ends in.
struct Landing<'l> {
    offer: usize,
    /// Number of the first state.
    first: usize,
    form: usize,
    lefts_ns: &'l [i64],
}

#[derive(Clone, Copy, PartialEq)]
struct Move {
    start_ns: i64,
    egress_usd: f64,
}

fn nanoseconds(time: SimTime) -> i64 {
    time.nanoseconds() as i64
}

impl<'w> Instance<'w> {
    pub(super) fn new(window: Window<'w>, job: &'w Job) -> Self {
        let world = window.world();
        let ticks = match job.lateness_usd_per_h {
            Some(_) => window.ticks(),
            None => window.ticks().min(job.ticks(world.tick_s)),
        };
        let checkpoints = job.checkpoint_every_s.map(SimTime::from_seconds);
        let mut instance = Instance {
            job,
            tick_ns: nanoseconds(SimTime::from_seconds(world.tick_s)).max(1),
            ticks,
            offers: Vec::new(),
            steps: Vec::new(),
            running: Vec::new(),
            lefts_ns: Vec::new(),
            states: 0,
            ends_ns: segments(job),
            checkpoint_ns: checkpoints.map(|every| nanoseconds(every).max(1)),
        };
        let tick_h = instance.tick_ns as f64 / 3600e9;
        let (moves, ports) = moves(world, job);
        for (zone, port) in ports.into_iter().enumerate() {
            let is_served = |form: &usize| job.forms[*form].is_served(&world.zones[zone]);
            for form in (0..job.forms.len()).filter(is_served) {
                for market in [Market::Spot, Market::OnDemand] {
                    instance.add_steps(form, moves.iter().map(|from| from[zone]));
                    let place = Place { zone, market };
                    instance.offers.push(RentalOffer {
                        place,
                        form,
                        waiting: port,
                        usd: (0..ticks)
                            .map(|tick| tick_h * usd_per_h(window, job, place, form, tick))
                            .collect(),
                    });
                }
            }
        }
        let running = instance.running.len();
        instance.states = running + moves.len();
        instance.add_reconfigurations();
        for offer in &mut instance.offers {
            offer.waiting += running;
        }
        for step in instance.steps.iter_mut().filter(|step| step.is_start) {
            step.from += running;
        }
        instance.steps.sort_by_key(|step| step.from);
        instance
    }

    /// Adds states and steps of the next machines, with the moves to them.
    fn add_steps(&mut self, form: usize, moves: impl Iterator<Item = Move> + Clone) {
        let (offer, first) = (self.offers.len(), self.running.len());
        let mut lefts_ns = vec![0];
        let waits = self.job.reconfigure_s.map(SimTime::from_seconds);
        let waits_ns = moves.clone().map(|one| one.start_ns);
        for wait_ns in waits_ns.chain(waits.map(nanoseconds)) {
            let mut left_ns = self.left_after(wait_ns);
            while !lefts_ns.contains(&left_ns) {
                lefts_ns.push(left_ns);
                left_ns = self.left_after(left_ns);
            }
        }
        let to = Landing {
            offer,
            first,
            form,
            lefts_ns: &lefts_ns,
        };
        let stays = lefts_ns.iter().zip(first..);
        let stays = stays.map(|(&left_ns, from)| self.step(from, left_ns, &to));
        let starts = moves.enumerate().map(|(from, one)| Step {
            is_start: true,
            egress_usd: one.egress_usd,
            ..self.step(from, one.start_ns, &to)
        });
        let steps: Vec<Step> = stays.chain(starts).collect();
        self.steps.extend(steps);
        self.running.extend(lefts_ns.iter().map(|_| offer));
        self.lefts_ns.extend(lefts_ns);
    }

    /// Adds steps between forms on the same machines.
    fn add_reconfigurations(&mut self) {
        let first_of = |offer: usize| self.running.partition_point(|&own| own < offer);
        let mut steps = Vec::new();
        for (from, &own) in self.running.iter().enumerate() {
            for (offer, other) in self.offers.iter().enumerate() {
                let own = &self.offers[own];
                if own.place != other.place || own.form == other.form {
                    continue;
                }
                let Some(wait) = self.job.reconfiguration(own.form, other.form) else {
                    continue;
                };
                let (first, end) = (first_of(offer), first_of(offer + 1));
                let to = Landing {
                    offer,
                    first,
                    form: other.form,
                    lefts_ns: &self.lefts_ns[first..end],
                };
                steps.push(Step {
                    is_reconfiguration: true,
                    ..self.step(from, nanoseconds(wait).max(self.lefts_ns[from]), &to)
                });
            }
        }
        self.steps.extend(steps);
    }

    /// Rest of a start-up a tick later.
    fn left_after(&self, left_ns: i64) -> i64 {
        (left_ns - self.tick_ns).max(0)
    }

    /// A tick on some machines, of which a part is waited for.
    fn step(&self, from: usize, left_ns: i64, to: &Landing<'_>) -> Step {
        let speed = &self.job.forms[to.form].speed;
        let after_ns = self.left_after(left_ns);
        let place = to.lefts_ns.iter().position(|&one| one == after_ns);
        let waits_ns = left_ns.min(self.tick_ns);
        let works_ns = self.tick_ns - waits_ns;
        let begins_ns = [0].into_iter().chain(self.ends_ns.iter().copied());
        let gain_ns = |begin_ns: i64| {
            (speed.after(self.all_ns(), begin_ns as f64) * works_ns as f64).ceil() as i64
        };
        Step {
            from,
            to: to.first + place.unwrap_or(0),
            offer: to.offer,
            is_start: false,
            is_reconfiguration: false,
            egress_usd: 0.0,
            waits_ns,
            works_ns,
            gains_ns: begins_ns.take(self.ends_ns.len()).map(gain_ns).collect(),
        }
    }

    fn all_ns(&self) -> f64 {
        nanoseconds(self.job.work()) as f64
    }

    pub(super) fn work_ns(&self) -> i64 {
        self.ends_ns[self.ends_ns.len() - 1]
    }

    /// Work done after a step, rounded up.
    #[inline]
    pub(super) fn done_after(&self, step: &Step, done_ns: i64) -> i64 {
        let segment = segment_of(&self.ends_ns, done_ns);
        let then_ns = done_ns + step.gains_ns[segment];
        if segment + 1 == self.ends_ns.len() || then_ns <= self.ends_ns[segment] {
            return then_ns;
        }
        let speed = &self.job.forms[self.offers[step.offer].form].speed;
        let work_ns = speed.work_in(self.all_ns(), done_ns as f64, step.works_ns as f64);
        done_ns + work_ns.ceil() as i64
    }

    /// USD of a step that ends the work, with lateness; `None` after the deadline.
    pub(super) fn last_usd(&self, tick: usize, step: &Step, done_ns: i64) -> Option<f64> {
        let offer = &self.offers[step.offer];
        let speed = &self.job.forms[offer.form].speed;
        let rest_ns = speed.rest_s(self.all_ns(), done_ns as f64).round() as i64;
        let used_ns = step.waits_ns + rest_ns.min(step.works_ns);
        let end_ns = tick as i64 * self.tick_ns + used_ns;
        let is_late = end_ns > nanoseconds(self.job.deadline());
        if is_late && self.job.lateness_usd_per_h.is_none() {
            return None;
        }
        let billed = match self.job.last_tick {
            LastTick::Whole => 1.0,
            LastTick::Used => used_ns as f64 / self.tick_ns as f64,
        };
        Some(step.egress_usd + offer.usd[tick] * billed + self.late_usd(end_ns))
    }

    fn late_usd(&self, end_ns: i64) -> f64 {
        let late_ns = (end_ns - nanoseconds(self.job.deadline())).max(0);
        self.job.lateness_usd_per_h.unwrap_or(0.0) * late_ns as f64 / 3600e9
    }

    /// USD of lateness if the work is not done when a tick begins.
    pub(super) fn late_until_usd(&self, tick: usize) -> f64 {
        self.late_usd(tick as i64 * self.tick_ns)
    }

    /// Largest USD of lateness through a tick that no end within it falls below.
    pub(super) fn late_through_usd(&self, tick: usize) -> f64 {
        let is_late = tick as i64 * self.tick_ns >= nanoseconds(self.job.deadline());
        let usd = self.late_until_usd(tick + 1) - self.late_until_usd(tick);
        if is_late { usd } else { 0.0 }
    }
}

#[inline]
pub(super) fn segment_of(ends_ns: &[i64], done_ns: i64) -> usize {
    let last = ends_ns.len() - 1;
    ends_ns[..last]
        .iter()
        .position(|&end_ns| done_ns < end_ns)
        .unwrap_or(last)
}

/// Ends of the segments; rounding may leave nanoseconds of the last where a speed is not 1.
fn segments(job: &Job) -> Vec<i64> {
    let speeds = || job.forms.iter().flat_map(|form| form.speed.speeds());
    let fastest = speeds().fold(0.0, f64::max);
    let rounding_ns = if speeds().all(|speed| speed == 1.0) {
        0
    } else {
        fastest as i64 + 2
    };
    let work_ns = nanoseconds(job.work());
    let ends = job
        .forms
        .iter()
        .flat_map(|form| form.speed.stretches(work_ns as f64));
    let mut ends_ns: Vec<i64> = ends.map(|(end_ns, _)| end_ns.ceil() as i64).collect();
    ends_ns.retain(|&end_ns| end_ns < work_ns - rounding_ns);
    ends_ns.push((work_ns - rounding_ns).max(1));
    ends_ns.sort_unstable();
    ends_ns.dedup();
    ends_ns
}

/// USD per hour of machines in a tick; infinite where there are none.
fn usd_per_h(window: Window<'_>, job: &Job, place: Place, form: usize, tick: usize) -> f64 {
    let is_there = window.offered(place.zone, tick) >= job.form(form).machines;
    if place.market == Market::OnDemand || is_there {
        window.usd_per_h(place, tick) * f64::from(job.form(form).machines)
    } else {
        f64::INFINITY
    }
}

/// Moves to all zones: from classes of zones with equal moves, and last from nowhere; and the class of each zone.
fn moves(world: &World, job: &Job) -> (Vec<Vec<Move>>, Vec<usize>) {
    let (zones, moving) = (world.zones.len(), &world.moving);
    let between = |from: usize, to: usize| Move {
        start_ns: nanoseconds(job.start(moving, from, to)),
        egress_usd: job.egress_usd(moving, from, to),
    };
    let (mut moves, mut ports): (Vec<Vec<Move>>, Vec<usize>) = (Vec::new(), Vec::new());
    for zone in 0..zones {
        let own: Vec<Move> = (0..zones).map(|to| between(zone, to)).collect();
        let known = moves.iter().position(|other| *other == own);
        ports.push(known.unwrap_or(moves.len()));
        if known.is_none() {
            moves.push(own);
        }
    }
    moves.push((0..zones).map(|zone| between(zone, zone)).collect());
    (moves, ports)
}
