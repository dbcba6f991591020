//! The other commands, and the output formats.

use std::fs;
use std::process::Stdio;

use scavsim::experiment::COLUMNS;
use scavsim::functions::{Function, scenarios};
use scavsim::search::{ALL_KNOWING, Registry};
use serde_json::Value;

use crate::sandbox::{Rows, Sandbox, repository, repository_file, stderr, stdout};

const SMALL: &str = r#"
workloads = ["scavenger-resnet18"]
replicas = 2
variation = { step_cv = 0.05, noise_cv = 0.1 }
search = { strategies = ["oracle", "partial"], objectives = ["cost"] }
"#;

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("it is JSON")
}

// list

#[test]
fn every_list_tells_the_same_in_every_form() {
    let sandbox = Sandbox::new();
    for (what, count) in [
        ("workloads", 16),
        ("vms", 437),
        ("pricing", 72),
        (
            "strategies",
            ALL_KNOWING.len() + Registry::default().names().count(),
        ),
        ("lifetimes", 39),
        ("columns", COLUMNS.len()),
        (
            "functions",
            Function::all().count() + scenarios::FUNCTIONS.len(),
        ),
        ("grids", 5),
    ] {
        let list = |format| stdout(&sandbox.run(&["list", what, "--format", format]).success());
        let long = sandbox.run(&["list", what, "--long"]).success();
        let (table, csv, json) = (stdout(&long), list("csv"), json(&list("json")));
        assert_eq!(table.lines().count(), 1 + count, "{table}");
        let rows = Rows::parse(&csv);
        assert_eq!(rows.len(), count);
        assert_eq!(json["schema"], 1);
        let items = json["items"].as_array().expect("it is a list");
        assert_eq!(items.len(), count);
        for ((line, row), item) in table.lines().skip(1).zip(rows.iter()).zip(items) {
            for column in &rows.header {
                let cell = row.text(column);
                match &item[column] {
                    Value::String(text) => assert_eq!(text, cell),
                    Value::Null => assert_eq!(cell, ""),
                    number => assert_eq!(number.to_string(), cell),
                }
                assert!(line.contains(cell), "`{cell}` is not in {line}");
            }
        }
    }
}

/// What `list vms` prints with these filters.
fn vms(filters: &[&str]) -> String {
    let sandbox = Sandbox::new();
    stdout(&sandbox.run(&[&["list", "vms"], filters].concat()).success())
}

#[test]
fn vm_types_are_listed_by_provider_gpu_and_region() {
    let t4 = vms(&["--provider", "aws", "--gpu", "T4", "--region", "us-east-1"]);
    insta::assert_snapshot!(t4);
    let csv = vms(&["--gpu", "--format", "csv"]);
    let any = Rows::parse(&csv);
    assert!(any.len() > 60, "{}", any.len());
    assert!(any.iter().all(|row| !row.text("gpu").is_empty()));
    // Case is ignored, and a region selects only its VM types.
    let a10g = ["--gpu", "a10g", "--format", "csv"];
    assert_eq!(Rows::parse(&vms(&a10g)).len(), 8);
    let europe = vms(&["--region", "westeurope", "--format", "csv"]);
    assert!(
        Rows::parse(&europe)
            .iter()
            .all(|row| row.text("provider") == "azure")
    );
    for table in [vms(&[]), vms(&["--region", "us-central1"])] {
        let widest = table.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(120), "{widest:?}");
    }
}

/// Each price of `list vms` is among the prices of its VM type on its day.
#[test]
fn prices_are_listed_by_region_market_and_day() {
    let sandbox = Sandbox::new();
    let filters = ["--provider", "aws", "--gpu", "T4", "--region", "us-east-1"];
    let words = [&["list", "prices", "--format", "csv"], &filters[..]].concat();
    let text = stdout(&sandbox.run(&words).success());
    let prices = Rows::parse(&text);
    assert!(prices.iter().all(|row| row.text("region") == "us-east-1"));
    let types = vms(&[&filters[..], &["--format", "csv"]].concat());
    for vm in Rows::parse(&types).iter() {
        let held = prices.iter().find(|row| {
            row.text("vm") == vm.text("vm")
                && row.text("market") == "on-demand"
                && (row.text("from")..=row.text("to")).contains(&vm.text("date"))
        });
        let held = held.unwrap_or_else(|| panic!("{}", vm.text("vm")));
        assert_eq!(held.text("usd_per_hour"), vm.text("on_demand_usd"));
    }
    let refused = sandbox.run(&["list", "prices", "--region", "us-eest-1"]);
    assert!(stderr(&refused.code(2)).contains("did you mean `us-east-1`?"));
}

