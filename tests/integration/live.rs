//! Clusters that change while they train: compared with arithmetic, and between fidelities.

use std::path::Path;
use std::sync::Arc;

use scavsim::cloud::lifetimes::{Exponential, Lifetime};
use scavsim::cluster::{Losses, Pause, Spot};
use scavsim::experiment::{Evaluator, Plan};
use scavsim::input::{Diagnostics, Source};
use scavsim::scenario::{self, Overrides, Scenario};
use scavsim::stats::{Welford, kolmogorov_smirnov};
use scavsim::testbed::Timeline;
use scavsim::testbed::{JobTrial, SimulatedCluster, Terms};
use scavsim::training::log::Entry;
use scavsim::training::{Fidelity, UnfinishedJob};
use scavsim::units::SimTime;
use scavsim::usage::{Phase, Usage};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/integration/data");

/// A scenario on the workload `tiny`, whose 36,000 gradients need 0.2 s each on `slow` and 0.1 s on `quick`.
pub fn load(rest: &str) -> Result<Scenario, String> {
    let rest = without_delays(rest);
    let text = format!(
        "workloads = [\"./tiny\"]\ncluster.outside = \"extrapolate\"\ncluster.local_batch = [64]\n\
         search.strategies = [\"oracle\"]\nsearch.objectives = [\"time\"]\n{rest}"
    );
    let mut wrong = Diagnostics::default();
    let source = Source::new("test.toml", &*text);
    scenario::load(&source, Path::new(FOLDER), Overrides::default(), &mut wrong)
        .ok_or_else(|| wrong.render(false))
}

/// Missing values of losses are zero, so that arithmetic applies.
fn without_delays(rest: &str) -> String {
    let mut text = rest.to_owned();
    let says = |key: &str| rest.contains(&format!("{key} ="));
    for (key, value, others) in [
        ("cold_join_s", "0", &["restart"][..]),
        ("checkpoint", "\"none\"", &[]),
        ("checkpoint_write_s", "0", &["checkpoint_mb"]),
    ] {
        if !says(key) && !others.iter().any(|other| says(other)) {
            text = text.replace("spot = {", &format!("spot = {{ {key} = {value},"));
        }
    }
    if rest.contains("spot") && !says("start_up_s") {
        text.insert_str(0, "cluster.start_up_s = 0\n");
    }
    text
}

