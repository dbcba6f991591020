//! `-s KEY=VALUE`: keys of scenarios from the command line.

use std::sync::Arc;

use clap::Args;

use super::exit::{Failure, no_mistakes};
use scavsim_read::input::{Diagnostic, Diagnostics, Source};

const NAME: &str = "-s";

/// Keys that replace those of the files.
#[derive(Debug, Clone, Default, Args)]
pub struct SetArgs {
    /// Replace a key of the scenarios, as in `-s cluster.workers=[8,16]` or `-s spot.lifetime=gcp-2019`; a later one wins
    #[arg(short, long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl SetArgs {
    pub fn sources(&self) -> Result<Vec<Arc<Source>>, Failure> {
        let all = split(NAME, &self.set)?.into_iter();
        Ok(all
            .map(|(key, value)| Source::new(NAME, line(key, value)))
            .collect())
    }
}

/// Keys and values of an option.
pub(super) fn split<'t>(
    option: &str,
    all: &'t [String],
) -> Result<Vec<(&'t str, &'t str)>, Failure> {
    let mut wrong = Diagnostics::default();
    let mut pairs = Vec::new();
    for own in all {
        if let Some(pair) = own.split_once('=') {
            pairs.push(pair);
            continue;
        }
        let title = format!("`{option} {own}` sets nothing");
        let help = format!("write `{option} KEY=VALUE`, as in `{option} cluster.workers=[8,16]`");
        wrong.push(Diagnostic::general(title).with_help(help));
    }
    no_mistakes(wrong)?;
    Ok(pairs)
}

/// A line of TOML. A bare word is a string, because shells remove quotes.
pub(super) fn line(key: &str, value: &str) -> String {
    let as_written = format!("{key} = {value}");
    let is_word = !value.is_empty()
        && value
            .chars()
            .all(|c| c.is_alphanumeric() || "-_./".contains(c));
    if is_word && as_written.parse::<toml::Table>().is_err() {
        format!("{key} = \"{value}\"")
    } else {
        as_written
    }
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn words_are_texts_and_all_else_is_as_it_is_written() {
        for (key, value, expected) in [
            ("spot.lifetime", "gcp-2019", r#""gcp-2019""#),
            ("replicas", "3", "3"),
            ("cluster.workers", "[8,16]", "[8,16]"),
            ("workloads", "[\"a\"]", "[\"a\"]"),
            ("name", "a b", "a b"),
        ] {
            assert_eq!(line(key, value), format!("{key} = {expected}"));
        }
    }
}
