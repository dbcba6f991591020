//! The gallery of scenarios names every shipped one, with its question and its output.
//!
//! `SCAVSIM_RENEW=1 cargo test --test house` writes its list again.

use std::{env, fs};

use crate::{read, root};

const BEGIN: &str = "<!-- scenarios -->\n";
const END: &str = "<!-- end of scenarios -->";

/// The first sentence of a scenario's first comment, or the whole comment if it is shorter.
fn about(text: &str) -> String {
    let comment = text.lines().filter(|line| !line.starts_with("#:"));
    let comment = comment.map_while(|line| line.strip_prefix('#'));
    let words: Vec<&str> = comment
        .map(str::trim)
        .take_while(|line| !line.is_empty() && !line.starts_with("scavsim "))
        .collect();
    let all = words.join(" ");
    let first = all.split_once(". ").map_or(&*all, |(first, _)| first);
    first.trim_end_matches(['.', ':']).to_owned()
}

/// The file with its output: a file of its name, or one with a table or a command of it.
fn printed(stem: &str, text: &str, results: &[(String, String)]) -> String {
    let named = text.lines().find_map(|line| line.strip_prefix("name = \""));
    let name = named.map_or(stem, |rest| rest.trim_end_matches('"'));
    let heads = [format!("{name} · "), format!("{name}, ")];
    let file = format!("scenarios/{stem}.toml");
    let is_of = |text: &str| {
        text.lines()
            .any(|line| line.contains(&file) || heads.iter().any(|head| line.starts_with(head)))
    };
    let own = results
        .iter()
        .find(|(name, _)| name == &format!("{stem}.txt"));
    own.or_else(|| results.iter().find(|(_, text)| is_of(text)))
        .map_or_else(String::new, |(name, _)| {
            format!("[{name}](../results/{name})")
        })
}

#[test]
fn the_gallery_names_every_scenario() {
    let texts = |folder: &str, ending: &str| {
        let files = fs::read_dir(root().join(folder)).expect("readable");
        let paths = files.map(|file| file.expect("readable").path());
        let paths = paths.filter(|path| path.extension().is_some_and(|own| own == ending));
        let name = |path: &std::path::Path| {
            path.file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        };
        let mut all: Vec<_> = paths.map(|path| (name(&path), read(&path))).collect();
        all.sort();
        all
    };
    let results = texts("results", "txt");
    let mut list = String::from("| scenario | what it asks | what it prints |\n|---|---|---|\n");
    for (file, text) in texts("scenarios", "toml") {
        let stem = file.trim_end_matches(".toml");
        let about = about(&text);
        assert!(!about.is_empty(), "{file} does not say what it is");
        list += &format!(
            "| [`{stem}`](../scenarios/{file}) | {about} | {} |\n",
            printed(stem, &text, &results)
        );
    }
    let path = root().join("docs/gallery.md");
    let page = read(&path);
    let (before, rest) = page.split_once(BEGIN).expect("it has a list");
    let (told, after) = rest.split_once(END).expect("it ends");
    if told != list && env::var_os("SCAVSIM_RENEW").is_some() {
        fs::write(&path, [before, BEGIN, &list, END, after].concat()).expect("writable");
        return;
    }
    assert!(
        told == list,
        "docs/gallery.md is stale: SCAVSIM_RENEW=1 cargo test --test house"
    );
}

/// Dollars, percentages and hours of a text, as `$261`, `14.5 %` and `4.17 h`.
fn quoted(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let number = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_ascii_digit() && c != '$');
        word.trim_start_matches('$')
            .parse::<f64>()
            .ok()
            .map(|_| word.to_owned())
    };
    let mut all = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let Some(figure) = number(word) else {
            continue;
        };
        let unit = words
            .get(at + 1)
            .map(|next| next.trim_end_matches(['.', ',', ';', ':']));
        match unit {
            Some(unit @ ("%" | "h")) if !figure.starts_with('$') => {
                all.push(format!("{figure} {unit}"))
            }
            _ if figure.starts_with('$') => all.push(figure),
            _ => {}
        }
    }
    all
}

#[test]
fn the_gallery_quotes_what_it_links() {
    let page = read(&root().join("docs/gallery.md"));
    let (prose, _) = page.split_once(BEGIN).expect("it has a list");
    let mut wrong = Vec::new();
    let mut asked = 0;
    for paragraph in prose.split("\n\n") {
        let linked = paragraph.split("](../results/").skip(1);
        let linked = linked.filter_map(|part| part.split(')').next());
        let printed: Vec<String> = linked
            .map(|name| read(&root().join("results").join(name)))
            .collect();
        if printed.is_empty() {
            continue;
        }
        let printed = printed
            .join("\n")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let cells: Vec<&str> = printed.split(' ').collect();
        for figure in quoted(paragraph) {
            asked += 1;
            // With its unit, or with decimals as a cell of a table whose head has the unit.
            let bare = figure
                .trim_start_matches('$')
                .split(' ')
                .next()
                .unwrap_or_default();
            let is_cell = bare.contains('.') && cells.contains(&bare);
            if !printed.contains(&figure) && !is_cell {
                wrong.push(figure);
            }
        }
    }
    assert!(asked > 15, "only {asked} figures were found");
    assert!(
        wrong.is_empty(),
        "not in the results beside them: {wrong:?}"
    );
}

#[test]
fn figures_are_found_in_prose() {
    let text = "takes 4.17 h and $261, **right** in 66 % (of 10,100), or 14.5 %. In 2019 8 VMs";
    assert_eq!(quoted(text), ["4.17 h", "$261", "66 %", "14.5 %"]);
}
