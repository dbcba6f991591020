//! The replay compared with its measurements.

use std::collections::BTreeMap;
use std::path::Path;

use scavsim::configuration::Configuration;
use scavsim::experiment::Plan;
use scavsim::input::{Diagnostics, Source};
use scavsim::scenario::ClusterScenario as _;
use scavsim::scenario::{self, Overrides, Scenario};
use scavsim::stats::Welford;
use scavsim::testbed::{JobTrial, SimulatedCluster, Terms};
use scavsim::training::Fidelity;
use scavsim::units::SimTime;
use scavsim::workload::{Provenance, Reach};

use crate::sandbox::{Rows, repository_file};

const WORKLOADS: &str =
    r#"workloads = ["scavenger-resnet18", "scavenger-resnet50", "scavenger-transformer"]"#;

pub fn scenario(text: &str) -> Scenario {
    let mut diagnostics = Diagnostics::default();
    let source = Source::new("test.toml", text);
    scenario::load(
        &source,
        Path::new("."),
        Overrides::default(),
        &mut diagnostics,
    )
    .unwrap_or_else(|| panic!("{}", diagnostics.render(false)))
}

/// Hours to the target of every configuration of every workload, replica by replica.
fn hours(
    scenario: &Scenario,
    fidelity: Fidelity,
    replicas: u64,
    mut seen: impl FnMut(usize, usize, f64),
) {
    let plan = Plan::new(scenario).expect("a checked scenario");
    for (workload, arena) in plan.arenas().enumerate() {
        let mut cluster = SimulatedCluster::new(
            arena.world().expect("simulated"),
            &Terms {
                fidelity,
                start_up: SimTime::ZERO,
                ..plan.terms.clone()
            },
        );
        for replica in 0..replicas {
            for configuration in 0..arena.space.len() {
                cluster.restart(replica);
                let line = cluster.run_to_target(configuration).expect("no stall");
                seen(workload, configuration, line.net_end.hours());
            }
        }
    }
}

#[test]
fn the_deterministic_replay_takes_the_published_time_in_all_48_cells_event_by_event() {
    let scenario = scenario(WORKLOADS);
    let mut cells = 0;
    hours(
        &scenario,
        Fidelity::Event,
        1,
        |workload, configuration, hours| {
            let (workload, configurations) = &scenario.workloads()[workload];
            let at = &configurations[configuration];
            let published = (workload.published.iter())
                .find(|p| p.configuration == *at)
                .expect("every cell is published");
            let off = hours / published.time_h - 1.0;
            assert!(off.abs() < 0.003, "{} {at}: {off:+.4}", workload.name);
            cells += 1;
        },
    );
    assert_eq!(cells, 48);
}

#[test]
fn the_published_costs_are_those_of_the_fixed_price_in_all_48_cells() {
    let scenario = scenario(WORKLOADS);
    let plan = Plan::new(&scenario).expect("a checked scenario");
    for ((workload, configurations), arena) in scenario.workloads().iter().zip(plan.arenas()) {
        for (at, point) in configurations.iter().zip(arena.all_expected(0)) {
            let published = (workload.published.iter())
                .find(|p| p.configuration == *at)
                .expect("every cell is published");
            let off = point.cost_usd - published.cost_usd;
            // The plotted times are good to 0.01 h: at 20 workers that is 0.03 USD.
            assert!(off.abs() < 0.03, "{} {at}: {off:+.3} USD", workload.name);
        }
    }
}

/// A measured step already contains the wait at the barrier: for any spread of one worker, the mean over replicas is the
/// measured time. 144 cells at 4.5 standard errors: a correct program fails with probability 0.001, and the seed is fixed.
fn mean_is_measured(step_cv: f64, fidelity: Fidelity, replicas: u64, others: &str) {
    let scenario = scenario(&format!(
        "seed = 7\n{WORKLOADS}\n[variation]\nstep_cv = {step_cv:?}\n{others}"
    ));
    let plan = Plan::new(&scenario).expect("a checked scenario");
    let mut seen = vec![vec![Welford::default(); 16]; 3];
    hours(&scenario, fidelity, replicas, |w, c, hours| {
        seen[w][c].add(hours)
    });
    for ((workload, _), (arena, cells)) in scenario.workloads().iter().zip(plan.arenas().zip(&seen))
    {
        for (truth, cell) in arena.world().expect("simulated").truths.iter().zip(cells) {
            let at = &truth.configuration;
            let replay = workload.replay(at, &Reach::default()).expect("measured");
            let measured_s =
                workload.steps_to_target(replay.epochs, at.batch) * replay.step.total_s();
            // A run ends with a whole step.
            let one_step_h = replay.step.total_s() / 3600.0;
            let error = cell.standard_deviation() / (cell.count() as f64).sqrt();
            let off = cell.mean() - measured_s / 3600.0;
            assert!(
                off > -4.5 * error - 1e-9 && off < 4.5 * error + one_step_h + 1e-9,
                "{} {at} step_cv {step_cv}: off by {off:+.5} h, standard error {error:.5} h",
                workload.name
            );
        }
    }
}

