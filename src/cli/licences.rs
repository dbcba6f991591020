//! `scavsim licences`: under which terms the program and the data in it stand.

use clap::Args;

use super::exit::{Exit, Failure};
use super::terminal;

/// The program's own.
const OWN: &str = include_str!("../../LICENSE");
/// Whose data are embedded.
const NOTICE: &str = include_str!("../../NOTICE");
/// The licence that most of them are under.
const APACHE: &str = include_str!("../../LICENSES/Apache-2.0.txt");
/// Terms of the library that pages draw with.
const CHARTS: &str = include_str!("../../LICENSES/charts.txt");

/// Arguments of `licences`.
#[derive(Debug, Args)]
pub struct LicencesArgs {
    /// Whose data are embedded, without the texts of the licences
    #[arg(long)]
    notice: bool,
}

impl LicencesArgs {
    pub fn run(self) -> Result<Exit, Failure> {
        terminal::print(&if self.notice {
            NOTICE.to_owned()
        } else {
            format!("{NOTICE}\n\n{OWN}\n\n{APACHE}\n\n{CHARTS}")
        })?;
        Ok(Exit::Done)
    }
}
