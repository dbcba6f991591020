//! Measured grids: the shipped ones compared with published facts, and a user's own with all its mistakes.

use std::fs;

use insta::assert_snapshot;
use scavsim::cluster::World;
use scavsim::configuration::Configuration;
use scavsim::grid::report::{Counts, best, figures};
use scavsim::grid::{Charge, Grid, Job, Outcome, library};
use scavsim::input::Diagnostics;
use scavsim::training::Variation;
use scavsim::workload::{self, Origin, Reach, Workload};

use crate::fits::shared_data;
use crate::sandbox::{Sandbox, repository, stdout};

const SHIPPED: [&str; 5] = [
    "llm-pilot",
    "scavenger",
    "scout",
    "trimtuner-cnn",
    "trimtuner-rnn",
];

fn shipped(name: &str) -> Grid {
    let mut diagnostics = Diagnostics::default();
    let grid = library::load(name, &mut diagnostics);
    grid.unwrap_or_else(|| panic!("{name}: {}", diagnostics.render(false)))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.len() % 2 {
        1 => values[half],
        _ => (values[half - 1] + values[half]) / 2.0,
    }
}

/// USD of all runs to the target, cheapest first.
fn costs(job: &Job) -> Vec<f64> {
    let mut all: Vec<f64> = figures(job).map(|(_, usd)| usd).collect();
    all.sort_by(f64::total_cmp);
    all
}

// What is shipped.

#[test]
fn every_shipped_grid_is_listed_and_says_where_it_comes_from() {
    assert_eq!(library::names(), SHIPPED);
    for name in SHIPPED {
        let grid = shipped(name);
        assert_eq!(grid.name, name);
        assert!((grid.jobs.iter()).all(|job| job.has_cost() && job.is_price_known_beforehand()));
        let has_notice = repository()
            .join("data/grids")
            .join(name)
            .join("LICENSE")
            .exists();
        assert_eq!(has_notice, grid.about.licence.contains("LICENSE"), "{name}");
    }
    assert_snapshot!(stdout(&Sandbox::new().run(&["list", "grids"]).success()));
}

/// To make them again, run this test with `SCAVSIM_MAKE_GRIDS` set.
#[test]
fn importing_the_raw_data_again_gives_the_shipped_rows_byte_for_byte() {
    let Some(shared) = shared_data("") else {
        return;
    };
    for (name, file) in [
        ("scout", "scout-multinode/scout_multinode.csv"),
        ("trimtuner-cnn", "trimtuner-mnist/cnn.csv"),
        ("trimtuner-rnn", "trimtuner-mnist/rnn.csv"),
    ] {
        let sandbox = Sandbox::new();
        let kept = repository().join("data/grids").join(name);
        let (file, spec) = (shared.join(file), kept.join("grid.toml"));
        let arguments = ["import", "grid", &file.display().to_string(), "--spec"];
        let rest = [&spec.display().to_string(), "--out", name];
        let report = sandbox.run(&[&arguments[..], &rest].concat()).success();
        println!("{}", stdout(&report));
        let rows = sandbox.read(&format!("{name}/rows.csv"));
        if std::env::var_os("SCAVSIM_MAKE_GRIDS").is_some() {
            fs::write(kept.join("rows.csv"), &rows).expect("the repository is writable");
        }
        let want = fs::read_to_string(kept.join("rows.csv")).expect("it is text");
        assert!(rows == want, "{name}: rows.csv differs");
    }
}

/// A shipped folder equals the output of `import` for it.
#[test]
fn a_grid_folder_imported_again_is_the_same() {
    for name in SHIPPED {
        let sandbox = Sandbox::new();
        let kept = repository().join("data/grids").join(name);
        let text = |file: &str| kept.join(file).display().to_string();
        let (rows, spec) = (text("rows.csv"), text("grid.toml"));
        sandbox
            .run(&["import", "grid", &rows, "--spec", &spec, "--out", "g"])
            .success();
        for file in ["grid.toml", "rows.csv"] {
            let want = fs::read_to_string(text(file)).expect("it is text");
            // Comments in a table are not kept.
            let plain: String = (want
                .lines()
                .filter(|l| file != "rows.csv" || !l.starts_with('#')))
            .map(|line| format!("{line}\n"))
            .collect();
            assert!(
                sandbox.read(&format!("g/{file}")) == plain,
                "{name}/{file} differs"
            );
        }
    }
}