#[test]
fn what_no_vm_type_is_is_said_and_what_is_not_known_is_refused() {
    let sandbox = Sandbox::new();
    let nothing = sandbox.run(&["list", "vms", "--provider", "gcp", "--gpu", "T4"]);
    let nothing = nothing.success();
    assert_eq!(stdout(&nothing).lines().count(), 1);
    assert_eq!(stderr(&nothing), "no VM type is all of that\n");
    insta::assert_snapshot!(stderr(
        &sandbox
            .run(&[
                "list",
                "vms",
                "--provider",
                "asw",
                "--gpu",
                "T5",
                "--region",
                "mars"
            ])
            .code(2)
            .stdout("")
    ));
    insta::assert_snapshot!(stderr(
        &sandbox
            .run(&["list", "pricing", "--gpu"])
            .code(2)
            .stdout("")
    ));
}

#[test]
fn everything_listed_can_be_used() {
    let sandbox = Sandbox::new();
    let names = |what| {
        let table = stdout(&sandbox.run(&["list", what, "--format", "csv"]).success());
        let rows = Rows::parse(&table);
        let column = if what == "pricing" {
            "policy"
        } else {
            &what[..what.len() - 1]
        };
        let column = if what == "strategies" {
            "strategy"
        } else {
            column
        };
        // A policy without a price for the measured VM type is for VM types of another provider.
        let names: Vec<String> = (rows.iter())
            .filter(|row| what != "pricing" || !row.text("usd").is_empty())
            .map(|row| row.text(column).to_owned())
            .collect();
        names
    };
    // Policies of other VM types have no price for the GPU workloads, and vice versa.
    let (priced, others): (Vec<String>, Vec<String>) =
        (names("workloads").into_iter()).partition(|workload| workload.starts_with("scavenger"));
    assert!(!others.is_empty());
    sandbox.write(
        "others.toml",
        &format!("workloads = {others:?}\npricing.policies = [\"paper-fixed\"]\n[search]\nstrategies = [\"oracle\", \"default\"]\n"),
    );
    sandbox.run(&["check", "others.toml"]).success();
    // A planner needs plans.
    let mut strategies = names("strategies");
    // One is for plans, and two are for grids with cheap versions of runs.
    strategies
        .retain(|name| !["planner", "successive-halving", "trimtuner-like"].contains(&&**name));
    let scenario = format!(
        "workloads = {:?}\nseed = 1\n[pricing]\npolicies = {:?}\n[search]\nstrategies = {:?}\n",
        priced,
        names("pricing"),
        strategies,
    );
    sandbox.write("scenario.toml", &scenario);
    sandbox
        .run(&["check", "scenario.toml"])
        .success()
        // Three workloads, 65 policies and three objectives for each of the strategies.
        .stdout(format!(
            "scenario.toml: ok, {} cases\n",
            3 * 65 * 3 * strategies.len()
        ));
}

// schema

fn schema() -> Value {
    json(&stdout(&Sandbox::new().run(&["schema"]).success()))
}

fn toml_as_json(text: &str) -> Value {
    let table: toml::Table = toml::from_str(text).expect("it is TOML");
    serde_json::to_value(table).expect("TOML fits into JSON")
}

