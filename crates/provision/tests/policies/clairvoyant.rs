//! The clairvoyant's cost beside all possible schedules, policies, and easier jobs.

use std::collections::HashMap;

use crate::common::{form, hours, job, policy, zone};
use scavsim_base::rng::{ModelKey, Purpose, Stream, Streams};
use scavsim_provision::clairvoyant::{Optimum, optimum};
use scavsim_provision::forms::Speed;
use scavsim_provision::job::{Job, LastTick};
use scavsim_provision::policy::Policy;
use scavsim_provision::policy::registry::POLICIES;
use scavsim_provision::policy_run::policy_view::PolicyView;
use scavsim_provision::policy_run::{Market, Place, live};
use scavsim_provision::world::transfer_costs::TransferCosts;
use scavsim_provision::world::{Window, World};

fn stream(replica: u64) -> Stream {
    let key = ModelKey::from_name("worlds of the clairvoyant");
    Streams::new(3).stream(replica, Purpose::ModelLives(key))
}

/// A world of `ticks` and up to `zones`, and a job: no number is round, and every rule holds now and then.
fn drawn(stream: &mut Stream, ticks: usize, zones: usize, forms: bool) -> (World, Job) {
    let mut some = |odds: f64| stream.uniform() < odds;
    let (has_moves, is_late, is_whole) = (some(0.5), some(0.25), some(0.25));
    let (is_saved, has_forms, has_types) = (some(0.25), forms && some(0.5), some(0.3));
    let (has_start, is_even) = (some(0.8), some(0.2));
    let mut upto = |most: f64| most * stream.uniform();
    let tick_s = if is_even { 600.0 } else { 300.0 + upto(600.0) };
    let names = ["a", "b", "c"];
    let count = 1 + upto(zones as f64) as usize;
    let mut all = Vec::new();
    for name in &names[..count] {
        let (odds, mut is_up) = (0.1 + upto(0.5), upto(1.0) < 0.5);
        let mut offered = Vec::new();
        for _ in 0..ticks {
            is_up ^= upto(1.0) < odds;
            offered.push(if is_up { 1 + upto(3.0) as u16 } else { 0 });
        }
        let mut zone = zone(name, offered, 1.0, 1.5 + upto(2.0));
        for usd in &mut zone.spot_usd_per_h {
            *usd = if is_even { 0.97 } else { 0.3 + upto(1.2) };
        }
        if has_types {
            zone.vm = Some(["p", "q"][upto(2.0) as usize].to_owned());
        }
        all.push(zone);
    }
    let mut world = hours(all, 0.0);
    world.tick_s = tick_s;
    let far: Vec<f64> = (0..9).map(|_| upto(1.0)).collect();
    let (usd, seconds) = (upto(0.3), (upto(3.0) - 1.0).max(0.0) * tick_s);
    if has_moves {
        let far = |from: usize, to: usize| far[3 * from + to];
        world.moving = TransferCosts::by(count, |from, to| {
            (usd * far(from, to), seconds * far(to, from))
        });
    }
    let length_s = ticks as f64 * tick_s;
    let mut one = job(1.0, 1.0, 0.0);
    one.deadline_s = if is_late {
        0.3 + upto(0.7)
    } else {
        1.0 - upto(0.9) / ticks as f64
    } * length_s;
    one.changeover_s = if has_start {
        upto(2.5) * upto(1.0) * tick_s
    } else {
        0.0
    };
    one.work_s = (0.2 + upto(0.8)) * (one.deadline_s - one.changeover_s);
    if is_even {
        one.deadline_s = length_s;
        one.work_s = tick_s * (one.work_s / tick_s).floor().max(1.0);
    }
    one.lateness_usd_per_h = is_late.then(|| upto(6.0));
    if is_whole {
        one.last_tick = LastTick::Whole;
    }
    one.checkpoint_every_s = is_saved.then(|| (0.2 + upto(2.0)) * tick_s);
    if has_forms {
        let mut large = form("large", 2, 0.5 + upto(2.0));
        let (first, then, share) = (0.5 + upto(2.0), 0.5 + upto(2.0), 0.1 + upto(0.8));
        if upto(1.0) < 0.5 {
            large.speed = Speed::of_steps(vec![(0.0, first), (share, then)]).unwrap();
        }
        if has_types {
            large.vm = Some("p".to_owned());
        }
        one.forms.push(large);
    }
    (world, one)
}

/// A place and the number of a form.
type Machines = (Place, usize);

/// All that a job can have on a world.
fn machines(world: &World, job: &Job) -> Vec<Machines> {
    let mut all = Vec::new();
    for (zone, known) in world.zones.iter().enumerate() {
        for form in (0..job.forms.len()).filter(|&form| job.forms[form].is_served(known)) {
            for market in [Market::Spot, Market::OnDemand] {
                all.push((Place { zone, market }, form));
            }
        }
    }
    all
}

