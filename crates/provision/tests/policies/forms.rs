//! Jobs that change their size and VM type while they run.

use crate::common::{form, hours, job, lived, seconds, zone};
use scavsim_provision::clairvoyant::optimum;
use scavsim_provision::forms::{Form, Speed};
use scavsim_provision::job::Job;
use scavsim_provision::policy::{Net, Policy};
use scavsim_provision::policy_run::policy_view::PolicyView;
use scavsim_provision::policy_run::timeline::TimelineEvent;
use scavsim_provision::policy_run::{live, watch};

/// The largest form on the spot market, whenever it has machines for another than the present one.
#[derive(Debug)]
struct Largest;

impl Policy for Largest {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        for form in (0..view.forms()).rev() {
            if view.try_spot_as(0, form) {
                break;
            }
        }
    }
}

#[derive(Debug)]
struct FormZeroSpotOnly;

impl Policy for FormZeroSpotOnly {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        view.try_spot(0);
    }
}

#[test]
fn it_grows_and_shrinks_with_its_market() {
    let offered = [vec![1; 2], vec![4; 2], vec![1; 8]].concat();
    let world = hours(vec![zone("a", offered, 1.0, 3.0)], 0.0);
    let forms = vec![form("one", 1, 1.0), form("four", 4, 3.0)];
    let job = Job {
        forms,
        ..job(9.0, 12.0, 0.5)
    };
    let (life, timeline) = watch(world.window(0, 12).unwrap(), &job, &mut Largest);
    // 1.5 h of one machine, 1.5 h of four at speed 3, then 3 h and a start of one.
    assert_eq!(life.finished, Some(seconds(3600.0 * 7.5)));
    assert_eq!(life.cost_usd(), 2.0 + 2.0 * 4.0 + 3.5);
    assert_eq!((life.launches, life.losses, life.moves), (3, 1, 0));
    // Started, grown, lost, started again.
    let changes = (timeline.entries.iter())
        .filter(|entry| [TimelineEvent::Spot, TimelineEvent::Lost].contains(&entry.what));
    let forms: Vec<usize> = changes.map(|entry| entry.form).collect();
    assert_eq!(forms, [0, 1, 1, 0]);
}

#[test]
fn the_net_takes_the_cheapest_form_that_keeps_the_deadline() {
    let world = hours(vec![zone("a", vec![0; 12], 1.0, 3.0)], 0.0);
    let forms = |fastest: f64| {
        let forms = vec![
            form("one", 1, 1.0),
            form("two", 2, 1.9),
            form("eight", 8, fastest),
        ];
        Job {
            forms,
            ..job(9.0, 12.0, 0.5)
        }
    };
    // Eight machines end in 2.5 h with their start: from hour 9 on there is no time for two.
    let life = lived(&world, &forms(4.5), &mut FormZeroSpotOnly);
    assert!(life.caught && life.kept());
    assert_eq!(life.finished, Some(seconds(3600.0 * 11.5)));
    assert_eq!(life.cost_usd(), 2.5 * 8.0 * 3.0);
    // Eight that are hardly faster than two set the last moment; two are in time as well, and cost less.
    let life = lived(&world, &forms(1.95), &mut FormZeroSpotOnly);
    let ends_h = 6.0 + 0.5 + 9.0 / 1.9;
    assert!((life.finished.unwrap().hours() - ends_h).abs() < 1e-9);
    assert!((life.cost_usd() - (0.5 + 9.0 / 1.9) * 6.0).abs() < 1e-9);
}

#[test]
fn slow_spot_machines_go_when_only_fast_ones_keep_the_deadline() {
    let world = hours(vec![zone("a", vec![1; 12], 1.0, 3.0)], 0.0);
    let job = Job {
        forms: vec![form("one", 1, 1.0), form("four", 4, 3.0)],
        ..job(18.0, 12.0, 0.0)
    };
    let life = lived(&world, &job, &mut FormZeroSpotOnly);
    // After 9 h, 9 h of work are left for three hours at speed 3.
    assert_eq!(
        (life.spot, life.on_demand),
        (seconds(9.0 * 3600.0), seconds(3.0 * 3600.0))
    );
    assert_eq!(life.finished, Some(seconds(12.0 * 3600.0)));
    assert_eq!(life.cost_usd(), 9.0 + 3.0 * 12.0);
}

#[derive(Debug)]
struct FixedPlacement(usize, usize);

