//! Summaries on stdout, in the form that was asked for.

use std::io;

use clap::ValueEnum;
use serde_json::Value;

use super::terminal;
use crate::experiment::Group;
use crate::report::{policies_table, summary_csv, summary_json, summary_table};

/// Form of the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Form {
    /// For people: a line per strategy
    #[default]
    Table,
    /// For people: a line per pricing policy
    Policies,
    /// For spreadsheets and data frames
    Csv,
    /// For programs; the stable interface
    Json,
}

/// Prints summaries, one per scenario.
pub struct Summaries {
    format: Form,
    several: bool,
    /// Whether the header of the CSV table is printed.
    begun: bool,
    /// JSON is printed in one piece.
    values: Vec<Value>,
}

impl Summaries {
    /// Of one scenario or `several`.
    pub fn new(format: Form, several: bool) -> Self {
        Summaries {
            format,
            several,
            begun: false,
            values: Vec::new(),
        }
    }

    /// Prints the summary of a scenario.
    ///
    /// # Errors
    /// Whatever keeps it from being printed.
    pub fn add(&mut self, scenario: &str, groups: &[Group]) -> io::Result<()> {
        match self.format {
            Form::Table => terminal::print(&summary_table::render(groups)),
            Form::Policies => terminal::print(&policies_table::render(groups)),
            Form::Csv => {
                let text = summary_csv::render(groups)?;
                // One header for all scenarios.
                let skip = match std::mem::replace(&mut self.begun, true) {
                    false => 0,
                    true => text.find('\n').map_or(0, |n| n + 1),
                };
                terminal::print(&text[skip..])
            }
            Form::Json => {
                self.values.push(summary_json::value(scenario, groups));
                Ok(())
            }
        }
    }

    /// Prints what is printed last.
    ///
    /// # Errors
    /// Whatever keeps it from being printed.
    pub fn end(self) -> io::Result<()> {
        let mut values = self.values;
        let all = match values.pop() {
            None => return Ok(()),
            Some(only) if !self.several => only,
            Some(last) => {
                values.push(last);
                Value::from(values)
            }
        };
        terminal::print(&(serde_json::to_string_pretty(&all)? + "\n"))
    }
}
