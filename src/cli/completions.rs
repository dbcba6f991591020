//! `scavsim completions`: a completion script for a shell.

use clap::{Args, Command};
use clap_complete::Shell;

use super::exit::{Exit, Failure};
use super::terminal;

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

impl CompletionsArgs {
    pub fn run(self, mut program: Command) -> Result<Exit, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut program, "scavsim", &mut script);
        terminal::print(&String::from_utf8_lossy(&script))?;
        Ok(Exit::Done)
    }
}
