//! Synchronisation protocols in fidelity `fast`, against `event`.

use crate::sync::{
    assert_same, by_pace, event, fast, log_normal, network, protocol, stepping, straggling, stream,
};
use proptest::prelude::*;
use scavsim::engine::Queue;
use scavsim::training::slowest::{self, Moments};
use scavsim::training::sync::{Goal, Invalid, Protocol, Scratch, Stretch};
use scavsim::training::variation::{Drift, WorkerTime};
use scavsim::training::{Fidelity, Floor, Log, Stepping};
use scavsim::units::SimTime;

/// Ends of runs of so many updates, or updates until so many seconds, in 600 replicas.
fn compare(text: &str, stepping: &Stepping, updates: u64) {
    let protocol = protocol(text);
    let name = format!("{text}, {} workers, {updates} updates", stepping.workers);
    let end = Goal::updates(updates);
    let mean_s = fast(protocol, stepping, end, stream(1, 0)).1;
    let until = Goal {
        updates: u64::MAX,
        mark: updates / 3,
        until: SimTime::from_seconds(mean_s),
    };
    let figures = |of: &dyn Fn(u64, Goal) -> (Stretch, f64), seed: u64| -> [Vec<f64>; 3] {
        let mut seen = [vec![], vec![], vec![]];
        for replica in 0..600 {
            let (_, end) = of(seed + replica, end);
            seen[0].push((end * 1e6).round() / 1e6);
            let (stretch, at) = of(seed + 1000 + replica, until);
            assert!((at - mean_s).abs() < 1e-8);
            seen[1].push(stretch.updates as f64);
            seen[2].push((stretch.advance.at_mark.seconds() * 1e6).round() / 1e6);
        }
        seen
    };
    let slow = figures(&|r, goal| event(protocol, stepping, goal, stream(21, r)), 0);
    let quick = figures(&|r, goal| fast(protocol, stepping, goal, stream(22, r)), 0);
    for (what, (a, b)) in ["end", "count", "mark"].iter().zip(slow.iter().zip(&quick)) {
        assert_same(&format!("{name}, {what}"), a, b);
    }
}

#[test]
fn fast_agrees_with_event_for_backup_workers() {
    for (time, updates) in [
        (log_normal(0.3), 6),
        (log_normal(0.3), 60),
        (WorkerTime::EXPONENTIAL, 300),
        (straggling(0.1, 0.05, 4.0), 400),
    ] {
        compare(
            "{ backup = { spare = 2 } }",
            &stepping(8, 0.25, time),
            updates,
        );
    }
    let stepping = stepping(8, 0.25, log_normal(0.3));
    let backup = protocol("{ backup = { spare = 2 } }");
    let run = |fidelity| {
        let goal = Goal::updates(4000);
        by_pace(backup, fidelity, &stepping, goal, stream(2, 0)).0
    };
    let (slow, _) = event(backup, &stepping, Goal::updates(4000), stream(7, 0));
    for quick in [run(Fidelity::Fast), run(Fidelity::Step)] {
        assert_eq!(
            (quick.updates, quick.gradients),
            (slow.updates, slow.gradients)
        );
        assert_eq!(quick.dropped, slow.dropped);
        assert!((quick.wasted - slow.wasted).abs() < 0.002);
        let ratio = quick.advance.compute_s / slow.advance.compute_s;
        assert!((ratio - 1.0).abs() < 0.01);
    }
}

#[test]
fn fast_agrees_with_event_for_asp_without_contention() {
    for (text, time, workers, updates) in [
        ("{ asp = { service_s = 0 } }", log_normal(0.3), 8, 2000),
        (
            "{ asp = { service_s = 0 } }",
            WorkerTime::EXPONENTIAL,
            4,
            800,
        ),
        ("{ asp = { service_s = 0.01 } }", log_normal(0.5), 4, 1500),
        (
            "{ asp = { service_s = 0.01, servers = 2 } }",
            log_normal(0.5),
            8,
            1500,
        ),
        ("{ asp = { service_s = 0 } }", log_normal(0.3), 1, 200),
    ] {
        compare(text, &stepping(workers, 0.25, time), updates);
    }
    let mut unequal = stepping(4, 0.25, log_normal(0.5));
    unequal.machines = Some([0.8, 0.9, 1.1, 1.4].into());
    compare("{ asp = { service_s = 0 } }", &unequal, 1500);
}

