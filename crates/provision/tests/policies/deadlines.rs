//! Random traces, zones, changeovers and moves that take time: a net keeps all deadlines.

use crate::common::{hours, job, lived, policy, seconds, zone};
use scavsim_base::rng::{ModelKey, Purpose, Stream, Streams};
use scavsim_base::units::SimTime;
use scavsim_provision::forms::{Form, Speed};
use scavsim_provision::job::Job;
use scavsim_provision::policy::registry::POLICIES;
use scavsim_provision::policy::{Net, Policy};
use scavsim_provision::policy_run::policy_view::PolicyView;
use scavsim_provision::policy_run::{live, watch};
use scavsim_provision::world::World;
use scavsim_provision::world::transfer_costs::TransferCosts;

const TICKS: usize = 60;

/// A trace that changes with given odds per tick, at a price that changes with it.
fn trace(stream: &mut Stream, name: &str) -> scavsim_provision::world::Zone {
    let odds = 0.02 + 0.5 * stream.uniform();
    let mut is_up = stream.uniform() < 0.5;
    let mut offered = Vec::new();
    let mut prices = Vec::new();
    for _ in 0..TICKS {
        is_up ^= stream.uniform() < odds;
        offered.push(u16::from(is_up));
        prices.push(0.5 + stream.uniform());
    }
    let mut zone = zone(name, offered, 1.0, 2.5 + stream.uniform());
    zone.spot_usd_per_h = prices;
    zone
}

/// Up to three more forms: sizes and speeds that may change with the work done, of types that some zones have.
fn forms(stream: &mut Stream, world: &mut World) -> Vec<Form> {
    let types = ["p", "q"];
    let pick = |stream: &mut Stream| types[(2.0 * stream.uniform()) as usize].to_owned();
    for zone in &mut world.zones {
        zone.vm = (stream.uniform() < 0.5).then(|| pick(stream));
        for machines in &mut zone.offered {
            *machines *= 1 + (4.0 * stream.uniform()) as u16;
        }
    }
    let mut forms = vec![Form::of_machines(1)];
    for number in 0..(3.0 * stream.uniform()) as u16 {
        let mut speed = || 0.3 + 3.0 * stream.uniform();
        let (first, then) = (speed(), speed());
        let share = 0.05 + 0.9 * stream.uniform();
        forms.push(Form {
            name: format!("{number}"),
            machines: 1 + (4.0 * stream.uniform()) as u16,
            vm: (stream.uniform() < 0.5).then(|| pick(stream)),
            speed: Speed::of_steps(vec![(0.0, first), (share, then)]).unwrap(),
        });
    }
    forms.retain(|form| world.zones.iter().any(|zone| form.is_served(zone)));
    forms
}

#[derive(Debug)]
struct RandomSwitcher(Stream);

impl Policy for RandomSwitcher {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        let mut pick = |count: usize| (count as f64 * self.0.uniform()) as usize;
        let (zone, form) = (pick(view.zones()), pick(view.forms()));
        match pick(8) {
            0 => drop(view.go_on_demand_as(zone, form)),
            1 => view.stop(),
            2..=4 => drop(view.try_spot_as(zone, form)),
            _ => {}
        }
    }
}

#[test]
fn whoever_has_a_net_keeps_deadlines_whatever_forms_there_are() {
    let streams = Streams::new(12);
    let (mut changed, mut by_forms, mut tight) = (0, 0, 0);
    for replica in 0..3000 {
        let key = ModelKey::from_name("deadlines of forms");
        let mut stream = streams.stream(replica, Purpose::ModelLives(key));
        let (mut world, mut job) = drawn(&mut stream);
        job.forms = forms(&mut stream, &mut world);
        // Some deadlines are such that the fastest form alone keeps them.
        let fastest_s = (job.fastest_rest(SimTime::ZERO) + job.changeover()).seconds();
        job.deadline_s = job.deadline_s.max(fastest_s);
        if stream.uniform() < 0.5 {
            let slack_h = (8.0 * stream.uniform()).floor();
            job.deadline_s = fastest_s + 3600.0 * slack_h;
            tight += 1;
        }
        assert!(job.can_be_kept());
        let window = world.window(0, job.ticks(world.tick_s)).unwrap();
        let own: Box<dyn Policy> = Box::new(RandomSwitcher(stream));
        let shipped = POLICIES.iter().map(|one| policy(one.name, window));
        for mut policy in shipped.chain([own]) {
            if policy.net() == Net::None {
                continue;
            }
            let (life, timeline) = watch(window, &job, &mut *policy);
            let used = |form: usize| timeline.entries.iter().any(|entry| entry.form == form);
            by_forms += usize::from((1..job.forms.len()).any(used));
            changed += life.launches;
            assert!(life.kept(), "{policy:?}, {replica}: {job:?}: {life:?}");
        }
    }
    assert!(by_forms > 3000 && tight > 1000, "{by_forms}, {tight}");
    assert!(changed > 30_000, "only {changed} starts");
}

