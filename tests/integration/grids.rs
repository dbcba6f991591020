//! Measured grids: the shipped ones against what is known of them, and a user's own with all its
//! mistakes.

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
use crate::sandbox::{Sandbox, repository, stderr, stdout};

const SHIPPED: [&str; 4] = ["scavenger", "scout", "trimtuner-cnn", "trimtuner-rnn"];

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
        assert_eq!(has_notice, grid.about.licence.starts_with("MIT"), "{name}");
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

/// A shipped folder is what `import` makes of itself.
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
            assert!(near(run.time_s, truth.expected_time_s()), "{}", all[index]);
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
                job.held(index),
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

/// The authors' rule holds the evaluation VM and the parameter server, which is one everywhere.
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
        job.held(index).map(|(_, vms)| f64::from(vms)),
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
    // Nine VM types by eleven sizes, of which the larger types were not run at the larger.
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

    // Random search among the clusters that complete. If a probe may also hit one that fails, and
    // is lost, it is 1.32 and 1.20.
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

// A grid of one's own.

pub const SPEC: &str = r#"name = "mine"
title = "My runs"
source = "me"
url = "none"
licence = "mine"
note = "made up"
cost_usd = "seconds / 3600 * price * workers"

[axis.vm]
kind = "categorical"

[axis.workers]
kind = "numeric"
unit = "workers"
column = "nodes"

[axis.disk]
kind = "ordinal"
levels = ["slow", "fast"]

[figures]
time_s = "seconds"
quality = "acc"
step_s = "step"

[lookup.price]
by = "vm"
values = { small = 0.5, large = 1.5 }
"#;

pub const ROWS: &str = "vm,nodes,disk,seconds,acc,step,ok,trial\n\
small,2,slow,3600,0.9,0.1,true,a\n\
small,4,fast,1800,0.8,0.2,no,a\n\
large,2,fast,900,0.7,0.3,1,a\n";

fn own(spec: &str, rows: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("spec.toml", spec);
    sandbox.write("runs.csv", rows);
    sandbox
}

pub const IMPORT: [&str; 7] = [
    "import",
    "grid",
    "runs.csv",
    "--spec",
    "spec.toml",
    "--out",
    "g",
];

/// The message with which an import refuses, after making sure that it wrote nothing.
#[track_caller]
fn refused(spec: &str, rows: &str) -> String {
    let sandbox = own(spec, rows);
    let assert = sandbox.run(&IMPORT).code(2).stdout("");
    assert_eq!(sandbox.files("."), ["runs.csv", "spec.toml"]);
    stderr(&assert)
}

fn loaded(spec: &str, rows: &str) -> Grid {
    let sandbox = own(spec, rows);
    sandbox.run(&IMPORT).success();
    let folder = scavsim::input::Folder::Disk(sandbox.path("g"));
    let mut diagnostics = Diagnostics::default();
    let grid = scavsim::grid::load::load(&folder, &mut diagnostics);
    grid.unwrap_or_else(|| panic!("{}", diagnostics.render(false)))
}

/// Without this, a specification that is refused for another reason would prove nothing.
#[test]
fn a_sound_grid_is_accepted_and_made_compact() {
    let sandbox = own(SPEC, ROWS);
    let report = stdout(&sandbox.run(&IMPORT).success());
    assert_snapshot!(report);
    assert_eq!(sandbox.read("g/grid.toml"), SPEC);
    let rows = sandbox.read("g/rows.csv");
    assert!(
        rows.starts_with("vm,nodes,disk,seconds,acc,step\nsmall,2,slow,3600,"),
        "{rows}"
    );
    // Replaced only by force.
    let told = stderr(&sandbox.run(&IMPORT).code(2));
    assert!(told.contains("replace this grid with --force"), "{told}");
    sandbox.run(&[&IMPORT[..], &["--force"]].concat()).success();
}

