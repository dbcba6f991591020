//! Synchronisation protocols compared with exact theory, with each other, and `fast` with `event`.
//!
//! Means are compared within 4 standard errors taken from the replicas, unless said otherwise;
//! seeds are fixed, so nothing varies from run to run.

use scavsim::engine::Queue;
use scavsim::rng::{Purpose, Stream, Streams, WorkloadKey};
use scavsim::stats::{Welford, kolmogorov_smirnov};
use scavsim::training::drift::DriftPath;
use scavsim::training::slowest;
use scavsim::training::sync::fast::Pace;
use scavsim::training::sync::{Goal, Protocol, Scratch, Stretch};
use scavsim::training::variation::{Drift, Straggler, WorkerTime};
use scavsim::training::{Floor, Log, Stepping, Variation};
use scavsim::units::SimTime;

pub fn protocol(text: &str) -> Protocol {
    #[derive(serde::Deserialize)]
    struct File {
        sync: Protocol,
    }
    let file: File = toml::from_str(&format!("sync = {text}")).expect("a protocol");
    file.sync
}

pub fn log_normal(cv: f64) -> WorkerTime {
    let variation = Variation {
        step_cv: cv,
        ..Variation::default()
    };
    variation.worker_time()
}

pub fn straggling(cv: f64, probability: f64, factor: f64) -> WorkerTime {
    WorkerTime {
        straggler: Some(Straggler {
            probability,
            factor,
        }),
        ..log_normal(cv)
    }
}

/// K workers with a mean of 1 s.
pub fn stepping(workers: u32, communication_s: f64, time: WorkerTime) -> Stepping {
    Stepping {
        workers,
        worker_s: 1.0,
        communication_s,
        time,
        slowest: slowest::moments(workers, time),
        machines: None,
    }
}

pub fn stream(seed: u64, replica: u64) -> Stream {
    Streams::new(seed).stream(replica, Purpose::Trial(0))
}

pub fn network(drift: Option<Drift>) -> DriftPath {
    DriftPath::new(drift, Streams::new(3), 0, WorkloadKey::from_name("x"))
}

/// One stretch from time zero; returns the result and its end.
pub fn event(
    protocol: Protocol,
    stepping: &Stepping,
    goal: Goal,
    mut stream: Stream,
) -> (Stretch, f64) {
    let (mut queue, mut scratch) = (Queue::new(), Scratch::default());
    let mut floor = Floor {
        queue: &mut queue,
        drift: &mut network(None),
        stepping,
        stream: &mut stream,
        scratch: &mut scratch,
        log: &mut Log::default(),
    };
    let stretch = protocol.advance(&mut floor, goal).expect("no stall");
    assert!(queue.is_empty());
    (stretch, queue.now().seconds())
}

/// Moments of `figure` for each of `replicas` runs.
pub fn runs(
    name: &str,
    stepping: &Stepping,
    goal: Goal,
    replicas: u64,
    figure: impl Fn(&Stretch, f64) -> f64,
) -> Welford {
    let mut seen = Welford::default();
    for replica in 0..replicas {
        let (stretch, end) = event(protocol(name), stepping, goal, stream(7, replica));
        seen.add(figure(&stretch, end));
    }
    seen
}

pub fn error(seen: &Welford) -> f64 {
    (seen.variance() / seen.count() as f64).sqrt()
}

pub fn fast(
    protocol: Protocol,
    stepping: &Stepping,
    goal: Goal,
    mut stream: Stream,
) -> (Stretch, f64) {
    let (mut drift, mut scratch) = (network(None), Scratch::default());
    let (stretch, end) = Pace::new(protocol, stepping)
        .advance(
            SimTime::ZERO,
            &mut drift,
            stepping,
            goal,
            &mut stream,
            &mut scratch,
        )
        .expect("valid in `fast`");
    (stretch, end.seconds())
}

pub fn assert_same(name: &str, a: &[f64], b: &[f64]) {
    let moments = |values: &[f64]| {
        let mut seen = Welford::default();
        values.iter().for_each(|&v| seen.add(v));
        seen
    };
    let (x, y) = (moments(a), moments(b));
    let error = error(&x).hypot(error(&y));
    let test = kolmogorov_smirnov(a, b);
    println!(
        "{name}: {:.5} and {:.5}, difference {:.1} errors, p = {:.3}",
        x.mean(),
        y.mean(),
        (x.mean() - y.mean()) / error.max(1e-12),
        test.p_value
    );
    assert!((x.mean() - y.mean()).abs() <= 4.0 * error + 1e-6, "{name}");
    assert!(test.p_value > 0.01, "{name}: p = {}", test.p_value);
}

