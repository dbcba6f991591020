//! `rank`: time and cost of every configuration, compared with theory, and in the program.

use std::sync::atomic::AtomicU64;

use scavsim::Interrupt;
use scavsim::experiment::Plan;
use scavsim::experiment::ranking::{Ranking, RankingOptions, rank};
use scavsim::input::Diagnostics;
use scavsim::scenario::ClusterScenario as _;
use scavsim::scenario::Scenario;
use scavsim::search::Objective;
use scavsim::stats::normal;
use scavsim::workload::{library, load};

use crate::replay::scenario;
use crate::sandbox::{Rows, Sandbox, stderr, stdout};

pub fn ranked(scenario: &Scenario, runs: u64) -> Vec<Ranking> {
    let effort = RankingOptions {
        runs,
        jobs: 2,
        interrupt: &Interrupt::default(),
        progress: &AtomicU64::new(0),
    };
    rank(scenario, effort).expect("a checked scenario")
}

const PRICED: &str = "pricing = { policies = [\"ten-cents\"], define = { ten-cents = { usd_per_vm_hour = 0.1 } } }\n";

fn resnet18(rest: &str) -> Scenario {
    scenario(&format!(
        "workloads = [\"scavenger-resnet18\"]\n{PRICED}{rest}"
    ))
}

/// Nothing varies: the time is steps times step, the bill VMs times hours times the price, every interval a point.
#[test]
fn in_a_constant_world_time_and_cost_are_those_of_a_calculation_by_hand() {
    let scenario = resnet18("");
    let (workload, configurations) = &scenario.workloads()[0];
    let rankings = ranked(&scenario, 50);
    assert_eq!(rankings.len(), 1);
    assert_eq!(rankings[0].rows.len(), configurations.len());
    for row in &rankings[0].rows {
        let at = configurations
            .iter()
            .find(|c| (Some(c.workers), Some(c.batch)) == (row.workers, row.batch));
        let replay = workload
            .replay(
                at.expect("one of them"),
                &scenario.clusters().expect("clusters").reach,
            )
            .expect("measured");
        let batch = f64::from(row.batch.expect("a batch"));
        let steps = replay.epochs * workload.constants.samples_per_epoch.value / batch;
        // The target is reached during the last step.
        let seconds = (steps * (1.0 - 1e-8)).ceil() * replay.step.total_s();
        assert!((row.expected.time_s / seconds - 1.0).abs() < 1e-9);
        let usd = 0.1 * f64::from(row.workers.expect("workers")) * seconds / 3600.0;
        assert!((row.expected.cost_usd / usd - 1.0).abs() < 1e-9);
        assert_eq!((row.runs, row.held.len()), (1, 1));
        assert_eq!(row.held[0].vms, row.workers.expect("workers"));
        for run_s in row.time_s {
            assert!((run_s / row.expected.time_s - 1.0).abs() < 1e-6);
        }
    }
}

/// Only the steps to the target vary, log-normally with mean 1: the share of runs above a limit and both quantiles are those
/// of that distribution.
#[test]
fn misses_and_intervals_are_those_of_a_known_distribution() {
    let cv: f64 = 0.2;
    let sigma = libm::sqrt(libm::log1p(cv * cv));
    let runs = 4_000;
    let base = "cluster = { pairs = [[16, 1024]] }\nvariation.epoch_cv = 0.2\n";
    let mean_s = ranked(&resnet18(base), 1)[0].rows[0].expected.time_s;
    for over in [0.8, 1.02, 1.15, 1.5] {
        let limit_h = over * mean_s / 3600.0;
        let scenario = resnet18(&format!("{base}limits.max_time_h = {limit_h}\n"));
        let ranking = &ranked(&scenario, runs)[0];
        let row = &ranking.rows[0];
        let exact = 1.0 - normal::cdf((libm::log(over) + 0.5 * sigma * sigma) / sigma);
        let seen = row
            .miss
            .and_then(|miss| miss.share())
            .expect("there is a limit");
        let error = (exact * (1.0 - exact) / runs as f64).sqrt();
        assert!(
            (seen - exact).abs() < 4.0 * error,
            "{over}: {seen} {exact} ± {error}"
        );
        for (end, z) in row.time_s.iter().zip([-1.645, 1.645]) {
            let quantile = mean_s * libm::exp(sigma * z - 0.5 * sigma * sigma);
            assert!((end / quantile - 1.0).abs() < 0.02, "{end} {quantile}");
        }
        assert_eq!(row.is_allowed, over > 1.0);
    }
}