#[test]
fn what_a_grid_says_of_a_run() {
    let grid = loaded(
        &SPEC.replace(
            "[axis.vm]",
            "completed = \"ok\"\nvms = \"workers + 1\"\n\
             target = { at_least = 0.75 }\nprobe = { charge = { share = 0.1 }, cut_off = true }\n[axis.vm]",
        ),
        ROWS,
    );
    assert!(matches!(grid.probe.charge, Charge::Share(share) if share.get() == 0.1));
    let [job] = &grid.jobs[..] else {
        panic!("one job");
    };
    assert_eq!(job.name, "mine");
    let outcomes: Vec<Outcome> = (0..3).map(|i| job.runs(i)[0].outcome).collect();
    assert_eq!(
        outcomes,
        [Outcome::Reached, Outcome::Failed, Outcome::Unreached]
    );
    assert_eq!(job.runs(1)[0].time_to_target_s(), None);
    assert_eq!(job.runs(1)[0].time_s, 1800.0);
    assert_eq!(job.space.other(2), Some("disk=fast"));
    assert_eq!((job.space.value(0, 2), job.space.value(2, 2)), (0.0, 1.0));
    // Half of the third: 450 s of 2 large VMs at 1.50 USD.
    assert_eq!(job.cost_usd(2, 0, 450.0), Some(0.375));
    assert!(job.is_price_known_beforehand());
    let (at_start, per_s) = job.price(2).expect("it is known");
    assert_eq!((at_start, per_s * 3600.0), (0.0, 3.0));
    assert_eq!(
        job.held(1).map(|(vm, vms)| (&**vm, vms)),
        Some(("small", 5))
    );
    assert_eq!(job.holes(), 8 - 3);
}

#[test]
fn costs_by_column_by_started_hour_and_by_policy() {
    // A column of bills: part of a run costs its share, and nobody knows before.
    let cost = "cost_usd = \"seconds / 3600 * price * workers\"";
    let grid = loaded(&SPEC.replace(cost, "cost_usd = \"acc * 10\""), ROWS);
    let job = &grid.jobs[0];
    assert_eq!(job.cost_usd(0, 0, 1800.0), Some(4.5));
    assert!(job.has_cost() && !job.is_price_known_beforehand());
    // Started hours are not linear in the time.
    let grid = loaded(
        &SPEC.replace(cost, "cost_usd = \"ceil(time_s / 3600) * price\""),
        ROWS,
    );
    let job = &grid.jobs[0];
    for (seconds, usd) in [(0.0, 0.0), (1.0, 0.5), (3600.0, 0.5), (3601.0, 1.0)] {
        assert_eq!(job.cost_usd(0, 0, seconds), Some(usd), "{seconds}");
    }
    assert!(job.is_price_known_beforehand());
    assert_eq!(job.price(0), None);
    // No rule: a pricing policy prices the VMs.
    let grid = loaded(&SPEC.replace(cost, "vms = \"workers\""), ROWS);
    let job = &grid.jobs[0];
    assert_eq!(job.cost_usd(0, 0, 1.0), None);
    assert_eq!(
        job.held(1).map(|(vm, vms)| (&**vm, vms)),
        Some(("small", 4))
    );
}

#[test]
fn repeats_are_kept_where_they_are_declared() {
    let rows = format!("{ROWS}small,2,slow,4000,0.6,0.1,true,b\n");
    assert_snapshot!(refused(SPEC, &rows));
    for declared in ["repeats = true", "repeat = \"trial\""] {
        let grid = loaded(
            &SPEC.replace("[axis.vm]", &format!("{declared}\n[axis.vm]")),
            &rows,
        );
        let job = &grid.jobs[0];
        assert_eq!(job.space.len(), 3);
        let times: Vec<f64> = job.runs(0).iter().map(|run| run.time_s).collect();
        assert_eq!(times, [3600.0, 4000.0]);
        assert_eq!(job.cost_usd(0, 1, 3600.0), Some(1.0));
        assert_eq!(job.runs(1).len(), 1);
    }
    let twice = rows.replace("true,b", "true,a");
    let spec = SPEC.replace("[axis.vm]", "repeat = \"trial\"\n[axis.vm]");
    assert!(refused(&spec, &twice).contains("repeat `a` of this configuration stands twice"));
}