/// A world and a job whose deadline machines on demand can keep, with any slack.
fn drawn(stream: &mut Stream) -> (World, Job) {
    let count = 1 + (3.0 * stream.uniform()) as usize;
    let zones = ["a", "b", "c"];
    let zones = zones[..count].iter().map(|name| trace(stream, name));
    let mut world = hours(zones.collect(), 0.0);
    // A third of the worlds move at once, others take up to three hours for a GB.
    let slowest_s = 3600.0 * (4.5 * stream.uniform() - 1.5).max(0.0);
    let far = stream.uniform();
    world.moving = TransferCosts::by(count, |from, to| {
        let share = if from < to { 1.0 } else { far };
        (0.1, share * slowest_s)
    });
    let changeover_h = (2.0 * stream.uniform() - 0.5).max(0.0);
    let work_h = 5.0 + 25.0 * stream.uniform();
    let slack_h = (25.0 * stream.uniform() - 5.0).max(0.0);
    let deadline_h = (work_h + changeover_h + slack_h).ceil();
    let every_h = 8.0 * stream.uniform() - 4.0;
    let mut job = Job {
        checkpoint_every_s: (every_h > 0.1).then_some(3600.0 * every_h),
        ..job(work_h, deadline_h, changeover_h)
    };
    if stream.uniform() < 0.5 {
        // Ticks and deadlines are whole numbers of nothing.
        world.tick_s *= 1.0 + 0.4 * stream.uniform();
        job.deadline_s = 3600.0 * (work_h + changeover_h + slack_h) + stream.uniform();
    }
    (world, job)
}

#[test]
fn whoever_has_a_net_keeps_deadlines_of_random_worlds() {
    let streams = Streams::new(11);
    let (mut moved, mut lost_s) = (0, 0.0);
    for replica in 0..3000 {
        let key = ModelKey::from_name("deadlines");
        let mut stream = streams.stream(replica, Purpose::ModelLives(key));
        let (world, job) = drawn(&mut stream);
        assert!(job.can_be_kept());
        let window = world.window(0, job.ticks(world.tick_s)).unwrap();
        for declared in POLICIES {
            let mut policy = policy(declared.name, window);
            if policy.net() == Net::None {
                continue;
            }
            let life = live(window, &job, &mut *policy);
            moved += life.moves;
            lost_s += life.lost_work.seconds();
            let name = declared.name;
            assert!(life.kept(), "{name}, {replica}: {job:?}: {life:?}");
        }
    }
    assert!(moved > 1000, "only {moved} moves");
    assert!(
        lost_s > 3600.0 * 1000.0,
        "only {lost_s} s of work were lost"
    );
}

#[test]
fn work_since_the_last_checkpoint_is_lost_with_spot_machines() {
    // Five hours, an hour without machines, then enough of them.
    let offered = [vec![1; 5], vec![0], vec![1; 14]].concat();
    let world = hours(vec![zone("a", offered, 1.0, 3.0)], 0.0);
    let job = Job {
        checkpoint_every_s: Some(2.0 * 3600.0),
        ..job(8.0, 20.0, 0.0)
    };
    let window = world.window(0, 20).unwrap();
    let life = live(window, &job, &mut *policy("greedy", window));
    assert_eq!(life.lost_work, seconds(3600.0));
    assert_eq!(life.cost_usd(), 9.0);
    assert_eq!(life.finished, Some(seconds(10.0 * 3600.0)));
}

#[derive(Debug)]
struct GivesUp(usize);

impl Policy for GivesUp {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        if view.tick() == self.0 {
            view.give_up();
            // Nothing can be had afterwards.
            view.go_on_demand(1);
        } else {
            view.go_on_demand(0);
        }
    }
}

#[test]
fn whoever_gives_up_pays_for_what_was_used_and_for_being_late() {
    let zones = ["a", "b"].map(|name| zone(name, vec![0; 20], 1.0, 3.0));
    let world = hours(zones.to_vec(), 0.5);
    let job = Job {
        lateness_usd_per_h: Some(2.0),
        ..job(8.0, 10.0, 0.0)
    };
    let life = lived(&world, &job, &mut GivesUp(4));
    assert!(life.gave_up && !life.kept());
    assert_eq!((life.launches, life.moves), (1, 0));
    assert_eq!(life.done, seconds(4.0 * 3600.0));
    assert_eq!(life.cost_usd(), 4.0 * 3.0 + 10.0 * 2.0);
    let life = lived(&world, &job, &mut GivesUp(19));
    assert!(!life.gave_up && life.kept());
}
