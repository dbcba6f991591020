//! Paces that `fast` measures, and paces from renewal theory, over whole ranges of settings, compared with `event`.

use crate::replay::scenario;
use crate::sync::{error, event, log_normal, network, protocol, stepping, straggling, stream};
use scavsim::experiment::{Evaluator, Plan};
use scavsim::job::Totals;
use scavsim::rng::Stream;
use scavsim::stats::Welford;
use scavsim::training::Stepping;
use scavsim::training::sync::fast::Pace;
use scavsim::training::sync::{Goal, Protocol, Scratch};
use scavsim::training::variation::WorkerTime;
use scavsim::units::SimTime;

/// Ends and gradients of `replicas` runs of a number of updates in `fast`, all by one pace; `None` if that is not trusted, so
/// that a job runs in events.
fn by_pace(
    protocol: Protocol,
    stepping: &Stepping,
    updates: u64,
    replicas: u64,
) -> Option<[Welford; 2]> {
    let pace = Pace::new(protocol, stepping);
    let mut seen = [Welford::default(), Welford::default()];
    for replica in 0..replicas {
        let (mut drift, mut scratch) = (network(None), Scratch::default());
        let mut stream = stream(62, replica);
        let goal = Goal::updates(updates);
        let start = SimTime::ZERO;
        let (stretch, end) = pace
            .advance(start, &mut drift, stepping, goal, &mut stream, &mut scratch)
            .ok()?;
        seen[0].add(end.seconds());
        seen[1].add(stretch.gradients as f64);
    }
    Some(seen)
}

fn by_events(protocol: Protocol, stepping: &Stepping, updates: u64, replicas: u64) -> [Welford; 2] {
    let mut seen = [Welford::default(), Welford::default()];
    for replica in 0..replicas {
        let goal = Goal::updates(updates);
        let (stretch, end) = event(protocol, stepping, goal, stream(61, replica));
        seen[0].add(end);
        seen[1].add(stretch.gradients as f64);
    }
    seen
}

fn any_time(stream: &mut Stream) -> WorkerTime {
    let cv = 0.03 + 0.4 * stream.uniform() * stream.uniform();
    match stream.below(4) {
        0 => straggling(cv, 0.05, 1.0 + 4.0 * stream.uniform()),
        _ => log_normal(cv),
    }
}

/// For any workers, variation and barrier: times and gradients of many updates equal those of events. A barrier at which
/// there is always a gradient has no variance to fit.
#[test]
fn flexible_barriers_come_out_in_fast_as_in_events() {
    let mut draw = Stream::seeded(26);
    let (mut tried, mut left) = (0, 0);
    for number in 0..60 {
        let workers = 2 + draw.below(15) as u32;
        let time = any_time(&mut draw);
        let after_s = 0.05 + 3.0 * draw.uniform() * draw.uniform();
        let mut stepping = stepping(workers, 0.5 * draw.uniform(), time);
        stepping.worker_s = 0.3 + 2.0 * draw.uniform();
        if draw.below(5) == 0 {
            let factors = (0..workers).map(|_| 0.7 + 0.8 * draw.uniform());
            stepping.machines = Some(factors.collect());
        }
        let flexible = protocol(&format!("{{ flexible = {{ after_s = {after_s} }} }}"));
        // Twice the time to fall out of step.
        let rounds = (1.0 / (time.cv() * time.cv())).max(60.0);
        let each = (stepping.worker_s / after_s).min(f64::from(workers));
        let updates = (rounds * each).ceil() as u64;
        if updates * u64::from(workers) > 40_000 || flexible.check_fast(&stepping, updates).is_err()
        {
            continue;
        }
        tried += 1;
        let Some(quick) = by_pace(flexible, &stepping, updates, 400) else {
            println!("in events: {workers} workers, {stepping:?}, after {after_s} s, {time:?}");
            left += 1;
            continue;
        };
        let slow = by_events(flexible, &stepping, updates, 40);
        for (what, (slow, quick)) in ["end", "gradients"].iter().zip(slow.iter().zip(&quick)) {
            let off = quick.mean() - slow.mean();
            let error = error(slow).hypot(error(quick));
            let tolerance = 0.002 * slow.mean() + 4.5 * error;
            assert!(
                off.abs() <= tolerance,
                "{number}: {workers} workers of {}, after {after_s} s, {time:?}, {updates} updates, {what}: {} {}",
                stepping.worker_s,
                slow.mean(),
                quick.mean()
            );
        }
    }
    assert!(tried >= 30 && left <= 2, "{tried} {left}");
}