#[test]
fn jobs_share_a_table_but_no_configurations() {
    let rows = format!("{ROWS}small,2,slow,4000,0.6,0.1,true,b\n");
    let spec = SPEC.replace(
        "[axis.vm]",
        "job = \"trial\"\ndefault_jobs = [\"b\"]\n[axis.vm]",
    );
    let grid = loaded(&spec, &rows);
    let sizes: Vec<_> = grid
        .jobs
        .iter()
        .map(|job| (job.name.as_str(), job.space.len()))
        .collect();
    assert_eq!(sizes, [("a", 3), ("b", 1)]);
    assert_eq!(grid.default_jobs, [1]);
    let wrong = spec.replace("[\"b\"]", "[\"c\"]");
    assert!(refused(&wrong, &rows).contains("unknown job `c`"));
}

#[test]
fn an_axis_may_be_computed() {
    let spec = SPEC.replace("column = \"nodes\"", "formula = \"nodes * 2\"");
    let grid = loaded(&spec, ROWS);
    assert_eq!(grid.jobs[0].space.workers(1), Some(8));
    let wrong = spec.replace("nodes * 2", "nodes / 4");
    assert!(refused(&wrong, ROWS).contains("the axis `workers` is 0.5 here"));
}

#[test]
fn every_mistake_in_a_specification_at_once() {
    let spec = SPEC
        .replace("title = \"My runs\"\n", "")
        .replace("licence = \"mine\"", "licence = \" \"")
        .replace("seconds / 3600", "secnods / 3600")
        .replace(
            "unit = \"workers\"\ncolumn = \"nodes\"",
            "colunm = \"nodes\"",
        )
        .replace("[axis.disk]", "[axis.memory]")
        .replace("time_s = \"seconds\"", "time_s = \"seconds *\"")
        .replace("step_s = \"step\"", "step_s = \"vm + 1\"")
        .replace("by = \"vm\"", "by = \"vn\"");
    assert_snapshot!(refused(&spec, ROWS));
}

#[test]
fn every_mistake_in_the_rows_at_once() {
    let rows = "vm,nodes,disk,seconds,acc,step\n\
                small,2,slow,-3,0.9,0.1\n\
                small,4,fats,1800,much,0.2\n\
                medium,2,fast,,0.7,-1\n\
                large,2.5,fast,900,0.7,0.3\n\
                large,2,fast,nan\n";
    assert_snapshot!(refused(SPEC, rows));
}

#[test]
fn a_cost_rule_with_a_column_that_is_not_there() {
    let spec = SPEC.replace("price * workers", "price * worker");
    assert_snapshot!(refused(&spec, ROWS));
}

#[test]
fn a_numeric_axis_without_a_unit() {
    assert_snapshot!(refused(&SPEC.replace("unit = \"workers\"\n", ""), ROWS));
}

