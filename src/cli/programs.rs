//! Programs that scenarios of others name: none starts without consent.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::consent;
use super::exit::Failure;
use super::listener::heard;
use scavsim_scenario::Scenario;

/// Whether programs of others may be started.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct ProgramsArg {
    /// Start the programs of a paper's folder, or of a scenario from outside of this folder, without asking
    #[arg(long)]
    programs: bool,
}

impl ProgramsArg {
    pub(super) fn new(programs: bool) -> ProgramsArg {
        ProgramsArg { programs }
    }

    /// Asks about the programs of scenarios from outside of the working folder.
    pub(super) fn ask(self, files: &[PathBuf], scenarios: &[Scenario]) -> Result<(), Failure> {
        let all = files.iter().zip(scenarios);
        all.into_iter()
            .try_for_each(|(file, scenario)| self.ask_of(file, scenario.programs()))
    }

    /// Asks about the programs of a scenario, if its file is outside of the working folder.
    pub(super) fn ask_of(self, file: &Path, programs: Vec<String>) -> Result<(), Failure> {
        if !is_outside(file) {
            return Ok(());
        }
        let who = if file.as_os_str() == "-" {
            "The scenario from standard input".to_owned()
        } else {
            format!("{}, which is not in this folder,", file.display())
        };
        self.ask_anyway(&who, programs)
    }

    /// Asks about programs, if there are any and the user has not agreed yet.
    pub(super) fn ask_anyway(
        self,
        who: &str,
        programs: impl IntoIterator<Item = String>,
    ) -> Result<(), Failure> {
        let programs: Vec<String> = programs.into_iter().collect();
        if self.programs || programs.is_empty() {
            return Ok(());
        }
        let sentence = format!("{who} starts programs:\n  {}", programs.join("\n  "));
        let agree = heard(|_| "programs=True").unwrap_or("--programs");
        let otherwise = format!("\nNone was started. `{agree}` starts them.");
        consent::ask_person(&sentence, "Start them?", false, &otherwise)
    }
}

/// Whether a scenario is from outside of the working folder. A scenario on standard input is, unless the calling program passed it from
/// inside.
fn is_outside(file: &Path) -> bool {
    if file.as_os_str() == "-" {
        return heard(|_| ()).is_none();
    }
    let places = fs::canonicalize(file).and_then(|file| Ok((file, fs::canonicalize(".")?)));
    places.map_or(true, |(file, here)| !file.starts_with(here))
}
