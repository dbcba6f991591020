//! Compares our predictions with measurements, and explains differences.

use std::collections::BTreeMap;

use super::*;
use crate::{Activations, PreparedPlan, Runtime, Work};
use scavsim_base::tests::close;

fn beside() -> MeasuredPlanSet {
    let mut wrong = Diagnostics::default();
    let beside = MeasuredPlanSet::embedded(&mut wrong);
    assert!(wrong.is_empty(), "{}", wrong.render(false));
    let beside = beside.expect("it is embedded");
    assert_eq!(beside.plans.len(), 18);
    beside
}

impl MeasuredPlanSet {
    fn prepared(&self, plan: &MeasuredParallelPlan, runtime: &Runtime) -> PreparedPlan {
        self.ours(plan, runtime).expect("it was run")
    }

    /// Relative error of our prediction.
    fn error(&self, plan: &MeasuredParallelPlan, runtime: &Runtime) -> f64 {
        self.prepared(plan, runtime).step_s() / plan.iteration_s - 1.0
    }

    /// Mean absolute error, in %.
    fn mean(&self, plans: &[&MeasuredParallelPlan], runtime: &Runtime) -> f64 {
        let errors = plans.iter().map(|p| self.error(p, runtime).abs());
        100.0 * errors.sum::<f64>() / plans.len() as f64
    }

    fn all(&self) -> Vec<&MeasuredParallelPlan> {
        self.plans.iter().collect()
    }

    fn pipelines(&self) -> Vec<&MeasuredParallelPlan> {
        let more = |plan: &&MeasuredParallelPlan| plan.plan.stages.len() > 1;
        self.plans.iter().filter(more).collect()
    }

    fn of(&self, name: &str) -> &MeasuredParallelPlan {
        let mut named = self.plans.iter().filter(|p| p.name == name);
        named.next().expect("it is in the table")
    }

    /// Whether launching any pass needs more time than computing it.
    fn is_launch_bound(&self, plan: &MeasuredParallelPlan) -> bool {
        let (profile, micro_batch) = (self.profile(plan), plan.plan.micro_batch);
        plan.plan.stages.iter().any(|stage| {
            stage.replicas.iter().any(|r| {
                let gpu = profile.gpu(NODES[r.kind as usize].0).expect("profiled");
                let times = profile.times(gpu, r.tensor, micro_batch).expect("profiled");
                let s = times.seconds_between(stage.first_layer, stage.last_layer);
                s.busy_forward < 0.9 * s.forward || s.busy_backward < 0.9 * s.backward
            })
        })
    }

    fn peak(&self, plan: &MeasuredParallelPlan, runtime: &Runtime) -> f64 {
        let prepared = self.prepared(plan, runtime);
        let stages = (0..prepared.stages()).map(|s| prepared.peak_memory_bytes(s));
        stages.max().unwrap_or(0) as f64
    }
}

fn names(plans: &[&MeasuredParallelPlan]) -> String {
    let names: Vec<&str> = plans.iter().map(|plan| &*plan.name).collect();
    names.join(" ")
}

#[test]
fn iterations_are_ours_within_five_and_a_half_percent_on_average() {
    let beside = beside();
    let runtime = Runtime::default();
    let mean = beside.mean(&beside.all(), &runtime);
    assert!(mean < 5.5, "{mean}");
    let mut over = beside.all();
    over.retain(|plan| beside.error(plan, &runtime).abs() > 0.12);
    assert_eq!(names(&over), "n1-d1-m4-g1 n1-d1-m4-g32 n4-d4");
}

/// Explains the three errors above 12 %: launching their kernels needs the whole time of their passes, so the profile, measured layer by
/// layer, does not apply to a step in which the host runs ahead. Plans without such passes are all within 6 %.
#[test]
fn plans_over_twelve_percent_are_launch_bound() {
    let beside = beside();
    let runtime = Runtime::default();
    let all = beside.all().into_iter();
    let (bound, free): (Vec<_>, Vec<_>) = all.partition(|plan| beside.is_launch_bound(plan));
    let expected = "n1-d1-m4-g1 n1-d1-m4-g32 n2-d2 n4-d1 n4-d2 n4-d4";
    assert_eq!(names(&bound), expected);
    for plan in &free {
        assert!(beside.error(plan, &runtime).abs() < 0.06, "{}", plan.name);
    }
    let [free, bound] = [free, bound].map(|plans| beside.mean(&plans, &runtime));
    assert!(free < 2.5 && bound > 3.0 * free, "{free} {bound}");
}