#[test]
fn other_mistakes_are_told_with_a_remedy() {
    for (from, to, told) in [
        ("kind = \"categorical\"", "", "the axis `vm` has no `kind`"),
        (
            "kind = \"categorical\"",
            "kind = \"numeric\"\nunit = \"1\"",
            "always categorical",
        ),
        (
            "levels = [\"slow\", \"fast\"]",
            "",
            "does not say in which order",
        ),
        (
            "[\"slow\", \"fast\"]",
            "[\"slow\", \"slow\"]",
            "stands twice",
        ),
        (
            "unit = \"workers\"",
            "unit = \"workers\"\nlevels = [\"2\"]",
            "has levels but no order",
        ),
        (
            "kind = \"categorical\"",
            "kind = \"categorical\"\nunit = \"1\"",
            "have no unit",
        ),
        (
            "column = \"nodes\"",
            "column = \"nods\"",
            "did you mean `nodes`?",
        ),
        (
            "cost_usd = \"seconds / 3600 * price * workers\"",
            "",
            "`cost_usd` is missing",
        ),
        (
            "seconds / 3600 * price",
            "seconds / 3600 * price / (workers - 2)",
            "cost",
        ),
        (
            "seconds / 3600 * price",
            "seconds / 3600 * vm",
            "holds names, no numbers",
        ),
        (
            "[figures]",
            "[target]\nat_least = 1\nat_most = 2\n[figures]",
            "is not one rule",
        ),
        (
            "quality = \"acc\"",
            "quality = \"acc\"\n[target]\ncolumn = \"vm\"",
            "true or false",
        ),
        (
            "step_s = \"step\"",
            "[probe]\ncharge = \"steps\"",
            "cannot be charged by steps",
        ),
        ("step_s = \"step\"", "[probe]\ncharge = \"all\"", "`whole`"),
        (
            "step_s = \"step\"",
            "[probe]\ncharge = { share = 2 }",
            "above 0 and at most 1",
        ),
        ("[axis.vm]", "vms = \"acc\"\n[axis.vm]", "`acc` is no axis"),
        (
            "[axis.vm]",
            "vms = \"workers - 2\"\n[axis.vm]",
            "whole number of at least 1",
        ),
        (
            "[axis.vm]",
            "derived = \"vm\"\n[axis.vm]",
            "unknown figure `small`",
        ),
        (
            "[axis.vm]",
            "completed = \"acc\"\n[axis.vm]",
            "expected true or false",
        ),
        (
            "[lookup.price]",
            "[lookup.acc]\nby = \"vm\"\n[lookup.price]",
            "the name of something else",
        ),
        ("large = 1.5", "huge = 1.5", "no value for `large`"),
        ("time_s = \"seconds\"", "", "`figures.time_s` is missing"),
        (
            "price * workers",
            "price ^ workers",
            "nothing that can stand here",
        ),
    ] {
        let spec = SPEC.replacen(from, to, 1);
        assert_ne!(spec, SPEC, "{from}");
        let message = refused(&spec, ROWS);
        assert!(message.contains(told), "{told}: {message}");
    }
    let header = ROWS.lines().next().expect("a header");
    assert!(refused(SPEC, header).contains("the table has no rows"));
    assert!(refused(SPEC, "").contains("the table is empty"));
    assert!(refused("name = 1\n", ROWS).contains("name"));
    // A column of that name matters only where the rule names it.
    let both = ROWS.replace("step", "time_s");
    let spec = SPEC.replace("\"step\"", "\"time_s\"");
    assert_eq!(loaded(&spec, &both).jobs[0].runs(0)[0].step_s, Some(0.1));
    let told = refused(&spec.replace("seconds / 3600", "time_s / 3600"), &both);
    assert!(told.contains("both a column and the time"), "{told}");
}

#[test]
fn the_example_in_the_docs_is_sound() {
    let docs = fs::read_to_string(repository().join("docs/import.md")).expect("it is text");
    let (_, rest) = docs.split_once("```toml\n").expect("an example");
    let (spec, _) = rest.split_once("```").expect("its end");
    let rows = "model,ok,hours,accuracy,vm_type,workers,disk\n\
                a,true,2,0.95,g5.xlarge,4,slow\n\
                a,false,1,0.5,g6e.xlarge,4,fast\n";
    let grid = loaded(spec, rows);
    let job = &grid.jobs[0];
    assert_eq!(job.runs(0)[0].time_to_target_s(), Some(7200.0));
    assert_eq!(job.runs(1)[0].outcome, Outcome::Failed);
    let usd = job.cost_usd(0, 0, 1800.0).expect("a rule");
    assert!((usd - 0.5 * 1.006 * 4.0).abs() < 1e-12);
    assert!(job.is_price_known_beforehand());
}
