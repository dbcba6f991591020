//! `scavsim manual DIR`: pages for `man`, one per command, or one page of Markdown, for those who package the program.

use std::path::PathBuf;

use clap::{Args, Command};

use super::exit::{Exit, Failure};
use super::{reference, terminal};

/// Arguments of `manual`.
#[derive(Debug, Args)]
pub struct ManualArgs {
    /// Write scavsim.1, scavsim-run.1 and so on to this folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Write one page of Markdown about all commands instead, cli.md
    #[arg(long)]
    markdown: bool,
}

impl ManualArgs {
    /// Runs the command.
    ///
    /// # Errors
    /// [`Failure`] when a page cannot be written.
    pub fn run(self, program: Command) -> Result<Exit, Failure> {
        std::fs::create_dir_all(&self.folder)?;
        if self.markdown {
            std::fs::write(self.folder.join("cli.md"), reference::markdown(program))?;
        } else {
            clap_mangen::generate_to(program, &self.folder)?;
        }
        terminal::print(&format!("pages are in {}\n", self.folder.display()))?;
        Ok(Exit::Done)
    }
}