/// Machines and seconds until they work, zone of the checkpoint.
type State = (Option<Machines>, u64, Option<usize>);

/// Work done, work that a stop or loss would leave, and USD.
#[derive(Clone, Copy)]
struct PartialSchedule {
    done_s: f64,
    kept_s: f64,
    usd: f64,
}

/// Removes schedules that another one beats.
fn leave_best(ways: &mut Vec<PartialSchedule>) {
    ways.sort_by(|a, b| a.usd.total_cmp(&b.usd).then(b.done_s.total_cmp(&a.done_s)));
    let mut kept: Vec<PartialSchedule> = Vec::new();
    for way in ways.iter() {
        let beats = |one: &PartialSchedule| one.done_s >= way.done_s && one.kept_s >= way.kept_s;
        if !kept.iter().any(beats) {
            kept.push(*way);
        }
    }
    *ways = kept;
}

/// The least cost over all schedules that no other beats in the same state.
fn plainly(window: Window<'_>, job: &Job) -> Option<f64> {
    let world = window.world();
    let tick_s = world.tick_s;
    let all = machines(world, job);
    let mut best = f64::INFINITY;
    let first = PartialSchedule {
        done_s: 0.0,
        kept_s: 0.0,
        usd: 0.0,
    };
    let mut states: HashMap<State, Vec<PartialSchedule>> =
        HashMap::from([((None, 0, None), vec![first])]);
    for tick in 0..window.ticks() {
        let mut next: HashMap<State, Vec<PartialSchedule>> = HashMap::new();
        for ((running, left_s, checkpoint), ways) in states {
            let is_there = |(place, form): Machines| {
                let needs = job.forms[form].machines;
                place.market == Market::OnDemand || window.offered(place.zone, tick) >= needs
            };
            let is_lost = running.is_some_and(|running| !is_there(running));
            let running = running.filter(|_| !is_lost);
            for mut way in ways {
                if is_lost {
                    way.done_s = way.kept_s;
                }
                next.entry((None, 0, checkpoint)).or_default().push(way);
                let stays = running.map(|running| (running, false));
                let starts = all
                    .iter()
                    .filter(|one| is_there(**one))
                    .map(|one| (*one, true));
                for ((place, form), is_start) in stays.into_iter().chain(starts) {
                    let zone = place.zone;
                    let from = checkpoint.unwrap_or(zone);
                    let (mut left_s, mut usd) = (f64::from_bits(left_s), way.usd);
                    if is_start {
                        left_s = job.changeover_s
                            + world.moving.s_per_gb(from, zone) * job.checkpoint_gb;
                        usd += world.moving.usd_per_gb(from, zone) * job.checkpoint_gb;
                    }
                    let speed = &job.forms[form].speed;
                    let waits_s = left_s.min(tick_s);
                    let works_s = (tick_s - waits_s).min(speed.rest_s(job.work_s, way.done_s));
                    let done_s = way.done_s + speed.work_in(job.work_s, way.done_s, works_s);
                    let is_done = job.work_s - done_s <= 1e-3;
                    let used_s = if is_done { waits_s + works_s } else { tick_s };
                    let is_whole = job.last_tick == LastTick::Whole;
                    let billed_s = if is_whole { tick_s } else { used_s };
                    let machines = f64::from(job.forms[form].machines);
                    usd += window.usd_per_h(place, tick) * machines * billed_s / 3600.0;
                    if is_done {
                        let late_s = (tick as f64 * tick_s + used_s - job.deadline_s).max(0.0);
                        match job.lateness_usd_per_h {
                            Some(price) => best = best.min(usd + price * late_s / 3600.0),
                            None if late_s <= 1e-6 => best = best.min(usd),
                            None => {}
                        }
                        continue;
                    }
                    let kept_s = match job.checkpoint_every_s {
                        Some(every_s) if place.market == Market::Spot => {
                            let before_s = if is_start { way.done_s } else { way.kept_s };
                            before_s.max((done_s / every_s).floor() * every_s)
                        }
                        _ => done_s,
                    };
                    let left_s = (left_s - waits_s).max(0.0).to_bits();
                    let state = (Some((place, form)), left_s, Some(zone));
                    next.entry(state).or_default().push(PartialSchedule {
                        done_s,
                        kept_s,
                        usd,
                    });
                }
            }
        }
        next.values_mut().for_each(leave_best);
        states = next;
    }
    best.is_finite().then_some(best)
}

