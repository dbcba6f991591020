//! Policies from outside: what they may bring, and that they see nothing of what comes.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod common;

use std::sync::{Arc, Mutex};

use common::{aws_zones, hours, job, zone};
use scavsim_provision::face::{LastLook, Net, Policy, PolicyView, Recipe, Study};
use scavsim_provision::job::Job;
use scavsim_provision::policy_run::live;
use scavsim_provision::world::World;

/// Takes spot machines, probes, and writes down all that its view shows.
#[derive(Debug, Clone)]
struct Writes {
    net: Net,
    look: LastLook,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Writes {
    fn with(net: Net) -> Writes {
        let lines = Arc::default();
        let look = LastLook::default();
        Writes { net, look, lines }
    }
}

impl Policy for Writes {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        let now: Vec<String> = (0..view.zones())
            .map(|zone| {
                let prices = (view.spot_usd_per_h(zone), view.on_demand_usd_per_h(zone));
                format!("{prices:?} {} {}", view.egress_usd(zone), view.region(zone))
            })
            .collect();
        let events = format!("{:?} {}", view.events(&mut self.look), view.slack_s());
        let probed = view.probe(view.tick() % view.zones());
        if view.running().is_none() {
            let _ = (0..view.zones()).any(|zone| view.try_spot(zone));
        }
        let (done, spent) = (view.done_s(), view.spent_usd());
        let has = (view.running(), view.lost(), view.checkpoint());
        let left = (view.left_s(), view.ticks_left(), view.start_up_left_s());
        let line = format!(
            "{} {done} {spent} {has:?} {left:?} {probed} {now:?} {events}",
            view.tick()
        );
        self.lines.lock().unwrap().push(line);
    }

    fn net(&self) -> Net {
        self.net
    }
}

impl Recipe for Writes {
    fn policy(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}

#[test]
fn another_future_changes_no_line_before_it() {
    let world = aws_zones(&["us-east-1f", "us-east-2a", "us-west-2c"]);
    let job = Job {
        work_s: 100_000.0,
        deadline_s: 150_000.0,
        changeover_s: 720.0,
        checkpoint_gb: 20.0,
        ..job(1.0, 1.0, 0.0)
    };
    let seen = |world: &World, start: usize| {
        let own = Writes::with(Net::Patient);
        let window = world.window(start, 769).unwrap();
        live(window, &job, &mut *own.policy());
        own.lines.lock().unwrap().clone()
    };
    let mut differ = 0;
    for start in [0, 5_000, 10_000] {
        let known = seen(&world, start);
        for until in (10..500).step_by(49) {
            let mut other = world.clone();
            for zone in &mut other.zones {
                for tick in start + until..start + 769 {
                    zone.offered[tick] = 1 - zone.offered[tick];
                    zone.spot_usd_per_h[tick] *= 1.7;
                }
            }
            let other = seen(&other, start);
            assert!(known.len() > until, "{start}: {} ticks", known.len());
            assert_eq!(known[..until], other[..until], "{start}, {until}");
            differ += usize::from(known.get(until) != other.get(until));
        }
    }
    assert_eq!(
        differ, 30,
        "what comes is another one, and is seen when it comes"
    );
}

const TEXT: &str = "
job = { work_h = 5, deadline_h = 7, changeover_s = 600 }
market = { run_h = 2, pause_h = 1, spot_usd_per_h = 1, on_demand_usd_per_h = 3, replicas = 10 }
policy = { names = [\"greedy\"] }
";

#[test]
fn a_policy_from_outside_stands_behind_those_of_the_scenario() {
    let study = Study::parse(TEXT).unwrap();
    let rows = study
        .with("mine", Writes::with(Net::Patient))
        .unwrap()
        .run();
    let names: Vec<&str> = rows.iter().map(|row| row.policy.as_str()).collect();
    assert_eq!(names, ["greedy", "mine", "clairvoyant"]);
    assert_eq!(rows[1].figures.kept, 10);
    assert!(rows[1].figures.cost_usd >= rows[2].figures.cost_usd);
}

#[test]
fn what_cannot_be_put_beside_them_is_refused() {
    let refused = |name: &str, net: Net| {
        let study = Study::parse(TEXT).unwrap();
        study.with(name, Writes::with(net)).unwrap_err().to_string()
    };
    for name in ["greedy", "clairvoyant", "on-demand"] {
        let told = refused(name, Net::Patient);
        assert!(told.contains("already"), "{told}");
    }
    assert!(refused("", Net::Patient).contains("cannot be called"));
    assert!(refused("mine", Net::None).contains("no price"));
    assert!(
        Study::parse("nobody = 1")
            .unwrap_err()
            .to_string()
            .contains("nobody")
    );
    assert!(Study::open("no/such.toml").is_err());
}

/// Works on demand, and probes its zone in every tick.
#[derive(Debug)]
struct Probes;

impl Policy for Probes {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        view.go_on_demand(0);
        view.probe(0);
    }

    fn net(&self) -> Net {
        Net::None
    }
}

#[test]
fn probes_beside_machines_on_demand_are_paid() {
    // Three of five hours have spot machines at 2 USD, and a probe is a minute.
    let world = hours(vec![zone("zone", vec![1, 0, 1, 0, 1], 2.0, 5.0)], 0.0);
    let window = world.window(0, 5).unwrap();
    let life = live(window, &job(5.0, 5.0, 0.0), &mut Probes);
    assert_eq!(life.on_demand_usd, 25.0);
    assert!(
        (life.probes_usd - 3.0 * 2.0 / 60.0).abs() < 1e-12,
        "{life:?}"
    );
}
