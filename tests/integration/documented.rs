//! The documents show the program's real output.

use std::fs;
use std::path::{Path, PathBuf};

use scavsim::reproduce::{Paper, Tally};
use scavsim::scenario::ClusterScenario as _;
use serde_json::Value;

use crate::external::without_python;
use crate::reproduction::paper;
use crate::sandbox::{Sandbox, repository, repository_file, stdout};

/// The README and all pages of `docs/`, by their paths in the repository.
fn documents() -> Vec<String> {
    fn walk(folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).expect("readable") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                let below = path.strip_prefix(repository()).expect("it is there");
                found.push(below.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    let mut found = vec!["README.md".to_owned()];
    walk(&repository().join("docs"), &mut found);
    found.sort();
    found
}

/// The fenced blocks of a document: the text after the fence, and the lines.
fn blocks(text: &str) -> Vec<(&str, &str)> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("\n```") {
        let Some((info, body)) = after.split_once('\n') else {
            break;
        };
        let (block, behind) = body.split_once("```").unwrap_or((body, ""));
        all.push((info, block));
        rest = behind;
    }
    all
}

/// A document in a folder of its own, next to `scenarios/`, its files by their bare names, and those that it shows itself:
/// blocks with `name=FILE` after the fence.
fn laid_out(document: &str, text: &str, folder: &Path) -> PathBuf {
    let flat = document.replace('/', "-");
    let beside = folder.join(flat.replace(".md", ".in"));
    copy_folder(&repository().join("scenarios"), &beside.join("scenarios"));
    copy_folder(&repository().join("scenarios"), &beside);
    for (info, block) in blocks(text) {
        if let Some((_, name)) = info.split_once(" name=") {
            let file = beside.join(name);
            fs::create_dir_all(file.parent().expect("in the folder")).expect("writable");
            let block = if document == "docs/bench.md" {
                crate::bench::with_hashes(block)
            } else {
                block.to_owned()
            };
            fs::write(file, block).expect("writable");
        }
    }
    folder.join(flat)
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("writable");
    for entry in fs::read_dir(from).expect("readable") {
        let path = entry.expect("readable").path();
        let to = to.join(path.file_name().expect("it has a name"));
        if path.is_dir() {
            copy_folder(&path, &to);
        } else {
            fs::copy(&path, to).expect("readable");
        }
    }
}

/// Every console block of every document. A single one: `cargo test --test integration documented -- trycmd=advise`; with
/// `TRYCMD=overwrite` the documents get the printed output.
#[test]
fn the_commands_of_the_documents_print_what_they_show() {
    let folder = tempfile::TempDir::new().expect("the temporary directory is writable");
    let cases = trycmd::TestCases::new();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut programs = std::env::split_paths(&path).map(|folder| folder.join("python3"));
    if let Some(python) = programs.find(|program| program.is_file()) {
        cases.register_bin("python3", python);
    }
    let mut shown = Vec::new();
    for document in documents() {
        let text = repository_file(&document);
        let is_shown = blocks(&text).iter().any(|(info, _)| *info == "console");
        if !is_shown || text.contains("```python name=") && without_python() {
            continue;
        }
        let laid = laid_out(&document, &text, folder.path());
        fs::write(&laid, &text).expect("writable");
        cases.case(&laid);
        shown.push((document, laid));
    }
    assert!(shown.len() >= 10, "{shown:?}");
    cases.run();
    if std::env::var_os("TRYCMD").is_some_and(|how| how == "overwrite") {
        for (document, laid) in shown {
            fs::copy(laid, repository().join(document)).expect("writable");
        }
    }
}

/// Blocks that are not run have another test.
#[test]
fn no_console_block_is_left_out() {
    let mut left_out = Vec::new();
    for document in documents() {
        let text = repository_file(&document);
        let odd = |info: &str| info.starts_with("console") && info != "console";
        left_out.extend(
            blocks(&text)
                .into_iter()
                .filter(|(info, _)| odd(info))
                .map(|_| document.clone()),
        );
    }
    assert_eq!(left_out, ["docs/reproduce.md"]);
}