/// The first is the oracle's choice, for any sort key, and each of its figures the oracle's.
#[test]
fn the_best_is_the_choice_of_the_oracle() {
    let rest = "variation = { step_cv = 0.1, placement_sigma = 0.05 }\nlimits.max_time_h = 7\n";
    let scenario = resnet18(rest);
    let plan = Plan::new(&scenario).expect("a checked scenario");
    let arena = plan.arena(0).expect("an arena");
    for (index, objective) in [Objective::Time, Objective::Cost, Objective::Knee]
        .into_iter()
        .enumerate()
    {
        let mut own = scenario.clone();
        let at = own
            .objectives
            .iter()
            .position(|o| *o == objective)
            .expect("all are asked for");
        own.objectives.swap(0, at);
        let ranking = &ranked(&own, 20)[0];
        let at = plan
            .objectives
            .iter()
            .position(|o| *o == objective)
            .expect("all are there");
        let oracle = arena.oracle[0][at].expect("some keep to the limit");
        assert!(ranking.rows[0].best_for.contains(&objective), "{index}");
        assert_eq!(ranking.rows[0].expected, arena.expected(0, oracle));
        let allowed = ranking.rows.iter().take_while(|row| row.is_allowed).count();
        assert!(
            ranking.rows[allowed..]
                .iter()
                .all(|row| !row.is_allowed && !row.is_on_front)
        );
        assert!(allowed > 0 && allowed < ranking.rows.len());
    }
}

const SMALL: &str = r#"
name = "small"
workloads = ["scavenger-resnet18"]
cluster = { workers = [8, 12, 16], batch = [768, 1024] }
variation = { placement_sigma = 0.05 }
pricing.policies = ["paper-fixed"]
limits.max_time_h = 6
search.objectives = ["cost", "time"]
"#;

#[test]
fn a_ranking_is_a_line_per_configuration_and_whole_for_programs() {
    let sandbox = Sandbox::with(SMALL);
    let table = stdout(&sandbox.run(&["rank", "scenario.toml"]).success());
    insta::assert_snapshot!("ranking_of_a_small_scenario", table);
    let narrow = stdout(
        &sandbox
            .run(&["rank", "scenario.toml", "--width", "60"])
            .success(),
    );
    insta::assert_snapshot!("ranking_on_sixty_columns", narrow);
    let widest = |text: &str| {
        // The legend is prose.
        let (table, _) = text.split_once("\n\n").expect("a legend");
        table.lines().map(|line| line.chars().count()).max()
    };
    assert!(widest(&table) <= Some(100) && widest(&narrow) <= Some(60));
    let rows = Rows::parse(&stdout(
        &sandbox
            .run(&["rank", "scenario.toml", "--top", "1", "--format", "csv"])
            .success(),
    ));
    assert_eq!(rows.len(), 6);
    let json = stdout(
        &sandbox
            .run(&["rank", "scenario.toml", "--top", "1", "--format", "json"])
            .success(),
    );
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    for (row, value) in rows
        .iter()
        .zip(json["configurations"].as_array().expect("rows"))
    {
        assert_eq!(row.text("vms"), value["vms"].to_string());
        assert_eq!(row.text("time_p95_h"), value["time_p95_h"].to_string());
        assert_eq!(row.text("provenance"), value["provenance"]);
    }
    let top = stdout(
        &sandbox
            .run(&["rank", "scenario.toml", "--top", "2"])
            .success(),
    );
    assert!(top.contains("… and 4 more: --top all"), "{top}");
}

#[test]
fn the_same_bytes_come_from_any_number_of_threads() {
    let sandbox = Sandbox::with(&SMALL.replace("workers = [8, 12, 16], ", ""));
    let with = |jobs| {
        stdout(
            &sandbox
                .run(&["rank", "scenario.toml", "--format", "csv", "--jobs", jobs])
                .success(),
        )
    };
    let one = with("1");
    for jobs in ["2", "5"] {
        assert_eq!(one, with(jobs));
    }
    let other = stdout(
        &sandbox
            .run(&["rank", "scenario.toml", "--format", "csv", "--seed", "7"])
            .success(),
    );
    assert_ne!(one, other, "another seed draws other runs");
}

