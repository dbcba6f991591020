//! Every head of every table has a meaning in `scavsim explain`.

use std::collections::BTreeSet;
use std::path::Path;

use crate::sandbox::{Sandbox, repository, stderr, stdout};
use crate::widths::{COMMANDS, coloured, scavsim};

/// Commands whose tables have other heads than the tables in the tests of widths.
const MORE: &[&[&str]] = &[
    &[
        "rank",
        "scenarios/llm-fleet.toml",
        "--runs",
        "5",
        "--top",
        "2",
        "--wide",
    ],
    &[
        "rank",
        "scenarios/spot.toml",
        "-s",
        "limits.max_time_h=50",
        "--runs",
        "5",
        "--top",
        "2",
    ],
    &[
        "run",
        "scenarios/scavenger.toml",
        "-s",
        "replicas=2",
        "--format",
        "policies",
    ],
    &["list", "gpus"],
    &["list", "models"],
    &["list", "runtimes"],
    &["list", "failures"],
    &["validate", "scavenger-resnet18", "--format", "markdown"],
];

/// Bold lines with wide gaps between words: titles have none.
fn heads_in(coloured: &str) -> BTreeSet<String> {
    let bold = coloured
        .lines()
        .filter_map(|line| line.strip_prefix("\u{1b}[1m"));
    let lines = bold.filter_map(|line| line.split("\u{1b}").next());
    let heads = lines
        .filter(|line| line.trim().contains("  "))
        .flat_map(|line| line.split("  "));
    heads
        .map(|head| head.trim().to_owned())
        .filter(|head| !head.is_empty())
        .collect()
}

/// Quoted heads after `Column::text(` and similar calls in the crates that print for terminals.
fn heads_in_source(folder: &Path, all: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("it is there") {
        let path = entry.expect("it is readable").path();
        let is_of_pages =
            path.ends_with("page") || path.ends_with("figure") || path.ends_with("text");
        if path.is_dir() && !is_of_pages {
            heads_in_source(&path, all);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = std::fs::read_to_string(&path).expect("it is readable");
            for begin in ["Column::text(", "Column::number(", "Column::word("] {
                let behind = text.split(begin).skip(1);
                let quoted = behind.filter_map(|rest| rest.trim_start().strip_prefix('"'));
                let heads = quoted.filter_map(|rest| rest.split('"').next());
                all.extend(
                    heads
                        .map(|head| head.trim().to_owned())
                        .filter(|head| !head.is_empty()),
                );
            }
        }
    }
}

#[test]
fn every_head_of_a_table_is_explained() {
    let mut heads = BTreeSet::new();
    let commands = COMMANDS
        .iter()
        .map(|(_, command)| *command)
        .chain(MORE.iter().copied());
    let mut tables = 0;
    for command in commands {
        for width in ["80", "140"] {
            let found = heads_in(&coloured(command, width));
            tables += usize::from(!found.is_empty());
            heads.extend(found);
        }
    }
    assert!(tables > 40 && heads.len() > 60, "{tables}: {heads:?}");
    for folder in [
        "src/cli",
        "crates/show/src/report",
        "crates/measure/src",
        "crates/papers/src",
    ] {
        heads_in_source(&repository().join(folder), &mut heads);
    }
    let is_unknown = |head: &String| {
        let output = scavsim(&["explain", head]).output().expect("it starts");
        !output.status.success()
    };
    let unknown: Vec<String> = heads.into_iter().filter(is_unknown).collect();
    assert!(
        unknown.is_empty(),
        "`scavsim explain` does not know {unknown:?}"
    );
}

#[test]
fn words_of_the_field_are_explained_or_near_ones_named() {
    let explained = |words: &[&str]| {
        let output = scavsim(&[&["explain"], words].concat())
            .output()
            .expect("it starts");
        assert_eq!(output.status.code(), Some(0), "{words:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(explained(&["net", "t", "/", "$"]).contains("realised total"));
    assert!(explained(&["knowledge", "gradient"]).contains("measure next"));
    assert!(explained(&["bsp"]).contains("slowest"));
    assert!(explained(&["from"]).starts_with("from, a head of tables"));
}

#[test]
fn every_word_of_a_table_is_explained() {
    let sandbox = Sandbox::new();
    for word in [
        "right",
        "Regret",
        "knee_depth",
        "step_cv",
        "spot.lifetime",
        "same-job",
        "paper-fixed",
        "K × B",
        "plan",
        "$/10⁹",
        "(?)",
        "MFU",
        "(i)",
    ] {
        let assert = sandbox.run(&["explain", word]);
        assert!(stdout(&assert.success()).lines().count() >= 2, "{word}");
    }
    let error = "no configuration keeps within the limits; the nearest, 20 × e2-standard-4, takes 4 h against 1 h";
    assert!(stdout(&sandbox.run(&["explain", error]).success()).contains("`max_miss`"));
    let unknown = stderr(&sandbox.run(&["explain", "regert"]).code(2));
    assert!(unknown.contains("did you mean `regret`?"), "{unknown}");
}
