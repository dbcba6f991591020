//! Events that a policy sees, tick by tick.

use crate::common::{hours, job, lived, seconds, zone};
use scavsim_provision::face::{Event, LastLook, Net, Policy, PolicyView};
use scavsim_provision::job::Job;
use scavsim_provision::world::World;

/// Spot machines of the first zone, and the events of each tick; it looks in every `every` ticks.
#[derive(Debug)]
struct Notes {
    look: LastLook,
    every: usize,
    events: Vec<(usize, Vec<Event>)>,
}

impl Policy for Notes {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        if view.tick().is_multiple_of(self.every) {
            let events = view.events(&mut self.look).to_vec();
            if !events.is_empty() {
                self.events.push((view.tick(), events));
            }
        }
        if view.running().is_none() {
            view.try_spot(0);
        }
    }

    fn net(&self) -> Net {
        Net::None
    }
}

fn world() -> World {
    let mut near = zone("near", vec![1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1], 1.0, 3.0);
    let mut far = zone("far", vec![0; 12], 1.0, 3.0);
    near.spot_usd_per_h[2] = 2.0;
    far.spot_usd_per_h[6] = 0.5;
    far.spot_usd_per_h[7] = 0.5;
    hours(vec![near, far], 0.0)
}

fn noted(every: usize) -> Vec<(usize, Vec<Event>)> {
    let world = world();
    let job = Job {
        checkpoint_every_s: Some(3600.0),
        ..job(6.0, 11.0, 1.0)
    };
    let look = LastLook::default();
    let mut policy = Notes {
        look,
        every,
        events: Vec::new(),
    };
    let life = lived(&world, &job, &mut policy);
    assert_eq!(life.finished, Some(seconds(9.0 * 3600.0)));
    policy.events
}

/// Starts in hour 0, works in 1 and 2, is lost in 3, starts again in 4 and works from 5 on. Slack is 11 − 6 − 1 hours at first, and
/// near below three.
#[test]
fn each_is_told_when_it_has_happened_and_once() {
    let hour = 3600.0;
    let expected = vec![
        (1, vec![Event::Works(0)]),
        (2, vec![Event::Checkpoint(hour), Event::Price(0)]),
        (
            3,
            vec![
                Event::Lost(0),
                Event::Checkpoint(2.0 * hour),
                Event::Price(0),
            ],
        ),
        (4, vec![Event::DeadlineNear]),
        (5, vec![Event::Works(0)]),
        (6, vec![Event::Checkpoint(3.0 * hour), Event::Price(1)]),
        (7, vec![Event::Checkpoint(4.0 * hour)]),
        (8, vec![Event::Checkpoint(5.0 * hour), Event::Price(1)]),
    ];
    assert_eq!(noted(1), expected);
}

#[test]
fn who_looks_seldom_is_told_what_happened_meanwhile() {
    let hour = 3600.0;
    let expected = vec![
        (
            4,
            vec![
                Event::Lost(0),
                Event::Checkpoint(2.0 * hour),
                Event::DeadlineNear,
            ],
        ),
        (8, vec![Event::Works(0), Event::Checkpoint(5.0 * hour)]),
    ];
    // Prices that went and came back are none.
    assert_eq!(noted(4), expected);
}

#[derive(Debug)]
struct Fails;

impl Policy for Fails {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        if view.tick() == 2 {
            view.fail("=no\nidea");
            view.fail("another reason");
        }
        view.go_on_demand(0);
    }
}

#[test]
fn whoever_fails_leaves_no_result_and_nothing_runs() {
    let world = world();
    let life = lived(&world, &job(6.0, 11.0, 1.0), &mut Fails);
    assert_eq!(life.failed.as_deref(), Some("'=no\\nidea"));
    assert!(!life.kept() && life.finished.is_none());
    assert_eq!((life.launches, life.on_demand), (1, seconds(7200.0)));
}
