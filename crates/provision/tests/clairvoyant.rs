//! The clairvoyant way beside brute force.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod common;

use std::collections::HashMap;

use common::{form, hours, job, seconds, zone};
use scavsim_base::rng::Streams;
use scavsim_provision::clairvoyant::optimum;
use scavsim_provision::forms::Speed;
use scavsim_provision::job::Job;
use scavsim_provision::world::World;
use scavsim_provision::world::moving::Moving;
use scavsim_provision::world::process::Process;

/// What is left to decide: tick, thousandths of an hour of work done, place (zone, spot, form), those of its start-up, and
/// where the checkpoint lies.
type State = (usize, u32, Option<(usize, bool, usize)>, u32, Option<usize>);

fn thousandths(hours: f64) -> u32 {
    (hours * 1000.0).round() as u32
}

/// Speeds of a form: until some hour of work, and from there on.
type Speeds = (f64, f64, f64);

/// Hours until all work is done.
fn rest_h((border, first, then): Speeds, work_h: f64, done_h: f64) -> f64 {
    let before = (border.min(work_h) - done_h).max(0.0);
    before / first + (work_h - done_h - before) / then
}

/// Hours of work that are done after some hours.
fn done_after((border, first, then): Speeds, work_h: f64, done_h: f64, hours: f64) -> f64 {
    let before = ((border - done_h).max(0.0) / first).min(hours);
    (done_h + before * first + (hours - before) * then).min(work_h)
}

/// A world, a job, and the speeds of its forms.
struct Task<'t> {
    world: &'t World,
    job: &'t Job,
    speeds: &'t [Speeds],
}

impl Task<'_> {
    /// The least cost from a state on, by trying all that can be done in each tick.
    fn least(&self, at: State, known: &mut HashMap<State, f64>) -> f64 {
        let (tick, done, _, _, checkpoint) = at;
        let work_h = self.job.work_s / 3600.0;
        if done >= thousandths(work_h) {
            return 0.0;
        }
        if tick >= (self.job.deadline_s / 3600.0) as usize {
            return f64::INFINITY;
        }
        if let Some(cost) = known.get(&at) {
            return *cost;
        }
        let mut best = self.least((tick + 1, done, None, 0, checkpoint), known);
        for zone in 0..self.world.zones.len() {
            for form in 0..self.speeds.len() {
                for is_spot in [true, false] {
                    best = best.min(self.with(at, (zone, is_spot, form), known));
                }
            }
        }
        known.insert(at, best);
        best
    }

    /// The least cost where a place is had in this tick.
    fn with(
        &self,
        (tick, done, running, start_up, checkpoint): State,
        place: (usize, bool, usize),
        known: &mut HashMap<State, f64>,
    ) -> f64 {
        let (zone, is_spot, form) = place;
        let (here, machines) = (&self.world.zones[zone], self.job.forms[form].machines);
        if is_spot && here.offered[tick] < machines {
            return f64::INFINITY;
        }
        let stays = running == Some(place);
        let from = checkpoint.filter(|&from| from != zone && !stays);
        let egress = from.map_or(0.0, |from| self.world.moving.usd_per_gb(from, zone));
        let start_up = if stays {
            start_up
        } else {
            thousandths(self.job.changeover_s / 3600.0)
        };
        let waits = start_up.min(1000);
        let (work_h, done_h) = (self.job.work_s / 3600.0, f64::from(done) / 1000.0);
        let works_h = f64::from(1000 - waits) / 1000.0;
        let then = thousandths(done_after(self.speeds[form], work_h, done_h, works_h));
        let rest_h = rest_h(self.speeds[form], work_h, done_h);
        let used_h = if then >= thousandths(work_h) {
            f64::from(waits) / 1000.0 + rest_h
        } else {
            1.0
        };
        let price = if is_spot {
            here.spot_usd_per_h[tick]
        } else {
            here.on_demand_usd_per_h
        };
        let next = (tick + 1, then, Some(place), start_up - waits, Some(zone));
        egress + price * f64::from(machines) * used_h + self.least(next, known)
    }
}

fn brute_of(world: &World, job: &Job, speeds: &[Speeds]) -> f64 {
    let task = Task { world, job, speeds };
    task.least((0, 0, None, 0, None), &mut HashMap::new())
}

