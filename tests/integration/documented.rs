//! What the documents show is what the program does.

use scavsim::reproduce::{Paper, Tally};
use serde_json::Value;

use crate::reproduction::paper;
use crate::sandbox::repository_file;

/// Every console block of the README, run.
#[test]
fn the_commands_of_the_readme_print_what_it_shows() {
    trycmd::TestCases::new().case("README.md").run();
}

/// The block of the README that is not run: other tests have computed its rows.
#[test]
fn the_readme_shows_what_all_papers_come_to() {
    let names = Paper::names();
    let mut all = Tally::default();
    for name in &names {
        all += &Tally::count(&paper(name).1);
    }
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let total = format!("{} papers: {}", names.len(), all.sentence());
    let readme = words(&repository_file("README.md"));
    assert!(readme.contains(&words(&total)), "{total}");
}

/// Every console block of the document on imports, run beside the example it names.
#[test]
fn the_commands_of_the_import_document_print_what_it_shows() {
    let folder = tempfile::TempDir::new().expect("the temporary directory is writable");
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let copy = |from: &str, to: &str| {
        let to = folder.path().join(to);
        std::fs::create_dir_all(to.parent().expect("it is in the folder")).expect("writable");
        std::fs::copy(root.join(from), to).expect("it is checked in");
    };
    copy("docs/import.md", "import.md");
    copy(
        "scenarios/example-profile.csv",
        "import.in/example-profile.csv",
    );
    trycmd::TestCases::new()
        .case(folder.path().join("import.md"))
        .run();
}

/// The same of the document on advice.
#[test]
fn the_commands_of_the_document_on_advice_print_what_it_shows() {
    let folder = tempfile::TempDir::new().expect("the temporary directory is writable");
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::create_dir(folder.path().join("advise.in")).expect("writable");
    for (from, to) in [
        ("docs/advise.md", "advise.md"),
        (
            "scenarios/example-profile.csv",
            "advise.in/example-profile.csv",
        ),
        (
            "scenarios/example-profile-poor.csv",
            "advise.in/example-profile-poor.csv",
        ),
        (
            "scenarios/example-profile-t4.csv",
            "advise.in/example-profile-t4.csv",
        ),
        ("scenarios/scavenger.toml", "advise.in/scavenger.toml"),
    ] {
        std::fs::copy(root.join(from), folder.path().join(to)).expect("it is checked in");
    }
    trycmd::TestCases::new()
        .case(folder.path().join("advise.md"))
        .run();
}

/// The same of the document on traces.
#[test]
fn the_commands_of_the_trace_document_print_what_it_shows() {
    let folder = tempfile::TempDir::new().expect("the temporary directory is writable");
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::create_dir(folder.path().join("trace.in")).expect("writable");
    for (from, to) in [
        ("docs/trace.md", "trace.md"),
        ("scenarios/spot.toml", "trace.in/spot.toml"),
        ("scenarios/scout.toml", "trace.in/scout.toml"),
    ] {
        std::fs::copy(root.join(from), folder.path().join(to)).expect("it is checked in");
    }
    trycmd::TestCases::new()
        .case(folder.path().join("trace.md"))
        .run();
}

/// The same of the document on comparisons.
#[test]
fn the_commands_of_the_document_on_comparisons_print_what_it_shows() {
    let folder = tempfile::TempDir::new().expect("the temporary directory is writable");
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::create_dir(folder.path().join("compare.in")).expect("writable");
    for (from, to) in [
        ("docs/compare.md", "compare.md"),
        (
            "scenarios/compare-steps-scavenger.toml",
            "compare.in/compare-steps-scavenger.toml",
        ),
    ] {
        std::fs::copy(root.join(from), folder.path().join(to)).expect("it is checked in");
    }
    trycmd::TestCases::new()
        .case(folder.path().join("compare.md"))
        .run();
}

/// The same of the document on the suite, beside the small suite that it shows.
#[test]
fn the_commands_of_the_document_on_the_suite_print_what_it_shows() {
    let folder = tempfile::TempDir::new().expect("the temporary directory is writable");
    std::fs::create_dir(folder.path().join("bench.in")).expect("writable");
    let text = repository_file("docs/bench.md");
    let block = text.split("```toml\n").nth(1);
    let suite = block.and_then(|rest| rest.split("```").next());
    let suite = crate::bench::with_hashes(suite.expect("it shows one"));
    std::fs::write(folder.path().join("bench.in/two-jobs.toml"), suite).expect("writable");
    std::fs::write(folder.path().join("bench.md"), text).expect("writable");
    trycmd::TestCases::new()
        .case(folder.path().join("bench.md"))
        .run();
}

/// The scenario in the README is legal and runs.
#[test]
fn the_scenario_of_the_readme_runs() {
    let readme = include_str!("../../README.md");
    let (_, rest) = readme.split_once("```toml\n").expect("a TOML block");
    let (text, _) = rest.split_once("```").expect("its end");
    let scenario = super::replay::scenario(text);
    assert_eq!(scenario.workloads()[0].1.len(), 7 * 3);
    let plan = scavsim::experiment::Plan::new(&scenario).expect("a checked scenario");
    let mut evaluator = scavsim::experiment::Evaluator::new(&plan);
    let results = (0..plan.cases())
        .filter(|&n| evaluator.evaluate(plan.case(n)).time_h.is_some())
        .count();
    assert_eq!(results as u64, plan.cases());
}

/// Every key of the JSON Schema stands in the scenario reference.
#[test]
fn the_scenario_reference_names_every_key() {
    let reference =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/scenario.md"))
            .expect("docs/scenario.md is there");
    let schema = serde_json::to_value(scavsim::scenario::file::schema()).expect("a JSON value");
    let mut keys = Vec::new();
    collect_keys(&schema, &mut keys);
    assert!(keys.len() > 40, "only {} keys found", keys.len());
    for key in keys {
        let named = [format!("`{key}`"), format!("[{key}]"), format!("{key} =")]
            .iter()
            .any(|form| reference.contains(form))
            // Tables of strategies stand under their common heading.
            || scavsim::search::Registry::default().names().any(|name| name == key)
            || key == "strategy";
        assert!(named, "docs/scenario.md does not name `{key}`");
    }
}

fn collect_keys(schema: &Value, keys: &mut Vec<String>) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::Object(properties)) = map.get("properties") {
                keys.extend(properties.keys().cloned());
            }
            map.values().for_each(|v| collect_keys(v, keys));
        }
        Value::Array(list) => list.iter().for_each(|v| collect_keys(v, keys)),
        _ => {}
    }
}
