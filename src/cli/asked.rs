//! Runs a command from inside of another program: returns its output, and never ends the process.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches};

use super::Cli;
use super::exit::{Exit, Failure};
use super::listener::Listener;
use super::programs::ProgramsArg;
use super::signals::Signals;
use scavsim_engine::Interrupt;
use scavsim_experiment::{Record, Sink, Summary, Tasks};
use scavsim_read::input::{Diagnostic, Diagnostics, Mistakes};
use scavsim_scenario::door;
use scavsim_show::report::{manifest, summary_json};

#[derive(Debug)]
pub struct Answer {
    pub exit: Exit,
    pub printed: String,
    /// Other messages, one per entry.
    pub notes: Vec<String>,
}

#[derive(Debug)]
pub enum Refusal {
    UnknownOption {
        /// The option, as `--max-tim`.
        option: String,
        /// The most similar option.
        near: Option<String>,
    },
    Wrong(Mistakes),
    Interrupted,
    Failed(String),
}

/// Runs a command with the arguments of a command line, without the name of the program. `-` as a scenario is the text `given`. Raising the
/// interrupt ends it.
pub fn ask(
    arguments: &[String],
    given: Option<String>,
    interrupt: &Interrupt,
) -> Result<Answer, Refusal> {
    let words = std::iter::once("scavsim").chain(arguments.iter().map(String::as_str));
    let matches = Cli::command().try_get_matches_from(words.map(OsString::from));
    let cli = matches.and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = cli.map_err(|error| misused(&error))?;
    let listener = Listener {
        given,
        ..Listener::default()
    };
    let signals = Signals::left_to(interrupt);
    let (ended, heard) = listener.during(|| interrupt.during(|| cli.answer(&signals)));
    // Output that was cut off may be wrong in any way.
    if interrupt.is_raised() {
        return Err(Refusal::Interrupted);
    }
    let answer = |exit| Answer {
        exit,
        printed: heard.printed,
        notes: heard.notes,
    };
    ended.map(answer).map_err(refusal)
}

/// Refuses the programs of a scenario whose `file` is outside the working folder, unless the user `agreed` to start them.
pub fn ask_about_programs(
    file: &Path,
    scenario: &door::Scenario,
    agreed: bool,
) -> Result<(), Refusal> {
    let ask = || ProgramsArg::new(agreed).ask_of(file, scenario.checked().programs());
    Listener::default().during(ask).0.map_err(refusal)
}

fn refusal(failure: Failure) -> Refusal {
    match failure {
        Failure::Wrong(wrong) => Refusal::Wrong(Mistakes::new(wrong)),
        Failure::Declined(why) => Refusal::Failed(why),
        Failure::Interrupted => Refusal::Interrupted,
        Failure::Other(error) => Refusal::Failed(format!("{error:#}")),
    }
}

fn misused(error: &clap::Error) -> Refusal {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let option = context(ContextKind::InvalidArg);
    match (error.kind(), option) {
        (ErrorKind::UnknownArgument, Some(option)) => Refusal::UnknownOption {
            option,
            near: context(ContextKind::SuggestedArg),
        },
        _ => {
            let text = error.to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text);
            let title = text.split("\n\n").next().unwrap_or(text).trim();
            let mut wrong = Diagnostics::default();
            wrong.push(Diagnostic::general(title));
            Refusal::Wrong(Mistakes::new(wrong))
        }
    }
}

/// The long names of the options of a command, without the global ones; empty if there is no such command.
pub fn options(command: &str) -> Vec<String> {
    let all = Cli::command();
    let Some(own) = all.find_subcommand(command) else {
        return Vec::new();
    };
    (own.get_arguments())
        .filter_map(|argument| argument.get_long())
        .filter(|long| !matches!(*long, "help" | "version"))
        .map(str::to_owned)
        .collect()
}

/// Everything that determines the records of a scenario, as JSON, as in the manifest of its results.
pub fn identity(scenario: &door::Scenario) -> serde_json::Result<String> {
    serde_json::to_string(&manifest::identity(scenario.checked()))
}

/// The means, shares and intervals of a run, as its summary in JSON, from records as they arrive.
pub struct RunningSummary {
    name: String,
    summary: Summary,
}

impl RunningSummary {
    pub fn for_scenario(scenario: &door::Scenario) -> RunningSummary {
        let checked = scenario.checked();
        let tasks = Tasks::of_scenario(checked);
        RunningSummary {
            name: checked.name.clone(),
            summary: Summary::new(None, checked.subject.is_across_vms(), tasks),
        }
    }

    pub fn push_record(&mut self, record: &Record<'_>) -> std::io::Result<()> {
        self.summary.push_record(record)
    }

    /// The summary of all records, as `scavsim run --format json` prints it.
    pub fn json(self) -> String {
        summary_json::value(&self.name, &self.summary.finish_usual()).to_string()
    }
}