fn brute(world: &World, job: &Job) -> f64 {
    brute_of(world, job, &[(0.0, 1.0, 1.0)])
}

fn bits(word: u32, ticks: u32) -> Vec<u16> {
    (0..ticks).map(|tick| (word >> tick & 1) as u16).collect()
}

#[test]
fn it_is_that_of_brute_force_on_all_traces_of_twelve_ticks() {
    for (work_h, changeover_h) in [(6.0, 0.0), (6.0, 1.0), (5.5, 0.3), (8.0, 1.4)] {
        let job = job(work_h, 12.0, changeover_h);
        for word in 0..1 << 12 {
            let world = hours(vec![zone("a", bits(word, 12), 1.0, 3.0)], 0.0);
            let (_, outcome) = optimum(world.window(0, 12).unwrap(), &job).unwrap();
            let (ours, brute) = (outcome.cost_usd(), brute(&world, &job));
            assert!((ours - brute).abs() < 1e-9, "{word:b}: {ours}, not {brute}");
            assert!(outcome.kept());
        }
    }
}

#[test]
fn it_is_that_of_brute_force_over_two_zones_with_egress() {
    let job = job(6.0, 12.0, 0.7);
    for seed in 0_u32..1500 {
        let word = seed.wrapping_mul(2_654_435_761);
        let mut a = zone("a", bits(word, 12), 1.0, 3.0);
        let mut b = zone("b", bits(word >> 12, 12), 0.8, 3.5);
        for tick in 0..12 {
            a.spot_usd_per_h[tick] += f64::from(word >> tick & 3) * 0.2;
            b.spot_usd_per_h[tick] += f64::from(word >> (tick + 7) & 3) * 0.1;
        }
        let world = hours(vec![a, b], 0.4);
        let (_, outcome) = optimum(world.window(0, 12).unwrap(), &job).unwrap();
        let (ours, brute) = (outcome.cost_usd(), brute(&world, &job));
        assert!((ours - brute).abs() < 1e-9, "{seed}: {ours}, not {brute}");
    }
}

/// Two forms: one machine; and two or three, which are as fast as said until half of the work is done, and from then on.
fn of_two_forms(job: Job, machines: u16, (first, then): (f64, f64)) -> (Job, [Speeds; 2]) {
    let half_h = job.work_s / 7200.0;
    let mut large = form("large", machines, first);
    large.speed = Speed::of_steps(vec![(0.0, first), (0.5, then)]).unwrap();
    let job = Job {
        forms: vec![form("one", 1, 1.0), large],
        ..job
    };
    (job, [(0.0, 1.0, 1.0), (half_h, first, then)])
}

#[test]
fn it_is_that_of_brute_force_on_all_traces_of_twelve_ticks_with_two_forms() {
    for (work_h, changeover_h, speeds) in [(16.0, 0.4, (2.5, 2.5)), (14.0, 0.0, (1.0, 3.0))] {
        let (job, speeds) = of_two_forms(job(work_h, 12.0, changeover_h), 2, speeds);
        for word in 0..1 << 12 {
            // One machine or two in turn, each for two ticks, where there are any.
            let up = bits(word, 12).into_iter().zip(0..);
            let offered = up.map(|(up, tick)| up * (1 + tick / 2 % 2));
            let world = hours(vec![zone("a", offered.collect(), 1.0, 3.0)], 0.0);
            let (_, outcome) = optimum(world.window(0, 12).unwrap(), &job).unwrap();
            let (ours, brute) = (outcome.cost_usd(), brute_of(&world, &job, &speeds));
            assert!((ours - brute).abs() < 1e-9, "{word:b}: {ours}, not {brute}");
            assert!(outcome.kept());
        }
    }
}

