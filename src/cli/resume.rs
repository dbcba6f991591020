//! `--resume` and `--overwrite`: what becomes of results that lie where a run is to write.

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

/// What is done with results that lie where a run is to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExistingResultsAction {
    /// What is finished is replaced; what is not stays, and the run is refused.
    Keep,
    Resume,
    /// Older results are replaced, whatever became of them.
    Overwrite,
}

/// Where the runs of all scenarios start; or everything by which older results cannot be gone on with or replaced.
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

/// Reports results in `folder` that are not replaced unasked, with what to do about it: a run that is not finished, and what
/// is of another kind. Those that `identity` is of are made again.
pub fn keep(folder: &Path, identity: Option<&Identity>, help: &str, wrong: &mut Diagnostics) {
    // What cannot be read cannot be gone on with.
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
    // That something is there does not say that it is as it was. Even a summary that is made anew by other columns is not
    // written over another that somebody changed.
    let is_finished = read.get("complete") == Some(&Value::Bool(true));
    if is_finished && folder.file(results::SUMMARY).exists() {
        results::summary(folder.path(), &read)?;
    }
    if Results::is_complete(folder.path(), &read, formats, by) {
        stored_records::hand_out(folder.path(), &read, &mut NullSink)?;
        // Of a run that was killed between its manifest and its last tidying.
        folder.remove(row_hashes::PARTIAL)?;
        Ok(Start::Complete)
    } else {
        Ok(Start::Behind)
    }
}

/// Takes records for their reading alone.
struct NullSink;

impl Sink for NullSink {
    fn push_record(&mut self, _: &Record<'_>) -> io::Result<()> {
        Ok(())
    }
}
