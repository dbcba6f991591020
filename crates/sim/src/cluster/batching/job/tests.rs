use proptest::prelude::*;

use super::*;
use crate::tests::{close, near};
use scavsim_base::rng::{Purpose, Streams, identity};
use scavsim_base::stats::Welford;

fn stream(replica: u64) -> Stream {
    Streams::new(20).stream(replica, Purpose::Trial(identity("batching")))
}

fn job(text: &str) -> UnequalJob {
    toml::from_str(text).unwrap_or_else(|e| panic!("{e}"))
}

/// Workers of 3, 5 and 12 cores, as in the histogram of the paper, with some loss and fixed work.
fn three(batching: &str) -> UnequalJob {
    job(&format!(
        "
        workers = [{{ size = 3 }}, {{ size = 5 }}, {{ size = 12 }}]
        batch = 64
        steps = 2000
        law = {{ sample_s = 0.05, fixed_samples = 4, speed = {{ amdahl = {{ serial = 0.02 }} }} }}
        sync_s = 0.1
        restart_s = 30
        batching = {batching}
        "
    ))
}

fn run(job: &UnequalJob) -> Outcome {
    job.plan().expect("it is possible").run(&mut stream(0))
}

/// The same job in stretches and step by step.
fn both_ways(plan: &Plan, streams: [u64; 2]) -> [Outcome; 2] {
    let [fast, slow] = streams;
    let slow = plan.run_step_by_step(&mut stream(slow));
    [plan.run(&mut stream(fast)), slow]
}

#[test]
fn three_unequal_workers_settle_in_at_most_two_changes() {
    let outcome = run(&three("{ dynamic = {} }"));
    assert!((1..=2).contains(&outcome.changes), "{outcome:?}");
    assert_eq!(outcome.restart_s, 30.0 * outcome.changes as f64);
    // Not done by the bounds: the times are within the dead-band of each other.
    let law = three("\"uniform\"").law;
    let times = [(0, 3.0), (1, 5.0), (2, 12.0)]
        .map(|(worker, size)| law.step_s(outcome.batches[worker], size, None));
    let mean = times.iter().sum::<f64>() / 3.0;
    times.iter().for_each(|time| close(*time, mean, 0.05));
}

#[test]
fn nothing_changes_inside_the_dead_band() {
    let mut near = three("{ dynamic = { start = \"static\" } }");
    near.law = job_law("{ sample_s = 0.05, speed = \"linear\" }");
    // 4 % apart from proportion.
    near.workers[0].size = Positive::new(3.0).expect("above 0");
    for (sizes, changes) in [([3.1, 5.0, 11.7], 0), ([3.4, 5.0, 11.0], 1)] {
        near.schedule = Some(Schedule::Levels(vec![level(500, &sizes)]));
        assert_eq!(run(&near).changes, changes);
    }
}

fn job_law(text: &str) -> WorkerLaw {
    #[derive(Deserialize)]
    struct Wrapped {
        law: WorkerLaw,
    }
    let wrapped: Wrapped = toml::from_str(&format!("law = {text}")).expect("a law");
    wrapped.law
}

fn level(from_step: u32, sizes: &[f64]) -> super::super::Level {
    let sizes = sizes.iter().map(|s| Positive::new(*s).expect("above 0"));
    super::super::Level {
        from_step: Count::new(from_step).expect("at least 1"),
        sizes: sizes.collect(),
    }
}

#[test]
fn static_is_exactly_in_proportion() {
    for (batching, expected) in [
        ("\"static\"", [28.8, 48.0, 115.2]),
        ("\"uniform\"", [64.0; 3]),
    ] {
        for (found, expected) in run(&three(batching)).batches.iter().zip(expected) {
            // But for the last bit of the division.
            close(*found, expected, 1e-15);
        }
    }
}

#[test]
fn with_a_true_guess_the_controller_arrives_at_static() {
    let mut dynamic = three("{ dynamic = { dead_band = 0 } }");
    dynamic.law = job_law("{ sample_s = 0.05, speed = \"linear\" }");
    let outcome = run(&dynamic);
    for (found, expected) in outcome.batches.iter().zip([28.8, 48.0, 115.2]) {
        close(*found, expected, 1e-9);
    }
    dynamic.batching = Batching::Static;
    let fixed = run(&dynamic);
    assert!(fixed.time_s < outcome.time_s);
    // 64 samples per worker on 20/3 cores each, at 0.05 s per sample and core.
    let step_s = 64.0 * 0.05 / (20.0 / 3.0) + 0.1;
    near(fixed.time_s, 2000.0 * step_s, 1e-6);
}