/// An update by renewal theory, compared with long runs of events.
#[test]
fn an_update_of_flexible_barriers_is_what_renewal_theory_says() {
    let mut unequal = stepping(5, 0.2, log_normal(0.4));
    unequal.machines = Some([0.7, 0.9, 1.0, 1.3, 1.8].into());
    for (after_s, stepping) in [
        (0.05, stepping(4, 0.1, log_normal(0.5))),
        (0.2, stepping(8, 0.1, WorkerTime::EXPONENTIAL)),
        (0.4, stepping(3, 0.0, straggling(0.3, 0.05, 4.0))),
        (0.7, stepping(6, 0.3, log_normal(0.3))),
        (0.3, unequal),
    ] {
        let flexible = protocol(&format!("{{ flexible = {{ after_s = {after_s} }} }}"));
        let update = flexible.long_run_update(&stepping).expect("a formula");
        let (first, all) = (2_000, 12_000);
        let (mut seconds, mut gradients, mut missed) =
            (Welford::default(), Welford::default(), Welford::default());
        for replica in 0..24 {
            let run = |updates| {
                let goal = Goal::updates(updates);
                event(flexible, &stepping, goal, stream(63, replica))
            };
            let ((before, from_s), (after, end_s)) = (run(first), run(all));
            let each = 1.0 / (all - first) as f64;
            seconds.add((end_s - from_s) * each);
            gradients.add((after.gradients - before.gradients) as f64 * each);
            missed.add((after.missed_gradients - before.missed_gradients) * each);
        }
        for (what, seen, told) in [
            ("seconds", seconds, update.seconds),
            ("gradients", gradients, update.gradients),
            ("missed", missed, update.missed),
        ] {
            let off = told - seen.mean();
            let tolerance = 4.0 * error(&seen) + 1e-3 * seen.mean();
            assert!(
                off.abs() <= tolerance,
                "after {after_s}, {what}: {told} {}",
                seen.mean()
            );
        }
    }
    let even = stepping(4, 0.1, log_normal(0.0));
    let flexible = protocol("{ flexible = { after_s = 0.7 } }");
    assert_eq!(flexible.long_run_update(&even), None, "never out of step");
}

/// Three clusters, three variations, nine barriers, in a scenario with defaults for other keys: no replica is far from its
/// expectation.
#[test]
fn no_plain_setting_of_flexible_barriers_is_far_from_its_expectation() {
    for (workload, workers, batch) in [
        ("scavenger-resnet18", 8, 512),
        ("scavenger-resnet18", 16, 1024),
        ("scavenger-resnet50", 16, 768),
    ] {
        for cv in [0.02, 0.05, 0.1] {
            for after_s in [0.5, 0.7, 0.9, 1.1, 1.3, 1.7, 2.1, 2.7, 3.3] {
                let scenario = scenario(&format!(
                    "seed = 5\nreplicas = 6\nworkloads = [\"{workload}\"]\nsync.flexible = {{ after_s = {after_s} }}\n\
                     cluster.pairs = [[{workers}, {batch}]]\nvariation.step_cv = {cv}\n\
                     search = {{ strategies = [\"oracle\"], objectives = [\"time\"] }}"
                ));
                let plan = Plan::new(&scenario).expect("a checked scenario");
                let mut evaluator = Evaluator::new(&plan);
                for number in 0..plan.cases() {
                    let record = evaluator.evaluate(plan.case(number));
                    let (time_h, expected_h) = (record.time_h, record.expected_time_h);
                    let (time_h, expected_h) =
                        (time_h.expect("a result"), expected_h.expect("a result"));
                    assert!(
                        (time_h / expected_h - 1.0).abs() < 0.01,
                        "{workload} {workers} x {batch}, cv {cv}, after {after_s}: {time_h} h for {expected_h} h"
                    );
                }
            }
        }
    }
}

/// Measured rates have an error of 0.03 %: long runs of events, with an error of 0.02 %, do not differ by more.
#[test]
fn measured_rates_are_known_to_three_in_ten_thousand() {
    for (text, workers, time, updates, runs) in [
        ("{ ssp = { slack = 2 } }", 8, log_normal(0.3), 40_000, 120),
        ("{ ssp = { slack = 1 } }", 4, log_normal(0.3), 40_000, 100),
        ("{ ssp = { slack = 3 } }", 8, log_normal(0.6), 100_000, 160),
        (
            "{ speculative = { quantile = 0.9, spare = 1 } }",
            8,
            straggling(0.1, 0.05, 4.0),
            10_000,
            160,
        ),
    ] {
        let protocol = protocol(text);
        let stepping = stepping(workers, 0.25, time);
        let slow = &by_events(protocol, &stepping, updates, runs)[0];
        let quick = by_pace(protocol, &stepping, updates, 4_000).expect("it is believed");
        let quick = &quick[0];
        let off = quick.mean() / slow.mean() - 1.0;
        let spread = error(slow).hypot(error(quick)) / slow.mean();
        println!(
            "{text}: {:+.4} %, by events {:.4} %",
            100.0 * off,
            100.0 * spread
        );
        assert!(
            off.abs() <= 3.0 * spread.hypot(3e-4),
            "{text}: {:+.4} % ± {:.4} %",
            100.0 * off,
            100.0 * spread
        );
    }
}

