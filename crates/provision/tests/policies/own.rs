//! Policies from outside see nothing of what comes.

use crate::common::{hours, job, long_job_in_three_zones, zone};
use scavsim_provision::face::{LastLook, Net, Policy, PolicyView};
use scavsim_provision::policy_run::live;
use scavsim_provision::world::World;

/// Takes spot machines, probes, and writes down its view.
#[derive(Debug, Default)]
struct Writes {
    look: LastLook,
    lines: Vec<String>,
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
        self.lines.push(format!(
            "{} {done} {spent} {has:?} {left:?} {probed} {now:?} {events}",
            view.tick()
        ));
    }
}

#[test]
fn another_future_changes_no_line_before_it() {
    let (world, job) = long_job_in_three_zones();
    let seen = |world: &World, start: usize| {
        let mut own = Writes::default();
        let window = world.window(start, 769).unwrap();
        live(window, &job, &mut own);
        own.lines
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
    assert_eq!(life.bill.on_demand, 25.0);
    assert!(
        (life.bill.probes - 3.0 * 2.0 / 60.0).abs() < 1e-12,
        "{life:?}"
    );
}
