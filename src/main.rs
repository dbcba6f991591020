//! The command-line program: parse, run, exit.

use std::process::ExitCode;

use clap::Parser;
use scavsim::cli::Cli;

fn main() -> ExitCode {
    Cli::parse().run().into()
}
