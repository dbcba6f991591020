//! `scavsim compare`: strategies beside each other.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use tempfile::NamedTempFile;

use super::compare_form::CompareFormat;
use super::exit::{Exit, Failure};
use super::progress::Progress;
use super::set::SetArgs;
use super::signals::Signals;
use super::{policies_compare, scenarios, terminal};
use scavsim_lab::scenario::{Overrides, Scenario};
use scavsim_measure::compare::{
    Comparison, ComparisonQuestion, Effort, NoComparison, NotedCase, compare, compare_noting, data,
    run::cases, text,
};
use scavsim_read::input::{Diagnostic, Diagnostics};
use scavsim_show::report::comparison_manifest::{self, Hashed};
use scavsim_show::report::manifest;

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Scenario files that name the same strategies; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// How often the job is run: a comparison for each number [default: what the scenarios say, else 1]
    #[arg(long, value_name = "R,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    repeats: Vec<u32>,
    /// In place of each workload so many random halves of its configurations
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1000))]
    halves: u32,
    /// Replace the replicas of the scenarios
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    replicas: Option<u32>,
    /// Replace the seed of the scenarios
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Form on stdout; `units` and `curves` are CSV of every strategy on every workload, and of regret over what was spent
    #[arg(long, value_enum, default_value_t)]
    format: CompareFormat,
    /// Hold the others against this strategy, named before the figures are known; without it, stars are of all pairs
    #[arg(long, value_name = "STRATEGY")]
    against: Option<String>,
    /// Write CSV files and a manifest of what they were made from into this folder, too
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write a page about the comparison to this file
    #[cfg(feature = "figures")]
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Say on stderr what each strategy takes for a search on this machine
    #[arg(long)]
    times: bool,
    /// Show all columns, however wide
    #[arg(long)]
    wide: bool,
    /// Threads; all cores when absent. Results do not depend on it
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    #[command(flatten)]
    set: SetArgs,
}

impl CompareArgs {
    /// Runs the command.
    ///
    /// # Errors
    /// [`Failure`] with every mistake in every file.
    pub fn run(self, signals: &Signals) -> Result<Exit, Failure> {
        if let Some(exit) = policies_compare::run(&self.policies(), signals)? {
            return Ok(exit);
        }
        let overrides = Overrides {
            seed: self.seed,
            replicas: self
                .replicas
                .and_then(scavsim_read::input::checked::Count::new),
            set: self.set.sources()?,
            ..Overrides::default()
        };
        let scenarios = scenarios::load(&self.files, overrides)?;
        let question = ComparisonQuestion {
            repeats: self.repeats(&scenarios),
            parts: self.halves,
            against: self.against.clone(),
        };
        let jobs = self.jobs.map_or_else(scenarios::available, usize::from);
        let interrupt = signals.raise_first()?;
        let progress = Progress::start("compare", cases(&scenarios, &question));
        let effort = Effort {
            jobs,
            interrupt,
            progress: &progress.counter,
        };
        let compared = match &self.out {
            None => compare(&scenarios, &question, effort),
            Some(folder) => written(folder, &scenarios, &question, effort),
        };
        drop(progress);
        let compared = compared.map_err(failure)?;
        if self.times {
            for (strategy, took) in &compared.took {
                let us = took.as_secs_f64() * 1e6;
                terminal::note(&format!("{strategy}: {us:.1} µs a search"));
            }
        }
        terminal::print(&match self.format {
            CompareFormat::Table => {
                let mut page = terminal::page();
                page.is_wide = self.wide;
                text::render(&compared, &page)
            }
            CompareFormat::Csv => data::strategies(&compared)?,
            CompareFormat::Units => data::units(&compared)?,
            CompareFormat::Curves => data::curves(&compared)?,
            CompareFormat::Json => {
                let value = data::value(&compared).map_err(anyhow::Error::from)?;
                format!("{value:#}\n")
            }
        })?;
        #[cfg(feature = "figures")]
        if let Some(file) = &self.report {
            super::page::put(&scavsim_show::page::of_compare::contents(&compared), file)?;
        }
        Ok(Exit::Done)
    }

