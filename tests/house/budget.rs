//! Limits on the size of the project, in `budget.toml`: a change that exceeds one fails here.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use toml::Table;

use super::{FLOORS, folder, read, root, survey};

/// Share of a limit that may be unused before the limit has to be lowered.
const MOST_SLACK: f64 = 0.01;

/// Texts of all files below a folder whose names end in `ending`, except build output.
fn texts_below(path: &Path, ending: &str) -> Vec<String> {
    if path.is_dir() {
        let entries = fs::read_dir(path).expect("the folder can be read");
        let paths = entries.map(|entry| entry.expect("the entry can be read").path());
        return paths
            .filter(|path| !path.ends_with("target"))
            .flat_map(|path| texts_below(&path, ending))
            .collect();
    }
    let is_meant = path.extension().is_some_and(|end| end == ending);
    is_meant.then(|| read(path)).into_iter().collect()
}

/// Raw lines of a crate: code, unit tests, comments and empty lines.
fn raw_lines(name: &str) -> usize {
    let place = match name {
        "scavsim" => root().join("src"),
        _ => folder(name),
    };
    let texts = texts_below(&place, "rs");
    texts.iter().map(|text| text.lines().count()).sum()
}

/// The values that the limits apply to, by name.
fn sizes() -> BTreeMap<String, usize> {
    let mut sizes: BTreeMap<String, usize> = FLOORS
        .iter()
        .map(|name| (format!("lines.{name}"), raw_lines(name)))
        .collect();
    let documents = texts_below(&root().join("docs"), "md");
    let words = documents.iter().map(|text| text.split_whitespace().count());
    sizes.insert("docs.words".to_owned(), words.sum());
    sizes.insert("public.names".to_owned(), survey().facts.public_names.len());
    sizes
}

/// `SCAVSIM_RENEW=1 cargo test --test house budget` lowers the limits to the current values; it raises none.
#[test]
fn the_project_is_within_its_budget() {
    let path = root().join("tests/house/budget.toml");
    let mut text = read(&path);
    let budget: Table = text.parse().expect("the budget is TOML");
    let mut limits = BTreeMap::new();
    for group in ["lines", "docs", "public"] {
        let table = budget[group].as_table().expect("a table of limits");
        for (name, limit) in table {
            let limit = limit.as_integer().and_then(|limit| limit.try_into().ok());
            limits.insert(format!("{group}.{name}"), limit.expect("a whole number"));
        }
    }
    let sizes = sizes();
    assert!(
        limits.keys().eq(sizes.keys()),
        "limits {:?}, sizes {:?}",
        limits.keys(),
        sizes.keys()
    );
    let mut exceeded = Vec::new();
    let mut slack = Vec::new();
    for (name, &size) in &sizes {
        let limit: usize = limits[name];
        if size > limit {
            exceeded.push(format!("{name}: {size}, at most {limit}"));
        } else if (limit - size) as f64 > MOST_SLACK * limit as f64 {
            slack.push(format!("{name}: {size}, the limit is still {limit}"));
            let key = name.split('.').next_back().expect("a name has a last part");
            let old = format!("\n{key} = {limit}\n");
            text = text.replacen(&old, &format!("\n{key} = {size}\n"), 1);
        }
    }
    assert!(
        exceeded.is_empty(),
        "tests/house/budget.toml is exceeded: {exceeded:#?}\n\
         Delete what the change replaces. A commit that raises a limit gives the reason."
    );
    if !slack.is_empty() && std::env::var_os("SCAVSIM_RENEW").is_some() {
        fs::write(&path, text).expect("the budget can be written");
        return;
    }
    assert!(
        slack.is_empty(),
        "lower the limits: `SCAVSIM_RENEW=1 cargo test --test house budget`: {slack:#?}"
    );
}