pub fn assert_mean(name: &str, seen: &Welford, expected: f64) {
    let (mean, error) = (seen.mean(), error(seen));
    println!("{name}: {mean:.6} ± {error:.6}, theory {expected:.6}");
    assert!(
        (mean - expected).abs() <= 4.0 * error + 1e-9,
        "{name}: {mean} ± {error}, expected {expected}"
    );
}

#[test]
fn settings_are_read_as_they_are_documented_and_mistakes_are_refused() {
    assert_eq!(protocol("\"bsp\""), Protocol::Bsp);
    for text in [
        "{ backup = { spare = 2 } }",
        "{ speculative = { quantile = 0.9 } }",
        "{ speculative = { quantile = 0.9, spare = 1 } }",
        "{ ssp = { slack = 0 } }",
        "{ asp = { servers = 1, service_s = 0.01 } }",
        "{ asp = { service_s = 0, service = \"exponential\" } }",
        "{ asp = { service_s = 0.1, service = { cv = 0.4 }, step_includes_service = true } }",
        "{ flexible = { after_s = 1.5 } }",
    ] {
        let read = protocol(text);
        let name = text.trim_start_matches("{ ").split(' ').next();
        assert_eq!(Some(read.name()), name);
    }
    for text in [
        "\"bspp\"",
        "{ backup = { spare = 0 } }",
        "{ backup = { spares = 1 } }",
        "{ speculative = { quantile = 1.0 } }",
        "{ ssp = { slack = -1 } }",
        "{ asp = { servers = 0, service_s = 1 } }",
        "{ asp = { service_s = -1 } }",
        "{ asp = { service_s = 1, sharpness = 3.5 } }",
        "{ asp = { service_s = 1, service = { cv = 2.1 } } }",
        "{ asp = { service_s = 1, service = { cv = 1, more = 1 } } }",
        "{ flexible = { after_s = 0 } }",
        "{ backup = { spare = 1, more = 1 } }",
        "{ speculative = { quantile = 0.9, more = 1 } }",
        "{ ssp = { slack = 1, more = 1 } }",
        "{ asp = { service_s = 1, more = 1 } }",
        "{ flexible = { after_s = 1, more = 1 } }",
    ] {
        let table: Result<std::collections::BTreeMap<String, Protocol>, _> =
            toml::from_str(&format!("sync = {text}"));
        assert!(table.is_err(), "{text}");
    }
    let backup = protocol("{ backup = { spare = 4 } }");
    assert_eq!(backup.check(5), Ok(()));
    let refused = backup.check(4).expect_err("nobody is left");
    assert_eq!(
        refused.to_string(),
        "4 spare of 4 workers leave none to compute"
    );
}

/// Throughput and utilisation of K machines and a repairman, by exact mean-value analysis.
fn machine_repairman(workers: u32, think_s: f64, service_s: f64) -> (f64, f64) {
    let (mut queued, mut throughput) = (0.0, 0.0);
    for n in 1..=workers {
        let response = service_s * (1.0 + queued);
        throughput = f64::from(n) / (think_s + response);
        queued = throughput * response;
    }
    (throughput, throughput * service_s)
}

#[test]
fn asp_with_one_exponential_server_is_the_machine_repairman_model() {
    // The rate depends only on the mean of the compute times, for any distribution.
    for (workers, service_s, think) in [
        (1, 0.3, WorkerTime::EXPONENTIAL),
        (4, 0.05, WorkerTime::EXPONENTIAL),
        (8, 0.125, WorkerTime::EXPONENTIAL),
        (8, 0.5, WorkerTime::EXPONENTIAL),
        (8, 0.125, log_normal(0.05)),
        (4, 0.3, log_normal(0.8)),
    ] {
        let name = format!("{{ asp = {{ service_s = {service_s}, service = \"exponential\" }} }}");
        let stepping = stepping(workers, 0.0, think);
        let (throughput, utilisation) = machine_repairman(workers, 1.0, service_s);
        let updates = 20_000;
        let goal = Goal::updates(updates);
        let seen = runs(&name, &stepping, goal, 40, |s, end| s.updates as f64 / end);
        assert_mean(
            &format!("throughput, {workers}, {service_s}"),
            &seen,
            throughput,
        );
        let seen = runs(&name, &stepping, goal, 40, |s, _| s.utilisation);
        assert_mean(
            &format!("utilisation, {workers}, {service_s}"),
            &seen,
            utilisation,
        );
        // Between two updates of a worker each of the others has one on average.
        let seen = runs(&name, &stepping, goal, 1, |s, _| s.mean_staleness());
        let others = f64::from(workers - 1);
        assert!((seen.mean() - others).abs() <= 0.01 * others);
    }
}