#[test]
fn the_schema_accepts_our_scenarios_and_refuses_a_misspelt_key() {
    let schema = schema();
    assert!(jsonschema::meta::is_valid(&schema));
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    let mut count = 0;
    for entry in fs::read_dir(repository().join("scenarios")).expect("it is there") {
        let path = entry.expect("it is readable").path();
        if path.extension().is_none_or(|e| e != "toml") {
            continue;
        }
        let scenario = toml_as_json(&fs::read_to_string(&path).expect("it is text"));
        let mistakes: Vec<_> = validator.iter_errors(&scenario).collect();
        assert!(mistakes.is_empty(), "{}: {mistakes:?}", path.display());
        count += 1;
    }
    assert!(count > 0);
    assert!(validator.is_valid(&toml_as_json(SMALL)));
    for wrong in [
        "workload = [\"scavenger-resnet18\"]",
        "[variation]\nstep_vc = 0.1",
        "[variation]\nstep_cv = -0.1",
        "[variation]\ndrift = { sigma = 0.1 }",
        "[cluster]\nworkers = []",
        "[cluster]\nworkers = { from = 8, till = 20 }",
        "[pricing.define.mine]\nusd_per_hour = 0.1",
        "[search]\nobjectives = [\"fame\"]",
        "[strategy.partial]\nextremes = \"corner\"",
        "[limits]\nmax_workers = 0",
        "replicas = 0",
        "fidelity = \"fine\"",
    ] {
        assert!(
            !validator.is_valid(&toml_as_json(wrong)),
            "accepted: {wrong}"
        );
    }
}

/// The schema requires everything that the reader does.
#[test]
fn the_schema_refuses_a_scenario_without_workloads() {
    let validator = jsonschema::validator_for(&schema()).expect("it is a schema");
    assert!(!validator.is_valid(&toml_as_json("seed = 1")));
    assert!(!validator.is_valid(&toml_as_json("workloads = []")));
}

#[test]
fn the_checked_in_schema_is_current() {
    assert!(
        json(&repository_file("docs/scenario.schema.json")) == schema(),
        "docs/scenario.schema.json is stale: scavsim schema > docs/scenario.schema.json"
    );
}

/// `SCAVSIM_RENEW=1` writes it again.
#[test]
fn the_reference_of_commands_is_current() {
    let sandbox = Sandbox::new();
    sandbox.run(&["manual", "out", "--markdown"]).success();
    let now = sandbox.read("out/cli.md");
    if std::env::var_os("SCAVSIM_RENEW").is_some() {
        let path = crate::sandbox::repository().join("docs/reference/cli.md");
        std::fs::write(path, &now).expect("writable");
    }
    assert!(
        repository_file("docs/reference/cli.md") == now,
        "docs/reference/cli.md is stale: scavsim manual docs/reference --markdown"
    );
    // It has every command and an option of each.
    for word in [
        "## `scavsim run`",
        "`--replicas",
        "### `scavsim import profile`",
        "`--samples-per-epoch",
        "`-q`",
    ] {
        assert!(now.contains(word), "{word}");
    }
}

// completions, check, help

#[cfg(feature = "completions")]
#[test]
fn bash_completions_know_the_commands() {
    let script = stdout(&Sandbox::new().run(&["completions", "bash"]).success());
    for word in [
        "run",
        "check",
        "list",
        "schema",
        "completions",
        "--dry-run",
        "--fidelity",
    ] {
        assert!(script.contains(word), "no {word}");
    }
}

#[test]
fn check_counts_the_cases_of_every_file() {
    let sandbox = Sandbox::with(SMALL);
    let main = repository_file("scenarios/scavenger.toml");
    sandbox.write("main.toml", &main);
    sandbox
        .run(&["check", "scenario.toml", "main.toml"])
        .success()
        .stdout("scenario.toml: ok, 4 cases\nmain.toml: ok, 18000 cases\n")
        .stderr("");
}

#[test]
fn an_unknown_command_or_option_is_wrong_usage() {
    for arguments in [
        &["rnu"][..],
        &[],
        &["run"],
        &["run", "--job", "2"],
        &["list", "clouds"],
    ] {
        let assert = Sandbox::new().run(arguments).code(2).stdout("");
        assert!(stderr(&assert).contains("--help"), "{arguments:?}");
    }
}

// run

