//! `scavsim check`: check scenario files without running them.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use super::exit::{Exit, Failure};
use super::set::SetArgs;
use super::{policies, scenarios, terminal};
use scavsim_lab::scenario::Overrides;
use scavsim_read::input::foreign::visible;

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Scenario files; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    set: SetArgs,
}

impl CheckArgs {
    /// Runs the command.
    ///
    /// # Errors
    /// [`Failure`] with every mistake in every file.
    pub fn run(self) -> Result<Exit, Failure> {
        if self.files.iter().any(|file| policies::has_policies(file)) {
            let studies = policies::load(&self.files, &self.set)?;
            for (path, study) in self.files.iter().zip(studies) {
                let path = path.display().to_string();
                terminal::print(&format!("{}: ok, {}\n", visible(&path), study.extent()))?;
                policies::note_estimate(&Arc::new(study), scenarios::available())?;
            }
            return Ok(Exit::Done);
        }
        let scenarios = scenarios::load(
            &self.files,
            Overrides {
                set: self.set.sources()?,
                ..Overrides::default()
            },
        )?;
        let page = terminal::page();
        let mut text = String::new();
        for (path, scenario) in self.files.iter().zip(&scenarios) {
            // Writing to a string cannot fail.
            let path = path.display().to_string();
            let path = visible(&path);
            let _ = writeln!(text, "{path}: ok, {} cases", scenario.cases());
            let left_out = scenario.left_out().iter().map(ToString::to_string);
            for sentence in left_out.chain(scenario.subject.impossible()) {
                text += &page.prose(&sentence, 2);
            }
        }
        terminal::print(&text)?;
        Ok(Exit::Done)
    }
}