#[test]
fn a_contended_server_sets_the_pace_however_fast_the_workers() {
    let stepping = stepping(16, 0.0, log_normal(0.3));
    let round = |name: &str| {
        let (stretch, end) = event(
            protocol(name),
            &stepping,
            Goal::updates(16_000),
            stream(1, 0),
        );
        assert!(stretch.utilisation > 0.99);
        end / 1000.0
    };
    // K·t_ps per round of K updates; parts of an update are served in parallel. The start, when the server waits for the
    // first worker, is within the tolerance.
    assert!((round("{ asp = { service_s = 1 } }") / 16.0 - 1.0).abs() < 1e-3);
    assert!((round("{ asp = { service_s = 1, servers = 4 } }") / 4.0 - 1.0).abs() < 1e-3);
    // Varying services are no slower if the server is never idle, and two halves equal one whole of half the size.
    assert!(
        (round("{ asp = { service_s = 1, service = { cv = 0.8 } } }") / 16.0 - 1.0).abs() < 0.03
    );
    let halves = round("{ asp = { service_s = 2, servers = 2, service = { cv = 0.8 } } }");
    assert_eq!(
        halves,
        round("{ asp = { service_s = 1, service = { cv = 0.8 } } }")
    );
}

/// The more services vary, the sooner workers wait for each other, at an equal mean; in between is a smooth curve.
#[test]
fn a_server_whose_services_vary_is_full_sooner() {
    let stepping = stepping(4, 0.0, log_normal(0.05));
    let goal = Goal::updates(20_000);
    let speed = |cv: f64| {
        let text = format!("{{ asp = {{ service_s = 0.3, service = {{ cv = {cv} }} }} }}");
        runs(&text, &stepping, goal, 10, |s, end| s.updates as f64 / end).mean()
    };
    let speeds = [0.0, 0.4, 0.8, 1.2, 1.6].map(speed);
    assert!(
        speeds.windows(2).all(|pair| pair[1] < 0.985 * pair[0]),
        "{speeds:?}"
    );
    // With constant services, workers that have found their turns never wait.
    assert!((speeds[0] / (4.0 / 1.3) - 1.0).abs() < 0.03, "{speeds:?}");
    let exponential = "{ asp = { service_s = 0.3, service = \"exponential\" } }";
    let seen = runs(exponential, &stepping, goal, 10, |s, end| {
        s.updates as f64 / end
    });
    assert!((speed(1.0) / seen.mean() - 1.0).abs() < 0.01);
}

/// Two moments of the arrival number `needed` of `workers` exponentials: sums of 1/i and 1/i².
fn harmonic(needed: u32, workers: u32) -> (f64, f64) {
    let terms = (workers - needed + 1..=workers).map(|i| 1.0 / f64::from(i));
    (terms.clone().sum(), terms.map(|t| t * t).sum())
}

#[test]
fn quadrature_of_order_statistics_meets_the_harmonic_sums_and_the_mean_of_all() {
    for (needed, workers) in [
        (1, 1),
        (1, 4),
        (3, 4),
        (14, 16),
        (16, 16),
        (60, 64),
        (1000, 1024),
    ] {
        let seen = slowest::moments_of_nth(needed, workers, WorkerTime::EXPONENTIAL);
        let (mean, variance) = harmonic(needed, workers);
        assert!(
            (seen.mean - mean).abs() < 1e-10,
            "{needed} of {workers}: {seen:?}"
        );
        assert!((seen.deviation * seen.deviation - variance).abs() < 1e-9);
    }
    for time in [
        log_normal(0.3),
        straggling(0.1, 0.05, 4.0),
        straggling(0.0, 0.05, 4.0),
    ] {
        let all: f64 = (1..=9)
            .map(|n| slowest::moments_of_nth(n, 9, time).mean)
            .sum();
        assert!((all - 9.0).abs() < 1e-9, "{time:?}: {all}");
    }
}

