//! `scavsim study`: how good something is that has no paper to compare with.

use clap::{Args, Subcommand, ValueEnum};

use super::{Exit, Failure, terminal};
use crate::advise::{study, study_text};
use crate::latency;
use crate::report::document;

/// Arguments of `study`.
#[derive(Debug, Args)]
pub struct StudyArgs {
    #[command(subcommand)]
    study: Study,
    /// Form on stdout
    #[arg(long, value_enum, default_value_t, global = true)]
    format: Form,
    /// Show all columns, however wide
    #[arg(long, global = true)]
    wide: bool,
}

/// Form of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Form {
    /// For people
    #[default]
    Table,
    /// For documents
    Markdown,
}

#[derive(Debug, Subcommand)]
enum Study {
    /// Advice on profiles cut from measured workloads, where the truth is known
    Advise {
        /// At most so many cuts of each workload, evenly spread over all
        #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
        cuts: u32,
    },
    /// Steps of set-ups hidden in four ways, and choices within limits by what the rest says of them
    Latency,
}

impl StudyArgs {
    /// Runs the command.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn run(self) -> Result<Exit, Failure> {
        let text = match self.study {
            Study::Advise { cuts } => {
                let most = cuts as usize;
                study_text::render(&study::study(&study::WORKLOADS, most), most)
            }
            Study::Latency => {
                let setups = latency::study(&latency::hidden::WORKLOADS);
                latency::text::render(&setups)
            }
        };
        let mut page = terminal::page();
        page.is_wide = self.wide;
        terminal::print(&match self.format {
            Form::Table => document::on_page(&text, &page),
            Form::Markdown => text,
        })?;
        Ok(Exit::Done)
    }
}