/// The block of the page on papers that is not run: other tests have computed its rows. The README has its first sentence.
#[test]
fn the_documents_say_what_all_papers_come_to() {
    let names = Paper::names();
    let all = Tally::count(names.iter().map(|name| &*paper(name).1));
    let total = format!("{} papers: {}", names.len(), all.sentence());
    let page = words(&repository_file("docs/reproduce.md"));
    assert!(page.contains(&words(&total)), "{total}");
    let first = total.split_inclusive(". ").next().expect("a sentence");
    let readme = words(&repository_file("README.md"));
    assert!(readme.contains(&words(first)), "{first}");
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The value of earlier runs, from the summary of the main scenario.
#[test]
fn the_gallery_says_what_knowledge_is_worth() {
    let sandbox = Sandbox::new();
    let file = repository()
        .join("scenarios/scavenger.toml")
        .display()
        .to_string();
    let printed = stdout(&sandbox.run(&["run", &file, "--format", "json"]).success());
    let summary: Value = serde_json::from_str(&printed).expect("JSON");
    let groups = summary["groups"].as_array().expect("groups");
    let of = |strategy: &str, objective: &str, value: &dyn Fn(&Value) -> f64, digits: usize| {
        let all = groups
            .iter()
            .filter(|group| group["strategy"] == strategy && group["objective"] == objective);
        let all: Vec<String> = all
            .map(|group| format!("{:.digits$}", value(group)))
            .collect();
        assert_eq!(all.len(), 3, "{strategy}");
        all.join(", ")
    };
    let mean = |key: &'static str, times: f64| {
        move |group: &Value| times * group["metrics"][key]["mean"].as_f64().unwrap_or(f64::NAN)
    };
    let page = repository_file("docs/gallery.md");
    for strategy in ["full", "partial", "one-run", "same-job"] {
        let known = of(strategy, "time", &mean("known_time_h", 1.0), 0);
        let known = if known == "0, 0, 0" {
            "none".to_owned()
        } else {
            known
        };
        let cells = [
            format!("`{strategy}`"),
            known,
            of(strategy, "time", &mean("error_mean", 100.0), 1),
            of(strategy, "time", &mean("overhead_net_time", 100.0), 1),
            of(strategy, "cost", &mean("overhead_net_cost", 100.0), 1),
            of(
                strategy,
                "cost",
                &|group| 100.0 * group["right"].as_f64().unwrap_or(f64::NAN),
                0,
            ),
        ];
        let row = format!("| {} |", cells.join(" | "));
        assert!(page.contains(&row), "docs/gallery.md is to have {row}");
    }
}

/// The scenario of the how-to is legal and runs.
#[test]
fn the_scenario_of_the_how_to_runs() {
    let page = repository_file("docs/how-to/scenario.md");
    let (_, rest) = page.split_once("```toml\n").expect("a TOML block");
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

/// Every key of the JSON Schema is in the scenario reference.
#[test]
fn the_scenario_reference_names_every_key() {
    let pages = [
        "scenario",
        "policies",
        "own-policy",
        "model/synchronisation",
    ];
    let reference = pages
        .map(|page| repository_file(&format!("docs/{page}.md")))
        .concat();
    let schema = serde_json::to_value(scavsim::scenario::file::schema()).expect("a JSON value");
    let mut keys = Vec::new();
    collect_keys(&schema, &mut keys);
    assert!(keys.len() > 40, "only {} keys found", keys.len());
    for key in keys {
        let named = [format!("`{key}`"), format!(".{key}`"), format!("[{key}]"), format!("{key} =")]
            .iter()
            .any(|form| reference.contains(form))
            // Tables of strategies have a common heading.
            || scavsim::search::Registry::default().names().any(|name| name == key)
            || key == "strategy";
        assert!(named, "no page of {pages:?} names `{key}`");
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