#[test]
fn a_step_with_backup_workers_is_the_order_statistic() {
    for (time, spare) in [
        (WorkerTime::EXPONENTIAL, 2),
        (log_normal(0.3), 3),
        (straggling(0.1, 0.05, 4.0), 1),
        (straggling(0.0, 0.1, 3.0), 1),
    ] {
        let stepping = stepping(8, 0.25, time);
        let name = format!("{{ backup = {{ spare = {spare} }} }}");
        let expected = slowest::moments_of_nth(8 - spare, 8, time).mean + 0.25;
        let step_s = |s: &Stretch, end: f64| end / s.updates as f64;
        let seen = runs(&name, &stepping, Goal::updates(500), 80, step_s);
        assert_mean(&name, &seen, expected);
        let (stretch, _) = event(protocol(&name), &stepping, Goal::updates(500), stream(7, 0));
        assert_eq!(stretch.gradients, 500 * u64::from(8 - spare));
        assert_eq!(stretch.dropped, 500 * u64::from(spare));
        assert_eq!(stretch.mean_staleness(), 0.0);
    }
    // The expected dropped work: r of the last arrival's time.
    let exponential = stepping(8, 0.0, WorkerTime::EXPONENTIAL);
    let wasted = runs(
        "{ backup = { spare = 2 } }",
        &exponential,
        Goal::updates(2000),
        80,
        |s, _| s.wasted,
    );
    let last = harmonic(6, 8).0;
    let useful: f64 = (1..=6).map(|n| harmonic(n, 8).0).sum();
    assert_mean("wasted", &wasted, 2.0 * last / (useful + 2.0 * last));
}

#[test]
fn ssp_without_slack_is_bsp_bit_for_bit() {
    for (workers, time) in [
        (1, log_normal(0.3)),
        (8, log_normal(0.3)),
        (37, straggling(0.1, 0.05, 4.0)),
        (8, log_normal(0.0)),
    ] {
        let mut stepping = stepping(workers, 0.25, time);
        stepping.machines = Some(
            (0..workers)
                .map(|i| 1.0 + 0.01 * f64::from(i % 5))
                .collect(),
        );
        let goal = |updates| Goal::updates(updates);
        let bsp = event(Protocol::Bsp, &stepping, goal(300), stream(5, 0));
        let ssp = event(
            protocol("{ ssp = { slack = 0 } }"),
            &stepping,
            goal(300 * u64::from(workers)),
            stream(5, 0),
        );
        assert_eq!(bsp.1.to_bits(), ssp.1.to_bits());
        assert_eq!(bsp.0.gradients, ssp.0.gradients);
        assert_eq!(ssp.0.mean_staleness(), 0.0);
    }
}

#[test]
fn ssp_with_endless_slack_is_asp_without_a_server_bit_for_bit() {
    let stepping = stepping(12, 0.25, straggling(0.3, 0.05, 4.0));
    let run = |name| event(protocol(name), &stepping, Goal::updates(5000), stream(5, 0));
    let ssp = run("{ ssp = { slack = 4294967295 } }");
    let asp = run("{ asp = { service_s = 0 } }");
    assert_eq!(ssp.1.to_bits(), asp.1.to_bits());
    assert_eq!(ssp.0, asp.0);
}

#[test]
fn ssp_is_the_faster_the_more_slack_there_is() {
    let stepping = stepping(8, 0.1, straggling(0.3, 0.05, 4.0));
    let mut before = 0.0;
    for slack in [0, 1, 2, 4, 8, 16] {
        let name = format!("{{ ssp = {{ slack = {slack} }} }}");
        let seen = runs(&name, &stepping, Goal::updates(4000), 40, |_, end| {
            4000.0 / end
        });
        println!("{name}: {:.4} ± {:.4} updates/s", seen.mean(), error(&seen));
        assert!(seen.mean() - 4.0 * error(&seen) > before, "{name}");
        before = seen.mean();
    }
    // No more than workers that never wait.
    assert!(before <= 8.0 / 1.1 * 1.001);
}