pub fn tiny(rest: &str) -> Scenario {
    load(rest).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// The scenario with VMs that all live for exactly this number of hours.
pub fn dying_at(hours: f64, rest: &str) -> Scenario {
    let mut scenario = tiny(rest);
    let spot: &Spot = scenario.runs_in[0]
        .setup
        .spot
        .as_deref()
        .expect("there are spot VMs");
    let never = Exponential::new(1e12).expect("it is legal");
    let spot = Spot {
        losses: Losses::Alone(Lifetime::new(never, Some(hours))),
        ..spot.clone()
    };
    scenario.runs_in[0].setup.spot = Some(Arc::new(spot));
    scenario
}

pub struct Seen {
    pub line: Result<Timeline, UnfinishedJob>,
    pub usage: Usage,
    pub entries: Vec<Entry>,
}

/// The run of the first configuration in a replica; traced in fidelity `event`.
pub fn run(scenario: &Scenario, fidelity: Fidelity, replica: u64) -> Seen {
    let plan = Plan::new(scenario).expect("a checked scenario");
    let world = &plan.arena(0).expect("an arena").world().expect("simulated");
    let mut cluster = SimulatedCluster::new(
        world,
        &Terms {
            fidelity,
            ..plan.terms.clone()
        },
    );
    cluster.watch(0);
    cluster.restart(replica);
    let line = cluster.run_to_target(0);
    let end = match &line {
        Ok(line) => line.net_end,
        Err(why) => why.ended_at(),
    };
    let mut usage = Usage::default();
    cluster.usage_until(end, &mut usage);
    Seen {
        entries: cluster.noted_until(end),
        line,
        usage,
    }
}

fn seconds(scenario: &Scenario, fidelity: Fidelity) -> f64 {
    let seen = run(scenario, fidelity, 0);
    seen.line.expect("it ends").net_end.seconds()
}

/// VM-seconds of a phase.
pub fn vm_seconds(usage: &Usage, phase: Phase) -> f64 {
    let rows = usage.phases.vm_seconds.iter();
    rows.map(|row| row.1[phase as usize]).sum()
}

fn close(found: f64, expected: f64, within: f64) {
    assert!(
        (found / expected - 1.0).abs() < within,
        "{found} instead of {expected}"
    );
}

pub const ASP: &str = "sync.asp = { service_s = 0 }\n";

/// A VM that joins changes the value of an update; checkpoints without duration still come after whole updates.
#[test]
fn checkpoints_that_take_no_time_cost_none_where_vms_join() {
    let rest = |checkpoint: &str| {
        format!(
            "cluster.workers = [4]\ncluster.resize = \"keep-local-batch\"\n\
             kind.k = {{ vm = \"slow\", market = \"spot\", chief_market = \"on-demand\" }}\n\
             spot = {{ exponential_mean_h = 0.05, on_loss = \"go-on\", keeps = \"steps\", \
             replacement_s = 97, checkpoint = {checkpoint} }}\n"
        )
    };
    let [never, often] = ["\"none\"", "{ periodic-s = 7.7 }"].map(|how| tiny(&rest(how)));
    for replica in 0..4 {
        for fidelity in [Fidelity::Fast, Fidelity::Event] {
            let end = |scenario| {
                run(scenario, fidelity, replica)
                    .line
                    .expect("it ends")
                    .net_end
            };
            close(end(&often).seconds(), end(&never).seconds(), 1e-6);
        }
    }
}

/// Two workers do 10 updates a second; after the loss of one the other does 5.
#[test]
fn a_cluster_shrinks_with_a_loss() {
    let rest = "cluster.workers = [2]\nkind.k = { vm = \"slow\", market = \"spot\", chief_market = \"on-demand\" }\n\
                spot = { exponential_mean_h = 1, on_loss = \"shrink\", keeps = \"steps\" }\n";
    for fidelity in [Fidelity::Fast, Fidelity::Event] {
        let scenario = dying_at(0.5, &format!("{ASP}{rest}"));
        close(seconds(&scenario, fidelity), 1800.0 + 18_000.0 * 0.2, 1e-3);
        // With a barrier the remaining one stops for its restart; a step has half as many samples, or as many.
        let scenario = dying_at(
            0.5,
            &format!("cluster.resize = \"keep-local-batch\"\n{rest}"),
        );
        let end = seconds(&scenario, fidelity);
        close(end, 1800.0 + 10.0 + 18_000.0 * 0.2, 1e-3);
        let end = seconds(&dying_at(0.5, rest), fidelity);
        close(end, 1800.0 + 10.0 + 9000.0 * 0.2, 1e-3);
    }
}

/// The others continue while another VM starts for 100 s and joins for 50 s.
#[test]
fn a_new_vm_joins_the_others() {
    let rest = "cluster.workers = [2]\nkind.k = { vm = \"slow\", market = \"spot\", chief_market = \"on-demand\" }\n\
                spot = { exponential_mean_h = 1, on_loss = \"go-on\", keeps = \"steps\", replacement_s = 100, cold_join_s = 50 }\n";
    let scenario = dying_at(0.5, &format!("{ASP}{rest}"));
    // 150 s with half of the workers: 750 updates fewer, at 10 per second. The next loss comes after the end.
    for fidelity in [Fidelity::Fast, Fidelity::Event] {
        let seen = run(&scenario, fidelity, 0);
        let end = seen.line.expect("it ends").net_end.seconds();
        // The new VM is lost 1,800 s after it ran, at 1,900 + 1,800 s: before the end at 3,675 s.
        close(end, 3600.0 + 75.0, 1e-3);
        close(vm_seconds(&seen.usage, Phase::Waiting), 150.0, 1e-6);
    }
}

/// All four VMs of the cluster are lost at one moment.
#[test]
fn all_revoked_at_once_is_survived_or_fails_with_its_reason() {
    let rest = |on_loss: &str| {
        format!(
            "cluster.workers = [4]\ncluster.vm = [\"slow\"]\n\
             spot = {{ exponential_mean_h = 1, on_loss = \"{on_loss}\", replacement_s = 60, checkpoint = {{ periodic-s = 300 }} }}\n"
        )
    };
    for fidelity in [Fidelity::Fast, Fidelity::Event] {
        for on_loss in ["wait", "go-on"] {
            let scenario = dying_at(0.25, &rest(on_loss));
            let seen = run(&scenario, fidelity, 0);
            let line = seen.line.expect("it is survived");
            // 900 s of life are three intervals; 1,800 s of work need two lives, and the third checkpoint of a life coincides
            // with its end.
            assert!(
                line.lost_vms >= 4 && line.lost_vms.is_multiple_of(4),
                "{line:?}"
            );
            assert!(line.net_end.seconds() > 1800.0 + 2.0 * 70.0 - 1.0);
        }
        let seen = run(&dying_at(0.25, &rest("shrink")), fidelity, 0);
        let at = SimTime::from_seconds(900.0);
        assert_eq!(seen.line, Err(UnfinishedJob::NobodyLeft { at }));
        let held: f64 = (seen.usage.intervals.iter())
            .map(|i| f64::from(i.vms) * (i.to - i.from).seconds())
            .sum();
        close(held, 4.0 * 900.0, 1e-9);
    }
}

/// A checkpoint at the provider's notice saves all work except that in the rest of the notice.
#[test]
fn notice_saves_the_work() {
    let rest = |notice: &str| {
        format!(
            "cluster.workers = [4]\ncluster.vm = [\"slow\"]\n\
             spot = {{ exponential_mean_h = 1, replacement_s = 60, checkpoint_write_s = 20{notice} }}\n"
        )
    };
    let with = dying_at(0.4, &rest(", checkpoint_on_notice = true, notice_s = 120"));
    let seen = run(&with, Fidelity::Fast, 0);
    // Each loss costs 100 s of work (120 less the writing), 20 s of writing, 60 s of waiting and 10 s of restart.
    let lost = vm_seconds(&seen.usage, Phase::Lost) / 4.0;
    assert!((lost - 100.0).abs() < 0.5, "{lost}");
    let end = seen.line.expect("it ends").net_end.seconds();
    assert!((end - (1800.0 + 190.0)).abs() < 1.0, "{end}");
    // 1,440 s of life are too short for a job of 1,800 s.
    let without = dying_at(0.4, &rest(""));
    let seen = run(&without, Fidelity::Fast, 0);
    assert!(matches!(
        seen.line,
        Err(UnfinishedJob::TooManyLosses { .. })
    ));
}

#[test]
fn the_loss_of_the_chief_goes_back_or_ends_the_run() {
    let rest = |chief: &str| {
        format!(
            "cluster.workers = [2]\ncluster.vm = [\"slow\"]\n{ASP}\
             spot = {{ exponential_mean_h = 1, on_loss = \"go-on\", keeps = \"steps\", replacement_s = 60, chief = \"{chief}\" }}\n"
        )
    };
    let hours = |chief: &str| run(&dying_at(0.6, &rest(chief)), Fidelity::Fast, 0).line;
    let over = hours("hands-over").expect("it ends").net_end.seconds();
    close(over, 3600.0 + 60.0, 1e-3);
    // Without checkpoints it restarts from the beginning, again and again.
    assert!(matches!(
        hours("goes-back"),
        Err(UnfinishedJob::TooManyLosses { .. })
    ));
    let at = SimTime::from_seconds(2160.0);
    assert_eq!(hours("ends-the-run"), Err(UnfinishedJob::ChiefLost { at }));
    // A record has that as its reason.
    let scenario = dying_at(0.6, &rest("ends-the-run"));
    let plan = Plan::new(&scenario).expect("a checked scenario");
    let record = Evaluator::new(&plan).evaluate(plan.case(0));
    assert_eq!(record.time_h, None);
    assert!(!record.reason.is_empty());
}

/// With a price of 0.4 in the second half hour two more workers train: 10 updates a second, then 20.
#[test]
fn a_cluster_grows_when_vms_are_cheap_and_shrinks_when_they_are_dear() {
    let rest = format!(
        "{ASP}cluster.workers = [2]\ncluster.vm = [\"slow\"]\ncluster.start_up_s = 90\n\
         elastic = {{ prices = [[0, 1], [0.5, 0.4], [0.75, 2]], grow_at = 0.5, shrink_above = 1.5, most_vms = 4, fewest_vms = 1 }}\n"
    );
    let scenario = tiny(&rest);
    for fidelity in [Fidelity::Fast, Fidelity::Event] {
        let seen = run(&scenario, fidelity, 0);
        let end = seen.line.expect("it ends").net_end.seconds();
        // From 90 s to 1,890 s at 10, to 2,700 s at 20, then 5 updates a second.
        let left = 36_000.0 - 10.0 * 1800.0 - 20.0 * 810.0;
        close(end, 2700.0 + left / 5.0, 1e-3);
        let released: f64 = (seen.usage.intervals.iter())
            .filter(|i| i.to < SimTime::from_seconds(2701.0))
            .map(|i| f64::from(i.vms))
            .sum();
        assert_eq!(released, 3.0);
    }
}

/// On-demand chief and server with spot workers, each at its price.
#[test]
fn markets_are_mixed_and_billed_as_rented() {
    let rest = format!(
        "{ASP}spot = {{ exponential_mean_h = 1e12, keeps = \"steps\" }}\n\
         kind.k = {{ mix = {{ slow = 2, quick = 2 }}, market = \"spot\", chief_market = \"on-demand\", servers = {{ vm = \"ps\", vms = 2 }} }}\n\
         pricing.policies = [\"p\"]\npricing.define.p = {{ usd_per_hour_of = {{ slow = 10, quick = 100, ps = 1 }}, spot_usd_per_hour_of = {{ slow = 3, quick = 30 }} }}\n"
    );
    let scenario = tiny(&rest);
    let plan = Plan::new(&scenario).expect("a checked scenario");
    let record = Evaluator::new(&plan).evaluate(plan.case(0));
    // 2 at 10 and 2 at 5 updates a second.
    let hours = 36_000.0 / 30.0 / 3600.0;
    close(record.time_h.expect("it ends"), hours, 1e-3);
    // The first type by name gives the chief: quick.
    let usd = 100.0 + 30.0 + 2.0 * 3.0 + 2.0 * 1.0;
    close(record.cost_usd.expect("it ends"), usd * hours, 1e-3);
    close(
        record.expected_cost_usd.expect("it ends"),
        usd * hours,
        1e-3,
    );
}

/// Server VMs hold the parameters: without one the job goes back to its checkpoint.
#[test]
fn the_loss_of_a_server_stops_the_job_and_costs_what_was_not_saved() {
    let rest = format!(
        "{ASP}cluster.workers = [4]\n\
         spot = {{ exponential_mean_h = 1, keeps = \"steps\", on_loss = \"go-on\", replacement_s = 100, checkpoint = {{ periodic-s = 500 }} }}\n\
         kind.k = {{ vm = \"slow\", servers = {{ vm = \"slow\", market = \"spot\" }} }}\n"
    );
    let scenario = dying_at(0.25, &rest);
    for fidelity in [Fidelity::Fast, Fidelity::Event] {
        let seen = run(&scenario, fidelity, 0);
        // At 900 s, 400 s after a checkpoint: 400 s are lost, 100 s waited, 10 s restarted. The next server lives from 1,000
        // to 1,900 s and ends 390 s after the next checkpoint at 1,510 s; the third one is there at the end.
        let end = seen.line.expect("it ends").net_end.seconds();
        let lost = vm_seconds(&seen.usage, Phase::Lost) / 5.0;
        assert!((lost - (400.0 + 390.0)).abs() < 1.0, "{lost}");
        let stops = 2.0 * 110.0;
        assert!((end - (1800.0 + lost + stops)).abs() < 1.0, "{end}");
    }
}

/// Two workers of 250 and two of 1,000 samples a second, with a barrier: 64 samples each need 0.256 s. In proportion, 256
/// samples need 256/2,500 s.
#[test]
fn batches_of_unlike_workers_suit_their_speed() {
    let of = |batching: &str| {
        let scenario = tiny(&format!(
            "cluster.workers = [4]\nkind.k = {{ mix = {{ slow-per-sample = 2, quick-per-sample = 2 }}, batching = {batching} }}\n"
        ));
        let seen = run(&scenario, Fidelity::Fast, 0);
        let end = seen.line.expect("it ends").net_end.seconds();
        assert!((seconds(&scenario, Fidelity::Event) / end - 1.0).abs() < 1e-3);
        (end, vm_seconds(&seen.usage, Phase::Restoring) / 4.0)
    };
    // 36,000 gradients are 9,000 steps.
    assert_eq!(of("\"uniform\""), (2304.0, 0.0));
    let (end, settling) = of("\"static\"");
    close(end, 9000.0 * 256.0 / 2500.0, 0.02);
    assert_eq!(settling, 0.0);
    let (end, settling) = of("{ dynamic = {} }");
    // One or two changes, each with a restart of 10 s, after 50 steps on equal batches.
    assert!((10.0..40.0).contains(&settling), "{settling}");
    close(end - settling, 9000.0 * 256.0 / 2500.0, 0.03);
}

/// A chief on demand is never lost, and only its loss would end the run.
#[test]
fn a_chief_on_demand_is_the_chief() {
    let rest = format!(
        "{ASP}cluster.workers = [3]\nkind.k = {{ vm = \"slow\", market = \"spot\", chief_market = \"on-demand\" }}\n\
         spot = {{ exponential_mean_h = 1, on_loss = \"go-on\", keeps = \"steps\", chief = \"ends-the-run\" }}\n"
    );
    let line = run(&dying_at(0.2, &rest), Fidelity::Fast, 0)
        .line
        .expect("it ends");
    assert!(line.lost_vms > 0);
}

fn ends(scenario: &Scenario, fidelity: Fidelity, replicas: u64) -> Vec<f64> {
    let plan = Plan::new(scenario).expect("a checked scenario");
    let world = &plan.arena(0).expect("an arena").world().expect("simulated");
    let mut cluster = SimulatedCluster::new(
        world,
        &Terms {
            fidelity,
            ..plan.terms.clone()
        },
    );
    (0..replicas)
        .map(|replica| {
            cluster.restart(replica);
            let line = cluster.run_to_target(0).expect("it ends");
            line.net_end.seconds()
        })
        .collect()
}

/// `fast` through joins and other sizes: means within 4 standard errors of `event`, Kolmogorov-Smirnov p > 0.01.
#[test]
fn fast_agrees_with_events_while_clusters_change() {
    for sync in [ASP, "sync.backup = { spare = 1 }\n", ""] {
        let scenario = tiny(&format!(
            "seed = 5\n{sync}cluster.workers = [4]\ncluster.vm = [\"slow\"]\nvariation.step_cv = 0.3\n\
             spot = {{ exponential_mean_h = 0.4, keeps = \"steps\", on_loss = \"go-on\", replacement_s = 60, cold_join_s = 20, fewest_workers = 2 }}\n"
        ));
        let fast = ends(&scenario, Fidelity::Fast, 150);
        let event = ends(&scenario, Fidelity::Event, 150);
        let moments = |values: &[f64]| {
            let mut seen = Welford::default();
            values.iter().for_each(|v| seen.add(*v));
            (seen.mean(), seen.standard_deviation() / 150f64.sqrt())
        };
        let ((a, error_a), (b, error_b)) = (moments(&fast), moments(&event));
        let off = (a - b) / error_a.hypot(error_b);
        assert!(off.abs() < 4.0, "{sync}: {a} {b}: {off} standard errors");
        let p = kolmogorov_smirnov(&fast, &event).p_value;
        assert!(p > 0.01, "{sync}: {p}");
    }
}

/// With batch losses a VM's own risk is that of the trace in which they were counted; 4 standard errors of a Poisson count.
#[test]
fn batch_losses_take_as_many_vms_as_were_counted() {
    for lifetime in ["aws-2020-p3-batch", "aws-2020-p3-trace"] {
        let models = scavsim::cloud::lifetimes::Model::embedded().0;
        if !models.iter().any(|m| m.name == lifetime) {
            panic!("{:?}", models.iter().map(|m| &m.name).collect::<Vec<_>>());
        }
        let scenario = tiny(&format!(
            "seed = 3\n{ASP}cluster.workers = [8]\ncluster.vm = [\"slow\"]\n\
             spot = {{ lifetime = \"{lifetime}\", keeps = \"steps\", on_loss = \"go-on\" }}\n"
        ));
        let plan = Plan::new(&scenario).expect("a checked scenario");
        let world = &plan.arena(0).expect("an arena").world().expect("simulated");
        let mut cluster = SimulatedCluster::new(
            world,
            &Terms {
                fidelity: Fidelity::Fast,
                ..plan.terms.clone()
            },
        );
        let (mut lost, mut hours) = (0.0, 0.0);
        for replica in 0..4000 {
            cluster.restart(replica);
            let line = cluster.run_to_target(0).expect("it ends");
            lost += f64::from(line.lost_vms);
            hours += 8.0 * line.net_end.hours();
        }
        // 167 removals, 24.0 nodes in the mean over 11.4 h: 0.61 per node-hour.
        let rate: f64 = lost / hours;
        assert!((rate / 0.61 - 1.0).abs() < 0.1, "{lifetime}: {rate}");
    }
}

/// Most losses of a market do not affect a single server: they neither stop a checkpoint nor give notice of one, and only cut
/// off the step in progress, 0.2 s.
#[test]
fn losses_that_take_others_leave_a_job_alone() {
    let rest = |lives: &str| {
        format!(
            "seed = 3\ncluster.workers = [4]\nkind.k = {{ vm = \"slow\", servers = {{ vm = \"slow\", market = \"spot\" }} }}\n\
             spot = {{ {lives}, checkpoint = {{ periodic-s = 300 }}, checkpoint_write_s = 100, checkpoint_on_notice = true, notice_s = 120 }}\n"
        )
    };
    let quiet = run(&tiny(&rest("exponential_mean_h = 1e12")), Fidelity::Fast, 0);
    let quiet_end = quiet.line.expect("it ends").net_end.seconds();
    let market = tiny(&rest("lifetime = \"aws-2020-p3-batch\""));
    let mut spared = 0;
    for replica in 0..20 {
        let seen = run(&market, Fidelity::Fast, replica);
        let line = seen.line.expect("it ends");
        if line.lost_vms > 0 {
            continue;
        }
        spared += 1;
        let later = line.net_end.seconds() - quiet_end;
        assert!((0.0..10.0).contains(&later), "{replica}: {later} s");
        let more =
            vm_seconds(&seen.usage, Phase::Restoring) - vm_seconds(&quiet.usage, Phase::Restoring);
        assert!(more.abs() < 1e-6, "{replica}: {more}");
    }
    assert!(spared > 5, "{spared}");
}

/// Delays drawn as measured, on average: start-up and cold join of VMs, restarts, checkpoints of 16 MB.
#[test]
fn measured_delays_are_drawn() {
    let scenario = tiny(
        "cluster.workers = [4]\ncluster.vm = [\"slow\"]\n\
         spot = { exponential_mean_h = 1, start_up = \"gcp-k80-us-east1\", restart = \"resnet-32\", checkpoint_mb = 16, checkpoint = { periodic-s = 300 } }\n",
    );
    let spot = scenario.runs_in[0]
        .setup
        .spot
        .as_deref()
        .expect("there are spot VMs");
    assert!((spot.recovery.replacement.mean_s() - 80.65).abs() < 1e-9);
    assert!((spot.cold_join.mean_s() - 78.74).abs() < 1e-9);
    assert!((spot.recovery.restart.map_or(0.0, |p: Pause| p.mean_s()) - 19.04).abs() < 1e-9);
    assert!((spot.recovery.write.mean_s() - (3.652 + 0.0199 * 16.0)).abs() < 0.01);
    let (mut restoring, mut waiting) = (0.0, 0.0);
    for replica in 0..200 {
        let seen = run(&scenario, Fidelity::Fast, replica);
        restoring += vm_seconds(&seen.usage, Phase::Restoring);
        waiting += vm_seconds(&seen.usage, Phase::Waiting);
    }
    assert!(
        restoring > 0.0 && waiting > 200.0 * 4.0 * 80.0,
        "{restoring} {waiting}"
    );
}
