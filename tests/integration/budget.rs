//! Training within a budget of time: at most a number of steps, or until a time.

use scavsim::cluster::random_effects::{RandomEffectLaws, RandomEffects};
use scavsim::experiment::Plan;
use scavsim::job::{Job, TrainingResult};
use scavsim::rng::Purpose;
use scavsim::scenario::Scenario;
use scavsim::stats::Welford;
use scavsim::training::Fidelity;
use scavsim::training::drift::DriftPath;
use scavsim::training::sync::Goal;
use scavsim::units::SimTime;
use scavsim::usage::Usage;

use crate::live::tiny;

const BOTH: [Fidelity; 2] = [Fidelity::Event, Fidelity::Fast];

/// The only configuration of a scenario.
struct Bench {
    plan: Plan,
}

impl Bench {
    fn of(scenario: &Scenario) -> Bench {
        let plan = Plan::new(scenario).expect("a checked scenario");
        Bench { plan }
    }

    /// Trains from time zero; returns the result, and its time.
    fn train(&self, fidelity: Fidelity, replica: u64, goal: Goal) -> (TrainingResult, SimTime) {
        let (plan, arena) = (&self.plan, self.plan.arena(0).expect("an arena"));
        let world = arena.world().expect("simulated");
        let truth = &world.truths[0];
        let drift = DriftPath::still();
        let mut job = Job::new(
            fidelity,
            plan.terms.start_up,
            drift.clone(),
            plan.terms.streams,
        );
        job.restart(drift, replica, world.spot.as_deref());
        let luck = RandomEffects::draw(
            truth,
            &RandomEffectLaws::from_variation(&world.variation),
            &plan.terms.streams,
            replica,
        );
        let batch = truth.configuration.batch;
        job.hold(&truth.cluster, batch).expect("VMs come");
        let mut stream = plan.terms.streams.stream(replica, Purpose::Trial(1));
        let run = job.train(&truth.cluster, &luck, goal, &mut stream);
        (run.expect("it comes to its end"), job.now())
    }
}

fn until(updates: u64, until: SimTime) -> Goal {
    Goal {
        updates,
        mark: 0,
        until,
    }
}

const STATIC: &str = "cluster.vm = [\"slow\"]\ncluster.workers = [2]\n";

#[test]
fn a_run_until_the_end_of_its_nth_step_completes_n_steps() {
    for (fidelity, cv) in [
        (Fidelity::Event, 0.3),
        // If steps vary, `fast` draws others when it must stop.
        (Fidelity::Fast, 0.0),
    ] {
        let bench = Bench::of(&tiny(&format!("{STATIC}variation.step_cv = {cv}")));
        assert!(
            bench
                .plan
                .arena(0)
                .expect("an arena")
                .world()
                .expect("simulated")
                .truths[0]
                .cluster
                .is_static
        );
        for n in [1, 2, 7, 60] {
            let (whole, end) = bench.train(fidelity, 0, Goal::updates(n));
            assert_eq!((whole.steps, whole.advance.at_mark), (n, end));
            let (cut, rests) = bench.train(fidelity, 0, until(1_000, end));
            assert_eq!((cut.steps, rests), (n, end), "{fidelity:?}");
            let before = end - SimTime::from_nanoseconds(1);
            let (cut, rests) = bench.train(fidelity, 0, until(1_000, before));
            assert_eq!((cut.steps, rests), (n - 1, before), "{fidelity:?}");
            let (cut, rests) = bench.train(fidelity, 0, until(n, SimTime::from_seconds(1e6)));
            assert_eq!((cut.steps, rests), (n, end), "{fidelity:?}");
        }
    }
}