/// Exponential times: the number of gradients of K workers is a Poisson process of rate K/μ, so sums at barriers have mean
/// and variance K·τ/μ. Any times: in the long run K·τ/μ a barrier, and every barrier falls into one gradient of each worker.
#[test]
fn flexible_barriers_sum_what_renewal_theory_says() {
    let name = "{ flexible = { after_s = 1.5 } }";
    let exponential = stepping(8, 0.25, WorkerTime::EXPONENTIAL);
    let sums = runs(name, &exponential, Goal::updates(1), 4000, |s, _| {
        s.gradients as f64
    });
    assert_mean("first barrier", &sums, 12.0);
    let (variance, tolerance) = (sums.variance(), 4.0 * 12.0 * (2.0 / 4000.0f64).sqrt());
    assert!((variance - 12.0).abs() < tolerance, "variance {variance}");
    for (time, communication_s) in [
        (WorkerTime::EXPONENTIAL, 0.25),
        (log_normal(0.3), 0.25),
        (straggling(0.2, 0.05, 4.0), 0.0),
    ] {
        let stepping = stepping(8, communication_s, time);
        let seen = runs(name, &stepping, Goal::updates(5000), 20, |s, end| {
            assert!((end - 5000.0 * (1.5 + communication_s)).abs() < 1e-6);
            s.gradients as f64 / 5000.0
        });
        // Each worker differs by at most a gradient from its state after infinitely many.
        let start = 8.0 / 5000.0;
        println!(
            "{time:?}: {:.4} ± {:.4}, theory 12",
            seen.mean(),
            error(&seen)
        );
        assert!((seen.mean() - 12.0).abs() < 4.0 * error(&seen) + start);
        let (stretch, _) = event(protocol(name), &stepping, Goal::updates(5000), stream(7, 0));
        // At a barrier every worker computes one gradient, and misses the finished ones of the seven others.
        let missed = stretch.mean_staleness();
        assert!((missed - 7.0).abs() < 7.0 * 2e-3, "{missed}");
    }
}

/// E[max over N of min(T, d + T')] with T, T' exponential: ∫ 1 − (1 − S(t)·S(t − d))^N dt.
#[test]
fn speculation_with_enough_spare_machines_is_the_lesser_of_both_attempts() {
    let tasks = 4;
    let stepping = stepping(8, 0.0, WorkerTime::EXPONENTIAL);
    let overdue: f64 = -(0.25f64).ln();
    let step = 1e-4;
    let expected: f64 = (0..300_000)
        .map(|i| {
            let t = (f64::from(i) + 0.5) * step;
            let survival = (-t - (t - overdue).max(0.0)).exp();
            (1.0 - (1.0 - survival).powi(tasks)) * step
        })
        .sum();
    let name = "{ speculative = { quantile = 0.75, spare = 4 } }";
    let seen = runs(name, &stepping, Goal::updates(500), 80, |_, end| {
        end / 500.0
    });
    assert_mean(name, &seen, expected);
}

#[test]
fn speculation_helps_with_stragglers_and_changes_nothing_without_variation() {
    let name = "{ speculative = { quantile = 0.95 } }";
    let step_s = |s: &Stretch, end: f64| end / s.updates as f64;
    for time in [
        straggling(0.1, 0.02, 5.0),
        straggling(0.0, 0.05, 3.0),
        WorkerTime::EXPONENTIAL,
    ] {
        let stepping = stepping(16, 0.25, time);
        let with = runs(name, &stepping, Goal::updates(500), 40, step_s);
        let without = runs("\"bsp\"", &stepping, Goal::updates(500), 40, step_s);
        println!(
            "{time:?}: {:.4} with, {:.4} without",
            with.mean(),
            without.mean()
        );
        let error = error(&with).hypot(error(&without));
        assert!(with.mean() + 4.0 * error < without.mean());
        let (stretch, _) = event(protocol(name), &stepping, Goal::updates(500), stream(7, 0));
        assert!(stretch.wasted > 0.0 && stretch.wasted < 0.5);
    }
    let alike = stepping(16, 0.25, log_normal(0.0));
    let with = event(protocol(name), &alike, Goal::updates(50), stream(7, 0));
    let without = event(Protocol::Bsp, &alike, Goal::updates(50), stream(7, 0));
    assert_eq!(with, without);
    // Little variation: copies start, and none wins; the times of originals are unchanged.
    let narrow = stepping(16, 0.25, log_normal(0.05));
    let times = |name| -> Vec<f64> {
        let end = |replica| {
            event(
                protocol(name),
                &narrow,
                Goal::updates(50),
                stream(7, replica),
            )
            .1
        };
        (0..600).map(end).collect()
    };
    assert_same("narrow", &times(name), &times("\"bsp\""));
}
