//! Evidence of rows of papers: constants and the rows that they affect, claims in all their readings.

use scavsim::reproduce::constants::is_like;
use scavsim::reproduce::{Comparison, Evidence, Paper, Size, Tally, Verdict};

use crate::reproduction::paper;
use crate::sandbox::{Sandbox, repository_file, stdout};

/// The papers' claims: the number of readings in which each claim holds.
#[test]
fn the_claims_of_papers_hold_as_they_did() {
    let counts = |name: &str| {
        let of = Tally::count([&*paper(name).1]).claims;
        [of.in_all, of.in_some, of.in_none, of.hold, of.readings]
    };
    for (name, expected) in [
        ("scavenger", [3, 7, 0, 62, 108]),
        ("hpdc20", [0, 5, 3, 14, 41]),
        ("icac19", [0, 2, 0, 3, 6]),
        ("acsos20", [0, 0, 1, 0, 12]),
        ("icdcs20", [2, 0, 0, 2, 2]),
        ("ic2e19", [0, 3, 0, 6, 40]),
        ("sailor", [0, 0, 0, 0, 0]),
        ("parcae", [0, 0, 0, 0, 0]),
    ] {
        assert_eq!(counts(name), expected, "{name}");
    }
}

/// The readings of a paper's claims whose text contains `text`.
fn readings(name: &str, text: &str) -> Vec<&'static Comparison> {
    let own = |row: &&Comparison| row.verdict.is_of_claim() && row.quantity.contains(text);
    let rows: Vec<_> = paper(name).1.iter().filter(own).collect();
    assert!(!rows.is_empty(), "{name}: {text}");
    rows
}

/// Regression: "an overhead of 10 %" held by gross cost and did not hold by net time: now all readings are included.
#[test]
fn no_reading_of_a_claim_is_picked_by_hand() {
    let all = readings("scavenger", "an overhead of just 10%");
    let own: Vec<_> = (all.iter())
        .filter(|row| matches!(row.reading.get("accounting"), Some(of) if of != "cold-start"))
        .collect();
    let held = own.iter().filter(|row| row.verdict == Verdict::Holds);
    assert_eq!((own.len(), held.count()), (12, 7));
    // Cost: not by half under the fixed price, by 71 % and more under the price by memory.
    let saved = readings("scavenger", "more than 50%");
    let saved = saved
        .iter()
        .filter(|row| row.reading["baseline"] == "dearest");
    let saved: Vec<String> = saved.map(|row| format!("{:.1}", row.simulated)).collect();
    assert_eq!(saved, ["48.9", "70.6", "43.1", "73.6", "43.5", "71.7"]);
}

/// Compared with bounded staleness, which was left out once, flexible barriers are no faster on VMs that are lost; and the
/// loss by barriers depends on the seconds for which all stop.
#[test]
fn flexible_barriers_have_all_their_competitors_on_spot_vms() {
    let rows = readings("ic2e19", "flexible synchronisation is best");
    let on_spot: Vec<_> = (rows.iter())
        .filter(|row| row.reading.contains_key("stop"))
        .collect();
    assert_eq!(on_spot.len(), 2 * 2 * 3);
    for row in &on_spot {
        assert!(row.simulated > 0.95, "{row:?}");
    }
    assert!(on_spot.iter().any(|row| row.verdict != Verdict::Holds));
    let saved = readings("ic2e19", "less effective using transient servers");
    assert!(
        saved
            .iter()
            .any(|row| row.selector.starts_with("on spot VMs"))
    );
}

/// Values that were chosen on the outcome are no evidence, and values outside the paper are not counted among its figures.
#[test]
fn what_was_chosen_on_the_outcome_is_calibrated() {
    let of = |name: &str, quantity: &str, selector: &str| {
        let rows = paper(name).1.iter();
        let mut rows = rows.filter(|r| r.quantity == quantity && r.selector.contains(selector));
        let row = rows.next();
        row.unwrap_or_else(|| panic!("no {quantity} of {selector}"))
    };
    for (name, quantity, selector) in [
        ("scavenger", "time_with_step", "transformer"),
        ("scavenger", "cold_start_share_time", "workers=12 batch=768"),
        ("hpdc20", "model_cost", "lulesh"),
        ("sailor", "seconds of a step", "n2-d1"),
        ("sailor", "mean error of a step", "all 18 plans"),
        ("sailor", "mean error of peak memory", "GH200"),
    ] {
        assert_eq!(of(name, quantity, selector).evidence, Evidence::Calibrated);
    }
    for (name, quantity) in [
        ("sailor", "mean error of a step"),
        ("icac19", "median_difference"),
    ] {
        assert!(of(name, quantity, "").is_ours());
    }
}

/// Every calibrated row is affected by a constant that was chosen on it, and rows on which one was chosen are calibrated.
#[test]
fn calibrated_rows_and_constants_belong_together() {
    for name in Paper::names() {
        let constants =
            Paper::open(name, Size::default()).unwrap_or_else(|d| panic!("{}", d.render(false)));
        let constants = constants.constants;
        for row in paper(name).1.iter().filter(|row| row.reading.is_empty()) {
            let own = format!("{}: {}", row.quantity, row.selector);
            let mut patterns = constants.iter().flat_map(|constant| &constant.on);
            let is_chosen_on = patterns.any(|one| is_like(&one.pattern, &own));
            assert_eq!(
                is_chosen_on,
                row.evidence == Evidence::Calibrated,
                "{name}: {own}"
            );
        }
    }
}

/// The printed values of constants are those in the files.
#[test]
fn constants_have_the_values_that_are_used() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("data/workloads"), root.join("scenarios")];
    let mut shared = vec![root.join("crates/parallel/src/runtime.rs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("it is readable") {
            let path = entry.expect("it is readable").path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|e| e == "toml") => shared.push(path),
                false => {}
            }
        }
    }
    for name in Paper::names() {
        let own = std::fs::read_dir(root.join("data/papers").join(name)).expect("it is readable");
        let own = own.map(|entry| entry.expect("it is readable").path());
        let mut numbers: Vec<f64> = Vec::new();
        for path in own.chain(shared.iter().cloned()) {
            let text = std::fs::read_to_string(&path).expect("it is readable");
            // A constant's own description is no use of it.
            let text = if path.ends_with("paper.toml") {
                text.split("[[constants]]").next().unwrap_or_default()
            } else {
                &text
            };
            let parts = text.split(|c: char| !(c.is_ascii_alphanumeric() || ".-_".contains(c)));
            numbers.extend(parts.filter_map(|part| part.replace('_', "").parse::<f64>().ok()));
        }
        let paper =
            Paper::open(name, Size::default()).unwrap_or_else(|d| panic!("{}", d.render(false)));
        for constant in &paper.constants {
            for value in &constant.values {
                assert!(
                    numbers.contains(value),
                    "{name}: {}: {value}",
                    constant.name
                );
            }
        }
    }
}

/// Regression: a class in a table was a word without a definition.
#[test]
fn every_class_of_evidence_is_explained() {
    let docs = repository_file("docs/reproduce.md");
    for class in Evidence::ALL {
        let (name, meaning) = (class.name(), class.meaning());
        let said = stdout(&Sandbox::new().run(&["explain", name]).success());
        let said: Vec<&str> = said.split_whitespace().collect();
        assert!(said.join(" ").contains(meaning), "{name}: {said:?}");
        assert!(
            docs.contains(&format!("| `{name}` | {meaning} |")),
            "{name}"
        );
    }
}
