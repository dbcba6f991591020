//! Declarations of protocols, strategies, prices, charges and laws: tables of documents come from them, and every example is legal.
//!
//! `SCAVSIM_RENEW=1 cargo test --test house` writes the tables again.

use std::collections::BTreeSet;
use std::{env, fs};

use scavsim_base::Declaration;
use scavsim_scenario::declared::KINDS;
use scavsim_search::search::{Registry, STRATEGIES};

use crate::{read, root};

type Cell = fn(&Declaration) -> String;
/// Heads and cells of a table.
type Columns = &'static [(&'static str, Cell)];

const NAME: Cell = |declared| format!("`{}`", declared.name);
const WHAT: Cell = |declared| declared.what.to_owned();
const FORMULA: Cell = |declared| declared.formula.to_owned();
const SOURCE: Cell = |declared| declared.source.to_owned();
const EXAMPLE: Cell = |declared| format!("`{}`", declared.example);

/// The declared things of a kind, in the order of its registry.
fn kind(name: &str) -> Vec<&'static Declaration> {
    let kind = KINDS.iter().find(|kind| kind.name == name);
    (kind.expect(name).all)()
}

/// Document, kind, and columns of the table.
const TABLES: [(&str, &str, Columns); 10] = [
    ("docs/model/synchronisation.md", "protocols", ALL_BUT_NAME),
    ("docs/model/strategies.md", "strategies", HOW),
    ("docs/model/spot.md", "lives", ALL_BUT_EXAMPLE),
    ("docs/model/truth.md", "laws", ALL_BUT_EXAMPLE),
    ("docs/model/plans.md", "schedules", ALL_BUT_EXAMPLE),
    ("docs/model/plans.md", "reactions", ALL_BUT_EXAMPLE),
    ("docs/model/plans.md", "forecasts", ALL_BUT_EXAMPLE),
    ("docs/scenario.md", "prices", WRITTEN_AND_HOW),
    ("docs/scenario.md", "reductions", WRITTEN_AND_HOW),
    ("docs/scenario.md", "charges", WRITTEN_AND_HOW),
];

/// For things that a command lists with their descriptions.
const HOW: Columns = &[("name", NAME), ("how", FORMULA), ("source", SOURCE)];
const WRITTEN_AND_HOW: Columns = &[
    ("written", EXAMPLE),
    ("what it does", WHAT),
    ("how", FORMULA),
];
const ALL_BUT_NAME: Columns = &[
    ("written", EXAMPLE),
    ("what it does", WHAT),
    ("how", FORMULA),
    ("source", SOURCE),
];
const ALL_BUT_EXAMPLE: Columns = &[
    ("name", NAME),
    ("what it does", WHAT),
    ("how", FORMULA),
    ("source", SOURCE),
];

#[test]
fn tables_of_documents_are_what_is_declared() {
    let mut stale = Vec::new();
    for (document, name, columns) in TABLES {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut table = line(columns.iter().map(|(head, _)| (*head).to_owned()).collect());
        table += &format!("|{}\n", "---|".repeat(columns.len()));
        for declared in kind(name) {
            table += &line(columns.iter().map(|(_, cell)| cell(declared)).collect());
        }
        let path = root().join(document);
        let text = read(&path);
        let (begin, end) = (
            format!("<!-- {name} -->\n"),
            format!("<!-- end of {name} -->"),
        );
        let (before, rest) = text.split_once(&begin).expect(document);
        let (told, after) = rest.split_once(&end).expect(document);
        if told == table {
            continue;
        }
        if env::var_os("SCAVSIM_RENEW").is_some() {
            fs::write(&path, [before, &begin, &table, &end, after].concat()).expect(document);
        } else {
            stale.push(format!("{name} in {document}"));
        }
    }
    assert!(stale.is_empty(), "SCAVSIM_RENEW=1 writes anew: {stale:?}");
}

#[test]
fn whatever_is_declared_has_a_name_of_its_own_and_says_what_it_does() {
    for kind in KINDS {
        let (name, all) = (kind.name, (kind.all)());
        let names: BTreeSet<&str> = all.iter().map(|declared| declared.name).collect();
        assert_eq!(names.len(), all.len(), "a name is twice among {name}");
        for declared in all {
            assert!(!declared.what.is_empty(), "{declared:?}");
            assert!(!declared.source.is_empty(), "{declared:?}");
        }
    }
}

#[test]
fn strategies_are_declared_by_their_names() {
    let declared = STRATEGIES.iter().map(|declared| declared.name);
    assert!(declared.eq(Registry::default().names()));
}

const PARALLEL: &str =
    "parallel.runtime = { base = \"megatron-deepspeed-2024\", activations = \"overlapped\" }
search.strategies = [\"oracle\"]
parallel.profile = \"opt-350m\"
parallel.global_batch = [64]
parallel.target_steps = 10
parallel.nodes = [{ vm = \"p3.8xlarge\", gpu = \"V100-16\", gpu_memory_gib = 16 }]";

const REACTING: &str = "search.strategies = [\"oracle\"]
parallel.profile = \"opt-350m\"
parallel.global_batch = [64]
parallel.target_steps = 10
parallel.nodes = [{ vm = \"p3.8xlarge\", gpu = \"V100-16\", gpu_memory_gib = 16 }]
failures.fleet = \"llama-3-405b\"
failures.checkpoint = \"searched\"
failures.checkpoint_write_s = 10";

const FORESEEN: &str = "search.strategies = [\"oracle\"]
parallel.profile = \"opt-350m\"
parallel.global_batch = [64]
parallel.target_steps = 10
parallel.nodes = [{ vm = \"a2-highgpu-1g\", gpu = \"A100-40\", gpu_memory_gib = 40 }]
parallel.capacity = true
spot.lifetime = \"gcp-2025-a100-trace\"
parallel.reaction.policy = \"re-plan\"";

/// Strategies that need a grid with cheap versions of runs.
const CHEAP: &[&str] = &["successive-halving", "trimtuner-like"];

/// The example of a new protocol or strategy is tried before a test is written for it.
#[test]
fn every_example_is_legal() {
    let mut wrong = Vec::new();
    for kind in KINDS {
        let beside = match kind.name {
            // Lines of `workload.toml`; a test in the crate of the laws reads them.
            "laws" => continue,
            "schedules" => PARALLEL,
            "reactions" => REACTING,
            "forecasts" => FORESEEN,
            _ => "workloads = [\"scavenger-resnet18\"]",
        };
        for declared in (kind.all)() {
            let beside = if CHEAP.contains(&declared.name) {
                "grid = \"trimtuner-cnn\""
            } else {
                beside
            };
            let text = format!("{beside}\n{}\n", declared.example);
            if let Err(mistakes) = scavsim::Scenario::parse(&text) {
                wrong.push(format!("{}: {mistakes}", declared.example));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
