//! Worlds and jobs that tests share.

use scavsim_base::units::SimTime;
use scavsim_provision::forms::{Form, Speed};
use scavsim_provision::job::{Job, LastTick};
use scavsim_provision::policy::Policy;
use scavsim_provision::policy::registry::Settings;
use scavsim_provision::policy_run::live;
use scavsim_provision::policy_run::outcome::Outcome;
use scavsim_provision::world::transfer_costs::TransferCosts;
use scavsim_provision::world::written::WrittenMarket;
use scavsim_provision::world::{Window, World, Zone};
use scavsim_read::input::{Diagnostic, Diagnostics};

pub fn seconds(seconds: f64) -> SimTime {
    SimTime::from_seconds(seconds)
}

/// A zone of its own region, with these machines per tick.
pub fn zone(name: &str, offered: Vec<u16>, spot: f64, on_demand: f64) -> Zone {
    Zone {
        name: name.to_owned(),
        region: name.to_owned(),
        vm: None,
        on_demand_usd_per_h: on_demand,
        spot_usd_per_h: vec![spot; offered.len()],
        offered,
    }
}

/// Zones with ticks of an hour, between which a GB costs `usd_per_gb`.
pub fn hours(zones: Vec<Zone>, usd_per_gb: f64) -> World {
    World {
        tick_s: 3600.0,
        moving: TransferCosts::by(zones.len(), |_, _| (usd_per_gb, 0.0)),
        zones,
    }
}

/// A job in hours with a checkpoint of one GB.
pub fn job(work_h: f64, deadline_h: f64, changeover_h: f64) -> Job {
    Job {
        work_s: 3600.0 * work_h,
        deadline_s: 3600.0 * deadline_h,
        changeover_s: 3600.0 * changeover_h,
        reconfigure_s: None,
        checkpoint_gb: 1.0,
        checkpoint_every_s: None,
        forms: vec![Form::of_machines(1)],
        searched: Vec::new(),
        lateness_usd_per_h: None,
        last_tick: LastTick::Used,
        probe_s: 60.0,
    }
}

/// A form of machines of any type, always as fast.
pub fn form(name: &str, machines: u16, speed: f64) -> Form {
    Form {
        name: name.to_owned(),
        speed: Speed::constant(speed),
        ..Form::of_machines(machines)
    }
}

/// A policy with its default settings, which knows the window if it is one of those.
pub fn policy(name: &str, window: Window<'_>) -> Box<dyn Policy> {
    let recipe = Settings::default().recipe(name).expect("it is registered");
    recipe.knowing(window).unwrap_or_else(|| recipe.policy())
}

pub fn aws() -> World {
    let mut d = Diagnostics::default();
    let wrong = Diagnostic::general("no such market");
    let market = WrittenMarket::open("aws-v100-2023", ".".as_ref(), wrong, &mut d);
    market.expect("it is shipped").world
}

pub fn aws_zones(names: &[&str]) -> World {
    let world = aws();
    let at = |name: &&str| world.zones.iter().position(|zone| zone.name == **name);
    let places: Vec<usize> = names.iter().filter_map(at).collect();
    assert_eq!(places.len(), names.len(), "all are there");
    world.of_zones(&places)
}

/// A job of 28 h in 42 h, and three zones of AWS.
pub fn long_job_in_three_zones() -> (World, Job) {
    let world = aws_zones(&["us-east-1f", "us-east-2a", "us-west-2c"]);
    let job = Job {
        work_s: 100_000.0,
        deadline_s: 150_000.0,
        changeover_s: 720.0,
        checkpoint_gb: 20.0,
        ..job(1.0, 1.0, 0.0)
    };
    (world, job)
}

/// A life over all ticks of a world.
pub fn lived(world: &World, job: &Job, policy: &mut dyn Policy) -> Outcome {
    live(world.window(0, world.ticks()).unwrap(), job, policy)
}