#[test]
fn a_grid_without_a_folder_to_write_is_only_checked() {
    let sandbox = Sandbox::new();
    let kept = repository().join("data/grids/scavenger");
    let text = |file: &str| kept.join(file).display().to_string();
    let (rows, spec) = (text("rows.csv"), text("grid.toml"));
    let report = sandbox
        .run(&["import", "grid", &rows, "--spec", &spec])
        .success();
    assert_snapshot!(stdout(&report));
    assert!(sandbox.files(".").is_empty());
}

// Scavenger.

const SCAVENGER: [&str; 3] = [
    "scavenger-resnet18",
    "scavenger-resnet50",
    "scavenger-transformer",
];

fn simulated(name: &str) -> Workload {
    let folder = workload::library::embedded(name).expect("it is embedded");
    let mut diagnostics = Diagnostics::default();
    workload::load::load(&folder, &mut diagnostics).expect("it is sound")
}

/// Rows of the shipped table, from the workloads. To make them again, run this test with
/// `SCAVSIM_MAKE_GRIDS` set.
#[test]
fn scavengers_rows_are_those_of_its_workloads() {
    let mut rows = String::from(
        "job,vm,workers,batch,step_s,communication_s,noise_normalised,epochs,samples_per_epoch,derived\n",
    );
    for name in SCAVENGER {
        let workload = simulated(name);
        for (at, cost) in workload.steps.points() {
            let (workers, batch) = (at.workers, at.batch);
            let epochs = workload
                .epochs
                .measured(workers, batch)
                .expect("a row per cell");
            let noise = workload
                .noise
                .measured(workers, batch)
                .expect("a row per cell");
            let derived = [
                (epochs.origin == Origin::Derived).then_some("epochs"),
                (noise.origin == Origin::Derived).then_some("noise_normalised"),
            ];
            let derived: Vec<&str> = derived.into_iter().flatten().collect();
            rows += &format!(
                "{name},{},{workers},{batch},{},{},{},{},{},{}\n",
                at.vm,
                short(cost.compute_s + cost.communication_s),
                short(cost.communication_s),
                noise.noise_normalised,
                epochs.epochs,
                workload.constants.samples_per_epoch.value,
                derived.join(" ")
            );
        }
    }
    let kept = repository().join("data/grids/scavenger/rows.csv");
    if std::env::var_os("SCAVSIM_MAKE_GRIDS").is_some() {
        fs::write(&kept, &rows).expect("the repository is writable");
    }
    assert_eq!(rows, fs::read_to_string(&kept).expect("it is text"));
}

/// Nine digits: the split of a step is computed.
fn short(value: f64) -> f64 {
    format!("{value:.8e}").parse().expect("a number")
}

