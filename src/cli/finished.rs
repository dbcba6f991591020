//! Reads the folder of a finished run.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use serde_json::Value;

use super::exit::{Failure, no_mistakes, wrong};
use super::programs::ProgramsArg;
use super::scenarios;
use scavsim_experiment::{Sink, Tasks};
use scavsim_read::input::checked::Count;
use scavsim_read::input::{Diagnostic, Diagnostics, Source};
use scavsim_scenario::{Overrides, Scenario};
use scavsim_show::report::manifest::{self, Identity};
use scavsim_show::report::{results, stored_records};
use scavsim_sim::training::Fidelity;

pub(super) struct FinishedRun {
    folder: PathBuf,
    pub(super) identity: Identity,
}

impl FinishedRun {
    pub(super) fn open(path: &Path) -> Result<FinishedRun, Failure> {
        let read = manifest::read(&path.join(manifest::FILE)).map_err(damaged)?;
        let Some(identity) = read else {
            return Err(wrong(
                format!("there is no run in {}", path.display()),
                "`scavsim run FILE --out DIR` makes one",
            ));
        };
        if let Some(Value::String(kind)) = identity.get(manifest::KIND) {
            return Err(wrong(
                format!(
                    "{} holds results of kind `{kind}`; this needs a run of search strategies",
                    path.display()
                ),
                "open its CSV files as tables; `scavsim verify DIR` checks that they are unchanged",
            ));
        }
        if identity.get("complete") != Some(&Value::Bool(true)) {
            return Err(wrong(
                format!("the run in {} is not finished", path.display()),
                "`scavsim run FILE --out DIR --resume` finishes it",
            ));
        }
        Ok(FinishedRun {
            folder: path.to_owned(),
            identity,
        })
    }

    /// Passes its records to `sink`, in the order of the cases.
    pub(super) fn hand_out(&self, sink: &mut dyn Sink) -> Result<(), Failure> {
        stored_records::hand_out(&self.folder, &self.identity, sink).map_err(damaged)
    }

    /// The run's `summary.csv`, checked against the manifest.
    pub(super) fn summary(&self) -> Result<Vec<u8>, Failure> {
        results::summary(&self.folder, &self.identity).map_err(damaged)
    }

    /// How its cases were cut into tasks; an older version stored none, and its rows are refused.
    pub(super) fn tasks(&self) -> Tasks {
        manifest::tasks(&self.identity).unwrap_or(Tasks::new(0, 1, 1))
    }

    pub(super) fn name(&self) -> &str {
        let name = self.identity.get("scenario").and_then(Value::as_str);
        name.unwrap_or_default()
    }
}

/// Reads the scenario in `file`, with the keys in `set` and the seed, replicas and fidelity of the run `identity`. Refuses differences to
/// the run. Programs start only with consent.
pub(super) fn same_scenario(
    file: &Path,
    set: Vec<Arc<Source>>,
    identity: &Identity,
    programs: ProgramsArg,
) -> Result<Scenario, Failure> {
    let number = |key: &str| identity.get(key).and_then(serde_json::Value::as_u64);
    let fidelity = identity.get("fidelity").and_then(|name| name.as_str());
    let overrides = Overrides {
        seed: number("seed"),
        replicas: (number("replicas").and_then(|n| u32::try_from(n).ok())).and_then(Count::new),
        fidelity: fidelity.and_then(|name| Fidelity::from_str(name, true).ok()),
        set,
    };
    let mut scenarios = scenarios::load(&[file.to_owned()], overrides)?;
    let scenario = scenarios.remove(0);
    let mut all = Diagnostics::default();
    let file_name = file.display();
    for difference in manifest::differences(identity, &manifest::identity(&scenario)) {
        let title = format!("{file_name} is not what the run was made from: {difference}");
        let help = "a run with `-s KEY=VALUE` needs the same here";
        all.push(Diagnostic::general(title).with_help(help));
    }
    no_mistakes(all)?;
    programs.ask_of(file, scenario.programs())?;
    Ok(scenario)
}

fn damaged(error: std::io::Error) -> Failure {
    const DAMAGED: &str =
        "what a run left was changed; `scavsim run FILE --out DIR --overwrite` makes it anew";
    match error.kind() {
        ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::NotFound => {
            wrong(error.to_string(), DAMAGED)
        }
        _ => Failure::from(error),
    }
}
