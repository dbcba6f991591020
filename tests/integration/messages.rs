//! Mistakes that resemble others: one message each, with the likely intention.

use crate::sandbox::{Sandbox, stderr};

/// The output of `check` for a scenario.
fn said(text: &str) -> String {
    let sandbox = Sandbox::with(text);
    stderr(&sandbox.run(&["check", "scenario.toml"]).code(2))
}

const WORKLOAD: &str = "workloads = [\"scavenger-resnet18\"]\n";

#[test]
fn a_list_that_is_not_closed_is_one_mistake_where_it_begins() {
    for rest in [
        "replicas = 3\n[cluster]\nworkers = [8, 9]\n",
        "[cluster]\nworkers = 8\n",
        "",
    ] {
        let text = said(&format!(
            "workloads = [\"scavenger-resnet18\", # ]\n\"scavenger-resnet50\"\n{rest}"
        ));
        assert!(
            text.contains("a list is not closed\n --> scenario.toml:1:13\n"),
            "{text}"
        );
        let until = if rest.is_empty() {
            "up to the end"
        } else {
            "before line 3"
        };
        assert!(text.contains(&format!("no `]` {until}")), "{text}");
        assert!(text.ends_with("\n1 mistake; nothing was run\n"), "{text}");
    }
    // Text above is checked as usual, and a missing comma is no missing bracket.
    let text = said("replicaz = 3\nworkloads = [\"scavenger-resnet18\"\nseed = 1\n");
    assert!(text.contains("did you mean `replicas`?"), "{text}");
    assert!(text.contains("--> scenario.toml:2:13"), "{text}");
    assert!(text.contains("2 mistakes"), "{text}");
    let text = said(&format!("{WORKLOAD}[cluster]\nworkers = [\n  8\n  9\n]\n"));
    assert!(
        text.contains("missing comma") && text.contains(":5:3\n"),
        "{text}"
    );
}

#[test]
fn a_key_that_is_set_twice_says_where_it_was_set() {
    let text = said(&format!("{WORKLOAD}replicas = 3\n\nreplicas = 4\n"));
    assert!(text.contains("^^^^^^^^ set before, in line 2"), "{text}");
    let text = said(&format!(
        "{WORKLOAD}[search]\nobjectives = [\"time\"]\n[search]\n"
    ));
    assert!(text.contains("set before, in line 2"), "{text}");
    // The key of another table is another key.
    let text = said(&format!("seed = 1\n{WORKLOAD}[bag]\nseed = 1\nseed = 2\n"));
    assert!(text.contains("set before, in line 4"), "{text}");
}

#[test]
fn what_is_written_otherwise_than_it_is_meant_says_how() {
    let text = said(&format!("{WORKLOAD}[cluster]\nworkers = \"8-20\"\n"));
    assert!(text.contains("{ from = 8, to = 20, step = 4 }"), "{text}");
    assert!(!text.contains("allowed here: `measured`"), "{text}");
    let text = said(&format!("{WORKLOAD}[cluster]\nworkers = \"measurd\"\n"));
    assert!(text.contains("did you mean `measured`?"), "{text}");
    let text = said("{\"workloads\": [\"scavenger-resnet18\"]}\n");
    assert!(text.contains("looks like JSON"), "{text}");
    for (word, meant) in [
        ("sync = \"asp\"", "{ asp = { service_s = ... } }"),
        ("sync = \"ssp\"", "{ ssp = { slack = ... } }"),
        (
            "spot = { lifetime = \"gcp-2019\", checkpoint = \"periodic-s\" }",
            "{ periodic-s = ... }",
        ),
    ] {
        let text = said(&format!("{WORKLOAD}{word}\n"));
        assert!(
            text.contains(meant) && text.contains("\n1 mistake;"),
            "{text}"
        );
    }
}

#[test]
fn a_wrong_value_is_not_told_to_be_missing_as_well() {
    for wrong in [
        "search.objectives = [\"costs\"]",
        "pricing.define.mine = { usd_per_vm_hour = -1 }\npricing.policies = [\"mine\"]",
        "pricing.define.mine = { usd_per_vm_hour = \"0.15\" }\npricing.policies = [\"mine\"]",
    ] {
        let text = said(&format!("{WORKLOAD}{wrong}\n"));
        assert!(text.contains("\n1 mistake; nothing was run"), "{text}");
        assert!(
            !text.contains("there is no price") && !text.contains("empty list"),
            "{text}"
        );
    }
}

#[test]
fn what_is_said_fits_the_terminal() {
    let sandbox = Sandbox::with(&format!("{WORKLOAD}colour = 3\n"));
    for width in ["60", "80", "100"] {
        let assert = sandbox
            .run(&["check", "scenario.toml", "--width", width])
            .code(2);
        let text = stderr(&assert);
        let most: usize = width.parse().expect("a number");
        assert!(
            text.lines().all(|line| line.chars().count() <= most),
            "{text}"
        );
        assert!(text.contains("`limits`"), "{text}");
    }
    let note = ["run", "scenario.toml", "--replicas", "1", "--width", "70"];
    sandbox.write(
        "scenario.toml",
        "name = \"x\"\nworkloads = [\"pollux-bert\"]\nsearch.strategies = [\"oracle\"]\n",
    );
    let text = stderr(&sandbox.run(&note).success());
    assert!(
        text.lines().count() > 1 && text.contains("list-2026"),
        "{text}"
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 70),
        "{text}"
    );
    // A log has a line per sentence.
    let text = stderr(&sandbox.run(&note[..4]).success());
    assert!(text.lines().all(|line| line.starts_with("x: ")), "{text}");
}