/// Machines that differ: the late ones of a step are not random ones.
#[test]
fn backup_workers_on_unequal_machines_waste_more_than_their_share() {
    let mut stepping = stepping(6, 0.2, log_normal(0.2));
    stepping.machines = Some([0.6, 0.8, 1.0, 1.1, 1.5, 2.0].into());
    let backup = protocol("{ backup = { spare = 2 } }");
    let wasted = event(backup, &stepping, Goal::updates(4_000), stream(64, 0))
        .0
        .wasted;
    // With equal machines it would be a third.
    assert!(wasted > 0.35, "{wasted}");
}

/// A job cut into stretches of a few steps, by losses, wastes as much as a long one: a long step with a straggler counts by
/// its compute and not by the time that all waited.
#[test]
fn what_copies_waste_does_not_depend_on_how_often_a_job_is_cut() {
    let speculative = protocol("{ speculative = { quantile = 0.9 } }");
    let stepping = stepping(8, 0.1, straggling(0.1, 0.02, 8.0));
    let run = |updates, replica| {
        let goal = Goal::updates(updates);
        event(speculative, &stepping, goal, stream(66, replica)).0
    };
    let mut totals = Totals::default();
    for replica in 0..30_000 {
        totals.add(&run(2, replica), 0.125);
    }
    let whole = run(60_000, 30_000).wasted;
    let ratio = totals.wasted() / whole;
    assert!((ratio - 1.0).abs() < 0.04, "{} {whole}", totals.wasted());
}

/// Workers that begin together finish their first gradients together: if checkpoints cut a job into stretches of a few steps,
/// a formula for workers out of step is a third too slow.
#[test]
fn asynchronous_jobs_that_are_cut_into_short_stretches_take_as_long_as_in_events() {
    let time_h = |fidelity: &str, cv: f64| {
        let scenario = scenario(&format!(
            "seed = 3\nfidelity = \"{fidelity}\"\nreplicas = 4\nworkloads = [\"scavenger-resnet18\"]\n\
             sync.asp = {{ service_s = 0 }}\ncluster.pairs = [[8, 512]]\nvariation.step_cv = {cv}\n\
             spot = {{ exponential_mean_h = 1e5, checkpoint = {{ periodic-s = 3 }} }}\n\
             search = {{ strategies = [\"oracle\"], objectives = [\"time\"] }}"
        ));
        let plan = Plan::new(&scenario).expect("a checked scenario");
        let mut evaluator = Evaluator::new(&plan);
        let mut times = Welford::default();
        for number in 0..plan.cases() {
            let record = evaluator.evaluate(plan.case(number));
            times.add(record.time_h.expect("a result"));
        }
        times
    };
    for cv in [0.0, 0.3] {
        let [slow, quick] = ["event", "fast"].map(|fidelity| time_h(fidelity, cv));
        let off = quick.mean() / slow.mean() - 1.0;
        let tolerance = 1e-3 + 4.0 * error(&slow).hypot(error(&quick)) / slow.mean();
        assert!(
            off.abs() < tolerance,
            "cv {cv}: {} {}",
            slow.mean(),
            quick.mean()
        );
    }
}

/// Short stretches: at the start no worker has missed anything, and gradients after a worker's last update are missed by none.
#[test]
fn gradients_of_short_stretches_are_as_stale_as_in_events() {
    let mut unequal = stepping(4, 0.1, log_normal(0.6));
    unequal.machines = Some([0.7, 0.9, 1.1, 1.6].into());
    let equal = |workers, cv| stepping(workers, 0.1, log_normal(cv));
    for (text, stepping, updates) in [
        ("{ asp = { service_s = 0 } }", equal(8, 0.5), 24),
        ("{ asp = { service_s = 0 } }", equal(2, 0.8), 40),
        ("{ asp = { service_s = 0 } }", unequal, 24),
        ("{ asp = { service_s = 0.1 } }", equal(8, 0.5), 400),
        ("{ ssp = { slack = 3 } }", equal(4, 0.5), 2_000),
        ("{ flexible = { after_s = 0.7 } }", equal(4, 0.5), 200),
    ] {
        let protocol = protocol(text);
        let pace = Pace::new(protocol, &stepping);
        let mut seen = [Welford::default(), Welford::default()];
        for replica in 0..3_000 {
            let goal = Goal::updates(updates);
            let slow = event(protocol, &stepping, goal, stream(71, replica)).0;
            let (mut drift, mut scratch) = (network(None), Scratch::default());
            let mut stream = stream(72, replica);
            let start = SimTime::ZERO;
            let quick = pace.advance(
                start,
                &mut drift,
                &stepping,
                goal,
                &mut stream,
                &mut scratch,
            );
            let (quick, _) = quick.expect("it is fast");
            seen[0].add(slow.mean_staleness());
            seen[1].add(quick.mean_staleness());
        }
        let [slow, quick] = &seen;
        let tolerance = 0.01 * slow.mean() + 4.0 * error(slow).hypot(error(quick));
        assert!(
            (quick.mean() - slow.mean()).abs() <= tolerance,
            "{text}: {} in events, {} in fast",
            slow.mean(),
            quick.mean()
        );
    }
}