    /// What is asked for where scenarios have `[policy]`.
    fn policies(&self) -> policies_compare::PoliciesAsked<'_> {
        #[cfg(feature = "figures")]
        let report = self.report.is_some();
        #[cfg(not(feature = "figures"))]
        let report = false;
        let given = [
            ("--repeats", !self.repeats.is_empty()),
            ("--halves", self.halves > 0),
            ("--replicas", self.replicas.is_some()),
            ("--out", self.out.is_some()),
            ("--times", self.times),
            ("--report", report),
        ];
        let mut page = terminal::page();
        page.is_wide = self.wide;
        policies_compare::PoliciesAsked {
            files: &self.files,
            jobs: self.jobs.map_or_else(scenarios::available, usize::from),
            seed: self.seed,
            set: &self.set,
            against: self.against.as_deref(),
            format: self.format,
            page,
            useless: given.iter().filter(|one| one.1).map(|one| one.0).collect(),
        }
    }

    /// Numbers of runs, each once, in the order in which they were written.
    fn repeats(&self, scenarios: &[Scenario]) -> Vec<u64> {
        let asked = self.repeats.iter().copied().map(u64::from);
        let stated = scenarios.iter().flat_map(|scenario| &scenario.runs_in);
        let stated = stated.filter_map(|setting| setting.repeats);
        let mut all: Vec<u64> = Vec::new();
        let mut take = |repeats: u64| {
            if !all.contains(&repeats) {
                all.push(repeats);
            }
        };
        if self.repeats.is_empty() {
            stated.for_each(&mut take)
        } else {
            asked.for_each(&mut take)
        }
        if all.is_empty() {
            all.push(1);
        }
        all
    }
}

/// Scenarios that cannot stand beside each other are wrong usage.
fn failure(why: NoComparison) -> Failure {
    match why {
        NoComparison::Interrupted => Failure::Interrupted,
        NoComparison::Unlike(why) => {
            let mut wrong = Diagnostics::default();
            wrong.push(Diagnostic::general(why));
            Failure::Wrong(wrong)
        }
        other => Failure::Other(other.into()),
    }
}

/// Name of the file of reasons, which is there where something failed.
const FAILURES: &str = "failures.csv";

/// Compares, and writes every case as it comes, then what they come to, and in the end from what.
fn written(
    folder: &Path,
    scenarios: &[Scenario],
    question: &ComparisonQuestion,
    effort: Effort<'_>,
) -> Result<Comparison, NoComparison> {
    let not_written = NoComparison::NotWritten;
    std::fs::create_dir_all(folder).map_err(not_written)?;
    let cases = NamedTempFile::new_in(folder).map_err(not_written)?;
    let mut rows = data::Cases::new(Hashed::new(BufWriter::new(cases)));
    let note = &mut |case: &NotedCase<'_>| rows.take(case);
    let compared = compare_noting(scenarios, question, effort, note)?;
    let write = || -> io::Result<()> {
        let (cases, hash) = rows.done()?.done();
        let cases = cases.into_inner().map_err(|e| e.into_error())?;
        persist(cases, folder, "cases.csv")?;
        let mut files = vec![("cases.csv", hash)];
        let failures = data::failures(&compared)?;
        if failures.is_none() {
            remove(&folder.join(FAILURES))?;
        }
        let tables = [
            ("strategies.csv", Some(data::strategies(&compared)?)),
            ("units.csv", Some(data::units(&compared)?)),
            ("curves.csv", Some(data::curves(&compared)?)),
            (FAILURES, failures),
        ];
        for (name, text) in tables {
            let Some(text) = text else { continue };
            put(folder, name, &text)?;
            files.push((name, manifest::hash(text.as_bytes())));
        }
        let text = comparison_manifest::text(scenarios, question, &files)?;
        put(folder, manifest::FILE, &text)
    };
    write().map_err(not_written)?;
    Ok(compared)
}

/// Writes a file aside, then renames it.
fn put(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    persist(file, folder, name)
}

fn persist(file: NamedTempFile, folder: &Path, name: &str) -> io::Result<()> {
    file.persist(folder.join(name)).map_err(|e| e.error)?;
    Ok(())
}

/// Removes a file of an earlier comparison, if there is one.
fn remove(file: &Path) -> io::Result<()> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
