//! A job goes on demand where it costs least and the deadline is kept.

use crate::common::{hours, job, zone};
use scavsim_provision::job::Job;
use scavsim_provision::policy::registry::Settings;
use scavsim_provision::policy_run::live;
use scavsim_provision::policy_run::outcome::Outcome;
use scavsim_provision::world::World;
use scavsim_provision::world::transfer_costs::TransferCosts;

/// Three hours of spot machines in a zone that is dear on demand, beside a cheap zone without any.
fn dear_and_cheap(cheap_usd: f64, usd_per_gb: f64, s_per_gb: f64) -> World {
    let offered = [vec![1; 3], vec![0; 27]].concat();
    let dear = zone("dear", offered, 1.0, 4.0);
    let cheap = zone("cheap", vec![0; 30], 1.0, cheap_usd);
    World {
        moving: TransferCosts::by(2, |_, _| (usd_per_gb, s_per_gb)),
        ..hours(vec![dear, cheap], 0.0)
    }
}

fn lived(world: &World, job: &Job, policy: &str) -> Outcome {
    let text = format!("[{policy}]\n");
    let (name, settings) = match policy.split_once(' ') {
        Some((name, settings)) => (name, format!("[{name}]\n{settings}\n")),
        None => (policy, text),
    };
    let settings: Settings = toml::from_str(&settings).unwrap();
    let recipe = settings.recipe(name).unwrap();
    let window = world.window(0, job.ticks(world.tick_s)).unwrap();
    let life = live(window, job, &mut *recipe.policy());
    assert!(life.kept(), "{policy}: {life:?}");
    life
}

const ALL: [&str; 7] = [
    "greedy",
    "time-sliced",
    "uniform-progress",
    "price-threshold",
    "keep-pace",
    "skynomad on_demand_zone = \"cheapest\"",
    "uniform-progress-failover on_demand_zone = \"cheapest\"",
];

#[test]
fn machines_on_demand_are_taken_where_they_are_cheap() {
    let (world, job) = (dear_and_cheap(2.0, 0.5, 0.0), job(10.0, 20.0, 0.0));
    for policy in ALL {
        let life = lived(&world, &job, policy);
        // Three hours of spot machines and seven on demand at 2 USD, after a move.
        assert_eq!(life.cost_usd(), 3.0 + 14.0 + 0.5, "{policy}: {life:?}");
        assert_eq!(life.moves, 1, "{policy}");
    }
}

#[test]
fn the_published_rule_stays_where_it_ran_last() {
    let (world, job) = (dear_and_cheap(2.0, 0.5, 0.0), job(10.0, 20.0, 0.0));
    let published = "uniform-progress on_demand_zone = \"last\"";
    for policy in [published, "uniform-progress-failover"] {
        let life = lived(&world, &job, policy);
        assert_eq!((life.cost_usd(), life.moves), (3.0 + 28.0, 0), "{policy}");
    }
}

#[test]
fn a_cheap_zone_is_left_alone_where_the_move_costs_more() {
    let job = job(10.0, 29.0, 0.0);
    // Seven hours save 3.50 USD, and the egress is more.
    let far = dear_and_cheap(3.5, 3.6, 0.0);
    // Seven hours save 14 USD; eight of a move, in which machines are paid, cost 16.
    let slow = dear_and_cheap(2.0, 0.0, 8.0 * 3600.0);
    for policy in ["greedy", "uniform-progress", "time-sliced"] {
        for world in [&far, &slow] {
            let life = lived(world, &job, policy);
            assert_eq!((life.cost_usd(), life.moves), (3.0 + 28.0, 0), "{policy}");
        }
    }
}
