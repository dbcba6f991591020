//! The claims of `docs/architecture.md`, checked in the source.
//!
//! `SCAVSIM_RENEW=1 cargo test --test house` writes the table of crates again.

mod budget;
mod circles;
mod declarations;
mod gallery;
mod links;
mod source;
mod words;
mod workflows;
mod writes;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use source::{CrateSource, Facts};

/// The crates from the lowest layer up: a crate depends on earlier ones.
const FLOORS: [&str; 21] = [
    "base",
    "read",
    "talk",
    "data",
    "fit",
    "engine",
    "sim",
    "parallel",
    "search",
    "experiment",
    "clusters",
    "grids",
    "bags",
    "plans",
    "provision",
    "scenario",
    "import",
    "measure",
    "papers",
    "show",
    "scavsim",
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn folder(name: &str) -> PathBuf {
    if name == "scavsim" {
        root()
    } else {
        root().join("crates").join(name)
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// The workspace crates that a crate depends on, in the order of the layers.
fn dependencies(name: &str) -> Vec<&'static str> {
    let text = read(&folder(name).join("Cargo.toml"));
    let package: toml::Table = text.parse().expect("cargo reads it, too");
    let named = package["dependencies"].as_table().expect("it is a table");
    let is_named = |floor: &&&str| named.contains_key(&format!("scavsim-{floor}"));
    FLOORS.iter().filter(is_named).copied().collect()
}

/// The results of parsing the source once, for all tests.
#[derive(Default)]
struct Survey {
    /// Lines of each crate without its tests' folder.
    lines: BTreeMap<&'static str, usize>,
    /// Cycles of files that need each other, as `crate: file file`.
    circles: BTreeSet<String>,
    /// Doc comments that depend on another, as `crate/file: line`.
    leaning_comments: Vec<String>,
    /// Places outside of their module where files are opened for writing, as `crate/file: call`.
    writes: Vec<String>,
    facts: Facts,
}

fn survey() -> &'static Survey {
    static SURVEY: OnceLock<Survey> = OnceLock::new();
    SURVEY.get_or_init(|| {
        let mut survey = Survey::default();
        for name in FLOORS {
            let source = CrateSource::read(&folder(name).join("src"));
            survey.facts.add(name, &source);
            for circle in circles::circles(&source) {
                survey
                    .circles
                    .insert(format!("{name}: {}", circle.join(" ")));
            }
            survey.lines.insert(name, source.lines);
            for (place, file) in source.files.values() {
                if !(name == "base" && place.starts_with("output/")) {
                    let calls = writes::writes(file).into_iter();
                    let calls = calls.map(|call| format!("{name}/{place}: {call}"));
                    survey.writes.extend(calls);
                }
            }
            let comments = source.leaning_comments.into_iter();
            survey
                .leaning_comments
                .extend(comments.map(|comment| format!("{name}/{comment}")));
        }
        survey
    })
}

#[test]
fn a_crate_depends_on_lower_floors_alone() {
    for (floor, name) in FLOORS.iter().enumerate() {
        let up: Vec<&str> = dependencies(name)
            .into_iter()
            .filter(|other| !FLOORS[..floor].contains(other))
            .collect();
        assert!(up.is_empty(), "{name} depends on {up:?}, which is above it");
    }
}

#[test]
fn no_crate_is_more_than_a_quarter_of_the_house() {
    let lines = &survey().lines;
    let all: usize = lines.values().sum();
    for (name, of_crate) in lines {
        let share = *of_crate as f64 / all as f64;
        assert!(
            share <= 0.25,
            "{name} has {:.0} % of {all} lines",
            100.0 * share
        );
    }
}

/// Files that need each other are one subject in several files: each such cycle has its reason here.
#[test]
fn files_that_need_each_other_are_few() {
    let found = &survey().circles;
    let known: BTreeSet<String> = read(&root().join("tests/house/circles.txt"))
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(str::to_owned)
        .collect();
    let new: Vec<_> = found.difference(&known).collect();
    let gone: Vec<_> = known.difference(found).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "new circles of files: {new:#?}; no longer: {gone:#?} (tests/house/circles.txt)"
    );
}