impl Policy for FixedPlacement {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        let is_there = view.is_served(self.0, self.1);
        assert_eq!(view.form_name(self.1), ["slow", "fast"][self.1]);
        assert_eq!(view.form_machines(self.1), 1);
        assert_eq!(view.go_on_demand_as(self.0, self.1), is_there);
        assert!(is_there || !view.try_spot_as(self.0, self.1));
        assert_eq!(view.running_form(), is_there.then_some(self.1));
    }

    fn net(&self) -> Net {
        Net::None
    }
}

#[test]
fn a_zone_has_machines_of_its_own_type_alone() {
    let mut zones = [("a", "small"), ("b", "large")].map(|(name, vm)| {
        let mut zone = zone(name, vec![9; 10], 1.0, 3.0);
        zone.vm = Some(vm.to_owned());
        zone
    });
    zones[1].on_demand_usd_per_h = 10.0;
    let mut forms = vec![form("slow", 1, 1.0), form("fast", 1, 4.0)];
    forms[0].vm = Some("small".to_owned());
    forms[1].vm = Some("large".to_owned());
    let world = hours(zones.to_vec(), 0.5);
    let job = Job {
        forms,
        ..job(8.0, 9.0, 0.0)
    };
    let cost = |zone, form| {
        let life = lived(&world, &job, &mut FixedPlacement(zone, form));
        life.finished.map(|_| life.cost_usd())
    };
    assert_eq!([cost(0, 0), cost(1, 1)], [Some(24.0), Some(20.0)]);
    assert_eq!([cost(0, 1), cost(1, 0)], [None, None]);
}

#[test]
fn speeds_change_where_their_steps_say() {
    let speed = Speed::of_steps(vec![(0.0, 1.0), (0.25, 2.0), (0.75, 4.0)]).unwrap();
    assert_eq!(speed.rest_s(80.0, 0.0), 20.0 + 20.0 + 5.0);
    assert_eq!(speed.rest_s(80.0, 70.0), 2.5);
    let done = [10.0, 20.0, 30.0, 42.5, 50.0].map(|s| speed.work_in(80.0, 0.0, s));
    assert_eq!(done, [10.0, 20.0, 40.0, 70.0, 80.0]);
    assert_eq!(speed.work_in(80.0, 15.0, 10.0), 5.0 + 10.0);
    let speeds = [0.0, 19.9, 20.0, 59.0, 60.0, 80.0].map(|s| speed.after(80.0, s));
    assert_eq!(speeds, [1.0, 1.0, 2.0, 2.0, 4.0, 4.0]);
    for wrong in [
        vec![],
        vec![(0.1, 1.0)],
        vec![(0.0, 1.0), (0.5, 2.0), (0.5, 3.0)],
        vec![(0.0, 1.0), (1.0, 2.0)],
        vec![(0.0, 0.0)],
    ] {
        assert_eq!(Speed::of_steps(wrong), None);
    }
}

/// What is cheapest at the start stays, though another place becomes cheaper and another size would be faster.
#[test]
fn stay_keeps_its_first_choice() {
    let mut world = hours(
        vec![
            zone("a", vec![4; 20], 1.0, 9.0),
            zone("b", vec![4; 20], 1.1, 9.0),
        ],
        0.0,
    );
    world.zones[1].spot_usd_per_h[2..].fill(0.01);
    world.zones[0].offered[3] = 0;
    let job = Job {
        forms: vec![form("small", 1, 1.0), form("large", 4, 2.0)],
        ..job(6.0, 18.0, 0.0)
    };
    let window = world.window(0, 18).unwrap();
    let life = live(window, &job, &mut *crate::common::policy("stay", window));
    // Six hours in zone a, with the hour in which it has none.
    assert_eq!(life.finished, Some(seconds(7.0 * 3600.0)));
    assert_eq!((life.moves, life.losses, life.launches), (0, 1, 2));
    assert!((life.cost_usd() - 6.0).abs() < 1e-9);
    // A deadline that the small size cannot keep makes it the large one.
    let tight = Job {
        deadline_s: 5.0 * 3600.0,
        ..job
    };
    let life = live(window, &tight, &mut *crate::common::policy("stay", window));
    assert!(life.kept() && life.rentals.iter().all(|rental| rental.vms == 4));
}

