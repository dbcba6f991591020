//! Summaries on stdout, in the form that was asked for.

use std::io;

use serde_json::Value;

use super::{Format, terminal};
use crate::experiment::Group;
use crate::report::{summary_csv, summary_json, summary_table};

/// Prints summaries, one per scenario.
pub struct Summaries {
    format: Format,
    several: bool,
    /// Whether the header of the CSV table is printed.
    begun: bool,
    /// JSON is printed in one piece.
    values: Vec<Value>,
}

impl Summaries {
    /// Of one scenario or `several`.
    pub fn new(format: Format, several: bool) -> Self {
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
            Format::Table => terminal::print(&summary_table::render(groups)),
            Format::Csv => {
                let text = summary_csv::render(groups)?;
                // One header for all scenarios.
                let skip = match std::mem::replace(&mut self.begun, true) {
                    false => 0,
                    true => text.find('\n').map_or(0, |n| n + 1),
                };
                terminal::print(&text[skip..])
            }
            Format::Json => {
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