#[test]
fn errors_have_types() {
    let strings = &survey().facts.string_errors;
    assert!(
        strings.is_empty(),
        "functions or types have a `Result<_, String>`: {strings:#?}"
    );
}

#[test]
fn a_name_of_a_type_has_one_meaning_in_a_crate() {
    let twice = &survey().facts.types_twice;
    assert!(
        twice.len() <= MOST_NAMES_TWICE,
        "{} names stand for several types of a crate, at most {MOST_NAMES_TWICE} did: {twice:#?}",
        twice.len()
    );
}

/// `Scenario`: the public one, and the checked one inside it.
const MOST_NAMES_TWICE: usize = 1;

/// Editors and rustdoc show a doc comment without the one above it.
#[test]
fn a_doc_comment_stands_alone() {
    let leaning = &survey().leaning_comments;
    assert!(
        leaning.is_empty(),
        "not understood by themselves: {leaning:#?}"
    );
}

/// A file that is written elsewhere may be left incomplete, be a link, or belong to another process.
#[test]
fn files_are_written_in_one_place() {
    let found = &survey().writes;
    assert!(
        found.is_empty(),
        "these write files, which `scavsim_base::output` does: {found:#?}"
    );
}

/// Between crates the compiler does not report unused items.
#[test]
fn what_is_public_is_used() {
    let mut words: BTreeMap<String, usize> = BTreeMap::new();
    for folder in [
        "src",
        "crates",
        "tests",
        "benches",
        "examples",
        "python/src",
    ] {
        source::count_words(&root().join(folder), &mut words);
    }
    let idle: Vec<String> = (survey().facts.public_names)
        .iter()
        .filter(|(name, ..)| words.get(name).is_none_or(|times| *times < 2))
        .map(|(name, place)| format!("{name} ({place})"))
        .collect();
    assert!(idle.is_empty(), "nobody names them: {idle:#?}");
}

/// The packages that cases run through are optimised equally in releases and in distributed builds.
#[test]
fn profiles_optimise_the_same_packages() {
    let manifest: toml::Table = (read(&root().join("Cargo.toml")).parse()).expect("cargo reads it");
    let packages = |profile: &str| -> BTreeSet<String> {
        let all = manifest["profile"][profile]["package"].as_table();
        all.into_iter()
            .flat_map(|all| all.keys().cloned())
            .collect()
    };
    assert_eq!(packages("release"), packages("dist"));
    // Crates that read a file once are not among them.
    for name in ["parallel", "plans", "sim", "search", "experiment"] {
        assert!(
            packages("release").contains(&format!("scavsim-{name}")),
            "{name}"
        );
    }
}

/// The table of crates in `docs/architecture.md`, and their thousands of lines.
#[test]
fn the_architecture_is_as_the_document_says() {
    let path = root().join("docs/architecture.md");
    let text = read(&path);
    let (before, rest) = text.split_once(BEGIN).expect("the document has the table");
    let (table, after) = rest.split_once(END).expect("the table ends");
    let lines = &survey().lines;
    let told: BTreeMap<&str, Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            (cells[0].trim_matches('`'), cells)
        })
        .collect();
    let mut now = String::from("\n| crate | what it is | thousand lines |\n|---|---|---|\n");
    let mut wrong = Vec::new();
    for name in FLOORS {
        let thousands = lines[name] as f64 / 1000.0;
        let cells = told.get(name).map_or(&[][..], |cells| &cells[..]);
        let cell = |at: usize| cells.get(at).copied().unwrap_or_default();
        let is_near = cell(2)
            .parse()
            .is_ok_and(|told: f64| (told - thousands).abs() <= 0.05 * thousands + 0.1);
        if !is_near {
            wrong.push(name);
        }
        now += &format!("| `{name}` | {} | {thousands:.1} |\n", cell(1));
    }
    if !wrong.is_empty() && std::env::var_os("SCAVSIM_RENEW").is_some() {
        fs::write(&path, [before, BEGIN, &now, END, after].concat()).expect("it can be written");
        return;
    }
    assert!(wrong.is_empty(), "rows of {wrong:?} are to be:{now}");
}

const BEGIN: &str = "<!-- crates -->";
const END: &str = "<!-- end of crates -->";
