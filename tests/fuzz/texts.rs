//! Short texts of users: expressions, papers, keys of the command line, answers of strategies; and profiles of layers.

use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use clap::Parser;
use scavsim::cli::set::SetArgs;
use scavsim::expression::{
    self, Arguments, Cell, ColumnTable, Definition, ExpressionDependencies, Refusal, Value, World,
    check, evaluate,
};
use scavsim::input::{Diagnostics, Folder, Source};
use scavsim::parallel::{LayerProfile, Links};
use scavsim::reproduce::{Comparison, Paper, Size, compare};
use scavsim::scenario::{Extensions, Overrides, load_with};
use scavsim::{Conversation, ConversationStrategy, Registry, Scenario};

use super::Target;
use super::inputs::{evaluate as run_for_a_moment, plans, taken};
use super::seeds::{corpus, folders, text_of};

pub fn targets() -> Vec<Target> {
    let of = |name| corpus(name);
    vec![
        Target::new("expressions", 200, of("expressions"), expressions),
        Target::new("papers", 40, of("papers"), paper),
        Target::new("shipped-papers", 10, folders("data/papers"), shipped_paper),
        Target::new("set", 40, of("set"), set),
        Target::new("talk", 60, of("talk"), talk),
        Target::new("layer-profile", 30, folders("data/layers"), layer_profile),
    ]
}

/// A file of the input, as text where it is valid.
fn text(folder: &Path, name: &str) -> String {
    String::from_utf8_lossy(&fs::read(folder.join(name)).unwrap_or_default()).into_owned()
}

/// Some rows, a function, and a recursive function.
struct Few(Option<Definition>);

impl World for Few {
    fn parameters(&self, function: &str) -> Option<&'static [&'static str]> {
        (function == "twice").then_some(&["x", "of?"])
    }

    fn functions(&self) -> Vec<&str> {
        vec!["twice"]
    }

    fn knee(&self, points: &[Option<[f64; 2]>]) -> Option<usize> {
        points.iter().position(Option::is_some)
    }

    fn call(&self, _: &str, arguments: &Arguments<'_>) -> Result<Value, Refusal> {
        Ok(Value::Number(2.0 * arguments.number("x")?))
    }

    fn defined(&self, name: &str) -> Option<&Definition> {
        self.0.as_ref().filter(|_| name == "again")
    }

    fn tables(&self) -> Vec<String> {
        vec!["rows".to_owned()]
    }

    fn columns(&self, table: &str) -> Option<Vec<String>> {
        (table == "rows").then(|| ["name", "workers", "time_h"].map(str::to_owned).into())
    }

    fn table(&self, _: &str) -> Result<Rc<ColumnTable>, Refusal> {
        let mut table = ColumnTable::new(["name", "workers", "time_h"]);
        for (name, workers) in [("a", 1.0), ("b", 2.0), ("a", 4.0)] {
            table.push([
                Cell::Text(name.into()),
                Cell::Number(workers),
                Cell::Number(8.0 / workers),
            ]);
        }
        table.push([Cell::Text("b".into()), Cell::Number(8.0), Cell::Empty]);
        Ok(Rc::new(table))
    }
}

/// Each line is an expression; the first is also the body of `again(x)`.
fn expressions(folder: &Path) -> bool {
    let text = text(folder, "expressions.txt");
    let mut world = Few(None);
    let mut is_taken = false;
    for line in text.lines() {
        let mut wrong = Diagnostics::default();
        let source = Source::new("expressions.txt", line);
        let read = expression::parse(line, &source, 0, &mut wrong);
        assert_eq!(read.is_some(), wrong.is_empty(), "{line}");
        let Some(read) = read else { continue };
        check(
            &read,
            &[],
            &world,
            &mut ExpressionDependencies::default(),
            &mut wrong,
        );
        if wrong.is_empty() {
            is_taken = true;
            match evaluate(&read, &world) {
                Ok(value) => assert!(!value.shown().is_empty(), "{line}"),
                Err(why) => assert!(!why.title.is_empty(), "{line}"),
            }
        }
        world.0.get_or_insert(Definition {
            parameters: vec!["x".to_owned()],
            body: read,
        });
    }
    is_taken
}

