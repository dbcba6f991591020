//! The clairvoyant way beside brute force.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod common;

use std::collections::HashMap;

use common::{hours, job, zone};
use scavsim_provision::clairvoyant::optimum;
use scavsim_provision::job::Job;
use scavsim_provision::world::World;

/// What is left to decide: tick, parts of work done, place and parts of its start-up, and where the checkpoint lies.
type State = (usize, u32, Option<(usize, bool)>, u32, Option<usize>);

/// The least cost from a state on, by trying all that can be done in each tick. Work and start-ups are in tenths of a tick.
fn least(world: &World, job: &Job, at: State, known: &mut HashMap<State, f64>) -> f64 {
    let (tick, done, running, start_up, checkpoint) = at;
    let parts = |s: f64| (s / 360.0).round() as u32;
    if done >= parts(job.work_s) {
        return 0.0;
    }
    if tick >= (job.deadline_s / 3600.0) as usize {
        return f64::INFINITY;
    }
    if let Some(cost) = known.get(&at) {
        return *cost;
    }
    let up = |zone: usize| world.zones[zone].offered[tick] > 0;
    let mut best = least(world, job, (tick + 1, done, None, 0, checkpoint), known);
    for zone in 0..world.zones.len() {
        for is_spot in [true, false] {
            if is_spot && !up(zone) {
                continue;
            }
            let stays = running == Some((zone, is_spot));
            let moves = checkpoint.is_some_and(|from| from != zone);
            let egress = if moves && !stays {
                world.moving.usd_per_gb(1 - zone, zone)
            } else {
                0.0
            };
            let start_up = if stays {
                start_up
            } else {
                parts(job.changeover_s)
            };
            let waits = start_up.min(10);
            let works = (10 - waits).min(parts(job.work_s) - done);
            let is_last = done + works >= parts(job.work_s);
            let used = if is_last { waits + works } else { 10 };
            let zone_now = &world.zones[zone];
            let price = if is_spot {
                zone_now.spot_usd_per_h[tick]
            } else {
                zone_now.on_demand_usd_per_h
            };
            let next = (
                tick + 1,
                done + works,
                Some((zone, is_spot)),
                start_up - waits,
                Some(zone),
            );
            let usd = egress + price * f64::from(used) / 10.0;
            best = best.min(usd + least(world, job, next, known));
        }
    }
    known.insert(at, best);
    best
}

fn brute(world: &World, job: &Job) -> f64 {
    least(world, job, (0, 0, None, 0, None), &mut HashMap::new())
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
    assert_eq!(cost(1.0).late_s, 3.0 * 3600.0);
    assert_eq!(cost(2.0).cost_usd(), 6.0);
}
