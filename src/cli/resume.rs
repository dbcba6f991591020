//! `--resume` and `--overwrite`: what to do with existing results in the output folder.

use std::io;
use std::path::Path;

use serde_json::Value;

use super::exit::{Failure, no_mistakes};
use scavsim_experiment::{KeyColumns, Record, Sink};
use scavsim_read::input::{Diagnostic, Diagnostics};
use scavsim_scenario::Scenario;
use scavsim_show::report::manifest::Identity;
use scavsim_show::report::{
    OutputFolder, RecordsFormat, Results, manifest, results, row_hashes, stored_records,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    Over,
    Behind,
    Complete,
}

/// What to do with existing results in the output folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExistingResultsAction {
    /// Finished results are replaced; unfinished ones are kept, and the run is refused.
    Keep,
    Resume,
    /// Older results are replaced, finished or not.
    Overwrite,
}

/// Where the runs of all scenarios start; or all reasons why older results can neither be resumed nor replaced.
pub fn starts(
    scenarios: &[Scenario],
    folders: &[Option<OutputFolder>],
    older: ExistingResultsAction,
    formats: &[&'static RecordsFormat],
    by: Option<&KeyColumns>,
) -> Result<Vec<Start>, Failure> {
    const HELP: &str = "`--resume` continues an unfinished run, `--overwrite` replaces what is there; or write to another folder";
    let mut wrong = Diagnostics::default();
    let mut all = Vec::new();
    for (scenario, folder) in scenarios.iter().zip(folders) {
        all.push(match (folder, older) {
            (Some(folder), ExistingResultsAction::Resume) => {
                start(scenario, folder, formats, by, &mut wrong)?
            }
            (Some(folder), ExistingResultsAction::Keep) => {
                keep(folder.path(), None, HELP, &mut wrong);
                Start::Over
            }
            _ => Start::Over,
        });
    }
    no_mistakes(wrong)?;
    Ok(all)
}

/// Reports results in `folder` that need a request to be replaced, with advice: an unfinished run, or another kind of results. Results of
/// `identity` are made again.
pub fn keep(folder: &Path, identity: Option<&Identity>, help: &str, wrong: &mut Diagnostics) {
    // Unreadable results cannot be resumed.
    let Ok(Some(read)) = manifest::read(&folder.join(manifest::FILE)) else {
        return;
    };
    let is_same =
        identity.is_some_and(|own| own.iter().all(|(key, value)| read.get(key) == Some(value)));
    if is_same {
        return;
    }
    let text = |from: &Identity, key| Some(from.get(key)?.as_str()?.to_owned());
    let kind = text(&read, manifest::KIND);
    let own_kind = identity.and_then(|own| text(own, manifest::KIND));
    let name = text(&read, "scenario").map_or(String::new(), |name| format!(" of `{name}`"));
    let holds = match (read.get("complete") == Some(&Value::Bool(true)), kind) {
        (false, _) if Results::has_rows(folder) => format!("a run{name} that is not finished"),
        (false, _) => return,
        (true, kind) if kind == own_kind && kind.as_deref() != Some(manifest::POLICIES) => return,
        (true, None) => format!("a finished run{name}"),
        (true, Some(kind)) => format!("finished results{name} (kind: {kind})"),
    };
    let title = format!("{} holds {holds}", folder.display());
    wrong.push(Diagnostic::general(title).with_help(help));
}

fn start(
    scenario: &Scenario,
    folder: &OutputFolder,
    formats: &[&'static RecordsFormat],
    by: Option<&KeyColumns>,
    wrong: &mut Diagnostics,
) -> Result<Start, Failure> {
    const HELP: &str = "start over with `--overwrite`, or write to another folder";
    let path = folder.file(manifest::FILE);
    let read = match manifest::read(&path) {
        Ok(Some(read)) => read,
        Ok(None) => return Ok(Start::Over),
        Err(error) => {
            wrong.push(Diagnostic::general(error.to_string()).with_help(HELP));
            return Ok(Start::Over);
        }
    };
    for difference in manifest::differences(&read, &manifest::identity(scenario)) {
        let title = format!("{} is of another run: {difference}", path.display());
        wrong.push(Diagnostic::general(title).with_help(HELP));
    }
    // An existing file may have been changed. Even a summary with other columns must not replace a summary that a user changed.
    let is_finished = read.get("complete") == Some(&Value::Bool(true));
    if is_finished && folder.file(results::SUMMARY).exists() {
        results::summary(folder.path(), &read)?;
    }
    if Results::is_complete(folder.path(), &read, formats, by) {
        stored_records::hand_out(folder.path(), &read, &mut NullSink)?;
        // Left by a run that was killed between its manifest and its last cleanup.
        folder.remove(row_hashes::PARTIAL)?;
        Ok(Start::Complete)
    } else {
        Ok(Start::Behind)
    }
}

/// A sink that only reads records.
struct NullSink;

impl Sink for NullSink {
    fn push_record(&mut self, _: &Record<'_>) -> io::Result<()> {
        Ok(())
    }
}