/// Means within four standard errors: fails with probability 1e-4 at other draws.
#[test]
fn both_fidelities_complete_as_many_steps_in_a_time() {
    let bench = Bench::of(&tiny(&format!("{STATIC}variation.step_cv = 0.5")));
    let time = SimTime::from_seconds(30.0);
    let seen = BOTH.map(|fidelity| {
        let mut seen = Welford::default();
        for replica in 0..400 {
            let (cut, end) = bench.train(fidelity, replica, until(100_000, time));
            assert_eq!(end, time);
            seen.add(cut.steps as f64);
        }
        seen
    });
    for other in &seen[1..] {
        let error = ((seen[0].variance() + other.variance()) / 400.0).sqrt();
        let apart = (seen[0].mean() - other.mean()).abs();
        assert!(apart < 4.0 * error, "{apart} ± {error}");
    }
    assert!(seen[0].mean() > 50.0);
}

#[test]
fn a_cluster_that_may_change_stops_in_time_too() {
    let spot = "cluster.workers = [2]\ncluster.vm = [\"slow\"]\ncluster.start_up_s = 0\n\
                [spot]\nexponential_mean_h = 0.02\nreplacement_s = 40\nwarm_restart_s = 7\n\
                checkpoint = { periodic-s = 4 }\ncheckpoint_write_s = 1\n";
    let bench = Bench::of(&tiny(spot));
    for fidelity in BOTH {
        let mut steps = 0;
        for seconds in 1..200 {
            let time = SimTime::from_seconds(f64::from(seconds) * 3.7);
            let (cut, end) = bench.train(fidelity, 3, until(1_000_000, time));
            assert_eq!(end, time, "{fidelity:?}");
            steps = cut.steps.max(steps);
        }
        assert!(steps > 100, "{steps}");
        let (whole, end) = bench.train(fidelity, 3, Goal::updates(40));
        let (cut, rests) = bench.train(fidelity, 3, until(40, end));
        assert_eq!((whole.steps, cut.steps, rests), (40, 40, end));
    }
}

/// VM by VM or all alike: a job that moves from one to the other rents the VMs of its cluster, and no others.
#[test]
fn a_job_that_walks_between_kinds_and_plain_types_holds_only_the_cluster_it_is_in() {
    let text = "cluster.vm = [\"slow\", \"told\"]\ncluster.workers = [2, 4]\ncluster.start_up_s = 10\n\
                kind.told = { vm = \"slow\" }\n";
    let bench = Bench::of(&tiny(text));
    let (plan, world) = (
        &bench.plan,
        bench
            .plan
            .arena(0)
            .expect("an arena")
            .world()
            .expect("simulated"),
    );
    let drift = DriftPath::still();
    let mut job = Job::new(
        Fidelity::Fast,
        plan.terms.start_up,
        drift.clone(),
        plan.terms.streams,
    );
    job.restart(drift, 0, None);
    let (mut start, mut held) = (SimTime::ZERO, 0.0);
    for walk in [0, 2, 1, 3, 2, 0, 3, 1] {
        let truth = &world.truths[walk];
        job.hold(&truth.cluster, truth.configuration.batch)
            .expect("VMs come");
        let luck = RandomEffects::draw(
            truth,
            &RandomEffectLaws::from_variation(&world.variation),
            &plan.terms.streams,
            0,
        );
        let mut stream = plan.terms.streams.stream(0, Purpose::Trial(1));
        (job.train(&truth.cluster, &luck, Goal::updates(50), &mut stream)).expect("no stall");
        held += truth
            .vm_counts()
            .map(|(_, vms)| f64::from(vms))
            .sum::<f64>()
            * (job.now() - start).seconds();
        start = job.now();
        assert_eq!(
            job.ledger().vms(),
            truth.vm_counts().map(|(_, vms)| vms).sum::<u32>()
        );
    }
    let mut usage = Usage::default();
    job.usage_until(job.now(), &mut usage);
    let billed: f64 = (usage.intervals.iter())
        .map(|i| f64::from(i.vms) * (i.to - i.from).seconds())
        .sum();
    assert!((billed / held - 1.0).abs() < 1e-9, "{billed} {held}");
}
