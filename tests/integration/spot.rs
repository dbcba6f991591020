//! Jobs on VMs that the provider preempts, compared with theory and with themselves.

use scavsim::cloud::lifetimes::{Kind, Model};
use scavsim::cluster::checkpoint::run_time::daly_h;
use scavsim::experiment::{Evaluator, Plan};
use scavsim::scenario::ClusterScenario as _;
use scavsim::scenario::Scenario;
use scavsim::stats::{Welford, kolmogorov_smirnov};
use scavsim::testbed::{JobTrial, SimulatedCluster, Terms};
use scavsim::training::Fidelity;
use scavsim::units::SECONDS_PER_HOUR;
use scavsim::usage::{EndedBy, Usage};

use crate::replay::scenario;

/// ResNet18 on 8 workers with batch 384 only, its restores of `restore_s`, and `rest`.
fn small(restore_s: f64, rest: &str) -> Scenario {
    let start_up = if rest.contains("start_up_s") {
        ""
    } else {
        "cluster.start_up_s = 0\n"
    };
    let text = format!(
        "seed = 11\nworkloads = [\"scavenger-resnet18\"]\n{start_up}cluster.pairs = [[8, 384]]\n\
         search.strategies = [\"oracle\"]\nsearch.objectives = [\"time\"]\n{rest}"
    );
    let mut scenario = scenario(&text);
    scenario.workloads_mut()[0].0.constants.restore_s.value = restore_s;
    scenario
}

/// Hours to the target, and usage, of runs without search.
fn runs(
    scenario: &Scenario,
    fidelity: Fidelity,
    replicas: u64,
    mut look: impl FnMut(f64, u32, &Usage),
) {
    let plan = Plan::new(scenario).expect("a checked scenario");
    let world = &plan.arena(0).expect("an arena").world().expect("simulated");
    let mut cluster = SimulatedCluster::new(
        world,
        &Terms {
            fidelity,
            ..plan.terms.clone()
        },
    );
    let mut usage = Usage::default();
    for replica in 0..replicas {
        cluster.restart(replica);
        let line = cluster.run_to_target(0).expect("no stall");
        cluster.usage_until(line.net_end, &mut usage);
        look(line.net_end.hours(), line.lost_vms, &usage);
    }
}

#[test]
fn vms_that_live_long_change_nothing() {
    let never = small(
        37.0,
        "variation = { step_cv = 0.1, epoch_cv = 0.05 }\nspot.exponential_mean_h = 1e12",
    );
    let mut owned = never.clone();
    owned.runs_in[0].setup.spot = None;
    for fidelity in [Fidelity::Fast, Fidelity::Event] {
        let hours = |scenario: &Scenario| {
            let mut all = Vec::new();
            runs(scenario, fidelity, 5, |hours, _, usage| {
                all.push((hours, usage.clone()))
            });
            all
        };
        assert_eq!(hours(&never), hours(&owned));
    }
}

/// In jobs five times as long as the trace VMs are lost at its rate: the mean over its time of the share of rented VMs that
/// is lost per hour. Four clusters up to the size of the trace and above, 0.3 % of standard error each.
#[test]
fn a_replayed_trace_loses_as_many_vms_in_long_jobs_as_in_the_measured_cluster() {
    let models = Model::embedded().0.iter();
    let traces = models.filter_map(|m| match &m.kind {
        Kind::Trace(trace) => Some((&m.name, trace)),
        _ => None,
    });
    for (name, trace) in traces {
        let lost = trace.changes().iter().filter(|change| change.removed > 0);
        let shares = lost.map(|c| f64::from(c.removed) / f64::from(c.held));
        let per_vm_hour = shares.sum::<f64>() / trace.length_h();
        for (workers, batch) in [(8, 384), (20, 1024)] {
            let rest = format!("[spot]\nlifetime = \"{name}\"\nkeeps = \"steps\"\n");
            let mut long = small(0.0, &rest);
            long.workloads_mut()[0].1[0].workers = workers;
            long.workloads_mut()[0].1[0].batch = batch;
            long.workloads_mut()[0].0.constants.samples_per_epoch.value *= 20.0;
            let (mut losses, mut vm_hours, mut least_h) = (0.0, 0.0, f64::INFINITY);
            runs(&long, Fidelity::Fast, 400, |hours, lost_vms, _| {
                losses += f64::from(lost_vms);
                vm_hours += hours * f64::from(workers);
                least_h = least_h.min(hours);
            });
            let rate = losses / vm_hours;
            assert!(
                least_h > 5.0 * trace.length_h() && (rate / per_vm_hour - 1.0).abs() < 0.02,
                "{name}, {workers}: {rate} instead of {per_vm_hour}, jobs of {least_h} h"
            );
        }
    }
}

