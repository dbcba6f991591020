//! Synchronisation protocols in fidelity `fast`, compared with `event`.

use crate::sync::{
    assert_same, error, event, fast, log_normal, network, protocol, stepping, straggling, stream,
};
use proptest::prelude::*;
use scavsim::engine::Queue;
use scavsim::rng::{Stream, Streams, WorkloadKey};
use scavsim::stats::Welford;
use scavsim::training::drift::DriftPath;
use scavsim::training::slowest::{self, Moments};
use scavsim::training::sync::fast::Pace;
use scavsim::training::sync::{Goal, Invalid, Protocol, Scratch, Stretch};
use scavsim::training::variation::{Drift, WorkerTime};
use scavsim::training::{Fidelity, Floor, Log, Stepping};
use scavsim::units::SimTime;

/// Ends of runs of a number of updates, or updates until a time, in 600 replicas.
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
    let goal = Goal::updates(4000);
    let (quick, _) = fast(backup, &stepping, goal, stream(2, 0));
    let (slow, _) = event(backup, &stepping, goal, stream(7, 0));
    assert_eq!(
        (quick.updates, quick.gradients),
        (slow.updates, slow.gradients)
    );
    assert_eq!(quick.dropped, slow.dropped);
    assert!((quick.wasted - slow.wasted).abs() < 0.002);
    let ratio = quick.advance.compute_s / slow.advance.compute_s;
    assert!((ratio - 1.0).abs() < 0.01);
}

/// With one step a round is a step of `bsp`.
#[test]
fn fast_agrees_with_event_for_local_sgd_with_a_period_of_1() {
    let stepping = stepping(6, 0.25, log_normal(0.3));
    compare("{ local-sgd = { period = 1 } }", &stepping, 60);
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
        (
            "{ asp = { service_s = 0.4, service = { cv = 1.2 } } }",
            log_normal(0.1),
            1,
            60,
        ),
    ] {
        compare(text, &stepping(workers, 0.25, time), updates);
    }
    let mut unequal = stepping(4, 0.25, log_normal(0.5));
    unequal.machines = Some([0.8, 0.9, 1.1, 1.4].into());
    compare("{ asp = { service_s = 0 } }", &unequal, 1500);
}

/// If `fast` measures its pace over a number of worker-steps, its mean has the resulting error: 0.3 % at most.
fn compare_measured(text: &str, stepping: &Stepping, updates: u64) {
    let protocol = protocol(text);
    let name = format!("{text}, {} workers, {updates} updates", stepping.workers);
    let end = Goal::updates(updates);
    let pace = Pace::new(protocol, stepping);
    let quick = |goal, mut stream: Stream| {
        let (mut drift, mut scratch) = (network(None), Scratch::default());
        let start = SimTime::ZERO;
        pace.advance(start, &mut drift, stepping, goal, &mut stream, &mut scratch)
            .expect("valid in this fidelity")
    };
    let until = |s: f64| Goal {
        updates: u64::MAX,
        mark: updates / 2,
        until: SimTime::from_seconds(s),
    };
    let mean_s = quick(end, stream(1, 0)).1.seconds();
    let mut seen = [(); 5].map(|()| [Welford::default(), Welford::default()]);
    for replica in 0..300 {
        let slow = event(protocol, stepping, end, stream(21, replica));
        let fast = quick(end, stream(22, replica));
        let slow_until = event(protocol, stepping, until(mean_s), stream(23, replica)).0;
        let fast_until = quick(until(mean_s), stream(24, replica)).0;
        let figures = |stretch: &Stretch, until: &Stretch, end_s: f64| {
            [
                end_s,
                until.updates as f64,
                until.advance.at_mark.seconds(),
                stretch.gradients as f64,
                stretch.advance.communication_s,
            ]
        };
        let slow = figures(&slow.0, &slow_until, slow.1);
        let fast = figures(&fast.0, &fast_until, fast.1.seconds());
        for (seen, (slow, fast)) in seen.iter_mut().zip(slow.into_iter().zip(fast)) {
            seen[0].add(slow);
            seen[1].add(fast);
        }
    }
    let whats = ["end", "count", "mark", "gradients", "communication"];
    for (what, [slow, fast]) in whats.iter().zip(&seen) {
        let off = fast.mean() - slow.mean();
        let error = error(slow).hypot(error(fast));
        println!(
            "{name}, {what}: {} {} ({:+.3} %, {:+.2} errors), deviations {} {}",
            slow.mean(),
            fast.mean(),
            100.0 * off / slow.mean(),
            off / error,
            slow.standard_deviation(),
            fast.standard_deviation()
        );
        let tolerance = 0.003 * slow.mean() + 4.0 * error + 1e-9;
        assert!(
            off.abs() <= tolerance,
            "{name}, {what}: {off} beyond {tolerance}"
        );
        if *what == "communication" {
            // For a run, its mean.
            continue;
        }
        // 300 replicas give it within 4 %, and the measurement within 10 %.
        let ratio = (fast.standard_deviation() + 5e-4 * slow.mean())
            / (slow.standard_deviation() + 5e-4 * slow.mean());
        assert!(
            (0.7..1.4).contains(&ratio),
            "{name}, {what}: deviations' ratio {ratio}"
        );
    }
    let (slow, fast) = (
        event(protocol, stepping, end, stream(25, 0)).0,
        quick(end, stream(26, 0)).0,
    );
    let near = |a: f64, b: f64, within: f64| assert!((a - b).abs() <= within, "{name}: {a} {b}");
    near(
        slow.mean_staleness(),
        fast.mean_staleness(),
        0.03 * slow.mean_staleness(),
    );
    // For one run, services that vary much leave 2 %.
    let mean = |of: &dyn Fn(u64) -> f64| (0..30).map(of).sum::<f64>() / 30.0;
    near(
        mean(&|replica| {
            event(protocol, stepping, end, stream(25, replica))
                .0
                .utilisation
        }),
        mean(&|replica| quick(end, stream(26, replica)).0.utilisation),
        0.01,
    );
    near(slow.wasted, fast.wasted, 0.02);
}

