//! Times are whole nanoseconds: what ends at its deadline is in time, and a hair decides nothing else.

use crate::common::{hours, job, policy, seconds, zone};
use scavsim_base::rng::Streams;
use scavsim_base::units::SimTime;
use scavsim_provision::forms::{Form, Speed};
use scavsim_provision::job::Job;
use scavsim_provision::policy_run::live;
use scavsim_provision::policy_run::outcome::Outcome;
use scavsim_provision::world::World;
use scavsim_provision::world::process::Process;

fn lived(world: &World, job: &Job, name: &str) -> Outcome {
    let window = world.window(0, job.ticks(world.tick_s)).unwrap();
    live(window, job, &mut *policy(name, window))
}

#[test]
fn the_last_part_of_a_tick_before_the_deadline_is_worked_in() {
    // After an hour of spot machines 1.25 h are left: from hour 3 on they end at 4.25, before 4.5.
    let world = hours(vec![zone("a", vec![0, 1, 0, 0, 0], 1.0, 3.0)], 0.0);
    let life = lived(&world, &job(2.25, 4.5, 0.0), "greedy");
    assert_eq!(
        (life.spot, life.on_demand),
        (seconds(3600.0), seconds(1.25 * 3600.0))
    );
    assert_eq!(life.finished, Some(seconds(4.25 * 3600.0)));
    // On demand from the first second on it ends in the last second.
    let life = lived(&world, &job(4.5, 4.5, 0.0), "greedy");
    assert_eq!(
        (life.finished, life.late),
        (Some(seconds(4.5 * 3600.0)), SimTime::ZERO)
    );
    assert!(life.kept());
}

#[test]
fn a_nanosecond_less_than_the_fastest_run_takes_is_too_little() {
    for (speed, work_h) in [(1.0, 7.3), (1.7, 17.0), (3.137, 9.1), (0.3, 1.1)] {
        let mut job = Job {
            forms: vec![Form {
                speed: Speed::constant(speed),
                ..Form::of_machines(1)
            }],
            ..job(work_h, 1.0, 0.1)
        };
        let least = job.fastest_rest(SimTime::ZERO) + job.changeover();
        assert!((least.hours() - work_h / speed - 0.1).abs() < 1e-12);
        job.deadline_s = least.seconds();
        assert!(job.can_be_kept(), "{speed}");
        let world = hours(vec![zone("a", vec![0; 12], 1.0, 3.0)], 0.0);
        let life = lived(&world, &job, "greedy");
        assert!(
            life.kept() && life.finished == Some(least),
            "{speed}: {life:?}"
        );
        job.deadline_s = (least - SimTime::from_nanoseconds(1)).seconds();
        assert!(!job.can_be_kept(), "{speed}");
    }
}

fn drawn(replica: u64) -> (World, Job) {
    let tick_s = 437.0 + 13.7 * (replica % 29) as f64;
    let process = Process::of_means(tick_s, 1.3, 0.7, 1);
    let offered = process.draw(&Streams::new(5), "zone", replica, 400);
    let world = World {
        tick_s,
        ..hours(vec![zone("zone", offered, 1.0, 3.0)], 0.0)
    };
    let work_h = 3.1 + 0.0731 * (replica % 41) as f64;
    (
        world,
        job(work_h, work_h + 0.1, 0.013 * (replica % 7) as f64),
    )
}

#[test]
fn a_later_deadline_never_takes_more_hours_on_demand() {
    let mut fell = 0;
    for replica in 0..400 {
        let (world, mut job) = drawn(replica);
        let mut before = SimTime::LAST;
        for _ in 0..40 {
            let life = lived(&world, &job, "greedy");
            assert!(life.kept(), "{replica}: {job:?}");
            assert!(life.on_demand <= before, "{replica}: {job:?}: {life:?}");
            fell += usize::from(life.on_demand < before);
            before = life.on_demand;
            job.deadline_s += 211.3;
        }
    }
    assert!(fell > 1000, "{fell}");
}

#[test]
fn dearer_machines_and_longer_changeovers_never_cost_less() {
    for replica in 0..400 {
        let (world, mut job) = drawn(replica);
        job.deadline_s += 3.3 * 3600.0;
        let mut dearer = world.clone();
        dearer.zones[0].on_demand_usd_per_h *= 1.37;
        dearer.zones[0]
            .spot_usd_per_h
            .iter_mut()
            .for_each(|usd| *usd *= 1.37);
        for name in ["on-demand", "greedy", "time-sliced", "uniform-progress"] {
            let (one, other) = (lived(&world, &job, name), lived(&dearer, &job, name));
            let ratio = other.cost_usd() / one.cost_usd();
            assert!((ratio - 1.37).abs() < 1e-9, "{name}, {replica}: {ratio}");
        }
        let mut before = 0.0;
        for _ in 0..20 {
            let cost = lived(&world, &job, "on-demand").cost_usd();
            assert!(cost >= before, "{replica}: {cost} after {before}");
            before = cost;
            job.changeover_s += 97.1;
        }
    }
}