#[test]
fn it_is_that_of_brute_force_over_some_zones_and_two_forms() {
    for seed in 0_u32..400 {
        let speeds = [(2.0, 2.0), (1.5, 1.5), (3.0, 3.0)][seed as usize % 3];
        let (job, speeds) = of_two_forms(job(12.0, 12.0, 0.8), 3, speeds);
        let word = seed.wrapping_mul(2_654_435_761);
        let offered = |shift: u32| {
            let machines = |tick: u32| (word.rotate_right(2 * tick + shift) & 3) as u16;
            (0..12).map(machines).collect()
        };
        let mut a = zone("a", offered(0), 1.0, 3.0);
        let mut b = zone("b", offered(7), 0.8, 3.5);
        for tick in 0..12 {
            a.spot_usd_per_h[tick] += f64::from(word >> tick & 3) * 0.2;
            b.spot_usd_per_h[tick] += f64::from(word >> (tick + 7) & 3) * 0.1;
        }
        let mut zones = vec![a, b];
        if seed % 2 == 1 {
            zones.push(zone("c", offered(3), 1.1, 2.9));
        }
        let mut world = hours(zones, 0.4);
        if seed % 4 == 1 {
            // One way is longer than the others.
            world.moving = Moving::by(3, |from, to| (if from + to == 1 { 0.2 } else { 0.4 }, 0.0));
        }
        let found = optimum(world.window(0, 12).unwrap(), &job);
        let ours = found.map_or(f64::INFINITY, |(_, outcome)| outcome.cost_usd());
        let brute = brute_of(&world, &job, &speeds);
        assert!((ours - brute).abs() < 1e-9, "{seed}: {ours}, not {brute}");
    }
}

#[test]
fn speeds_that_are_no_whole_parts_give_a_way_that_can_be_gone() {
    let mut job = job(20.0, 12.0, 0.37);
    job.forms = vec![form("one", 1, 1.0), form("seven", 7, 3.137)];
    for seed in 0_u32..200 {
        let word = seed.wrapping_mul(2_654_435_761);
        let offered = bits(word, 12).into_iter().map(|up| 7 * up).collect();
        let world = hours(vec![zone("a", offered, 1.0, 3.0)], 0.0);
        let (way, outcome) = optimum(world.window(0, 12).unwrap(), &job).unwrap();
        assert!(outcome.kept(), "{seed}");
        assert!(outcome.cost_usd() <= way.cost_usd + 1e-9, "{seed}");
        assert!(outcome.cost_usd() >= 20.0, "{seed}");
    }
}

#[test]
fn what_cannot_be_kept_has_no_way() {
    let world = hours(vec![zone("a", vec![1; 12], 1.0, 3.0)], 0.0);
    let window = world.window(0, 12).unwrap();
    assert!(optimum(window, &job(12.0, 12.0, 0.5)).is_none());
    assert!(optimum(window, &job(11.5, 12.0, 0.5)).is_some());
}

#[test]
fn a_price_of_being_late_is_weighed_against_machines_on_demand() {
    // Two hours of work until hour 2; spot machines come at hour 3.
    let world = hours(vec![zone("a", vec![0, 0, 0, 1, 1, 1], 1.0, 3.0)], 0.0);
    let window = world.window(0, 6).unwrap();
    let cost = |usd: f64| {
        let job = Job {
            lateness_usd_per_h: Some(usd),
            ..job(2.0, 2.0, 0.0)
        };
        optimum(window, &job).unwrap().1
    };
    assert_eq!(cost(1.0).cost_usd(), 2.0 + 3.0);
    assert_eq!(cost(1.0).late, seconds(3.0 * 3600.0));
    assert_eq!(cost(2.0).cost_usd(), 6.0);
}

/// The least time of many, printed: `cargo test -p scavsim-provision --test clairvoyant -- --ignored --nocapture`.
#[test]
#[ignore = "it tells times"]
fn how_long_it_takes() {
    use std::time::Instant;

    let process = Process::of_means(600.0, 4.0, 1.5, 1);
    let streams = Streams::new(1);
    for (names, changeover_s) in [
        (&["a"][..], 180.0),
        (&["a"][..], 720.0),
        (&["a", "b", "c"][..], 180.0),
        (&["a", "b", "c"][..], 720.0),
    ] {
        let drawn = |name: &&str| zone(name, process.draw(&streams, name, 0, 420), 0.97, 3.06);
        let world = World {
            tick_s: 600.0,
            ..hours(names.iter().map(drawn).collect(), 0.02)
        };
        let job = Job {
            changeover_s,
            ..job(48.0, 70.0, 0.0)
        };
        let window = world.window(0, 420).unwrap();
        let time = |_| {
            let began = Instant::now();
            assert!(optimum(window, &job).is_some());
            began.elapsed().as_secs_f64() * 1e3
        };
        let least = (0..200).map(time).fold(f64::INFINITY, f64::min);
        println!(
            "{} zones, {changeover_s} s of changeover: {least:.3} ms",
            names.len()
        );
    }
}
