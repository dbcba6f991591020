//! `scavsim manual DIR`: pages for `man`, one per command, or one page of Markdown, for packagers.

use std::io;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_mangen::Man;

use super::exit::{Exit, Failure};
use super::{reference, terminal};
use scavsim_base::output::OutputFolder;

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
    pub fn run(self, program: Command) -> Result<Exit, Failure> {
        let folder = OutputFolder::open(&self.folder)?;
        if self.markdown {
            folder.write("cli.md", reference::markdown(program).as_bytes())?;
        } else {
            let mut program = program.disable_help_subcommand(true);
            program.build();
            pages(&program, &folder)?;
        }
        terminal::print(&format!("pages are in {}\n", self.folder.display()))?;
        Ok(Exit::Done)
    }
}

fn pages(command: &Command, folder: &OutputFolder) -> io::Result<()> {
    let mut shown = command.get_subcommands().filter(|own| !own.is_hide_set());
    shown.try_for_each(|own| pages(own, folder))?;
    let page = Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text)?;
    folder.write(&page.get_filename(), &text)
}
