//! Phrases that the program does not print, in goldens, results, references and the console blocks of documents.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{read, root};

/// Phrases that are not plain English in their former sense here, with alternatives. They are matched as whole words.
const AVOIDED: [(&str, &str); 13] = [
    ("told", "known, stated, predicted"),
    ("foretold", "predicted"),
    ("would tell", "most informative"),
    ("so many", "that many, or the number"),
    ("so much", "that much, or the amount"),
    ("stands", "is, appears"),
    ("of none", "no configuration"),
    ("take none", "no recommendation"),
    ("likeliest", "closest, most likely"),
    ("is not possible", "is invalid, is out of range"),
    ("what they do not", "caveats"),
    ("nothing is worth", "no measurement is worth"),
    ("nobody says", "not known"),
];

/// Nouns whose plural after 1 is a mistake.
const COUNTED: [&str; 9] = [
    "units",
    "replicas",
    "cases",
    "runs",
    "workers",
    "configurations",
    "lives",
    "programs",
    "papers",
];

/// Accepted uses of the phrases.
const FINE: [&str; 2] = ["stands for", "stands in for"];

fn files(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            files(&path, endings, found);
        } else if endings
            .iter()
            .any(|end| path.extension().is_some_and(|own| own == *end))
        {
            found.push(path);
        }
    }
}

/// Lower case, one blank between words, so that no line break hides a phrase.
fn folded(text: &str) -> String {
    let words = text.split_whitespace().map(str::to_lowercase);
    words.collect::<Vec<_>>().join(" ")
}

/// The console blocks of a page; the whole text of other files.
fn printed(path: &Path) -> String {
    let text = read(path);
    let is_page =
        path.starts_with(root().join("docs")) && !path.starts_with(root().join("docs/reference"));
    if path.extension().is_some_and(|end| end == "snap") {
        // The head of a snapshot names the test.
        return text
            .splitn(3, "---\n")
            .nth(2)
            .unwrap_or_default()
            .to_owned();
    }
    if !is_page && !path.ends_with("README.md") {
        return text;
    }
    let blocks = text.split("\n```console\n").skip(1);
    blocks
        .filter_map(|block| block.split("\n```").next())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Avoided phrases of a text, with their context.
fn found_in(text: &str) -> Vec<String> {
    let mut text = folded(text);
    for fine in FINE {
        text = text.replace(fine, "");
    }
    let mut all = Vec::new();
    let phrases = AVOIDED
        .iter()
        .map(|(phrase, better)| ((*phrase).to_owned(), *better));
    let counts = COUNTED
        .iter()
        .map(|noun| (format!("1 {noun}"), "a singular"));
    for (phrase, better) in phrases.chain(counts) {
        for (at, _) in text.match_indices(&phrase) {
            let before = text[..at].chars().next_back();
            let behind = text[at + phrase.len()..].chars().next();
            let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            // Numbers before the 1 are other columns of a table, or the rest of the number.
            let is_number = phrase.starts_with('1')
                && text[..at]
                    .trim_end_matches([' ', '.', ','])
                    .ends_with(|c: char| c.is_ascii_digit());
            if is_word(before) || is_word(behind) || is_number {
                continue;
            }
            let start = text[..at]
                .char_indices()
                .rev()
                .nth(30)
                .map_or(0, |(at, _)| at);
            let end = text[at..]
                .char_indices()
                .nth(50)
                .map_or(text.len(), |(own, _)| at + own);
            all.push(format!("`{phrase}` ({better}): …{}…", &text[start..end]));
        }
    }
    all
}

#[test]
fn what_is_printed_is_plain_english() {
    let mut all = vec![root().join("README.md")];
    files(
        &root().join("tests/integration/snapshots"),
        &["snap"],
        &mut all,
    );
    files(&root().join("results"), &["md", "txt"], &mut all);
    files(&root().join("docs"), &["md"], &mut all);
    all.push(root().join("docs/scenario.schema.json"));
    assert!(all.len() > 300, "{}", all.len());
    let found: Vec<String> = all
        .iter()
        .flat_map(|path| {
            let found = found_in(&printed(path)).into_iter();
            let short = path
                .strip_prefix(root())
                .unwrap_or(path)
                .display()
                .to_string();
            found.map(move |one| format!("{short}: {one}"))
        })
        .collect();
    assert!(
        found.is_empty(),
        "{} phrases:\n{}",
        found.len(),
        found.join("\n")
    );
}

#[test]
fn phrases_are_found_across_lines_and_not_inside_of_words() {
    assert_eq!(found_in("It was\n  told so.").len(), 1);
    assert_eq!(found_in("170 can be\ntold, Take None: so\n many").len(), 3);
    assert!(found_in("a_told, tolding, untold, what it stands for").is_empty());
    assert_eq!(
        found_in("1 replicas; 11 replicas; 0.1 replicas; 1 replica").len(),
        1
    );
}