#[test]
fn scavengers_grid_is_its_workload_without_variation() {
    let grid = shipped("scavenger");
    assert_eq!(grid.probe.charge, Charge::Steps);
    assert_eq!(grid.jobs.len(), 3);
    for (job, name) in grid.jobs.iter().zip(SCAVENGER) {
        assert_eq!(job.name, name);
        assert_eq!((job.space.len(), job.holes()), (16, 0));
        let workload = simulated(name);
        let all: Vec<Configuration> = (0..16)
            .map(|index| Configuration {
                vm: job.space.vm(index).expect("an axis").clone(),
                workers: job.space.workers(index).expect("an axis"),
                batch: job.space.batch(index).expect("an axis"),
            })
            .collect();
        let (reach, variation) = (Reach::default(), Variation::default());
        let world = World::new(&workload, &all, &reach, &variation).expect("measured cells");
        let mut cheapest = (f64::INFINITY, 0);
        for (index, truth) in world.truths.iter().enumerate() {
            let [run] = job.runs(index) else {
                panic!("one run per cell");
            };
            let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-8;
            assert!(
                near(run.time_s, truth.steps_to_target * truth.expected_step_s),
                "{}",
                all[index]
            );
            assert!(near(
                run.step_s.expect("it is known"),
                truth.expected_step_s
            ));
            assert!(near(
                run.compute_s.expect("it is known"),
                truth.cluster.whole.stepping.worker_s
            ));
            let communication = (
                run.communication_s.expect("it is known"),
                truth.cluster.whole.stepping.communication_s,
            );
            assert!((communication.0 - communication.1).abs() < 1e-8);
            assert_eq!(run.noise_normalised, truth.noise_normalised);
            assert_eq!(
                job.vms_of(index),
                Some((&all[index].vm, truth.cluster.groups[0].vms))
            );

            let published = (workload.published.iter())
                .find(|cell| cell.configuration == all[index])
                .expect("figure 10 has every cell");
            // Read off to 0.01 h.
            let off = (run.time_s / 3600.0 - published.time_h).abs();
            assert!(
                off <= 0.003 * published.time_h + 0.005,
                "{}: {off} h",
                all[index]
            );
            let usd = job.cost_usd(index, 0, run.time_s).expect("a rule");
            let off = (usd - published.cost_usd).abs();
            assert!(
                off <= 0.003 * published.cost_usd + 0.01,
                "{}: {off} USD",
                all[index]
            );
            if usd < cheapest.0 {
                cheapest = (usd, index);
            }
        }
        assert_eq!(best(job).map(|best| best.configuration), Some(cheapest.1));
    }
}

// TrimTuner.

#[test]
fn trimtuners_feasible_and_good_configurations_are_as_many_as_its_authors_say() {
    for (name, limit_usd, feasible, good, reached) in [
        ("trimtuner-cnn", 0.1, 111, 39, 107),
        ("trimtuner-rnn", 0.02, 178, 28, 82),
    ] {
        let grid = shipped(name);
        assert_eq!(grid.jobs.len(), 5);
        let [full] = grid.default_jobs[..] else {
            panic!("the default is the full size");
        };
        let job = &grid.jobs[full];
        assert_eq!(
            (job.name.as_str(), job.space.len(), job.holes()),
            ("60000", 288, 432)
        );
        let cost = |index: usize| {
            let run = &job.runs(index)[0];
            job.cost_usd(index, 0, run.time_s).expect("a rule")
        };
        let quality = |index: usize| job.runs(index)[0].quality.expect("an accuracy");
        let within: Vec<usize> = (0..288).filter(|i| cost(*i) <= limit_usd).collect();
        assert_eq!(within.len(), feasible, "{name}");
        // Within 5 % of the best accuracy among the feasible, not of all: of all it would be 37 and 26.
        let best = within.iter().map(|i| quality(*i)).fold(0.0, f64::max);
        let near = within.iter().filter(|i| quality(**i) >= 0.95 * best);
        assert_eq!(near.count(), good, "{name}");
        // The target of the grid is the same.
        let at_target = (0..288).filter(|i| job.runs(*i)[0].outcome == Outcome::Reached);
        assert_eq!(at_target.clone().count(), reached, "{name}");
        assert_eq!(
            at_target.filter(|i| cost(*i) <= limit_usd).count(),
            good,
            "{name}"
        );
    }
}

