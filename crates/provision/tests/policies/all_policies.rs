//! Promises of all policies, and results printed by the sources of some.

use crate::common::{aws, aws_zones, job, long_job_in_three_zones, policy};
use scavsim_provision::clairvoyant::optimum;
use scavsim_provision::job::{Job, LastTick};
use scavsim_provision::policy::Net;
use scavsim_provision::policy::registry::POLICIES;
use scavsim_provision::policy_run::timeline::Entry;
use scavsim_provision::policy_run::{live, watch};
use scavsim_provision::world::World;

/// 40 h of work in 60 h, as SkyNomad's artifact runs it.
fn skynomad_job() -> Job {
    Job {
        work_s: 143_780.0,
        deadline_s: 215_670.0,
        changeover_s: 720.0,
        checkpoint_gb: 50.0,
        last_tick: LastTick::Whole,
        ..job(1.0, 1.0, 0.0)
    }
}

/// The printed costs lack the tick in which the job ends.
#[test]
fn skynomads_windows_cost_what_its_authors_print() {
    let world = aws_zones(&["us-east-1c", "us-east-2b", "us-west-2a"]);
    let job = skynomad_job();
    let printed = [
        (3, 37.741275, 44.529465, 42.994317, 42.125945),
        (5, 37.542375, 58.111022, 45.194741, 45.835225),
        (7, 36.995400, 37.995400, 37.046792, 36.995400),
        (8, 37.194300, 49.617498, 40.492347, 42.288250),
        (14, 37.393200, 44.835806, 42.928025, 42.707965),
    ];
    for (tile, best, uniform, skynomad, knowing) in printed {
        let window = world.window(tile * 1106, 1106).unwrap();
        let cost = |name: &str| live(window, &job, &mut *policy(name, window)).cost_usd();
        let near = |what: &str, ours: f64, theirs: f64, share: f64| {
            // The last tick: at most that of the dearest zone.
            let last = ours - theirs;
            assert!(
                (-share * theirs..0.077 + share * theirs).contains(&last),
                "{tile}: {what} {ours}, printed {theirs}"
            );
        };
        near(
            "optimum",
            optimum(window, &job).unwrap().bound_usd,
            best,
            1e-6,
        );
        near(
            "uniform progress",
            cost("uniform-progress-failover"),
            uniform,
            1e-6,
        );
        // Where a zone that it runs in is probed, its authors bill a minute in place of the tick.
        near("skynomad", cost("skynomad"), skynomad, 1e-3);
        near(
            "true lifetimes",
            cost("skynomad-true-lifetimes"),
            knowing,
            1e-3,
        );
    }
}

#[test]
fn whoever_has_a_net_keeps_all_deadlines() {
    let world = aws();
    for zones in [vec![0], vec![3, 4, 6], (0..9).collect()] {
        let world = world.of_zones(&zones);
        for changeover_s in [0.0, 180.0, 720.0] {
            // From no slack at all to much.
            for deadline_s in [36_270.0, 39_000.0, 43_200.0, 57_600.0] {
                let job = Job {
                    work_s: 35_490.0,
                    deadline_s,
                    changeover_s,
                    checkpoint_gb: 10.0,
                    ..job(1.0, 1.0, 0.0)
                };
                assert!(job.can_be_kept());
                for start in (0..19_000).step_by(3_100) {
                    let window = world.window(start, job.ticks(world.tick_s)).unwrap();
                    for declared in POLICIES {
                        let mut policy = policy(declared.name, window);
                        if policy.net() == Net::None {
                            continue;
                        }
                        let life = live(window, &job, &mut *policy);
                        let name = declared.name;
                        assert!(
                            life.kept(),
                            "{name}: {start}, {deadline_s}, {changeover_s}: {life:?}"
                        );
                    }
                }
            }
        }
    }
}

/// Whether a policy's decisions change with the future of a tick, tried in many places.
fn decides_by_what_comes(name: &str) -> bool {
    let (world, job) = long_job_in_three_zones();
    let ticks = 769;
    let places = (0..15_000)
        .step_by(5_000)
        .flat_map(|start| (10..700).step_by(23).map(move |until| (start, until)));
    places.into_iter().any(|(start, until)| {
        let mut other = world.clone();
        for zone in &mut other.zones {
            for tick in start + until..start + ticks {
                zone.offered[tick] = 1 - zone.offered[tick];
                zone.spot_usd_per_h[tick] *= 1.7;
            }
        }
        let began = |world: &World| {
            let window = world.window(start, ticks).unwrap();
            let (_, timeline) = watch(window, &job, &mut *policy(name, window));
            let before = |entry: &&Entry| entry.at_s < until as f64 * world.tick_s;
            let entries = timeline.entries.iter().filter(before);
            entries.copied().collect::<Vec<_>>()
        };
        began(&world) != began(&other)
    })
}

#[test]
fn nobody_decides_by_what_comes_but_who_is_told() {
    let told = "skynomad-true-lifetimes";
    for declared in POLICIES {
        let name = declared.name;
        assert_eq!(decides_by_what_comes(name), name == told, "{name}");
    }
}

/// Tables are kept from life to life, and change no life.
#[test]
fn what_was_lived_before_changes_nothing() {
    let world = aws_zones(&["us-east-1f"]);
    let outcome = |start: usize, deadline_s: f64, changeover_s: f64| {
        let job = Job {
            work_s: 100_000.0,
            deadline_s,
            changeover_s,
            ..job(1.0, 1.0, 0.0)
        };
        let window = (world.window(start, job.ticks(world.tick_s))).unwrap();
        live(window, &job, &mut *policy("cost-to-go", window))
    };
    let jobs = [(120_000.0, 180.0), (120_000.0, 720.0), (170_000.0, 180.0)];
    let lives = || {
        (0..18_000)
            .step_by(3_000)
            .flat_map(|start| jobs.map(|job| (start, job)))
    };
    let after_others: Vec<_> = lives()
        .map(|(start, (deadline_s, changeover_s))| outcome(start, deadline_s, changeover_s))
        .collect();
    for ((start, (deadline_s, changeover_s)), known) in lives().zip(after_others) {
        let alone = std::thread::scope(|scope| {
            let life = scope.spawn(|| outcome(start, deadline_s, changeover_s));
            life.join().unwrap()
        });
        assert_eq!(alone, known, "{start}, {deadline_s}, {changeover_s}");
    }
}

/// The targets of the project's own policy, with default settings: the windows of SkyNomad's figure, and a hundred over the traces.
#[test]
fn cost_to_go_is_near_the_optimum_on_skynomads_zones() {
    let world = aws_zones(&["us-east-1c", "us-east-2b", "us-west-2a"]);
    let job = skynomad_job();
    let cost = |start: usize| {
        let window = world.window(start, 1106).unwrap();
        let life = live(window, &job, &mut *policy("cost-to-go", window));
        assert!(life.kept());
        life.cost_usd()
    };
    let tiles = [3, 5, 7, 8, 14].map(|tile| cost(tile * 1106));
    let mean = tiles.iter().sum::<f64>() / 5.0;
    assert!(mean <= 39.8, "{mean}: {tiles:?}");
    let over = |start: usize| {
        let window = world.window(start, 1106).unwrap();
        cost(start) / optimum(window, &job).unwrap().bound_usd
    };
    let starts = (0..100).map(|at| at * 19_000 / 99);
    let mean = starts.map(over).sum::<f64>() / 100.0;
    assert!(mean <= 1.06, "{mean} times the optimum");
}