/// One micro-batch and 32 on one node: no step made of equal micro-batches, synchronisation and update fits both.
#[test]
fn the_plans_of_one_node_contradict_each_other() {
    let beside = beside();
    let [one, many] = ["n1-d1-m4-g1", "n1-d1-m4-g32"].map(|name| beside.of(name));
    let micro_batch_s = (many.iteration_s - many.gradient_sync_s) / 32.0;
    assert!(one.iteration_s < micro_batch_s + one.gradient_sync_s);
    // Its gradient times leave 22 ms for a micro-batch of 4, a third of the time of one of 1.
    let odd = beside.of("n4-d4");
    assert!((odd.iteration_s - odd.gradient_sync_s) / 8.0 < micro_batch_s / 3.0);
}

/// One replica on RTX 3090, one on Titan RTX: the measured 59 s are waiting for the slower one, then the slow link.
#[test]
fn waiting_for_a_slower_replica_is_as_measured() {
    let beside = beside();
    let plan = beside.of("mit-n2-d2");
    let timeline = beside.prepared(plan, &Runtime::default()).timeline();
    let ours = timeline.iter().filter(|s| s.work == Work::Reduce);
    let ours = ours.map(|s| s.end_s - s.start_s).fold(0.0, f64::max);
    close(ours, plan.gradient_sync_s, 0.03);
}

#[test]
fn of_equal_gpus_the_fastest_plan_is_the_measured_fastest() {
    let beside = beside();
    let runtime = Runtime::default();
    let mut groups: BTreeMap<Vec<(u32, u32)>, Vec<&MeasuredParallelPlan>> = BTreeMap::new();
    for plan in &beside.plans {
        let mut gpus: BTreeMap<u32, u32> = BTreeMap::new();
        for replica in plan.plan.stages.iter().flat_map(|s| &s.replicas) {
            *gpus.entry(replica.kind).or_default() += replica.tensor;
        }
        let gpus = gpus.into_iter().collect();
        groups.entry(gpus).or_default().push(plan);
    }
    let more = groups.values().filter(|plans| plans.len() > 1);
    assert_eq!(more.clone().count(), 7);
    for plans in more {
        // Global batches differ: seconds per sequence.
        let each = |s: f64, p: &MeasuredParallelPlan| s / f64::from(p.plan.global_batch);
        let theirs = |p: &MeasuredParallelPlan| each(p.iteration_s, p);
        let ours = |p: &MeasuredParallelPlan| each(beside.prepared(p, &runtime).step_s(), p);
        let fastest = (plans.iter()).min_by(|a, b| theirs(a).total_cmp(&theirs(b)));
        let chosen = plans.iter().min_by(|a, b| ours(a).total_cmp(&ours(b)));
        assert_eq!(fastest.map(|p| &p.name), chosen.map(|p| &p.name));
    }
}

/// Among the ways to send, that of the framework fits best; without its time per message, four stages are 13 % short.
#[test]
fn messages_one_after_the_other_fit_best() {
    let beside = beside();
    let mean = |runtime: &Runtime| beside.mean(&beside.pipelines(), runtime);
    let with = |activations| Runtime {
        activations,
        ..Runtime::default()
    };
    let serial = mean(&with(Activations::Serial));
    let duplex = mean(&with(Activations::Duplex));
    let overlapped = mean(&with(Activations::Overlapped));
    assert!(serial < 3.0 && serial < duplex && duplex < overlapped);
    let bare = Runtime {
        message_s: 0.0,
        ..Runtime::default()
    };
    assert!(serial < mean(&bare));
    assert!(beside.error(beside.of("n16-d4"), &bare) < -0.12);
}

