//! `scavsim run`: run scenario files and compare strategies with the oracle.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use clap::{Args, ValueEnum};
use serde_json::Value;

use super::progress::Progress;
use super::{Exit, Failure, terminal};
use crate::checked::Count;
use crate::experiment::{self, Finished, Group, Plan, Sink, Summary};
use crate::input::{Diagnostic, Diagnostics, Source};
use crate::report::{
    Folder, RecordsCsv, manifest, policies_table, summary_csv, summary_json, summary_table,
};
use crate::scenario::{self, Overrides, Scenario};
use crate::training::Fidelity;

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Scenario files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write records.csv, summary.csv and manifest.json to this folder; with several files, to a
    /// folder in it per scenario
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Threads; all cores when absent. Results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Replace the seed of the scenario
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Replace the number of replicas
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(1..))]
    replicas: Option<u32>,
    /// Replace the fidelity
    #[arg(long, value_name = "F")]
    fidelity: Option<Fidelity>,
    /// Form of the summary on stdout
    #[arg(long, value_enum, default_value_t)]
    format: Form,
    /// Check everything and say what would be run
    #[arg(long)]
    dry_run: bool,
}

/// Form of the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Form {
    /// For people: a line per strategy
    #[default]
    Table,
    /// For people: a line per pricing policy
    Policies,
    /// For spreadsheets and data frames
    Csv,
    /// For programs; the stable interface
    Json,
}

impl RunArgs {
    /// Runs the command.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn run(self) -> Result<Exit, Failure> {
        let overrides = Overrides {
            seed: self.seed,
            replicas: self.replicas.and_then(Count::new),
            fidelity: self.fidelity,
        };
        let scenarios = load(&self.files, overrides)?;
        if self.dry_run {
            terminal::print(&describe(&scenarios))?;
            return Ok(Exit::Done);
        }
        let folders = self.folders(&scenarios)?;
        let interrupt = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&interrupt);
        ctrlc::set_handler(move || flag.store(true, std::sync::atomic::Ordering::Relaxed))
            .context("cannot listen for Ctrl-C")?;
        let jobs = self.jobs.map_or_else(available, usize::from);

        let mut worst = Exit::Done;
        let mut values: Vec<Value> = Vec::new();
        for (index, (scenario, folder)) in scenarios.iter().zip(&folders).enumerate() {
            let (finished, groups) = run_one(scenario, folder.as_ref(), jobs, &interrupt)?;
            match self.format {
                Form::Table => terminal::print(&summary_table::render(&groups))?,
                Form::Policies => terminal::print(&policies_table::render(&groups))?,
                Form::Csv => {
                    let text = summary_csv::render(&groups)?;
                    // One header for all scenarios.
                    let skip = if index == 0 {
                        0
                    } else {
                        text.find('\n').map_or(0, |n| n + 1)
                    };
                    terminal::print(&text[skip..])?;
                }
                Form::Json => values.push(summary_json::value(&scenario.name, &groups)),
            }
            if finished.interrupted {
                terminal::note(&format!(
                    "interrupted after {} of {} cases; what was finished is kept",
                    finished.cases,
                    scenario.cases()
                ));
                worst = Exit::Interrupted;
                break;
            }
            if finished.failed > 0 {
                let failed = finished.failed;
                terminal::note(&format!(
                    "{failed} cases have no result; see their `reason`"
                ));
                worst = worst.max(Exit::SomeCasesFailed);
            }
        }
        if self.format == Form::Json {
            let all = match <[Value; 1]>::try_from(values) {
                Ok([one]) => one,
                Err(several) => Value::from(several),
            };
            let text = serde_json::to_string_pretty(&all).map_err(anyhow::Error::from)?;
            terminal::print(&(text + "\n"))?;
        }
        Ok(worst)
    }

    /// The output folders, one per scenario, each seen to be writable.
    fn folders(&self, scenarios: &[Scenario]) -> Result<Vec<Option<Folder>>, Failure> {
        let Some(out) = &self.out else {
            return Ok(vec![None; scenarios.len()]);
        };
        let mut diagnostics = Diagnostics::default();
        let mut seen: Vec<&str> = Vec::new();
        for Scenario { name, .. } in scenarios {
            if seen.contains(&name.as_str()) {
                diagnostics.push(Diagnostic::general(format!(
                    "two scenarios are called `{name}` and would write to the same folder"
                )));
            }
            seen.push(name);
        }
        if !diagnostics.is_empty() {
            return Err(Failure::Wrong(diagnostics));
        }
        let mut folders = Vec::new();
        for name in seen {
            let path = match scenarios {
                [_] => out.clone(),
                _ => out.join(name),
            };
            match Folder::prepare(&path) {
                Ok(folder) => folders.push(Some(folder)),
                Err(error) => diagnostics.push(
                    Diagnostic::general(error.to_string())
                        .with_help("`--out` needs a folder in which files can be created"),
                ),
            }
        }
        if diagnostics.is_empty() {
            Ok(folders)
        } else {
            Err(Failure::Wrong(diagnostics))
        }
    }
}