/// Losses of eight VMs with exponential lifetimes are memoryless, M = mean/8 apart: Daly's expected run time is exact, except
/// that nothing is written at the end. 4,000 runs, 4.5 standard errors.
#[test]
fn the_mean_run_time_is_dalys() {
    for (mean_h, every_s, write_s, restore_s) in
        [(40.0, 1800.0, 60.0, 300.0), (16.0, 3600.0, 20.0, 0.0)]
    {
        let scenario = small(
            restore_s,
            &format!(
                "[spot]\nexponential_mean_h = {mean_h}\ncheckpoint = {{ periodic-s = {every_s} }}\n\
                 checkpoint_write_s = {write_s}"
            ),
        );
        let plan = Plan::new(&scenario).expect("a checked scenario");
        let truth = &plan
            .arena(0)
            .expect("an arena")
            .world()
            .expect("simulated")
            .truths[0];
        let step_h = truth.expected_step_s / SECONDS_PER_HOUR;
        let steps = (truth.steps_to_target * (1.0 - 1e-12)).ceil();
        let per_piece = (every_s / SECONDS_PER_HOUR / step_h).ceil();
        let pieces = (steps / per_piece).ceil() - 1.0;
        let rest_h = (steps - pieces * per_piece) * step_h;
        let (piece_h, mtbf_h) = (per_piece * step_h, mean_h / 8.0);
        let (write_h, restore_h) = (write_s / SECONDS_PER_HOUR, restore_s / SECONDS_PER_HOUR);
        let expected = daly_h(pieces * piece_h, piece_h, write_h, restore_h, mtbf_h)
            + daly_h(rest_h, rest_h, 0.0, restore_h, mtbf_h);
        let mut seen = Welford::default();
        runs(&scenario, Fidelity::Fast, 4000, |hours, _, _| {
            seen.add(hours)
        });
        let off = (seen.mean() - expected) / (seen.standard_deviation() / 4000f64.sqrt());
        assert!(
            off.abs() < 4.5,
            "{} against {expected}: {off} standard errors",
            seen.mean()
        );
        assert!(expected > 1.05 * steps * step_h, "losses must count");
    }
}

/// The mean hours as the time to write a checkpoint goes to 0: continuous, and never those without checkpoints. Under every policy that
/// derives its interval from that time, with lifetimes of any kind and memoryless ones, by runs and in the oracle's expectations.
#[test]
fn a_checkpoint_that_takes_no_time_to_write_is_written() {
    for lives in [
        "lifetime = \"gcp-2019-highcpu-32\"",
        "exponential_mean_h = 41.7",
    ] {
        let hours = |checkpoint: &str, write_s: f64| {
            let scenario = small(
                17.3,
                &format!(
                    "cluster.start_up_s = 31\n[spot]\n{lives}\ncheckpoint = \"{checkpoint}\"\n\
                     checkpoint_write_s = {write_s:e}"
                ),
            );
            let mut seen = Welford::default();
            runs(&scenario, Fidelity::Fast, 25, |hours, _, _| seen.add(hours));
            let plan = Plan::new(&scenario).expect("a checked scenario");
            let arena = plan.arena(0).expect("an arena");
            [seen.mean(), arena.expected(0, 0).time_s / SECONDS_PER_HOUR]
        };
        let never = hours("none", 0.0);
        for checkpoint in ["young", "young-daly", "searched"] {
            let of = |write_s| hours(checkpoint, write_s);
            let [none, hair, millisecond, second] = [0.0, 1e-7, 1e-3, 1.0].map(of);
            for way in 0..2 {
                let (none, hair) = (none[way], hair[way]);
                let what = format!("{checkpoint} {way}: {none} {hair} {millisecond:?} {second:?}");
                assert!((none / hair - 1.0).abs() < 2e-3, "{what}");
                assert!((none / millisecond[way] - 1.0).abs() < 0.02, "{what}");
                assert!(
                    none < 1.002 * second[way] && none < 0.9 * never[way],
                    "{what}, {never:?}"
                );
            }
        }
    }
}

/// Workers without a barrier lose their current work whenever all stop to write. Faster writes never increase the time.
#[test]
fn checkpoints_of_workers_that_wait_for_nobody_are_not_too_many() {
    let hours = |write_s: f64| {
        let scenario = small(
            17.3,
            &format!(
                "variation.step_cv = 0.3\nsync.asp.service_s = 0\nstaleness.per_missed_batch = 0\n\
                 [spot]\nexponential_mean_h = 13.7\ncheckpoint = \"young-daly\"\ncheckpoint_write_s = {write_s:e}"
            ),
        );
        let mut seen = Welford::default();
        runs(&scenario, Fidelity::Fast, 60, |hours, _, _| seen.add(hours));
        seen.mean()
    };
    let [none, hair, some] = [0.0, 1e-7, 0.3].map(hours);
    assert!((none / hair - 1.0).abs() < 1e-3, "{none} {hair}");
    assert!(none < 1.005 * some, "{none} {some}");
}