/// The rule that messages hide behind launches decides two plans, for any constant of messages.
#[test]
fn messages_hide_behind_launches() {
    let beside = beside();
    let runtime = Runtime {
        host_runs_ahead: false,
        ..Runtime::default()
    };
    for (name, least) in [("n4-d1", 0.3), ("n4-d2", 0.15)] {
        let plan = beside.of(name);
        let with = beside.error(plan, &Runtime::default());
        let without = beside.error(plan, &runtime);
        assert!(with.abs() < 0.06 && without > least);
    }
    for plan in beside.plans.iter().filter(|p| !beside.is_launch_bound(p)) {
        let change = beside.error(plan, &Runtime::default()) - beside.error(plan, &runtime);
        assert!(change.abs() < 1e-5, "{}", plan.name);
    }
}

/// The constant of messages, fitted to all pipelines except those of a node count, or of a site, and judged on these.
#[test]
fn the_constant_of_messages_holds_where_it_was_not_fitted() {
    let beside = beside();
    let (mut errors, mut judged) = (0.0, 0);
    for nodes in [0, 2, 4, 8, 16, 32] {
        let out = beside.left_out(nodes).expect("they were run");
        let out = out.expect("there are some");
        errors += out.error * out.plans as f64;
        judged += out.plans;
        assert!((1.5e-3..=5e-3).contains(&out.message_s));
    }
    let mean = errors / judged as f64;
    assert!(judged == beside.pipelines().len() && mean < 0.035, "{mean}");
    assert_eq!(beside.left_out(64), Ok(None));
}

#[test]
fn peak_memory_on_one_site_is_ours_within_three_percent() {
    let beside = beside();
    let runtime = Runtime::default();
    let (others, mut gh) = (&beside, beside.all());
    gh.retain(|plan| !plan.name.starts_with("mit"));
    assert_eq!(gh.len(), 15);
    let error = |p: &&MeasuredParallelPlan| others.peak(p, &runtime) / p.peak_memory_bytes - 1.0;
    let mean = gh.iter().map(|plan| error(plan).abs()).sum::<f64>() / 15.0;
    assert!(mean < 0.03, "{mean}");
}

/// The figures of the source for the three plans on consumer GPUs contradict each other. Two are below the memory of
/// parameters with their state and the activations of one micro-batch, from its own layer table, with nothing reserved. The
/// third is above one of these, though each of its GPUs holds less of everything.
#[test]
fn peak_memory_on_consumer_gpus_contradicts_the_layers() {
    let beside = beside();
    let bare = Runtime {
        reserved_bytes: 0.0,
        working_layers: 0.0,
        ..Runtime::default()
    };
    let least = |name: &str| {
        let plan = beside.of(name);
        let stages = plan.plan.stages.iter().map(|stage| {
            let profile = beside.profile(plan);
            let weights = profile.weights(stage.replicas[0].tensor).expect("known");
            let (first, last) = (stage.first_layer, stage.last_layer);
            let stored = weights.stored_bytes(first, last) * u64::from(plan.plan.micro_batch);
            (16 * weights.parameters(first, last) + stored) as f64
        });
        stages.fold(0.0, f64::max)
    };
    for name in ["mit-n2-d1", "mit-n2-d2"] {
        assert!(beside.of(name).peak_memory_bytes < 0.6 * least(name));
    }
    let [two, three] = ["mit-n2-d1", "mit-n3-d1"].map(|name| beside.of(name));
    assert!(three.peak_memory_bytes > 1.5 * two.peak_memory_bytes);
    assert!(beside.peak(three, &bare) < 0.4 * beside.peak(two, &bare));
}

/// The shipped constant minimises the mean error of all pipelines.
#[test]
fn the_constant_of_messages_is_from_all_pipelines() {
    let beside = beside();
    let pipelines = beside.pipelines();
    let fitted = beside.fitted(&pipelines).expect("they were run");
    let shown = |message_s: f64| format!("{message_s:.2e}");
    assert_eq!(shown(fitted.message_s), shown(Runtime::default().message_s));
    assert_eq!(pipelines.len(), 11);
}