#[test]
fn what_fast_cannot_do_is_said_and_done_in_event() {
    let stepping = stepping(8, 0.25, log_normal(0.3));
    let settle = |text: &str, asked, updates| {
        let (fidelity, why) = protocol(text).settle(asked, &stepping, updates);
        (fidelity, why.map_or(String::new(), |why| why.to_string()))
    };
    let many = 100_000;
    for text in [
        "\"bsp\"",
        "{ backup = { spare = 1 } }",
        "{ asp = { service_s = 0.001 } }",
    ] {
        assert_eq!(
            settle(text, Fidelity::Fast, many),
            (Fidelity::Fast, String::new())
        );
    }
    let contended = "{ asp = { service_s = 0.2 } }";
    for (text, asked, updates, reason) in [
        (
            "{ ssp = { slack = 3 } }",
            Fidelity::Fast,
            many,
            "others' progress",
        ),
        (
            "{ flexible = { after_s = 1 } }",
            Fidelity::Fast,
            many,
            "others' progress",
        ),
        (
            "{ speculative = { quantile = 0.9 } }",
            Fidelity::Step,
            many,
            "others' progress",
        ),
        (
            "{ ssp = { slack = 3 } }",
            Fidelity::Step,
            many,
            "no step in common",
        ),
        (
            contended,
            Fidelity::Fast,
            many,
            "no `sharpness` was measured",
        ),
        ("{ asp = { service_s = 0 } }", Fidelity::Fast, 20, "too few"),
    ] {
        let (fidelity, why) = settle(text, asked, updates);
        assert_eq!(fidelity, Fidelity::Event, "{text}");
        assert!(why.contains(reason), "{text}: {why}");
    }
    let mut unequal = stepping.clone();
    unequal.machines = Some([1.0; 8].into());
    let backup = protocol("{ backup = { spare = 1 } }");
    assert_eq!(
        backup.valid(Fidelity::Fast, &unequal, many),
        Err(Invalid::UnequalMachines { protocol: "backup" })
    );
    let alone = Moments::constant(1.0);
    assert_eq!(slowest::moments_of_nth(3, 8, log_normal(0.0)), alone);
}

fn any_protocol() -> impl Strategy<Value = Protocol> {
    let text = prop_oneof![
        Just("\"bsp\"".to_owned()),
        (1u32..4).prop_map(|spare| format!("{{ backup = {{ spare = {spare} }} }}")),
        (0.2..0.99f64, 0u32..4)
            .prop_map(|(q, s)| format!("{{ speculative = {{ quantile = {q}, spare = {s} }} }}")),
        (0u32..9).prop_map(|slack| format!("{{ ssp = {{ slack = {slack} }} }}")),
        (1u32..4, 0.0..0.5f64, any::<bool>()).prop_map(|(servers, service_s, exponential)| {
            let service = if exponential {
                "exponential"
            } else {
                "constant"
            };
            format!(
                "{{ asp = {{ servers = {servers}, service_s = {service_s}, \
                 service = \"{service}\" }} }}"
            )
        }),
        (0.01..5.0f64).prop_map(|s| format!("{{ flexible = {{ after_s = {s} }} }}")),
    ];
    text.prop_map(|text| protocol(&text))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// For any protocol and cluster: updates are counted exactly, the clock does not run back, and
    /// equal seeds give equal bits. A run until some time has just the updates of the run of that
    /// many: no more would have been in time.
    #[test]
    fn updates_are_counted_exactly_and_time_runs_forward(
        protocol in any_protocol(),
        workers in 4u32..20,
        communication_s in prop_oneof![Just(0.0), 0.0..1.0f64],
        cv in prop_oneof![Just(0.0), 0.0..1.5f64],
        straggler in prop::option::of((0.01..0.5f64, 1.5..20.0f64)),
        unequal in any::<bool>(),
        drifts in any::<bool>(),
        updates in 1u64..80,
        part in 0.0..1.0f64,
        seed in any::<u64>(),
    ) {
        let time = match straggler {
            Some((probability, factor)) => straggling(cv, probability, factor),
            None => log_normal(cv),
        };
        let mut stepping = stepping(workers, communication_s, time);
        if unequal {
            stepping.machines = Some((0..workers).map(|i| 0.7 + 0.05 * f64::from(i)).collect());
        }
        let drift = drifts.then_some(Drift { sigma: 0.5, period_s: 3.0 });
        let start = SimTime::from_seconds(12.5);
        let mut scratch = Scratch::default();
        let mut run = |goal: Goal| {
            let mut queue = Queue::new();
            queue.rest_until(start);
            let mut stream = stream(seed, 0);
            let mut floor = Floor {
                queue: &mut queue,
                drift: &mut network(drift),
                stepping: &stepping,
                stream: &mut stream,
                scratch: &mut scratch,
                log: &mut Log::default(),
            };
            let stretch = protocol.advance(&mut floor, goal).expect("no stall");
            assert!(queue.is_empty());
            (stretch, queue.now())
        };
        let mark = 1 + (part * (updates - 1) as f64) as u64;
        let goal = Goal { mark, ..Goal::updates(updates) };
        let (whole, end) = run(goal);
        prop_assert_eq!(whole.updates, updates);
        prop_assert!(start <= whole.advance.at_mark && whole.advance.at_mark <= end);
        if let Some(each) = protocol.gradients_per_update(workers) {
            prop_assert_eq!(whole.gradients, updates * u64::from(each));
        } else {
            prop_assert!(whole.gradients >= updates);
        }
        prop_assert!((0.0..1.0).contains(&whole.wasted));
        prop_assert!((0.0..=1.0 + 1e-9).contains(&whole.utilisation));
        let parts_s = whole.advance.compute_s + whole.advance.communication_s;
        let elapsed_s = (end - start).seconds();
        prop_assert!((parts_s - elapsed_s).abs() < 1e-6 * elapsed_s.max(1.0), "{parts_s} {elapsed_s}");
        prop_assert_eq!(run(goal), (whole, end));

        let until = start + SimTime::from_seconds(part * elapsed_s);
        let (cut, rested) = run(Goal::until(until));
        prop_assert_eq!(rested, until);
        prop_assert!(cut.updates <= updates);
        if cut.updates > 0 {
            prop_assert!(run(Goal::updates(cut.updates)).1 <= until);
        }
        prop_assert!(run(Goal::updates(cut.updates + 1)).1 > until);
    }
}
