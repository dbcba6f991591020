//! Intervals of lives that overlap in time are as wide as those of few independent lives.

use crate::common::{aws_zones, hours, job, policy, zone};
use scavsim_base::rng::Streams;
use scavsim_base::stats::{Interval, Welford};
use scavsim_provision::job::Job;
use scavsim_provision::policy_run::live;
use scavsim_provision::study::overlap::Sample;
use scavsim_provision::study::paired_difference::PairedSums;
use scavsim_provision::world::World;
use scavsim_provision::world::process::Process;

/// Two weeks of one zone, in ticks of about ten minutes.
fn two_weeks() -> World {
    let mut world = aws_zones(&["us-east-1f"]);
    world.tick_s *= 3.0;
    let ticks = (14.0 * 86_400.0 / world.tick_s) as usize;
    let zone = &mut world.zones[0];
    zone.offered = zone
        .offered
        .iter()
        .step_by(3)
        .copied()
        .take(ticks)
        .collect();
    zone.spot_usd_per_h = zone
        .spot_usd_per_h
        .iter()
        .step_by(3)
        .copied()
        .take(ticks)
        .collect();
    world
}

/// Costs of a job's lives under two policies, evenly over the traces, as a sample.
fn lives(world: &World, job: &Job, spread: usize) -> (Sample, Vec<[f64; 2]>) {
    let ticks = job.ticks(world.tick_s);
    let last = world.ticks() - ticks;
    let starts: Vec<usize> = (0..spread).map(|at| last * at / (spread - 1)).collect();
    let costs = starts.iter().map(|&start| {
        let window = world.window(start, ticks).unwrap();
        let cost = |name| live(window, job, &mut *policy(name, window)).cost_usd();
        ["greedy", "uniform-progress"].map(cost)
    });
    (Sample::of_starts(&starts, ticks), costs.collect())
}

#[test]
fn more_starts_in_the_same_traces_make_no_interval_narrower() {
    let (world, job) = (two_weeks(), job(20.0, 26.5, 0.2));
    let mut widths = Vec::new();
    for spread in [20, 60, 200, 600] {
        let (sample, lives) = lives(&world, &job, spread);
        assert_eq!((sample.lives, sample.disjoint), (spread, 12));
        let (mut costs, mut pairs) = (Welford::default(), PairedSums::new(2));
        for life in &lives {
            costs.add(life[0]);
            pairs.add(&life.map(Some));
        }
        let paired = pairs.against(0, sample.independence())[1].interval;
        let cost = costs.interval_as_of(sample.effective(spread as u64));
        widths.push([cost, paired].map(|ends| ends.map(|ends| ends.high - ends.low).unwrap()));
    }
    for pair in widths.windows(2) {
        for of in [0, 1] {
            assert!(pair[1][of] > 0.8 * pair[0][of], "{widths:?}");
        }
    }
    // As of independent lives it would be 5.5 times as narrow.
    assert!(widths[3][0] > 0.8 * widths[0][0], "{widths:?}");
}

#[test]
fn fewer_than_six_lives_side_by_side_have_no_interval() {
    let (world, job) = (two_weeks(), job(40.0, 60.0, 0.2));
    for spread in [5, 50] {
        let (sample, lives) = lives(&world, &job, spread);
        assert_eq!((sample.disjoint, sample.independence()), (5, 0.0));
        let mut costs = Welford::default();
        lives.iter().for_each(|life| costs.add(life[0]));
        let effective = sample.effective(spread as u64);
        assert_eq!(costs.interval_as_of(effective), None);
    }
}

#[test]
fn lives_count_as_many_as_are_independent() {
    let of = |starts: &[usize]| {
        let sample = Sample::of_starts(starts, 10);
        (sample.disjoint, sample.effective(starts.len() as u64))
    };
    let apart: Vec<usize> = (0..6).map(|at| 90 - 17 * at).collect();
    assert_eq!(of(&apart), (6, 6.0));
    assert_eq!(of(&apart[1..]), (5, 0.0));
    // Halves overlap: 1 + 2 * 10 / 11 / 2 lives of eleven count as one.
    let halves: Vec<usize> = (0..11).map(|at| 5 * at).collect();
    let (disjoint, effective) = of(&halves);
    assert!(disjoint == 6 && (effective - 11.0 / (1.0 + 10.0 / 11.0)).abs() < 1e-12);
    // A hundred more of the first say nothing new, and outweigh all others.
    let heap = [vec![apart[0]; 100], apart].concat();
    let (disjoint, effective) = of(&heap);
    assert!(disjoint == 6 && effective < 1.2, "{effective}");
}

#[test]
fn intervals_hold_the_mean_of_all_markets_as_often_as_they_say() {
    let process = Process::of_means(600.0, 4.0, 1.5, 1);
    let job = job(7.3, 10.1, 0.2);
    let length = job.ticks(600.0);
    let market = |replica: u64, ticks: usize| World {
        tick_s: 600.0,
        ..hours(
            vec![zone(
                "z",
                process.draw(&Streams::new(3), "z", replica, ticks),
                1.0,
                3.0,
            )],
            0.0,
        )
    };
    let cost = |world: &World, start: usize| {
        let window = world.window(start, length).unwrap();
        live(window, &job, &mut *policy("greedy", window)).cost_usd()
    };
    let truth: f64 = (0..20_000)
        .map(|one| cost(&market(100_000 + one, length), 0))
        .sum::<f64>()
        / 20_000.0;
    for lives_long in [7, 20] {
        let starts: Vec<usize> = (0..90)
            .map(|at| (lives_long - 1) * length * at / 89)
            .collect();
        let sample = Sample::of_starts(&starts, length);
        assert_eq!(sample.disjoint, lives_long);
        let mut of_independent = 0;
        let holds = (0..600).filter(|&replica| {
            let world = market(replica, lives_long * length);
            let mut costs = Welford::default();
            starts
                .iter()
                .for_each(|&start| costs.add(cost(&world, start)));
            let holds = |ends: Interval| (ends.low..=ends.high).contains(&truth);
            of_independent += u32::from(holds(costs.interval().unwrap()));
            holds(costs.interval_as_of(sample.effective(90)).unwrap())
        });
        let share = holds.count() as f64 / 600.0;
        assert!(share > 0.95, "{lives_long}: {share}");
        // As if lives that overlap were independent.
        let share = f64::from(of_independent) / 600.0;
        assert!(share < 0.8, "{lives_long}: {share}");
    }
}
