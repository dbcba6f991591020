//! `scavsim explain`: what a word of a table, a message or a scenario means.

use clap::Args;
use serde_json::Value;

use super::exit::{EXIT_CODES, Exit, Failure, wrong};
use super::terminal;
use scavsim_base::Declaration;
use scavsim_data::pricing::builtin;
use scavsim_experiment::COLUMNS;
use scavsim_papers::reproduce::Evidence;
use scavsim_read::input::closest;
use scavsim_scenario::declared::{DeclaredKind, KINDS};
use scavsim_scenario::file;
use scavsim_show::report::summary_table;

/// Words of tables and messages that are no key, column or name: the word, where it appears, its meaning.
const WORDS: &str = include_str!("words.tsv");
const IN_MESSAGES: &str = "in tables and messages";

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The word, or words, as they are printed: `regret`, `variation.step_cv`, `knee_depth`, `same-job`
    #[arg(required = true, value_name = "TERM", value_parser = super::suggest::suggested(explainable_words), hide_possible_values = true)]
    term: Vec<String>,
}

struct Entry {
    term: String,
    /// What it is: `a key of scenarios`.
    kind: String,
    meaning: String,
}

/// Short words for completions.
fn explainable_words() -> Vec<&'static str> {
    let columns = COLUMNS.iter().map(|column| column.name);
    let glossary = table_of_words().filter(|[_, place, _]| *place == IN_MESSAGES);
    let glossary = glossary
        .map(|[word, ..]| word)
        .filter(|word| !word.contains(' '));
    columns
        .chain(summary_table::column_words())
        .chain(declarations().map(|(_, declared)| declared.name))
        .chain(glossary)
        .collect()
}

impl ExplainArgs {
    pub fn run(self) -> Result<Exit, Failure> {
        let asked = of_any_number(&self.term.join(" "));
        let all = entries()?;
        let is_it = |term: &str| folded(term) == folded(&asked);
        let mut found: Vec<&Entry> = all.iter().filter(|entry| is_it(&entry.term)).collect();
        let shares_words = |entry: &&Entry| {
            let mut kinds = KINDS.iter().filter(|kind| kind.shares_words_with_keys);
            kinds.any(|kind| kind.one == entry.kind)
        };
        if found.iter().all(shares_words) {
            // It may be the last part of a key, and a part of a sentence.
            let is_part = |entry: &&Entry| {
                let last = entry.term.rsplit('.').next().unwrap_or_default();
                is_it(last)
                    || (entry.term.contains(' ') && folded(&asked).contains(&folded(&entry.term)))
            };
            found.extend(
                all.iter()
                    .filter(|entry| !is_it(&entry.term))
                    .filter(is_part),
            );
        }
        if found.is_empty() {
            let terms = all.iter().map(|entry| entry.term.as_str());
            let last_parts = terms
                .clone()
                .filter_map(|term| Some(term.rsplit_once('.')?.1));
            let near = closest(&asked, terms.chain(last_parts));
            let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
            let help =
                format!("{near}keys stand in docs/scenario.md, columns in `scavsim list columns`");
            return Err(wrong(format!("`{asked}` means nothing here"), &help));
        }
        let page = terminal::page();
        let mut text = String::new();
        for (at, entry) in found.iter().enumerate() {
            text += if at > 0 { "\n" } else { "" };
            text += &page.bold(&format!("{}, {}\n", entry.term, entry.kind));
            for line in entry.meaning.lines() {
                text += &page.prose(&format!("  {line}"), 2);
            }
        }
        terminal::print(&text)?;
        Ok(Exit::Done)
    }
}

fn table_of_words() -> impl Iterator<Item = [&'static str; 3]> {
    let lines = WORDS.lines().skip(1);
    lines.filter_map(|line| line.split('\t').collect::<Vec<_>>().try_into().ok())
}

/// Replaces the number in a head such as `0.5 ×`, which exists for several numbers: `N ×`.
fn of_any_number(asked: &str) -> String {
    match asked.split_once(' ') {
        Some((number, "×")) if number.parse::<f64>().is_ok() => "N ×".to_owned(),
        _ => asked.to_owned(),
    }
}

/// Joins lines of the source.
fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Ignores case, and the difference between `-` and `_`.
fn folded(term: &str) -> String {
    term.trim().to_lowercase().replace('-', "_")
}

fn entries() -> Result<Vec<Entry>, Failure> {
    let entry = |term: &str, kind: &str, meaning: &str| Entry {
        term: term.to_owned(),
        kind: kind.to_owned(),
        meaning: meaning.to_owned(),
    };
    let mut all: Vec<Entry> = Vec::new();
    all.extend(
        summary_table::meanings()
            .map(|(word, meaning)| entry(word, "in the table of strategies", meaning)),
    );
    all.extend(table_of_words().map(|[word, place, meaning]| entry(word, place, meaning)));
    all.push(entry("exit codes", IN_MESSAGES, EXIT_CODES));
    all.extend((Evidence::ALL.iter()).map(|class| {
        entry(
            class.name(),
            "evidence of a published figure",
            class.meaning(),
        )
    }));
    all.extend(COLUMNS.iter().map(|column| {
        let unit = match column.unit {
            "" => String::new(),
            unit => format!(" [{unit}]"),
        };
        entry(
            column.name,
            "a column of the records",
            &in_one_line(&format!("{}{unit}", column.what)),
        )
    }));
    for (kind, declared) in declarations() {
        all.push(entry(declared.name, kind.one, &declared.text(kind.how)));
    }
    for policy in super::listing::sound(builtin::policies())? {
        all.push(entry(&policy.name, "a pricing policy", &policy.description));
    }
    let schema = serde_json::to_value(file::schema()).map_err(anyhow::Error::from)?;
    keys(&schema, &schema, &mut Vec::new(), &mut all);
    Ok(all)
}

/// Things that are declared in a file of their own, with their kind.
fn declarations() -> impl Iterator<Item = (&'static DeclaredKind, &'static Declaration)> {
    let all = |kind: &'static DeclaredKind| (kind.all)().into_iter().map(move |one| (kind, one));
    KINDS.iter().flat_map(all)
}

/// The keys of a schema below a path, with their descriptions.
fn keys(node: &Value, root: &Value, path: &mut Vec<String>, all: &mut Vec<Entry>) {
    // Tables of strategies and kinds of protocols are at most this deep.
    if path.len() > 4 {
        return;
    }
    let node = resolved(node, root);
    if let Some(Value::Object(properties)) = node.get("properties") {
        for (key, value) in properties {
            path.push(key.clone());
            let own = value.get("description");
            let described = own.or_else(|| resolved(value, root).get("description"));
            if let Some(meaning) = described.and_then(Value::as_str) {
                let term = path.join(".");
                if !all
                    .iter()
                    .any(|known| known.term == term && known.kind == KEY)
                {
                    all.push(Entry {
                        term,
                        kind: KEY.to_owned(),
                        meaning: in_one_line(meaning),
                    });
                }
            }
            keys(value, root, path, all);
            path.pop();
        }
    }
    for several in ["oneOf", "anyOf", "allOf"] {
        for part in node
            .get(several)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            keys(part, root, path, all);
        }
    }
    if let Some(every @ Value::Object(_)) = node.get("additionalProperties") {
        path.push("NAME".to_owned());
        keys(every, root, path, all);
        path.pop();
    }
}

const KEY: &str = "a key of scenarios";

fn resolved<'s>(node: &'s Value, root: &'s Value) -> &'s Value {
    let pointer = node
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|text| text.strip_prefix('#'));
    pointer
        .and_then(|pointer| root.pointer(pointer))
        .unwrap_or(node)
}