#[test]
fn a_constant_step_keeps_the_measured_mean() {
    mean_is_measured(0.0, Fidelity::Fast, 1, "");
}

#[test]
fn a_slightly_varying_step_keeps_the_measured_mean() {
    mean_is_measured(0.05, Fidelity::Fast, 400, "");
}

#[test]
fn a_strongly_varying_step_keeps_the_measured_mean() {
    mean_is_measured(0.3, Fidelity::Fast, 400, "");
}

#[test]
fn a_strongly_varying_step_keeps_the_measured_mean_event_by_event() {
    mean_is_measured(0.3, Fidelity::Event, 8, "");
}

#[test]
fn all_variation_together_keeps_the_measured_mean() {
    let all = "placement_sigma = 0.03\nepoch_cv = 0.02\nvm_sigma = 0.02\n\
               [variation.drift]\nsigma = 0.2\nperiod_s = 600\n\
               [variation.straggler]\nprobability = 0.002\nfactor = 3\n";
    mean_is_measured(0.05, Fidelity::Fast, 60, all);
}

#[test]
fn between_measured_points_a_configuration_lies_between_its_neighbours() {
    let scenario = scenario(
        "workloads = [\"scavenger-resnet18\"]\n[cluster]\nworkers = [8, 10, 12]\nbatch = [384, 448, 512]\n",
    );
    let (workload, configurations) = &scenario.workloads()[0];
    let hours = |k, b| {
        let at = (configurations.iter())
            .find(|c| (c.workers, c.batch) == (k, b))
            .expect("in the grid");
        let replay = workload
            .replay(at, &Reach::default())
            .expect("inside the hull");
        workload.steps_to_target(replay.epochs, b) * replay.step.total_s() / 3600.0
    };
    for b in [384, 448, 512] {
        assert!(hours(8, b) > hours(10, b) && hours(10, b) > hours(12, b));
    }
    for k in [8, 10, 12] {
        assert!(hours(k, 384) > hours(k, 448) && hours(k, 448) > hours(k, 512));
    }
}

/// Every measured point of the GPU workloads, placements of all kinds: the step is the measured one, to the bit, and a run
/// without variation has whole steps of it.
#[test]
fn every_measured_point_of_the_gpu_workloads_is_replayed_exactly() {
    let mut points = 0;
    for name in ["pollux-bert", "pollux-cifar10", "pollux-imagenet"] {
        let scenario = scenario(&format!(
            "workloads = [\"{name}\"]\nsearch.strategies = [\"oracle\"]"
        ));
        let (workload, configurations) = &scenario.workloads()[0];
        let text = repository_file(&format!("data/workloads/{name}/steps.csv"));
        let runs = repository_file(&format!("data/workloads/{name}/epochs.csv"));
        let runs = Rows::parse(&runs);
        let counted: BTreeMap<u32, f64> = (runs.iter())
            .map(|row| {
                let steps = row.text("source").split(' ').nth(1).expect("so many steps");
                let steps = steps.parse().expect("a number");
                (row.number("batch") as u32, steps)
            })
            .collect();
        let rows = Rows::parse(&text);
        for row in rows.iter() {
            let at = Configuration {
                vm: row.text("vm").into(),
                workers: row.number("workers") as u32,
                batch: row.number("batch") as u32,
            };
            let (cost, provenance) = workload.steps.cost_at(&at).expect("measured");
            assert_eq!(provenance, Provenance::Measured, "{at}");
            let off = cost.total_s() / row.number("step_s") - 1.0;
            assert!(off.abs() < 1e-15 * 4.0, "{at}: {off:e}");
            if at.workers > 1 {
                assert_eq!(cost.communication_s, row.number("communication_s"), "{at}");
            }
            points += 1;
        }
        let plan = Plan::new(&scenario).expect("a checked scenario");
        let arena = plan.arena(0).expect("an arena");
        assert!(configurations.len() > 100, "{}", configurations.len());
        let mut cluster = SimulatedCluster::new(
            arena.world().expect("simulated"),
            &Terms {
                fidelity: Fidelity::Fast,
                start_up: SimTime::ZERO,
                ..plan.terms.clone()
            },
        );
        for (index, truth) in arena.world().expect("simulated").truths.iter().enumerate() {
            let (cost, _) = workload
                .steps
                .cost_at(&truth.configuration)
                .expect("measured");
            cluster.restart(0);
            let line = cluster.run_to_target(index).expect("no stall");
            // Steps of whole runs were counted: the ninth digit of their epochs must not add one.
            let by_epochs = (truth.steps_to_target * (1.0 - 1e-8)).ceil();
            let steps = counted.get(&truth.configuration.batch).copied();
            let steps = steps.unwrap_or(by_epochs);
            // Rounded to nanoseconds once.
            let off = line.net_end.seconds() - steps * cost.total_s();
            assert!(
                off.abs() < 2e-9 * steps.max(1.0),
                "{}: {off:e} s",
                truth.configuration
            );
        }
    }
    assert_eq!(points, 720 + 1512 + 1152);
}