/// Three batches on the same four machines: small ones are worth more at first, large ones later.
fn batches(reconfigure_s: Option<f64>) -> Job {
    let speeds = [
        [(0.0, 2.0), (0.35, 1.1), (0.7, 0.6)],
        [(0.0, 1.3), (0.35, 1.7), (0.7, 1.2)],
        [(0.0, 0.7), (0.35, 1.4), (0.7, 2.3)],
    ];
    let names = ["small", "medium", "large"];
    let forms = names.into_iter().zip(speeds);
    let forms = forms.map(|(name, steps)| Form {
        speed: Speed::of_steps(steps.to_vec()).expect("shares ascend"),
        ..form(name, 4, 1.0)
    });
    Job {
        forms: forms.collect(),
        reconfigure_s,
        ..job(6.1, 12.0, 0.37)
    }
}

/// Takes machines at once, and in each tick the form that a list says; on new machines where it says that, too.
#[derive(Debug)]
struct Listed(Vec<(usize, bool)>);

impl Policy for Listed {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        let (form, is_anew) = self.0[view.tick() % self.0.len()];
        if is_anew {
            view.stop();
        }
        view.try_spot_as(0, form);
    }

    fn net(&self) -> Net {
        Net::None
    }
}

#[test]
fn the_best_course_of_batches_is_that_of_all_courses() {
    let world = hours(vec![zone("a", vec![4; 12], 1.0, 3.0)], 0.0);
    let window = world.window(0, 12).unwrap();
    for reconfigure_s in [None, Some(0.0), Some(437.0), Some(2713.0), Some(7321.0)] {
        let job = batches(reconfigure_s);
        // The best ends within six ticks: 6⁶ courses are all of them. Waiting gains nothing, as the price stays.
        let courses = (0..6_usize.pow(6)).map(|number| {
            let choice = |tick: u32| number / 6_usize.pow(tick) % 6;
            let listed = (0..6).map(|tick| (choice(tick) / 2, choice(tick) % 2 == 1));
            let life = live(window, &job, &mut Listed(listed.collect()));
            life.finished.map_or(f64::INFINITY, |_| life.cost_usd())
        });
        let least = courses.fold(f64::INFINITY, f64::min);
        let optimum = optimum(window, &job).expect("there is time");
        assert!(optimum.is_exact);
        let ratio = optimum.bound_usd / least;
        assert!((ratio - 1.0).abs() < 1e-8, "{reconfigure_s:?}: {ratio}");
    }
}

#[test]
fn following_the_noise_gains_most_of_what_changes_can_gain() {
    let mut world = hours(vec![zone("a", vec![4; 144], 1.0, 3.0)], 0.0);
    world.tick_s = 300.0;
    let window = world.window(0, 144).unwrap();
    // Least share of the gain: each change waits for as long as it takes.
    for (reconfigure_s, least) in [(0.0, 0.9), (61.0, 0.8), (437.0, 0.3)] {
        let job = batches(Some(reconfigure_s));
        let [stay, follow] = ["stay", "follow-noise"].map(|name| {
            let life = live(window, &job, &mut *crate::common::policy(name, window));
            assert!(life.finished.is_some(), "{name}");
            life.cost_usd()
        });
        let best = optimum(window, &job).expect("there is time").bound_usd;
        let gained = (stay - follow) / (stay - best);
        assert!(
            gained >= least && gained <= 1.0,
            "{reconfigure_s} s: {gained}"
        );
    }
    let [stay, follow] = ["stay", "follow-noise"].map(|name| {
        live(
            window,
            &batches(None),
            &mut *crate::common::policy(name, window),
        )
        .cost_usd()
    });
    assert_eq!(stay, follow, "without changes there is nothing to follow");
}

#[test]
fn another_batch_writes_no_checkpoint() {
    // The machines are lost after four hours. A checkpoint is written every three, so that an hour is lost, whatever the batch was.
    let offered = [vec![4; 4], vec![0], vec![4; 7]].concat();
    let world = hours(vec![zone("a", offered, 1.0, 3.0)], 0.0);
    let job = Job {
        checkpoint_every_s: Some(3.0 * 3600.0),
        forms: vec![form("small", 4, 1.0), form("large", 4, 1.0)],
        reconfigure_s: Some(0.0),
        ..job(6.0, 12.0, 0.0)
    };
    let changing = lived(&world, &job, &mut Listed(vec![(0, false), (1, false)]));
    assert_eq!(changing.lost_work, seconds(3600.0));
    assert_eq!((changing.launches, changing.rentals.len()), (2, 2));
}
