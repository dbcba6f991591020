//! Both fidelities agree in distribution: `event` is the reference of `fast`.
//!
//! Every comparison: at least 1,000 replicas, means within 4 standard errors of each other, and a
//! two-sample Kolmogorov–Smirnov test with p > 0.0003. A correct program fails one of the some 40 comparisons with
//! probability 0.02; at fixed draws nothing varies.

use scavsim::experiment::{Evaluator, Plan};
use scavsim::job::Job;
use scavsim::rng::{Purpose, Streams, WorkloadKey};
use scavsim::scenario::ClusterScenario as _;
use scavsim::scenario::Scenario;
use scavsim::stats::{Welford, kolmogorov_smirnov};
use scavsim::training::drift::DriftPath;
use scavsim::training::slowest;
use scavsim::training::sync::fast::Pace;
use scavsim::training::sync::{Goal, Protocol};
use scavsim::training::variation::{Drift, Straggler};
use scavsim::training::{Fidelity, Stepping, Variation};
use scavsim::units::SimTime;

const REPLICAS: u64 = 1_500;

/// Seconds of `steps` steps of K workers in each replica; the seed sets fidelities apart.
fn seconds(
    fidelity: Fidelity,
    workers: u32,
    steps: u64,
    mark: u64,
    variation: &Variation,
    machines: Option<&[f64]>,
) -> (Vec<f64>, Vec<f64>) {
    let streams = Streams::new(fidelity as u64 + 40);
    let time = variation.worker_time();
    let slowest = match machines {
        None => slowest::moments(workers, time),
        Some(factors) => slowest::moments_unequal(factors, time),
    };
    let stepping = Stepping {
        workers,
        worker_s: 1.0,
        communication_s: 0.25,
        time,
        slowest,
        machines: machines.map(Into::into),
    };
    (0..REPLICAS)
        .map(|replica| {
            let drift = DriftPath::new(
                variation.drift,
                streams,
                replica,
                WorkloadKey::from_name("x"),
            );
            let mut job = Job::new(fidelity, SimTime::ZERO, drift, Streams::new(0));
            let mut stream = streams.stream(replica, Purpose::Trial(0));
            let pace = Pace::new(Protocol::Bsp, &stepping);
            let goal = Goal {
                mark,
                ..Goal::updates(steps)
            };
            let run = job.stretch(&pace, &stepping, goal, &mut stream);
            let at_mark = run.expect("no stall").advance.at_mark;
            (rounded(at_mark), rounded(job.now()))
        })
        .unzip()
}

/// To the microsecond: if times have few distinct values, rounding every step to a nanosecond or the sum once must not make
/// equal values look different.
fn rounded(time: SimTime) -> f64 {
    (time.seconds() * 1e6).round() / 1e6
}

fn assert_same(name: &str, a: &[f64], b: &[f64]) {
    let moments = |values: &[f64]| {
        let mut seen = Welford::default();
        values.iter().for_each(|&v| seen.add(v));
        seen
    };
    let (x, y) = (moments(a), moments(b));
    let error = (x.variance() / a.len() as f64 + y.variance() / b.len() as f64).sqrt();
    assert!(
        (x.mean() - y.mean()).abs() <= 4.0 * error + 1e-6,
        "{name}: means {} and {}, standard error {error}",
        x.mean(),
        y.mean()
    );
    let test = kolmogorov_smirnov(a, b);
    assert!(test.p_value > 3e-4, "{name}: p = {}", test.p_value);
}

fn all_agree(
    name: &str,
    workers: u32,
    steps: u64,
    variation: &Variation,
    machines: Option<&[f64]>,
) {
    let run = |fidelity| seconds(fidelity, workers, steps, steps, variation, machines).1;
    let event = run(Fidelity::Event);
    let name = format!("{name}, {workers} workers, {steps} steps");
    assert_same(&name, &event, &run(Fidelity::Fast));
}