/// Checks that no comparable life (in time, or late at a price) costs less than the bound.
fn keep_above(ours: &Optimum, window: Window<'_>, job: &Job) {
    for declared in POLICIES {
        let life = live(window, job, &mut *policy(declared.name, window));
        let is_priced = life.finished.is_some() && job.lateness_usd_per_h.is_some();
        let is_above = life.cost_usd() >= ours.bound_usd;
        let is_fine = is_above || !(life.kept() || is_priced);
        assert!(is_fine, "{}, {ours:?}: {job:?}", declared.name);
    }
}

/// Compares worlds with the plain program and all policies: largest relative difference where the bound is exact, share of worlds
/// where it is, and number with a schedule.
fn compared(replicas: std::ops::Range<u64>) -> (f64, f64, usize) {
    let (mut largest, mut exact, mut count): (f64, _, _) = (0.0, 0, 0);
    for replica in replicas {
        let mut stream = stream(replica);
        let (world, job) = drawn(&mut stream, 14, 3, true);
        let window = world.window(0, 14).unwrap();
        let (ours, plain) = (optimum(window, &job), plainly(window, &job));
        assert_eq!(ours.is_some(), plain.is_some(), "{replica}: {job:?}");
        let (Some(ours), Some(plain)) = (ours, plain) else {
            continue;
        };
        let (bound, lived) = (ours.bound_usd / plain, ours.outcome.cost_usd() / plain);
        assert!(
            bound <= 1.0 && lived >= 1.0 - 1e-9,
            "{replica}: {ours:?}, not {plain}: {job:?}"
        );
        if ours.is_exact {
            let difference = (1.0 - bound).max((lived - 1.0).abs());
            assert!(
                difference < 1e-9,
                "{replica}: {ours:?}, not {plain}: {job:?}"
            );
            largest = largest.max(difference);
        }
        exact += usize::from(ours.is_exact);
        count += 1;
        keep_above(&ours, window, &job);
    }
    (largest, exact as f64 / count as f64, count)
}

#[test]
fn it_is_what_a_plain_program_finds_and_no_policy_undercuts_it() {
    let (_, exact, count) = compared(0..400);
    assert!(exact > 0.99 && count > 300, "{exact} of {count}");
}

/// `cargo test -p scavsim-provision --test clairvoyant ten_thousand -- --ignored --nocapture`.
#[test]
#[ignore = "it takes a minute"]
fn it_is_what_a_plain_program_finds_in_ten_thousand_worlds() {
    let (largest, exact, count) = compared(0..10_000);
    println!("largest relative difference {largest:.1e}; exact {exact:.5} of {count}");
}

#[test]
fn no_policy_undercuts_it_in_long_lives() {
    for replica in 0..40 {
        let (world, job) = drawn(&mut stream(replica), 150, 3, true);
        let window = world.window(0, 150).unwrap();
        let Some(ours) = optimum(window, &job) else {
            continue;
        };
        assert!(ours.outcome.cost_usd() >= ours.bound_usd, "{ours:?}");
        keep_above(&ours, window, &job);
    }
}

/// Spot machines of the first zone while there are any; then in one tick machines of the second and of the third.
#[derive(Debug)]
struct TwoStarts;

impl Policy for TwoStarts {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        if view.running().is_none() && !view.try_spot(0) {
            view.go_on_demand(1);
            view.go_on_demand(2);
        }
    }
}

#[test]
fn two_starts_in_a_tick_move_the_checkpoint_once() {
    let mut spot = vec![0; 12];
    spot[0] = 1;
    let zones = vec![
        zone("a", spot, 0.1, 9.0),
        zone("b", vec![0; 12], 1.0, 9.0),
        zone("c", vec![0; 12], 1.0, 1.5),
    ];
    let mut world = hours(zones, 0.0);
    // Only the direct way from the first to the third has a price, and takes a time.
    let is_direct = |from, to| f64::from(u8::from((from, to) == (0, 2)));
    world.moving = TransferCosts::by(3, |from, to| {
        (10.0 * is_direct(from, to), 60.0 * is_direct(from, to))
    });
    let (window, job) = (world.window(0, 12).unwrap(), job(4.0, 12.0, 0.0));
    let (life, ours) = (
        live(window, &job, &mut TwoStarts),
        optimum(window, &job).unwrap(),
    );
    assert!(life.cost_usd() >= ours.bound_usd, "{life:?}, {ours:?}");
    assert_eq!((life.moves, life.bill.egress), (1, 10.0));
    assert_eq!(life.start_up, crate::common::seconds(60.0));
}

#[test]
fn what_cannot_be_kept_has_no_schedule() {
    let world = hours(vec![zone("a", vec![1; 12], 1.0, 3.0)], 0.0);
    let window = world.window(0, 12).unwrap();
    assert!(optimum(window, &job(12.0, 12.0, 0.5)).is_none());
    assert!(optimum(window, &job(11.5, 12.0, 0.5)).is_some());
}