#[test]
fn a_dry_run_writes_nothing() {
    let sandbox = Sandbox::with(SMALL);
    let assert = sandbox
        .run(&["run", "scenario.toml", "--dry-run", "--out", "out"])
        .success();
    assert_eq!(sandbox.files("."), ["scenario.toml"]);
    assert_eq!(
        stdout(&assert),
        "scenario: 4 cases = workloads 1 × policies 1 × objectives 1 × strategies 2 × replicas 2\n\
         16 configurations; fidelity fast; seed 0\n"
    );
}

#[test]
fn several_scenarios_get_a_folder_each() {
    let sandbox = Sandbox::with(SMALL);
    sandbox.write("other.toml", &format!("name = \"named\"\n{SMALL}"));
    sandbox
        .run(&["run", "scenario.toml", "other.toml", "--out", "out"])
        .success();
    assert_eq!(sandbox.files("out"), ["named", "scenario"]);
    for folder in ["out/named", "out/scenario"] {
        let names = ["manifest.json", "records.csv", "summary.csv"];
        assert_eq!(sandbox.files(folder), names);
    }
    let records = |folder| sandbox.read(&format!("out/{folder}/records.csv"));
    assert_eq!(records("named"), records("scenario"));
}

#[test]
fn an_earlier_result_is_replaced() {
    let sandbox = Sandbox::with(SMALL);
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    let first = sandbox.read("out/records.csv");
    sandbox
        .run(&[
            "run",
            "scenario.toml",
            "--out",
            "out",
            "--seed",
            "9",
            "--replicas",
            "1",
        ])
        .success();
    assert_eq!(Rows::parse(&first).len(), 4);
    assert_eq!(Rows::parse(&sandbox.read("out/records.csv")).len(), 2);
}

#[test]
fn the_summary_on_stdout_as_csv_is_the_summary_file() {
    let sandbox = Sandbox::with(SMALL);
    let arguments = ["run", "scenario.toml", "--format", "csv", "--out", "out"];
    let text = stdout(&sandbox.run(&arguments).success());
    assert_eq!(text, sandbox.read("out/summary.csv"));
    assert_eq!(Rows::parse(&text).len(), 2);
}

#[test]
fn several_summaries_as_csv_are_one_table() {
    let sandbox = Sandbox::with(SMALL);
    sandbox.write("other.toml", SMALL);
    let arguments = ["run", "scenario.toml", "other.toml", "--format", "csv"];
    let text = stdout(&sandbox.run(&arguments).success());
    assert_eq!(Rows::parse(&text).len(), 4);
}

#[test]
fn the_summary_as_json_tells_what_the_summary_file_tells() {
    let sandbox = Sandbox::with(SMALL);
    let arguments = ["run", "scenario.toml", "--format", "json", "--out", "out"];
    let value = json(&stdout(&sandbox.run(&arguments).success()));
    assert_eq!(
        (&value["schema"], &value["scenario"]),
        (&2.into(), &"scenario".into())
    );
    let groups = value["groups"].as_array().expect("it is a list");
    let table = sandbox.read("out/summary.csv");
    let rows = Rows::parse(&table);
    assert_eq!(groups.len(), rows.len());
    for (group, row) in groups.iter().zip(rows.iter()) {
        assert_eq!(group["strategy"], row.text("strategy"));
        let metrics = group["metrics"].as_object().expect("it is a table");
        assert!(metrics.len() >= 12);
        for (name, metric) in metrics {
            for part in ["mean", "median"] {
                let cell = row.number(&format!("{name}_{part}"));
                assert_eq!(metric[part].as_f64(), Some(cell), "{name} {part}");
            }
        }
    }
    let both = ["run", "scenario.toml", "scenario.toml", "--format", "json"];
    let several = json(&stdout(&sandbox.run(&both).success()));
    assert_eq!(several.as_array().map(Vec::len), Some(2));
    assert_eq!(several[0], value);
}

/// `scavsim … | head -1`: no error is printed, and result files are complete.
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let sandbox = Sandbox::with(SMALL);
    sandbox.write("other.toml", SMALL);
    for arguments in [
        &["schema"][..],
        &["list", "workloads"],
        &["run", "scenario.toml", "other.toml", "--out", "out"],
    ] {
        let (reader, writer) = std::io::pipe().expect("there are pipes");
        drop(reader);
        let output = sandbox
            .scavsim()
            .args(arguments)
            .stdout(writer)
            .stderr(Stdio::piped())
            .output()
            .expect("the program can be started");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
    assert_eq!(sandbox.files("out/other").len(), 3);
}

