//! Random draws of one replica: equal VMs and machines for any configuration, in any order.

use scavsim::cluster::random_effects::{RandomEffectLaws, RandomEffects};
use scavsim::experiment::Plan;
use scavsim::rng::Streams;
use scavsim::scenario::Scenario;
use scavsim::stats::Welford;
use scavsim::testbed::{JobTrial, Length, SimulatedCluster};
use scavsim::units::SimTime;
use scavsim::usage::{EndedBy, Usage, VmInterval};

use crate::live::tiny;
use crate::replay::scenario;

/// Usage of a job in `replica` that goes through the configurations `order`, and runs the last to its end.
fn job(scenario: &Scenario, replica: u64, order: &[usize]) -> Usage {
    let plan = Plan::new(scenario).expect("a checked scenario");
    let world = plan.arena(0).expect("an arena").world().expect("simulated");
    let mut cluster = SimulatedCluster::new(world, &plan.terms);
    cluster.restart(replica);
    let (last, probed) = order.split_last().expect("one at least");
    for configuration in probed {
        (cluster.probe(*configuration, Length::Steps(5))).expect("no target yet");
    }
    let line = cluster.run_to_target(*last).expect("it ends");
    let mut usage = Usage::default();
    cluster.usage_until(line.net_end, &mut usage);
    usage
}

fn vm_index(scenario: &Scenario, name: &str) -> u16 {
    let plan = Plan::new(scenario).expect("a checked scenario");
    let world = plan.arena(0).expect("an arena").world().expect("simulated");
    let is_it = |vm: &scavsim::usage::RentedVm| &*vm.name == name;
    world.vms.iter().position(is_it).expect("it is rented") as u16
}

/// Total of start-up and lifetime of the first VMs of a type, if they ended within `within_s`: those that a job requested
/// first.
fn lives(usage: &Usage, vm: u16, within_s: f64) -> Vec<SimTime> {
    let own = || usage.intervals.iter().filter(move |i| i.vm == vm);
    let first = own().map(|i| i.from).min().expect("one at least");
    let is_lost = |i: &&VmInterval| i.from == first && i.ended_by == EndedBy::Provider;
    let mut lives: Vec<SimTime> = own().filter(is_lost).map(|i| i.to - i.from).collect();
    lives.retain(|life| life.seconds() < within_s);
    lives.sort_unstable();
    lives
}

/// Kinds of four `slow`, of four `quick`, and of two of either; no job ends within 900 s.
const TWO_TYPES: &str = "cluster.workers = [4]\ncluster.vm = [\"a\", \"b\", \"m\"]\n\
    spot = { exponential_mean_h = 0.2, keeps = \"steps\", start_up = \"gcp-k80-us-east1\" }\n\
    kind.a = { vm = \"slow\", market = \"spot\" }\nkind.b = { vm = \"quick\", market = \"spot\" }\n\
    kind.m = { mix = { slow = 2, quick = 2 }, market = \"spot\" }\n";

#[test]
fn the_nth_vm_of_a_type_starts_and_lives_equally_long_whatever_was_rented_before() {
    let scenario = tiny(TWO_TYPES);
    let slow = vm_index(&scenario, "slow");
    let mut seen = 0;
    for replica in 0..20 {
        let alone = lives(&job(&scenario, replica, &[0]), slow, 900.0);
        let behind = lives(&job(&scenario, replica, &[1, 0]), slow, 900.0);
        assert_eq!(alone, behind, "replica {replica}");
        let mixed = lives(&job(&scenario, replica, &[2]), slow, 900.0);
        assert!(
            mixed.iter().all(|life| alone.contains(life)),
            "replica {replica}"
        );
        seen += alone.len() + mixed.len();
    }
    assert!(seen > 40, "{seen} lives");
}