#[test]
fn run_prints_configurations_too_and_kinds_and_grids_have_their_vms() {
    let sandbox = Sandbox::with(SMALL);
    let by_run = sandbox
        .run(&["run", "scenario.toml", "--format", "configurations"])
        .success();
    let by_rank = sandbox.run(&["rank", "scenario.toml"]).success();
    assert_eq!(stdout(&by_run), stdout(&by_rank));
    let out = [
        "run",
        "scenario.toml",
        "--format",
        "configurations",
        "--out",
        "out",
        "--replicas",
        "2",
    ];
    let kept = sandbox.run(&out).success();
    assert_eq!(stdout(&kept), stdout(&by_rank));
    assert!(sandbox.files("out").contains(&"records.csv".to_owned()));
    sandbox.write(
        "kinds.toml",
        "workloads = [\"pollux-bert\"]\ncluster = { workers = [4], batch = [48] }\n\
         kind.four = { vm = \"g4dn.12xlarge/4\" }\n\
         pricing = { policies = [\"p\"], define = { p = { usd_per_vm_hour = 4 } } }\n",
    );
    let rows = Rows::parse(&stdout(
        &sandbox
            .run(&["rank", "kinds.toml", "--format", "csv"])
            .success(),
    ));
    let row = rows.iter().next().expect("one");
    assert_eq!(
        (row.text("vm"), row.text("vms"), row.text("held")),
        ("four", "1", "1 g4dn.12xlarge")
    );
    let bill = 4.0 * row.number("time_h");
    assert!((row.number("cost_usd") / bill - 1.0).abs() < 1e-6);
    sandbox.write(
        "grid.toml",
        "grid = \"scout\"\njobs = [\"kmeans_bigdata_spark15\"]\n",
    );
    let grid = Rows::parse(&stdout(
        &sandbox
            .run(&["rank", "grid.toml", "--format", "csv"])
            .success(),
    ));
    assert!(
        grid.iter()
            .all(|row| row.number("vms") == row.number("workers"))
    );
}

#[test]
fn nothing_is_ranked_when_something_is_wrong() {
    let sandbox = Sandbox::with(SMALL);
    let wrong = sandbox
        .run(&["rank", "scenario.toml", "--top", "0"])
        .code(2)
        .stdout("");
    assert!(stderr(&wrong).contains("at least 1, or `all`"));
    sandbox.write("wrong.toml", "workloads = [\"resnet18\"]\nreplica = 3\n");
    let wrong = sandbox
        .run(&["rank", "wrong.toml", "scenario.toml"])
        .code(2)
        .stdout("");
    assert!(stderr(&wrong).contains("2 mistakes"), "{}", stderr(&wrong));
    sandbox.write(
        "tight.toml",
        &SMALL.replace("max_time_h = 6", "max_time_h = 0.1"),
    );
    let tight = stdout(&sandbox.run(&["rank", "tight.toml"]).success());
    assert!(
        tight.contains("no configuration keeps to the limits"),
        "{tight}"
    );
}

/// Shapes with as many workers on each VM.
const EVEN: [&str; 4] = [
    "g4dn.12xlarge",
    "g4dn.12xlarge/2",
    "g4dn.12xlarge/3",
    "g4dn.12xlarge/4",
];