/// The authors' rule includes the evaluation VM and the parameter server, which is one everywhere.
#[test]
fn part_of_a_trimtuner_run_costs_its_part() {
    let grid = shipped("trimtuner-cnn");
    let job = &grid.jobs[grid.default_jobs[0]];
    let index = (0..288)
        .find(|i| job.space.vm(*i).is_some_and(|vm| **vm == *"t2.xlarge"))
        .expect("it is there");
    let workers = f64::from(job.space.workers(index).expect("an axis"));
    let right = |seconds: f64| seconds / 3600.0 * (0.1856 * (workers + 1.0) + 0.3712);
    for seconds in [0.0, 90.0, 3600.0] {
        let usd = job.cost_usd(index, 0, seconds).expect("a rule");
        assert!(
            (usd - right(seconds)).abs() <= 1e-12 * right(seconds),
            "{usd}"
        );
    }
    let (at_start, per_s) = job.price(index).expect("it is known beforehand");
    assert_eq!(at_start, 0.0);
    assert!((per_s * 3600.0 - right(3600.0)).abs() < 1e-12);
    assert_eq!(
        job.vms_of(index).map(|(_, vms)| f64::from(vms)),
        Some(workers + 1.0)
    );
}

// Scout.

/// Expected lowest of `draws` of `sorted` without putting back.
fn expected_lowest(sorted: &[f64], draws: usize) -> f64 {
    // P(the lowest is the i-th) = C(n-1-i, k-1) / C(n, k).
    let n = sorted.len();
    let mut probability = draws as f64 / n as f64;
    let mut sum = 0.0;
    for (i, value) in sorted.iter().enumerate().take(n - draws + 1) {
        sum += probability * value;
        let left = (n - 1 - i) as f64;
        probability *= (left - (draws - 1) as f64) / left.max(1.0);
    }
    sum
}

#[test]
fn the_expected_lowest_is_the_mean_over_all_draws() {
    let values = [1.0, 2.0, 4.0, 8.0];
    // Pairs: 1 1 1 2 2 4.
    assert!((expected_lowest(&values, 2) - 11.0 / 6.0).abs() < 1e-12);
    assert!((expected_lowest(&values, 4) - 1.0).abs() < 1e-12);
    assert!((expected_lowest(&values, 1) - 15.0 / 4.0).abs() < 1e-12);
}

#[test]
fn scouts_jobs_are_as_hard_as_is_known() {
    let grid = shipped("scout");
    let all = Counts::of_all(&grid.jobs);
    assert_eq!(
        (grid.jobs.len(), all.runs, all.configurations),
        (18, 1242, 1242)
    );
    assert_eq!((all.failed, all.unreached), (75, 0));
    // Nine VM types by eleven sizes, where the larger types were not run at the larger sizes.
    assert!(
        grid.jobs
            .iter()
            .all(|job| (job.space.len(), job.holes()) == (69, 30))
    );

    let spread = |job: &Job| median(costs(job)) / costs(job)[0];
    let spreads: Vec<f64> = grid.jobs.iter().map(spread).collect();
    let least = spreads.iter().copied().fold(f64::INFINITY, f64::min);
    let most = spreads.iter().copied().fold(0.0, f64::max);
    assert_eq!(format!("{least:.2} {most:.2}"), "1.18 4.25");

    // Random search among the clusters that complete. If a probe may also hit one that fails, and is lost, it is 1.32 and
    // 1.20.
    let random = |draws: usize| {
        let each = grid
            .jobs
            .iter()
            .map(|job| expected_lowest(&costs(job), draws) / costs(job)[0]);
        each.sum::<f64>() / 18.0
    };
    assert_eq!(format!("{:.3} {:.3}", random(6), random(10)), "1.304 1.187");
}

#[test]
fn a_hole_is_no_configuration() {
    let job = &shipped("scout").jobs[0];
    let at = |vm: &str, workers: f64| {
        let levels = job.space.axes()[0].levels();
        let vm = levels
            .iter()
            .position(|level| **level == *vm)
            .expect("a level");
        job.find(&[vm as f64, workers])
    };
    let there = at("c4.large", 48.0).expect("it was run");
    assert_eq!(job.space.name(there), "48 × c4.large");
    assert_eq!(at("c4.2xlarge", 48.0), None);
    assert_eq!(at("c4.large", 5.0), None);
}
