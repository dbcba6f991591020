//! The command-line program: parse, run, exit.

use std::process::ExitCode;

use scavsim::cli::Cli;

fn main() -> ExitCode {
    Cli::from_command_line().run().into()
}
