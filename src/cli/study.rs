//! `scavsim study`: how good something is that has no paper to compare with.

use clap::{Args, Subcommand};

use super::{Exit, Failure, terminal};
use crate::advise::{study, study_text};

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
        /// At most so many cuts of each workload, evenly spread over all
        #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
        cuts: u32,
    },
}

impl StudyArgs {
    /// Runs the command.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn run(self) -> Result<Exit, Failure> {
        let Study::Advise { cuts } = self.study;
        let most = cuts as usize;
        let found = study::study(&study::WORKLOADS, most);
        terminal::print(&study_text::render(&found, most))?;
        Ok(Exit::Done)
    }
}