/// A third of an application's steps held out of a table; only the error of the workload varies. Widths of the intervals, in
/// logarithms, for measured and held-out values, and whether the latter contain the truth.
fn told_of_the_left_out(name: &str) -> (Vec<f64>, Vec<(f64, bool)>) {
    let folder = library::embedded(name).expect("shipped");
    let workload = load::load(&folder, &mut Diagnostics::default()).expect("sound");
    let even: Vec<_> = (workload.steps.points())
        .filter(|(at, _)| EVEN.contains(&&*at.vm))
        .collect();
    let mut table = "vm,workers,batch,step_s\n".to_owned();
    for (_, (at, cost)) in even.iter().enumerate().filter(|(i, _)| i % 3 > 0) {
        table += &format!("{},{},{},{}\n", at.vm, at.workers, at.batch, cost.total_s());
    }
    let sandbox = Sandbox::new();
    sandbox
        .import_profile(
            &table,
            &["--epochs", "20", "--batch", "global", "--unit", "s"],
        )
        .success();
    let mut pairs: Vec<[u32; 2]> = even.iter().map(|(c, _)| [c.workers, c.batch]).collect();
    pairs.sort_unstable();
    pairs.dedup();
    sandbox.write(
        "left-out.toml",
        &format!(
            "workloads = [\"./w\"]\n\
             cluster = {{ pairs = {pairs:?}, vm = {EVEN:?}, outside = \"extrapolate\" }}\n\
             pricing = {{ policies = [\"p\"], define = {{ p = {{ usd_per_vm_hour = 4 }} }} }}\n"
        ),
    );
    let ranked = sandbox.run(&["rank", "left-out.toml", "--format", "csv"]);
    let rows = Rows::parse(&stdout(&ranked.success()));
    let (mut measured, mut left_out) = (Vec::new(), Vec::new());
    for (i, (at, cost)) in even.iter().enumerate() {
        let is_it = |row: &crate::sandbox::Row<'_>| {
            let counts = (row.number("workers"), row.number("batch"));
            row.text("vm") == &*at.vm && counts == (f64::from(at.workers), f64::from(at.batch))
        };
        let row = rows.iter().find(is_it).expect("all are listed");
        let ends = ["time_p5_h", "time_p95_h"].map(|end| row.number(end));
        let usd = ["cost_p5_usd", "cost_p95_usd"].map(|end| row.number(end));
        let width = libm::log(ends[1] / ends[0]);
        // A bill is proportional to the time.
        assert!((libm::log(usd[1] / usd[0]) / width - 1.0).abs() < 1e-9);
        let truth_h = 20.0 * 50_000.0 / f64::from(at.batch) * cost.total_s() / 3600.0;
        match i % 3 {
            0 => left_out.push((width, (ends[0]..=ends[1]).contains(&truth_h))),
            _ => measured.push(width),
        }
    }
    (measured, left_out)
}

#[test]
fn intervals_hold_what_was_left_out() {
    let (mut held, mut asked) = (0, 0);
    for name in ["pollux-bert", "pollux-cifar10", "pollux-imagenet"] {
        let (measured, left_out) = told_of_the_left_out(name);
        assert!(
            measured.iter().all(|width| *width > 0.0),
            "{name}: {measured:?}"
        );
        held += left_out.iter().filter(|l| l.1).count();
        asked += left_out.len();
    }
    let covered = held as f64 / asked as f64;
    assert!(asked > 100, "{asked}");
    assert!((0.85..=0.95).contains(&covered), "{held} of {asked}");
}

#[test]
fn the_legend_says_what_intervals_are_over() {
    let sandbox = Sandbox::new();
    let table = "vm,workers,batch,step_s\na,1,64,0.3\na,2,128,0.32\na,4,256,0.36\n";
    sandbox.import_profile(table, &["--epochs", "20"]).success();
    let scenario = "workloads = [\"./w\"]\n\
         cluster = { workers = [2, 8], batch = [128], outside = \"extrapolate\" }\n\
         pricing = { policies = [\"p\"], define = { p = { usd_per_vm_hour = 4 } } }\n";
    sandbox.write("s.toml", scenario);
    let plain = stdout(&sandbox.run(&["rank", "s.toml"]).success());
    assert!(
        plain.contains("from 5 % to 95 %, over how far off laws and repeats may be"),
        "{plain}"
    );
    sandbox.write(
        "s.toml",
        &format!("{scenario}variation.epoch_cv = 0.1\nlimits.max_time_h = 2\n"),
    );
    let lucky = stdout(&sandbox.run(&["rank", "s.toml"]).success());
    let words = lucky.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("over what 400 runs can meet, and over how far off laws"),
        "{lucky}"
    );
    assert!(
        words.contains("if what is said of them is right"),
        "{lucky}"
    );
    let explained = stdout(&sandbox.run(&["explain", "time_p5_h"]).success());
    let explained = explained.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        explained.contains("how far off the workload may be"),
        "{explained}"
    );
}
