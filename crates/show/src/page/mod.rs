//! One page for one result: a single HTML file without network access, for screen, phone and paper. [`contents`] is its block
//! of data; `form.html` is its template, `looks.css` its style, `script/` draws the data, and `charts/` is the library that
//! it draws with.

pub mod answer;
pub mod contents;
pub mod of_advice;
pub mod of_bench;
mod of_blocks;
pub mod of_compare;
pub mod of_comparisons;
pub mod of_run;
pub mod picture;
mod sources;
pub mod table;

use crate::figure::draw::escaped;
use contents::Contents;

const FORM: &str = include_str!("form.html");
const LOOKS: &str = include_str!("looks.css");
/// The chart library: see `charts/README.md`.
const CHARTS: &str = include_str!("charts/charts.min.js");
/// Scripts in the order in which they run.
const SCRIPT: &str = concat!(
    "\"use strict\";\n(() => {\n",
    include_str!("script/state.js"),
    include_str!("script/text.js"),
    include_str!("script/card.js"),
    include_str!("script/rows.js"),
    include_str!("script/table.js"),
    include_str!("script/detail.js"),
    include_str!("script/labels.js"),
    include_str!("script/figure.js"),
    include_str!("script/page.js"),
    "})();\n"
);

pub fn html(contents: &Contents) -> Result<String, serde_json::Error> {
    debug_assert!((contents.picture.iter()).all(|picture| picture.stands_on(&contents.tables)));
    // No tag can begin inside the data.
    let data = serde_json::to_string(contents)?.replace('<', "\\u003c");
    let first: Vec<String> = contents
        .answers
        .iter()
        .map(|own| escaped(&own.sentence()))
        .collect();
    let part = |name: &str| match name {
        "title" => escaped(&contents.title),
        "looks" => LOOKS.to_owned(),
        "first" => first.first().cloned().unwrap_or_default(),
        "data" => data.clone(),
        "script" => SCRIPT.to_owned(),
        "charts" => CHARTS.to_owned(),
        _ => String::new(),
    };
    Ok(filled(FORM, part))
}

/// A template with its parts in place of their names in double braces. The contents of a part are not expanded again.
fn filled(form: &str, part: impl Fn(&str) -> String) -> String {
    let mut text = String::new();
    let mut rest = form;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, behind) = after.split_once("}}").unwrap_or((after, ""));
        text += before;
        text += &part(name);
        rest = behind;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_part_holds_is_not_read_again() {
        let part = |name: &str| match name {
            "a" => "{{b}}".to_owned(),
            _ => "B".to_owned(),
        };
        assert_eq!(filled("x{{a}}y{{b}}z", part), "x{{b}}yBz");
        assert_eq!(
            escaped("<a href='\"&'>"),
            "&lt;a href=&#39;&quot;&amp;&#39;&gt;"
        );
    }
}