/// At every moment eight VMs are rented and billed, however they end; lost ones are marked.
#[test]
fn every_vm_second_is_billed_once() {
    let scenario = small(
        37.0,
        "cluster.start_up_s = 90\nvariation.step_cv = 0.1\n[spot]\nexponential_mean_h = 20\n\
         checkpoint = \"young-daly\"\ncheckpoint_write_s = 30",
    );
    let mut losses = 0;
    for fidelity in [Fidelity::Fast, Fidelity::Event] {
        let replicas = if fidelity == Fidelity::Fast { 200 } else { 3 };
        runs(&scenario, fidelity, replicas, |hours, lost, usage| {
            let held: f64 = (usage.intervals.iter())
                .map(|i| f64::from(i.vms) * (i.to - i.from).hours())
                .sum();
            let late: f64 = (usage.intervals.iter())
                .filter(|i| i.ended_by == EndedBy::Provider)
                .map(|_| 1.0)
                .sum();
            assert!((held / (8.0 * hours) - 1.0).abs() < 1e-9, "{held} {hours}");
            assert_eq!(late, f64::from(lost));
            let phases: f64 = usage.phases.vm_seconds[0].1.iter().sum();
            assert!(
                (phases / 3600.0 / held - 1.0).abs() < 1e-9,
                "{phases} {held}"
            );
            losses += lost;
        });
    }
    assert!(losses > 400, "{losses}");
}

/// Both fidelities through losses: means within 4 standard errors, Kolmogorov-Smirnov p > 0.01.
#[test]
fn fidelities_agree_through_losses() {
    let mut scenario = small(
        20.0,
        "variation.step_cv = 0.3\n[spot]\nexponential_mean_h = 1.5\ncheckpoint = { periodic-s = 120 }\n\
         checkpoint_write_s = 5\nreplacement_s = 30",
    );
    scenario.workloads_mut()[0]
        .0
        .constants
        .samples_per_epoch
        .value = 600.0;
    let hours = |fidelity| {
        let mut all = Vec::new();
        runs(&scenario, fidelity, 500, |hours, _, _| all.push(hours));
        all
    };
    let (fast, event) = (hours(Fidelity::Fast), hours(Fidelity::Event));
    let moments = |values: &[f64]| {
        let mut seen = Welford::default();
        values.iter().for_each(|v| seen.add(*v));
        (
            seen.mean(),
            seen.standard_deviation() / (values.len() as f64).sqrt(),
        )
    };
    let ((a, error_a), (b, error_b)) = (moments(&fast), moments(&event));
    let off = (a - b) / error_a.hypot(error_b);
    assert!(off.abs() < 4.0, "{a} {b}: {off} standard errors");
    let p = kolmogorov_smirnov(&fast, &event).p_value;
    assert!(p > 0.01, "{p}");
}

#[test]
fn lost_work_stands_in_the_bill_and_the_parts_add_up() {
    let scenario = scenario(
        "seed = 3\nreplicas = 4\nworkloads = [\"scavenger-resnet18\"]\n\
         [spot]\nexponential_mean_h = 12\nreplacement_s = 90\n\
         checkpoint = { periodic-s = 1200 }\ncheckpoint_write_s = 10\n\
         [pricing]\npolicies = [\"paper-fixed\", \"first-hour-free\"]\n\
         [pricing.define.first-hour-free]\nusd_per_vm_hour = 0.13402\nspot_ratio = 0.3\n\
         free_first_hour_if_revoked = true\n",
    );
    let plan = Plan::new(&scenario).expect("a checked scenario");
    let mut evaluator = Evaluator::new(&plan);
    let (mut lost, mut wasted) = (0.0, 0.0);
    for number in 0..plan.cases() {
        let r = evaluator.evaluate(plan.case(number));
        let cost = r.cost_usd.expect("a result");
        let parts = [
            r.bill_useful_usd,
            r.bill_search_usd,
            r.bill_waiting_usd,
            r.bill_lost_usd,
            r.bill_restore_usd,
            r.bill_egress_usd,
            r.bill_storage_usd,
            r.bill_charges_usd,
        ];
        let sum: f64 = parts.iter().map(|p| p.expect("a result")).sum();
        assert!((sum / cost - 1.0).abs() < 1e-9, "{sum} {cost}");
        lost += r.lost_vms.expect("a result");
        wasted += r.bill_lost_usd.expect("a result");
    }
    assert!(lost > 0.0 && wasted > 0.0);
}
