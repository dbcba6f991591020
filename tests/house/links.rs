//! Links of documents and anchors are valid; the book contains every page; documents that the source names exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::{read, root};

/// Folders whose documents are checked.
const FOLDERS: [&str; 9] = [
    "docs", "results", "data", "deploy", "examples", "python", "benches", ".github", "tests",
];

fn walk(folder: &Path, ending: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            if path.file_name().is_none_or(|name| name != "target") {
                walk(&path, ending, found);
            }
        } else if path
            .extension()
            .is_some_and(|own| ending.iter().any(|ending| own == *ending))
        {
            found.push(path);
        }
    }
}

fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root()).expect("readable") {
        let path = entry.expect("readable").path();
        if path.extension().is_some_and(|own| own == "md") {
            found.push(path);
        }
    }
    for folder in FOLDERS {
        walk(&root().join(folder), &["md"], &mut found);
    }
    found.sort();
    found
}

/// The lines of a document outside of code blocks, without code between backticks.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let mut out = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            continue;
        }
        if !is_code {
            for (at, part) in line.split('`').enumerate() {
                // In a heading these words count.
                out += if at % 2 == 0 || line.starts_with('#') {
                    part
                } else {
                    "`"
                };
            }
            out.push('\n');
        }
    }
    out
}

/// The anchor of a heading, as in repository hosts and mdBook.
fn slug(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept
        .chars()
        .filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for line in prose(text).lines() {
        if line.starts_with('#') {
            let name = slug(&link_texts(line.trim_start_matches('#')));
            let before = times.entry(name.clone()).or_default();
            all.insert(if *before == 0 {
                name
            } else {
                format!("{name}-{before}")
            });
            *before += 1;
        }
        for part in line.split("<a id=\"").skip(1) {
            all.extend(part.split('"').next().map(str::to_owned));
        }
    }
    all
}

/// A line with its links replaced by their words.
fn link_texts(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("](") {
        out += &before.replace('[', "");
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    out + rest
}

fn targets(text: &str) -> Vec<String> {
    let ends = |part: &str| part.split([')', ' ']).next().map(str::to_owned);
    prose(text).split("](").skip(1).filter_map(ends).collect()
}

/// A path without `.` and `..`; it need not exist.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

#[test]
fn links_of_documents_lead_somewhere() {
    let texts: BTreeMap<PathBuf, String> = documents()
        .into_iter()
        .map(|path| (path.clone(), read(&path)))
        .collect();
    let mut dead = Vec::new();
    let mut asked = 0;
    for (path, text) in &texts {
        let here = path.strip_prefix(root()).expect("below").display();
        for target in targets(text) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            asked += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let file = match file {
                "" => path.clone(),
                file => plain(&path.parent().expect("a folder").join(file)),
            };
            if !file.exists() || !file.starts_with(root()) {
                dead.push(format!("{here}: {target}"));
            } else if !anchor.is_empty() {
                let known = texts.get(&file).map(|text| anchors(text));
                if known.is_none_or(|known| !known.contains(anchor)) {
                    dead.push(format!("{here}: {target} (no such heading)"));
                }
            }
        }
    }
    assert!(asked > 300, "only {asked} links were found");
    assert!(dead.is_empty(), "{} dead links: {dead:#?}", dead.len());
}

/// A newcomer reads a page, not a book.
#[test]
fn the_readme_is_short() {
    let lines = read(&root().join("README.md")).lines().count();
    assert!(lines <= 120, "README.md has {lines} lines, at most 120");
}

/// Pages that `docs/SUMMARY.md` leaves out are missing from the book.
#[test]
fn the_book_holds_every_page() {
    let docs = root().join("docs");
    let summary = read(&docs.join("SUMMARY.md"));
    let listed: Vec<PathBuf> = targets(&summary)
        .iter()
        .map(|target| plain(&docs.join(target)))
        .collect();
    let unique: BTreeSet<&PathBuf> = listed.iter().collect();
    assert_eq!(
        unique.len(),
        listed.len(),
        "a page stands in the book twice"
    );
    let mut pages = Vec::new();
    walk(&docs, &["md"], &mut pages);
    let lost: Vec<_> = pages
        .iter()
        .filter(|page| !page.ends_with("SUMMARY.md") && !unique.contains(page))
        .collect();
    assert!(lost.is_empty(), "not in docs/SUMMARY.md: {lost:#?}");
}

/// Pages that messages, comments and scenarios name exist.
#[test]
fn documents_that_the_source_names_are_there() {
    let mut files = Vec::new();
    for folder in [
        "src",
        "crates",
        "python",
        "scenarios",
        "examples",
        "tests",
        "data",
        ".ci",
    ] {
        walk(
            &root().join(folder),
            &["rs", "py", "pyi", "toml", "html", "mjs", "csv"],
            &mut files,
        );
    }
    let mut dead = Vec::new();
    let mut asked = 0;
    for file in files {
        let Ok(text) = fs::read_to_string(&file) else {
            continue;
        };
        for part in text.split("docs/").skip(1) {
            let ends = |c: char| !(c.is_alphanumeric() || "-_/.".contains(c));
            let name = part
                .split(ends)
                .next()
                .unwrap_or_default()
                .trim_end_matches('.');
            if !name.ends_with(".md") {
                continue;
            }
            asked += 1;
            if !root().join("docs").join(name).exists() {
                dead.push(format!("{}: docs/{name}", file.display()));
            }
        }
    }
    assert!(asked > 20, "only {asked} mentions were found");
    assert!(dead.is_empty(), "{dead:#?}");
}

#[test]
fn a_dead_link_would_be_seen() {
    let text = "# A `b` [c](d.md)!\n\n[x](y.md#z)\n\n```text\n[no](no.md)\n```\n`[no](no.md)`\n## A b c\n<a id=\"k\"></a>\n";
    assert_eq!(targets(text), ["d.md", "y.md#z"]);
    assert_eq!(
        anchors(text),
        BTreeSet::from(["a-b-c", "a-b-c-1", "k"].map(str::to_owned))
    );
}
