//! `scavsim study`: how good something is that has no paper to compare with.

use clap::{Args, Subcommand};

use super::{Exit, Failure, terminal};
use crate::advise::study;
use crate::report::study_text;

/// Arguments of `study`.
#[derive(Debug, Args)]
pub struct StudyArgs {
    #[command(subcommand)]
    study: Study,
}

#[derive(Debug, Subcommand)]
enum Study {
    /// Advice on profiles cut from measured workloads, where the truth is known
    Advise {
        /// Take every N-th cut only
        #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
        every: u32,
    },
}

impl StudyArgs {
    /// Runs the command.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn run(self) -> Result<Exit, Failure> {
        let Study::Advise { every } = self.study;
        let every = every as usize;
        let found = study::study(&study::WORKLOADS, every);
        terminal::print(&study_text::render(&found, every))?;
        Ok(Exit::Done)
    }
}