/// The paper's remark: without a dead-band, noise alone keeps sizes moving.
#[test]
fn without_a_dead_band_sizes_oscillate_under_noise() {
    let changes = |dead_band: f64| {
        let mut noisy = three(&format!("{{ dynamic = {{ dead_band = {dead_band} }} }}"));
        noisy.step_cv = Spread::new(0.05).expect("a spread");
        let plan = noisy.plan().expect("it is possible");
        both_ways(&plan, [0, 1]).map(|outcome| outcome.changes)
    };
    // 39 looks in 2,000 steps.
    assert_eq!(changes(0.0), [39, 39]);
    let few = changes(0.05);
    assert!(few.iter().all(|n| (1..=5).contains(n)), "{few:?}");
}

#[test]
fn a_change_costs_its_restart() {
    let mut dear = three("{ dynamic = {} }");
    let before = run(&dear);
    dear.restart_s = NonNegative::new(100.0).expect("at least 0");
    let after = run(&dear);
    assert_eq!(before.changes, after.changes);
    let extra = 70.0 * after.changes as f64;
    near(after.time_s - before.time_s, extra, 1e-6);
}

#[test]
fn the_released_controller_follows_omnilearns_schedule() {
    let worker = "{ size = 12, least = 16, most = 96 }";
    let mut elastic = job(&format!(
        "
        workers = [{worker}, {worker}, {worker}, {worker}]
        batch = 32
        steps = 4000
        law = {{ sample_s = 0.05, speed = \"linear\" }}
        batching = {{ omnilearn = {{ epoch_steps = 100 }} }}
        schedule = {{ omnilearn = {{ block_steps = 500 }} }}
        "
    ));
    let followed = run(&elastic);
    // Up three levels and down again; the last block begins at step 3,500.
    assert!(followed.changes >= 4, "{followed:?}");
    assert_eq!(followed.last_change, Some(3600));
    elastic.batching = Batching::Uniform;
    assert!(followed.time_s < 0.85 * run(&elastic).time_s);
}

/// Without variation, the leaps over looks that change nothing leave the same job.
#[test]
fn leaps_change_nothing() {
    for batching in [
        "{ dynamic = { every = 7 } }",
        // So slow that the first look after a change of sizes sees nothing yet.
        "{ dynamic = { every = 7, smoothing = 0.02 } }",
        "{ omnilearn = { epoch_steps = 30 } }",
        "\"static\"",
    ] {
        let mut leaping = three(batching);
        leaping.schedule = Some(Schedule::Levels(vec![
            level(333, &[6.0, 6.0, 8.0]),
            level(1000, &[2.0, 9.0, 9.0]),
        ]));
        let plan = leaping.plan().expect("it is possible");
        let [fast, slow] = both_ways(&plan, [0, 0]);
        close(fast.time_s, slow.time_s, 1e-9);
        assert_eq!(fast.changes, slow.changes);
        assert_eq!(fast.last_change, slow.last_change);
    }
}

#[test]
fn a_job_without_variation_costs_its_changes() {
    // Look by look this takes minutes.
    let mut long = three("{ dynamic = { every = 1 } }");
    long.steps = Count::new(u32::MAX).expect("at least 1");
    assert!(run(&long).time_s > 1e8);
}

/// Means within 4 standard errors, over replicas with fixed seeds.
#[test]
fn stretches_agree_with_single_steps() {
    for batching in [
        "\"uniform\"",
        "\"static\"",
        "{ dynamic = { every = 20, smoothing = 0.2 } }",
        "{ omnilearn = { epoch_steps = 25, dead_band = 0.1 } }",
    ] {
        let mut noisy = three(batching);
        noisy.steps = Count::new(400).expect("at least 1");
        noisy.step_cv = Spread::new(0.3).expect("a spread");
        // Restarts so dear that a different number of changes would show.
        noisy.restart_s = NonNegative::new(10.0).expect("at least 0");
        noisy.schedule = Some(Schedule::Levels(vec![level(190, &[8.0, 6.0, 6.0])]));
        let plan = noisy.plan().expect("it is possible");
        let (mut times, mut changes) = (<[Welford; 2]>::default(), <[Welford; 2]>::default());
        for replica in 0..1000 {
            let ways = both_ways(&plan, [2 * replica, 2 * replica + 1]);
            for (way, outcome) in ways.iter().enumerate() {
                times[way].add(outcome.time_s);
                changes[way].add(outcome.changes as f64);
            }
        }
        for [fast, slow] in [times, changes] {
            let variance = fast.standard_deviation().powi(2) + slow.standard_deviation().powi(2);
            let errors = 4.0 * (variance / 1000.0).sqrt();
            near(fast.mean(), slow.mean(), errors + f64::MIN_POSITIVE);
        }
    }
}

#[test]
fn parts_that_do_not_go_together_are_told() {
    let wrong = |change: fn(&mut UnequalJob)| {
        let mut job = three("\"uniform\"");
        change(&mut job);
        job.plan().expect_err("it is impossible")
    };
    let crossed = wrong(|job| {
        job.workers[1].least = Positive::new(90.0);
        job.workers[1].most = Positive::new(80.0);
    });
    assert!(matches!(crossed, ImpossibleJob::Bounds { worker: 2, .. }));
    let small = wrong(|job| {
        let most = Positive::new(60.0);
        job.workers.iter_mut().for_each(|worker| worker.most = most);
    });
    let told = "the global batch is 192; the bounds of all workers allow 0.192 to 180";
    assert_eq!(small.to_string(), told);
    let short = wrong(|job| job.schedule = Some(Schedule::Levels(vec![level(10, &[1.0, 1.0])])));
    assert_eq!(short.to_string(), "level 1 has 2 sizes for 3 workers");
    let unordered = wrong(|job| {
        let levels = [1.0, 2.0].map(|size| level(10, &[size; 3]));
        job.schedule = Some(Schedule::Levels(levels.to_vec()));
    });
    let order = ImpossibleJob::Order { level: 2, step: 10 };
    assert_eq!(unordered, order);
    assert_eq!(wrong(|job| job.workers.clear()), ImpossibleJob::NoWorkers);
    let long = wrong(|job| job.law = job_law("{ sample_s = 1e6, speed = \"linear\" }"));
    assert_eq!(long, ImpossibleJob::Long);
}

#[test]
fn a_wrong_key_or_number_is_an_error() {
    for (text, complaint) in [
        (
            "{ dynamic = { deadband = 0.1 } }",
            "unknown field `deadband`",
        ),
        ("{ dynamic = { smoothing = 0 } }", "above 0 and at most 1"),
        ("{ omnilearn = {} }", "missing field `epoch_steps`"),
        ("\"statc\"", "unknown variant `statc`"),
        ("\"static\"\ncores = 3", "unknown field `cores`"),
        ("\"static\"\nrestart_s = -1", "from 0 to 10^9"),
    ] {
        let whole = format!(
            "workers = [{{ size = 1 }}]\nbatch = 8\nsteps = 10\n\
             law = {{ sample_s = 1, speed = \"linear\" }}\nbatching = {text}"
        );
        let told = toml::from_str::<UnequalJob>(&whole);
        let told = told.expect_err(text).to_string();
        assert!(told.contains(complaint), "{told}");
    }
}

proptest! {
    /// Whatever the workers: global batch and bounds hold after every change, and no policy
    /// stretches the job beyond all measure.
    #[test]
    fn policies_keep_the_global_batch_and_the_bounds(
        workers in prop::collection::vec((0.5..40f64, 1.0..30f64, 40.0..200f64), 2..7),
        released in any::<bool>(),
        cv in 0.0..0.5f64,
        seed in any::<u64>(),
    ) {
        let batching = if released {
            "{ omnilearn = { epoch_steps = 10 } }"
        } else {
            "{ dynamic = { every = 10, dead_band = 0.01 } }"
        };
        let mut any_job = three(batching);
        any_job.batch = Positive::new(32.0).expect("above 0");
        any_job.steps = Count::new(60).expect("at least 1");
        any_job.step_cv = Spread::new(cv).expect("a spread");
        any_job.workers = (workers.iter())
            .map(|w| Worker {
                size: Positive::new(w.0).expect("above 0"),
                least: Positive::new(w.1),
                most: Positive::new(w.2),
                knee: None,
            })
            .collect();
        let plan = any_job.plan().expect("30 < 32 < 40");
        for outcome in [plan.run(&mut stream(seed)), plan.run_step_by_step(&mut stream(seed))] {
            let sum: f64 = outcome.batches.iter().sum();
            prop_assert!((sum / (32.0 * workers.len() as f64) - 1.0).abs() < 1e-9);
            for (b, w) in outcome.batches.iter().zip(&workers) {
                prop_assert!(*b >= w.1 && *b <= w.2, "{outcome:?}");
            }
            prop_assert!(outcome.time_s.is_finite() && outcome.time_s > 0.0);
        }
    }
}

/// What users' clusters settle on is what the job comes to, as both are the same controller and steps.
#[test]
fn a_clusters_batches_settle_where_the_job_ends() {
    let job = three("{ dynamic = {} }");
    let outcome = run(&job);
    let sizes = [3.0, 5.0, 12.0];
    let step_s = |worker: usize, batch| job.law.step_s(batch, sizes[worker], None);
    let settled = crate::cluster::balance::settle(&job.batching, None, 3, None, 192.0, |w, b| {
        Ok::<f64, ImpossibleJob>(step_s(w, b))
    });
    let settled = settled.expect("all times are known");
    assert_eq!(u64::from(settled.changes), outcome.changes);
    for (own, of_job) in settled.batches.iter().zip(&outcome.batches) {
        close(*own, *of_job, 1e-6);
    }
    let all = settled.batches.iter().enumerate();
    let all = all.map(|(worker, batch)| step_s(worker, *batch));
    let slowest_s = all.fold(0.0, f64::max);
    let expected = 2000.0 * (slowest_s + 0.1) + settled.unbalanced_s + outcome.restart_s;
    close(outcome.time_s, expected, 1e-9);
}