/// Reads and checks all files; every mistake in any of them is reported together.
pub(super) fn load(files: &[PathBuf], overrides: Overrides) -> Result<Vec<Scenario>, Failure> {
    let mut diagnostics = Diagnostics::default();
    let scenarios: Vec<Option<Scenario>> = files
        .iter()
        .map(|path| {
            let source = Source::read(path, &mut diagnostics)?;
            let folder = path.parent().unwrap_or(Path::new("."));
            scenario::load(&source, folder, overrides, &mut diagnostics)
        })
        .collect();
    match scenarios.into_iter().collect::<Option<Vec<_>>>() {
        Some(scenarios) if diagnostics.is_empty() => Ok(scenarios),
        _ => Err(Failure::Wrong(diagnostics)),
    }
}

fn run_one(
    scenario: &Scenario,
    folder: Option<&Folder>,
    jobs: usize,
    interrupt: &AtomicBool,
) -> Result<(Finished, Vec<Group>), Failure> {
    let plan = Plan::new(scenario).map_err(anyhow::Error::from)?;
    let mut summary = Summary::default();
    if let Some(folder) = folder {
        // Until the run has ended, whatever lies in the folder is not the result of this scenario.
        let unfinished = Finished {
            cases: 0,
            failed: 0,
            interrupted: true,
        };
        write_manifest(folder, scenario, &unfinished)?;
    }
    let mut records = folder.map(RecordsCsv::create).transpose()?;
    let progress = Progress::start(&scenario.name, plan.cases());
    let finished = {
        let mut sinks: Vec<&mut dyn Sink> = vec![&mut summary];
        if let Some(records) = &mut records {
            sinks.push(records);
        }
        experiment::run(&plan, jobs, interrupt, &progress.counter, &mut sinks)?
    };
    drop(progress);
    let groups = summary.finish();
    if let (Some(folder), Some(records)) = (folder, records) {
        records.close()?;
        folder.write("summary.csv", summary_csv::render(&groups)?.as_bytes())?;
        write_manifest(folder, scenario, &finished)?;
    }
    Ok((finished, groups))
}

fn write_manifest(
    folder: &Folder,
    scenario: &Scenario,
    finished: &Finished,
) -> Result<(), Failure> {
    let manifest = serde_json::to_string_pretty(&manifest::value(scenario, finished))
        .map_err(anyhow::Error::from)?;
    Ok(folder.write("manifest.json", (manifest + "\n").as_bytes())?)
}

fn available() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What would be run.
fn describe(scenarios: &[Scenario]) -> String {
    let mut text = String::new();
    for scenario in scenarios {
        let configurations: usize = scenario.workloads.iter().map(|w| w.1.len()).sum();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}: {} cases = workloads {} × policies {} × objectives {} × strategies {} × replicas {}; \
             {configurations} configurations; fidelity {}; seed {}",
            scenario.name,
            scenario.cases(),
            scenario.workloads.len(),
            scenario.policies.len(),
            scenario.objectives.len(),
            scenario.strategies.len(),
            scenario.replicas,
            scenario.fidelity.name(),
            scenario.seed,
        );
    }
    text
}
