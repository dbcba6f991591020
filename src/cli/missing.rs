//! Help for a command without its file, or a command of another feature.

use std::ffi::OsString;

use clap::Error;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Help for users without such a file.
struct Tips {
    /// The name of the argument in the usage.
    what: &'static str,
    commands: &'static [&'static str],
    tips: &'static [&'static str],
}

const ALL: [Tips; 3] = [
    Tips {
        what: "<FILE>",
        commands: &["run", "check", "rank", "trace"],
        tips: &[
            "`scavsim new NAME` writes a first scenario, NAME.toml",
            "`scavsim example` lists the shipped ones; `scavsim example NAME` writes one here",
        ],
    },
    Tips {
        what: "<FILE>",
        commands: &["advise"],
        tips: &["`scavsim example example-profile` writes measurements of this form here"],
    },
    Tips {
        what: "<RESULTS>",
        commands: &["plot", "report"],
        tips: &["`scavsim run FILE --out RESULTS` makes such a folder"],
    },
];

/// Words that need a feature, and whether this program has it.
const FEATURES: [(&[&str], &str, bool); 4] = [
    (
        &["plot", "report", "--plot", "--report"],
        "figures",
        cfg!(feature = "figures"),
    ),
    (&["parquet"], "parquet", cfg!(feature = "parquet")),
    (
        &["completions"],
        "completions",
        cfg!(feature = "completions"),
    ),
    (&["manual"], "manual", cfg!(feature = "manual")),
];

/// How to get a feature that an unknown word needs.
fn of_feature(error: &Error) -> Option<String> {
    let place = match error.kind() {
        ErrorKind::InvalidSubcommand => ContextKind::InvalidSubcommand,
        ErrorKind::UnknownArgument => ContextKind::InvalidArg,
        ErrorKind::InvalidValue => ContextKind::InvalidValue,
        _ => return None,
    };
    let Some(ContextValue::String(word)) = error.get(place) else {
        return None;
    };
    let lacks = |(words, _, is_built): &&(&[&str], _, bool)| !is_built && words.contains(&&**word);
    let (_, feature, _) = FEATURES.iter().find(lacks)?;
    Some(format!(
        "this program was built without it: `cargo install --path . --features {feature}`, or `full` for all features"
    ))
}

/// The error, with advice if a required file is missing that a newcomer does not have.
pub(super) fn with_tips(mut error: Error, arguments: &[OsString]) -> Error {
    if let Some(tip) = of_feature(&error) {
        let tips = vec![StyledStr::from(tip)];
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        // A similar word is not the one that was meant.
        error.remove(ContextKind::SuggestedSubcommand);
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::SuggestedValue);
        return error;
    }
    let missing = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::MissingRequiredArgument, Some(ContextValue::Strings(missing))) => missing,
        _ => return error,
    };
    let command = |word: &OsString| ALL.iter().find(|t| t.commands.iter().any(|c| word == c));
    let Some(Tips {
        what,
        commands,
        tips,
    }) = arguments.iter().skip(1).find_map(command)
    else {
        return error;
    };
    let files = arguments.iter().map(|word| word.to_string_lossy());
    let scenario = files.rev().find(|word| word.ends_with(".toml"));
    // The runtime of a model is also such a file.
    let is_table = missing.len() == 1 && missing[0].starts_with("--samples-per-epoch");
    if let Some(file) = scenario.filter(|_| is_table && commands.contains(&"advise")) {
        let tip = StyledStr::from(format!(
            "{file} is a scenario: `scavsim rank {file}` ranks its configurations, `scavsim run {file}` runs it"
        ));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
        return error;
    }
    // For several files the usage has `<FILE>...`.
    if missing.iter().any(|own| own.trim_end_matches('.') == *what) {
        let tips = tips.iter().map(|tip| StyledStr::from(*tip)).collect();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}
