//! `--resume`: whether what lies in a folder can be gone on with.

use super::Failure;
use crate::experiment::KeyColumns;
use crate::input::{Diagnostic, Diagnostics};
use crate::report::{Folder, RecordsFormat, Results, manifest};
use crate::scenario::Scenario;

/// Where a run starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// At the first case.
    Over,
    /// Behind what is there.
    Behind,
    /// Nowhere: all is there.
    Complete,
}

/// Where the runs of all scenarios start. Without `resume`, or where nothing is there: over.
///
/// # Errors
/// Everything by which the runs that lie in the folders are others.
pub fn starts(
    scenarios: &[Scenario],
    folders: &[Option<Folder>],
    resume: bool,
    formats: &[&'static RecordsFormat],
    by: Option<&KeyColumns>,
) -> Result<Vec<Start>, Failure> {
    let mut wrong = Diagnostics::default();
    let starts = (scenarios.iter().zip(folders))
        .map(|(scenario, folder)| match folder {
            Some(folder) if resume => start(scenario, folder, formats, by, &mut wrong),
            _ => Start::Over,
        })
        .collect();
    if wrong.is_empty() {
        Ok(starts)
    } else {
        Err(Failure::Wrong(wrong))
    }
}

fn start(
    scenario: &Scenario,
    folder: &Folder,
    formats: &[&'static RecordsFormat],
    by: Option<&KeyColumns>,
    wrong: &mut Diagnostics,
) -> Start {
    const HELP: &str = "start over without `--resume`, or write to another folder";
    let path = folder.file(manifest::FILE);
    let read = match manifest::read(&path) {
        Ok(Some(read)) => read,
        Ok(None) => return Start::Over,
        Err(error) => {
            wrong.push(Diagnostic::general(error.to_string()).with_help(HELP));
            return Start::Over;
        }
    };
    for difference in manifest::differences(&read, &manifest::identity(scenario)) {
        let path = path.display();
        wrong.push(
            Diagnostic::general(format!("{path} is of another run: {difference}")).with_help(HELP),
        );
    }
    if Results::is_complete(folder, &read, formats, by) {
        Start::Complete
    } else {
        Start::Behind
    }
}