#[test]
fn plain_variation_over_short_and_long_stretches() {
    for cv in [0.05, 0.3, 1.0] {
        let variation = Variation {
            step_cv: cv,
            ..Variation::default()
        };
        for (workers, steps) in [(1, 20), (2, 7), (8, 20), (16, 64), (16, 400), (64, 100)] {
            all_agree(&format!("cv {cv}"), workers, steps, &variation, None);
        }
    }
}

#[test]
fn stragglers() {
    for (cv, probability, factor) in [(0.1, 0.01, 4.0), (0.0, 0.05, 2.0), (0.05, 0.0005, 10.0)] {
        let variation = Variation {
            step_cv: cv,
            straggler: Some(Straggler {
                probability,
                factor,
            }),
            ..Variation::default()
        };
        for steps in [20, 300] {
            all_agree(&format!("straggler {factor}"), 8, steps, &variation, None);
        }
    }
}

#[test]
fn unequal_machines() {
    let variation = Variation {
        step_cv: 0.1,
        ..Variation::default()
    };
    let factors = [0.8, 0.9, 1.0, 1.05, 1.3];
    for steps in [20, 300] {
        all_agree("machines", 5, steps, &variation, Some(&factors));
    }
}

#[test]
fn a_drifting_network() {
    for period_s in [3.0, 60.0, 1000.0] {
        let variation = Variation {
            step_cv: 0.2,
            drift: Some(Drift {
                sigma: 0.5,
                period_s,
            }),
            ..Variation::default()
        };
        all_agree(&format!("drift {period_s} s"), 4, 400, &variation, None);
    }
}

#[test]
fn the_marked_step_of_a_longer_run() {
    let variation = Variation {
        step_cv: 0.3,
        ..Variation::default()
    };
    for (mark, steps) in [(3, 6), (250, 300), (20, 5000)] {
        let run = |fidelity| seconds(fidelity, 8, steps, mark, &variation, None);
        let (event, event_end) = run(Fidelity::Event);
        let (fast, fast_end) = run(Fidelity::Fast);
        assert_same(&format!("mark {mark} of {steps}"), &event, &fast);
        assert_same(
            &format!("end after mark {mark} of {steps}"),
            &event_end,
            &fast_end,
        );
        let rest = |marks: &[f64], ends: &[f64]| -> Vec<f64> {
            marks.iter().zip(ends).map(|(m, e)| e - m).collect()
        };
        assert_same(
            &format!("rest after mark {mark} of {steps}"),
            &rest(&event, &event_end),
            &rest(&fast, &fast_end),
        );
    }
}

/// A whole job with search, on a data set small enough for the event path: realised time, search
/// time and prediction error of partial search.
#[test]
fn whole_jobs_with_search() {
    let mut scenario: Scenario = super::replay::scenario(
        r#"
        replicas = 500
        workloads = ["scavenger-resnet18"]
        [variation]
        step_cv = 0.3
        placement_sigma = 0.03
        noise_cv = 0.1
        epoch_cv = 0.02
        [search]
        strategies = ["partial"]
        objectives = ["cost"]
        [strategy.partial]
        cold_start_steps = 60
        "#,
    );
    scenario.workloads_mut()[0]
        .0
        .constants
        .samples_per_epoch
        .value = 600.0;
    let run = |fidelity: Fidelity| -> [Vec<f64>; 3] {
        let mut scenario = scenario.clone();
        scenario.fidelity = fidelity;
        scenario.seed = 90 + fidelity as u64;
        let plan = Plan::new(&scenario).expect("a checked scenario");
        let mut evaluator = Evaluator::new(&plan);
        let mut seen = [Vec::new(), Vec::new(), Vec::new()];
        for number in 0..plan.cases() {
            let record = evaluator.evaluate(plan.case(number));
            assert_eq!(record.reason, "");
            for (values, figure) in
                (seen.iter_mut()).zip([record.time_h, record.search_time_h, record.error_mean])
            {
                values.push(figure.expect("a result"));
            }
        }
        seen
    };
    let event = run(Fidelity::Event);
    let fast = run(Fidelity::Fast);
    for (name, (a, b)) in (["time", "search", "error"].iter()).zip(event.iter().zip(&fast)) {
        assert_same(name, a, b);
    }
}