#[test]
fn fast_agrees_with_event_where_its_pace_is_measured() {
    for (text, time, workers, updates) in [
        ("{ ssp = { slack = 1 } }", log_normal(0.3), 8, 3000),
        ("{ ssp = { slack = 3 } }", log_normal(0.3), 8, 4000),
        (
            "{ ssp = { slack = 3 } }",
            straggling(0.3, 0.01, 5.0),
            8,
            4000,
        ),
        (
            "{ speculative = { quantile = 0.9 } }",
            log_normal(0.3),
            8,
            300,
        ),
        (
            "{ speculative = { quantile = 0.8, spare = 1 } }",
            straggling(0.1, 0.02, 4.0),
            8,
            300,
        ),
        ("{ flexible = { after_s = 0.7 } }", log_normal(0.3), 8, 400),
        (
            "{ flexible = { after_s = 0.05 } }",
            log_normal(0.3),
            4,
            2000,
        ),
        (
            "{ flexible = { after_s = 3.0 } }",
            straggling(0.3, 0.01, 5.0),
            8,
            200,
        ),
        ("{ asp = { service_s = 0.1 } }", log_normal(0.3), 8, 3000),
        (
            "{ asp = { service_s = 0.3, servers = 2, service = \"exponential\" } }",
            log_normal(0.3),
            8,
            3000,
        ),
        (
            "{ asp = { service_s = 0.2, service = { cv = 1.2 } } }",
            log_normal(0.1),
            8,
            3000,
        ),
        // Workers fall out of step only by their services.
        (
            "{ asp = { service_s = 0.1, service = { cv = 0.4 } } }",
            log_normal(0.0),
            8,
            12_000,
        ),
    ] {
        compare_measured(text, &stepping(workers, 0.25, time), updates);
    }
}

/// A random factor scales all times of a worker, the network its communication: between the measured points.
#[test]
fn a_measured_pace_follows_luck_and_the_network() {
    let nominal = stepping(8, 0.25, log_normal(0.3));
    for text in [
        "{ ssp = { slack = 3 } }",
        "{ flexible = { after_s = 0.7 } }",
        "{ asp = { service_s = 0.1 } }",
        "{ speculative = { quantile = 0.9 } }",
    ] {
        let protocol = protocol(text);
        let pace = Pace::new(protocol, &nominal);
        let mut lucky = nominal.clone();
        lucky.worker_s *= 1.137;
        lucky.communication_s *= 1.137;
        let goal = Goal::updates(4000);
        let drift = Some(Drift {
            sigma: 0.4,
            period_s: 60.0,
        });
        let (mut slow, mut fast) = (Welford::default(), Welford::default());
        for replica in 0..40 {
            let mut scratch = Scratch::default();
            let paths =
                || DriftPath::new(drift, Streams::new(3), replica, WorkloadKey::from_name("x"));
            let mut queue = Queue::new();
            let mut floor = Floor {
                queue: &mut queue,
                drift: &mut paths(),
                stepping: &lucky,
                stream: &mut stream(31, replica),
                scratch: &mut scratch,
                log: &mut Log::default(),
            };
            protocol.advance(&mut floor, goal).expect("no stall");
            slow.add(queue.now().seconds());
            let (mut drift, mut stream) = (paths(), stream(32, replica));
            let start = SimTime::ZERO;
            let end = pace.advance(start, &mut drift, &lucky, goal, &mut stream, &mut scratch);
            fast.add(end.expect("valid in this fidelity").1.seconds());
        }
        let off = fast.mean() - slow.mean();
        // Equal networks in both: the randomness of the workers remains.
        let tolerance = 0.005 * slow.mean();
        assert!(
            off.abs() <= tolerance,
            "{text}: {} {}",
            slow.mean(),
            fast.mean()
        );
    }
}