#[test]
fn a_cluster_under_another_law_of_lives_rents_vms_of_its_own() {
    let of = |own: &str| {
        tiny(&format!(
            "cluster.workers = [2]\ncluster.vm = [\"a\", \"b\"]\n\
             spot = {{ lifetime = \"icac19-k80\", keeps = \"steps\" }}\n\
             kind.a = {{ vm = \"slow\", market = \"spot\" }}\n\
             kind.b = {{ vm = \"slow\", market = \"spot\"{own} }}\n"
        ))
    };
    let begun = |own: &str| {
        let usage = job(&of(own), 0, &[0, 1]);
        let at_start = |i: &&VmInterval| i.from == SimTime::ZERO;
        let given_back = usage
            .intervals
            .iter()
            .filter(at_start)
            .map(|i| i.to.seconds());
        given_back.fold(0.0, f64::max)
    };
    // Five steps take 1 s; a run takes an hour.
    assert!(begun("") > 1000.0 && begun(", lifetime = \"icac19-k80\"") > 1000.0);
    assert!(begun(", lifetime = \"icac19-p100\"") < 60.0);
}

fn factors(scenario: &Scenario, replica: u64) -> Vec<Vec<f64>> {
    let plan = Plan::new(scenario).expect("a checked scenario");
    let world = plan.arena(0).expect("an arena").world().expect("simulated");
    let of = |truth| {
        RandomEffects::draw(
            truth,
            &RandomEffectLaws::from_variation(&world.variation),
            &Streams::new(7),
            replica,
        )
    };
    (world.truths.iter())
        .map(|truth| of(truth).stepping.machines.expect("they differ").to_vec())
        .collect()
}

#[test]
fn machines_of_a_type_are_alike_in_all_kinds() {
    let scenario = tiny(
        "cluster.workers = [4]\ncluster.vm = [\"slow\", \"x\", \"y\", \"m\"]\nvariation.vm_sigma = 0.2\n\
         spot.exponential_mean_h = 1e9\n\
         kind.x = { vm = \"slow\" }\nkind.y = { vm = \"slow\", market = \"spot\", chief_market = \"on-demand\" }\n\
         kind.m = { mix = { quick = 2, slow = 2 } }\n",
    );
    let sorted = |mut of: Vec<f64>| {
        of.sort_by(f64::total_cmp);
        of
    };
    for replica in 0..3 {
        let [slow, x, y, mixed] = factors(&scenario, replica).try_into().expect("four");
        assert_eq!(slow, x);
        assert_eq!(sorted(slow.clone()), sorted(y));
        // `slow` needs twice as long as `quick`, to which the times of a mix are relative.
        assert!((mixed[2] - 2.0 * slow[0]).abs() < 1e-12);
        assert!((mixed[3] - 2.0 * slow[1]).abs() < 1e-12);
        assert!(mixed[0] != slow[0] && mixed[0] != mixed[1]);
    }
}

const SHAPES: &str = "workloads = [\"pollux-bert\"]\nsearch.strategies = [\"oracle\"]\n\
    variation = { vm_sigma = 0.2, step_cv = 0.1 }\ncluster.batch = [48]\ncluster.workers = [4]\n\
    cluster.vm = [\"g4dn.12xlarge\", \"g4dn.12xlarge/2\", \"g4dn.12xlarge/1-1-2\"]\n\
    cluster.outside = \"extrapolate\"\n";

#[test]
fn workers_on_a_vm_share_its_machine_in_every_shape() {
    let [each, pairs, uneven] = factors(&scenario(SHAPES), 0).try_into().expect("three");
    assert_eq!(pairs, [each[0], each[0], each[1], each[1]]);
    assert_eq!(uneven, [each[0], each[1], each[2], each[2]]);
}

/// The expected step is the measured one in every shape: 2,000 replicas, four standard errors.
#[test]
fn machines_that_differ_keep_the_measured_step_in_every_shape() {
    let scenario = scenario(SHAPES);
    let plan = Plan::new(&scenario).expect("a checked scenario");
    let world = plan.arena(0).expect("an arena").world().expect("simulated");
    for truth in world.truths.iter() {
        let mut seen = Welford::default();
        for replica in 0..2_000 {
            let luck = RandomEffects::draw(
                truth,
                &RandomEffectLaws::from_variation(&world.variation),
                &Streams::new(7),
                replica,
            );
            seen.add(luck.stepping.mean_step_s(1.0));
        }
        let error = seen.standard_deviation() / 2_000f64.sqrt();
        let (mean, expected) = (seen.mean(), truth.expected_step_s);
        assert!(
            (mean - expected).abs() < 4.0 * error,
            "{}: {mean} {expected}",
            truth.configuration
        );
    }
}
