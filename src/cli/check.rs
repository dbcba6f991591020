//! `scavsim check`: check scenario files without running them.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;

use super::exit::{Exit, Failure, no_mistakes};
use super::set::SetArgs;
use super::{estimate, scenarios, terminal};
use scavsim_base::text::Page;
use scavsim_read::input::Diagnostics;
use scavsim_read::input::foreign::visible;
use scavsim_scenario::Overrides;

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
    pub fn run(self) -> Result<Exit, Failure> {
        let page = terminal::page();
        let mut text = String::new();
        let mut wrong = Diagnostics::default();
        for file in &self.files {
            match self.lines(file, &page) {
                Ok(lines) => text += &lines,
                Err(Failure::Wrong(own)) => wrong.extend(own),
                Err(other) => return Err(other),
            }
        }
        // Valid files are listed even if others have mistakes.
        terminal::print(&text)?;
        no_mistakes(wrong)?;
        Ok(Exit::Done)
    }

    fn lines(&self, file: &PathBuf, page: &Page) -> Result<String, Failure> {
        let path = file.display().to_string();
        let path = visible(&path);
        let files = std::slice::from_ref(file);
        let overrides = Overrides {
            set: self.set.sources()?,
            ..Overrides::default()
        };
        let mut text = String::new();
        for mut scenario in scenarios::load(files, overrides)? {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{path}: ok, {} cases", scenario.cases());
            let left_out = scenario.subject.left_out().into_iter();
            for sentence in left_out.chain(scenario.subject.impossible()) {
                text += &page.prose(&sentence, 2);
            }
            if scenario.subject.lives().is_some() {
                // On stderr, because it depends on the machine.
                let estimate = estimate::without_programs(&mut scenario, scenarios::available())?;
                terminal::note(&format!("{}: {estimate}", scenario.name));
            }
        }
        Ok(text)
    }
}