#[test]
fn pairs_series_and_exclusions_make_the_configurations_they_say() {
    for (cluster, count) in [
        ("workers = { from = 8, to = 20, factor = 2 }", 2 * 4),
        (
            "workers = { from = 8, to = 20, step = 6 }\nbatch = [400, 500]",
            3 * 2,
        ),
        ("pairs = [[8, 384], [16, 768], [20, 1024]]", 3),
        ("exclude = [{ local_batch = { max = 24 } }]", 14),
        (
            "exclude = [{ workers = { min = 16 }, batch = { max = 512 } }, { vm = \"e2-standard-4\", workers = { max = 8 } }]",
            8,
        ),
    ] {
        let sandbox = Sandbox::with(&format!(
            "workloads = [\"scavenger-resnet18\"]\n[cluster]\n{cluster}\n[search]\nstrategies = [\"oracle\"]\n"
        ));
        let assert = sandbox.run(&["run", "scenario.toml", "--dry-run"]);
        // The default configuration, the reference of break-even, may be among those left out.
        let printed = stdout(&assert.success());
        assert!(
            printed.contains(&format!("\n{count} configurations;")),
            "{cluster}: {printed}"
        );
    }
}

/// A user without a file learns which command makes one.
#[test]
fn a_command_without_its_file_says_what_makes_one() {
    let sandbox = Sandbox::new();
    let cases: [(&[&str], &str); 9] = [
        (&["run"], "`scavsim new NAME`"),
        (&["check"], "`scavsim example`"),
        (&["rank", "--top", "3"], "`scavsim new NAME`"),
        (&["trace", "--case", "3"], "`scavsim new NAME`"),
        (&["plot"], "`scavsim run FILE --out RESULTS`"),
        (&["report"], "`scavsim run FILE --out RESULTS`"),
        (&["advise"], "`scavsim example example-profile`"),
        (&["run", "none.toml"], "`scavsim new NAME`"),
        (&["check", "spot.toml"], "`scavsim example spot`"),
    ];
    for (arguments, said) in cases {
        let text = stderr(&sandbox.run(arguments).code(2));
        assert!(text.contains(said), "{arguments:?}: {text}");
    }
    // Other missing files have no such advice.
    let text = stderr(&sandbox.run(&["trace", "none.toml"]).code(2));
    assert!(!text.contains("scavsim new"), "{text}");
}

/// Tables for papers and notes: equal cells as on a terminal.
#[test]
fn tables_are_written_for_documents() {
    let sandbox = Sandbox::new();
    let scenario = repository().join("scenarios/scavenger.toml");
    let scenario = scenario.to_str().expect("UTF-8");
    let asked: [&[&str]; 4] = [
        &["run", scenario, "--quiet"],
        &["rank", scenario],
        &["compare", scenario],
        &["reproduce", "icac19"],
    ];
    for command in asked {
        let written = |form: &str| {
            let output = sandbox.run(&[command, &["--format", form]].concat());
            stdout(&output)
        };
        let latex = written("latex");
        let count = |what: &str| latex.lines().filter(|line| line.starts_with(what)).count();
        assert!(count("\\begin{tabular}") > 0, "{latex}");
        assert_eq!(
            count("\\begin{tabular}"),
            count("\\end{tabular}"),
            "{latex}"
        );
        // Everything outside of tables is a comment.
        let mut in_table = false;
        for line in latex.lines().filter(|line| !line.is_empty()) {
            in_table |= line.starts_with("\\begin{tabular}");
            assert!(in_table || line.starts_with("% "), "{line}");
            in_table &= !line.starts_with("\\end{tabular}");
        }
        if command[0] == "reproduce" {
            // Its Markdown is a page of its own.
            continue;
        }
        let markdown = written("markdown");
        let rules = markdown.lines().filter(|line| line.starts_with("| ---"));
        assert_eq!(rules.count(), count("\\begin{tabular}"), "{markdown}");
    }
}
