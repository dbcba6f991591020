//! `scavsim compare`: a comparison of strategies.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;

use super::compare_form::CompareFormat;
use super::exit::{Exit, Failure, no_mistakes};
use super::programs::ProgramsArg;
use super::progress::Progress;
use super::set::SetArgs;
use super::signals::Signals;
use super::terminal::PrintedForm;
use super::{out, policies_compare, resume, scenarios, terminal};
use scavsim_measure::compare::{
    Comparison, ComparisonOptions, ComparisonQuestion, NoComparison, NotedCase, compare,
    compare_noting, data, run::cases, text,
};
use scavsim_read::input::{Diagnostic, Diagnostics};
use scavsim_scenario::{Overrides, Scenario};
use scavsim_show::report::OutputFolder;
use scavsim_show::report::result_files::{self, ResultFiles};

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Scenario files that name the same strategies; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// How often the job is run: a comparison for each number [default: what the scenarios say, else 1]
    #[arg(long, value_name = "R,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    repeats: Vec<u32>,
    /// In place of each workload N random halves of its configurations
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
    programs: ProgramsArg,
    #[command(flatten)]
    set: SetArgs,
}

impl CompareArgs {
    pub fn run(mut self, signals: &Signals) -> Result<Exit, Failure> {
        self.format = self.format.settled();
        let overrides = Overrides {
            seed: self.seed,
            replicas: self
                .replicas
                .and_then(scavsim_read::input::checked::Count::new),
            set: self.set.sources()?,
            ..Overrides::default()
        };
        let scenarios = scenarios::load(&self.files, overrides)?;
        self.programs.ask(&self.files, &scenarios)?;
        let is_of_policies = |own: &Scenario| own.subject.lives().is_some();
        match scenarios.iter().filter(|own| is_of_policies(own)).count() {
            0 => {}
            count if count == scenarios.len() => {
                return policies_compare::run(&self.policies(), &scenarios, signals);
            }
            _ => {
                let why = "scenarios with `[policy]` are compared by themselves".to_owned();
                return Err(failure(NoComparison::Unlike(why)));
            }
        }
        let question = ComparisonQuestion {
            repeats: self.repeats(&scenarios),
            parts: self.halves,
            against: self.against.clone(),
        };
        let files = self
            .out
            .as_deref()
            .map(|out| result_files(out, &scenarios, &question));
        let files = files.transpose()?;
        let jobs = self.jobs.map_or_else(scenarios::available, usize::from);
        let interrupt = signals.raise_first()?;
        let progress = Progress::start("compare", cases(&scenarios, &question));
        let effort = ComparisonOptions {
            jobs,
            interrupt,
            progress: &progress.counter,
        };
        let compared = match files {
            None => compare(&scenarios, &question, effort),
            Some(files) => written(files, &scenarios, &question, effort),
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
            CompareFormat::Table | CompareFormat::Markdown | CompareFormat::Latex => {
                text::render(&compared, &terminal::wide_page(self.wide))
            }
            CompareFormat::Csv => data::strategies(&compared)?,
            CompareFormat::Units => data::units(&compared)?,
            CompareFormat::Curves => data::curves(&compared)?,
            CompareFormat::Json => {
                let value = data::value(&compared);
                format!("{value:#}\n")
            }
        })?;
        #[cfg(feature = "figures")]
        if let Some(file) = &self.report {
            super::page::put(&scavsim_show::page::of_compare::contents(&compared), file)?;
        }
        Ok(Exit::Done)
    }

    /// The request if scenarios have `[policy]`.
    fn policies(&self) -> policies_compare::PolicyComparisonRequest<'_> {
        #[cfg(feature = "figures")]
        let report = self.report.is_some();
        #[cfg(not(feature = "figures"))]
        let report = false;
        let given = [
            ("--repeats", !self.repeats.is_empty()),
            ("--halves", self.halves > 0),
            ("--out", self.out.is_some()),
            ("--times", self.times),
            ("--report", report),
        ];
        policies_compare::PolicyComparisonRequest {
            jobs: self.jobs.map_or_else(scenarios::available, usize::from),
            against: self.against.as_deref(),
            format: self.format,
            page: terminal::wide_page(self.wide),
            useless: given.iter().filter(|one| one.1).map(|one| one.0).collect(),
        }
    }

    /// Numbers of runs, without repetitions, in the order in which they were written.
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

/// Scenarios that cannot be compared are wrong usage.
fn failure(why: NoComparison) -> Failure {
    match why {
        NoComparison::Interrupted => Failure::Interrupted,
        NoComparison::Unlike(why) => Diagnostic::general(why).into(),
        other => Failure::Other(other.into()),
    }
}

/// A folder for results that does not contain the results of a run.
fn result_files(
    out: &Path,
    scenarios: &[Scenario],
    question: &ComparisonQuestion,
) -> Result<ResultFiles, Failure> {
    let folder = out::writable(OutputFolder::alone(out))?;
    let mut wrong = Diagnostics::default();
    let made_from = result_files::of_comparison(scenarios, question);
    let help = "write to another folder";
    resume::keep(folder.path(), Some(&made_from), help, &mut wrong);
    no_mistakes(wrong)?;
    Ok(ResultFiles::new(folder))
}

/// Compares, and writes every case as it arrives, then the totals, and last the sources.
fn written(
    files: ResultFiles,
    scenarios: &[Scenario],
    question: &ComparisonQuestion,
    effort: ComparisonOptions<'_>,
) -> Result<Comparison, NoComparison> {
    let mut files = files;
    let cases = files.create("cases.csv");
    let mut rows = data::Cases::new(cases.map_err(NoComparison::NotWritten)?);
    let note = &mut |case: &NotedCase<'_>| rows.write_case(case);
    let compared = compare_noting(scenarios, question, effort, note)?;
    let write = || -> io::Result<()> {
        files.add(rows.done()?)?;
        files.put("strategies.csv", &data::strategies(&compared)?)?;
        files.put("units.csv", &data::units(&compared)?)?;
        files.put("curves.csv", &data::curves(&compared)?)?;
        if let Some(failures) = data::failures(&compared)? {
            files.put("failures.csv", &failures)?;
        }
        let made_from = result_files::of_comparison(scenarios, question);
        files.finish(&made_from).map(drop)
    };
    write().map_err(NoComparison::NotWritten)?;
    Ok(compared)
}
