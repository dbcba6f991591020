//! `scavsim report`: one page for a finished run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;

use super::exit::{Exit, Failure};
use super::finished::FinishedRun;
use super::known::KnownArgs;
use super::page;
use super::signals::Signals;
use super::terminal;
use scavsim_show::figure::Material;
use scavsim_show::page::of_run::of_result;

pub const FILE: &str = "report.html";

/// Arguments of `report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The folder of a finished run
    #[arg(value_name = "RESULTS")]
    results: PathBuf,
    #[command(flatten)]
    known: KnownArgs,
    /// Write the page here [default: `report.html` in RESULTS]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Open it in the browser
    #[arg(long)]
    open: bool,
}

impl ReportArgs {
    pub fn run(self, signals: &Signals) -> Result<Exit, Failure> {
        let run = FinishedRun::open(&self.results)?;
        let material = self.known.material(&run, signals.raise_first()?)?;
        let out = self.out.unwrap_or_else(|| self.results.join(FILE));
        written(&material, &out)?;
        terminal::print(&format!("{}\n", out.display()))?;
        if self.open && !shown(&out) {
            terminal::note("no browser was found to open it in");
        }
        Ok(Exit::Done)
    }
}

pub(super) fn written(material: &Material, out: &Path) -> Result<(), Failure> {
    page::put(&of_result(material), out)
}

/// Opens the page in the system's viewer; returns whether that succeeded.
fn shown(page: &Path) -> bool {
    let opener = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let quiet = || Stdio::null();
    let asked = Command::new(opener)
        .arg(page)
        .stdin(quiet())
        .stdout(quiet())
        .stderr(quiet())
        .spawn();
    asked.is_ok()
}