/// Hundreds of periods in a run are combined: the mean and the distribution of its end, and of a mark on the way.
#[test]
fn short_periods_of_the_network_are_taken_together() {
    let stepping = stepping(4, 0.5, log_normal(0.2));
    let pace = Pace::new(Protocol::Bsp, &stepping);
    let goal = Goal {
        mark: 1100,
        ..Goal::updates(1500)
    };
    for (sigma, period_s) in [(0.5, 8.0), (0.3, 20.0), (0.8, 30.0)] {
        let drift = Some(Drift { sigma, period_s });
        let mut seen = [(); 4].map(|()| Vec::new());
        for replica in 0..600 {
            let path = |seed| {
                DriftPath::new(
                    drift,
                    Streams::new(seed),
                    replica,
                    WorkloadKey::from_name("x"),
                )
            };
            let (mut queue, mut scratch) = (Queue::new(), Scratch::default());
            let mut floor = Floor {
                queue: &mut queue,
                drift: &mut path(3),
                stepping: &stepping,
                stream: &mut stream(41, replica),
                scratch: &mut scratch,
                log: &mut Log::default(),
            };
            let slow = Protocol::Bsp.advance(&mut floor, goal).expect("no stall");
            seen[0].push(queue.now().seconds());
            seen[1].push(slow.advance.at_mark.seconds());
            let mut stream = stream(42, replica);
            let start = SimTime::ZERO;
            let (fast, end) = pace
                .advance(
                    start,
                    &mut path(4),
                    &stepping,
                    goal,
                    &mut stream,
                    &mut scratch,
                )
                .expect("valid in this fidelity");
            seen[2].push(end.seconds());
            seen[3].push(fast.advance.at_mark.seconds());
        }
        assert_same(&format!("{period_s} s, end"), &seen[0], &seen[2]);
        assert_same(&format!("{period_s} s, mark"), &seen[1], &seen[3]);
    }
}

#[test]
fn what_fast_cannot_do_is_said_and_done_in_event() {
    let stepping = stepping(8, 0.25, log_normal(0.3));
    let settle = |text: &str, updates| {
        let (fidelity, why) = protocol(text).settle(Fidelity::Fast, &stepping, updates);
        (fidelity, why.map_or(String::new(), |why| why.to_string()))
    };
    let many = 100_000;
    for text in [
        "\"bsp\"",
        "{ backup = { spare = 1 } }",
        "{ asp = { service_s = 0.001 } }",
        "{ asp = { service_s = 0.2 } }",
        "{ ssp = { slack = 3 } }",
        // More slack than a measurement could use up has a law.
        "{ ssp = { slack = 1000 } }",
        "{ speculative = { quantile = 0.9 } }",
        "{ flexible = { after_s = 1 } }",
    ] {
        assert_eq!(settle(text, many), (Fidelity::Fast, String::new()));
    }
    let contended = "{ asp = { service_s = 0.2 } }";
    for (text, updates, reason) in [
        // Updates that all come at once.
        ("{ ssp = { slack = 0 } }", many, "others' progress"),
        ("{ ssp = { slack = 3 } }", 100, "too few"),
        ("{ flexible = { after_s = 1 } }", 5, "too few"),
        ("{ local-sgd = { period = 2 } }", many, "no formula"),
        (contended, 100, "too few"),
        ("{ asp = { service_s = 0 } }", 20, "too few"),
    ] {
        let (fidelity, why) = settle(text, updates);
        assert_eq!(fidelity, Fidelity::Event, "{text}");
        assert!(why.contains(reason), "{text}: {why}");
    }
    // Without variation workers never fall out of step.
    let even = crate::sync::stepping(8, 0.25, log_normal(0.0));
    assert!(matches!(
        protocol(contended).check_fast(&even, many),
        Err(Invalid::Contended { .. })
    ));
    let mut unequal = stepping.clone();
    unequal.machines = Some([1.0; 8].into());
    let backup = protocol("{ backup = { spare = 1 } }");
    assert_eq!(
        backup.check_fast(&unequal, many),
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
