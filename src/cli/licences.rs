//! `scavsim licences`: the licences of the program and of its data.

use clap::Args;

use super::exit::{Exit, Failure};
use super::terminal;

/// The licence of the program.
const OWN: &str = include_str!("../../LICENSE");
/// The owners of the embedded data.
const NOTICE: &str = include_str!("../../NOTICE");
/// The licence of most embedded data.
const APACHE: &str = include_str!("../../LICENSES/Apache-2.0.txt");
/// The licence of the library that draws charts on pages.
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