/// A paper without scenarios: its figures are computed, or refused with a reason.
fn paper(folder: &Path) -> bool {
    // Files that a table names are in its folder; a scenario would be run.
    if text(folder, "paper.toml").contains("scenario") {
        return false;
    }
    let Some(paper) = opened(folder) else {
        return false;
    };
    let rows = sound(compare(&paper));
    let is_judged = |rows: &Vec<_>| {
        rows.iter()
            .all(|row: &Comparison| !row.verdict.name().is_empty())
    };
    assert!(rows.as_ref().is_none_or(is_judged));
    rows.is_some()
}

fn shipped_paper(folder: &Path) -> bool {
    opened(folder).is_some()
}

fn opened(folder: &Path) -> Option<Paper> {
    sound(Paper::open(&folder.to_string_lossy(), Size::default()))
}

fn sound<T>(read: Result<T, Diagnostics>) -> Option<T> {
    match read {
        Ok(read) => Some(read),
        Err(wrong) => taken(None, &wrong),
    }
}

#[derive(Parser)]
#[command(no_binary_name = true)]
struct Line {
    #[command(flatten)]
    set: SetArgs,
}

const SCENARIO: &str = "workloads = [\"scavenger-resnet18\"]\nreplicas = 2\nsearch.strategies = [\"oracle\", \"mine\"]\n";

/// Each line is a `-s KEY=VALUE`.
fn set(folder: &Path) -> bool {
    let text = text(folder, "set.txt");
    let words = text.lines().flat_map(|line| ["-s", line]);
    let Ok(line) = Line::try_parse_from(words) else {
        return false;
    };
    let Ok(set) = line.set.sources() else {
        return false;
    };
    let mut wrong = Diagnostics::default();
    let source = Source::new("scenario", SCENARIO.replace(", \"mine\"", ""));
    let overrides = Overrides {
        set,
        ..Overrides::default()
    };
    let scenario = load_with(
        &source,
        folder,
        overrides,
        &Extensions::default(),
        &mut wrong,
    );
    let scenario = taken(scenario, &wrong);
    scenario.iter().for_each(run_for_a_moment);
    scenario.is_some()
}

/// Answers from a file, independent of the questions.
struct Recited(Arc<Mutex<(Vec<String>, usize)>>);

impl Conversation for Recited {
    fn answer(&mut self, _: String) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        let mut told = self.0.lock().expect("nobody panics with it");
        told.1 += 1;
        let next = told.1 - 1;
        told.0
            .get(next)
            .cloned()
            .ok_or("it has no more to say".into())
    }
}

/// Each line is an answer of a strategy.
fn talk(folder: &Path) -> bool {
    let lines: Vec<String> = text(folder, "answers.jsonl")
        .lines()
        .map(str::to_owned)
        .collect();
    let told = Arc::new(Mutex::new((lines, 0)));
    let spoken = ConversationStrategy::new(move || Ok(Box::new(Recited(told.clone()))));
    let registry = Registry::default().with("mine", spoken);
    let scenario = Scenario::options()
        .registry(registry)
        .jobs(1)
        .parse(SCENARIO);
    let scenario = scenario.expect("it is legal");
    let mut is_taken = false;
    let run = scenario.run(|record| {
        is_taken |= record.strategy == "mine" && record.time_h.is_some();
        assert!(record.is_finite(), "{record:?}");
        assert!(
            record.time_h.is_some() || !record.reason.is_empty(),
            "{record:?}"
        );
        assert!(!record.reason.chars().any(char::is_control), "{record:?}");
    });
    run.expect("a search that fails ends no run");
    is_taken
}

fn layer_profile(folder: &Path) -> bool {
    let mut wrong = Diagnostics::default();
    let profile = LayerProfile::load(&Folder::Disk(folder.to_owned()), &mut wrong);
    assert_eq!(
        profile.is_some(),
        wrong.is_empty(),
        "{}",
        wrong.render(false)
    );
    let Some(profile) = taken(profile, &wrong) else {
        return false;
    };
    let links = Source::new("links.csv", text_of("data/layers/links.csv"));
    plans(
        &profile,
        &Links::read(&links, &mut wrong).expect("it is shipped"),
    );
    true
}
