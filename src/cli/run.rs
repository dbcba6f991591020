//! `scavsim run`: run scenario files and compare strategies with the oracle.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;

use super::consent::Consent;
use super::exit::{Exit, Failure, no_mistakes};
use super::programs::ProgramsArg;
use super::rank::{self, RankFormat, Rankings, View};
use super::records::RecordsArg;
use super::resume::{ExistingResultsAction, Start};
use super::runner::{self, InterruptedOutput, Runner};
use super::set::SetArgs;
use super::signals::Signals;
use super::summaries::{Form, Summaries, SummaryByArg, TableArgs};
use super::terminal::PrintedForm;
use super::what_if::{self, WhatIfArgs};
use super::{estimate, out, precision, resume, scenarios, terminal};
use scavsim_base::text::words::plural_with_commas;
use scavsim_engine::Interrupt;
use scavsim_experiment::{RunEnding, Shard};
use scavsim_provision::subject::MarketPolicies;
use scavsim_read::input::Diagnostics;
use scavsim_read::input::checked::Count;
use scavsim_scenario::{Overrides, Scenario};
use scavsim_show::report::{OutputFolder, Places};
use scavsim_sim::training::Fidelity;

const RESULTS: &str = "Results";
const COURSE: &str = "Course of the run";
const SCENARIO: &str = "Instead of what the scenario says";
const SUMMARY: &str = "Summary";

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Scenario files; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write records, summary.csv and manifest.json to this folder; with several files, to a folder
    /// in it per scenario
    #[arg(short, long, value_name = "DIR", help_heading = RESULTS)]
    out: Option<PathBuf>,
    #[command(flatten, next_help_heading = RESULTS)]
    records: RecordsArg,
    #[command(flatten)]
    summary_by: SummaryByArg,
    /// Go on with the run that was killed or interrupted in `--out`; refused if it was another
    #[arg(long, requires = "out")]
    resume: bool,
    /// Replace a run in `--out` that is not finished; one that is finished is replaced without it
    #[arg(long, requires = "out", conflicts_with = "resume")]
    overwrite: bool,
    /// Evaluate the I-th of N equal parts only, for `scavsim merge`; skipped if it is there
    #[arg(long, value_name = "I/N", requires = "out", conflicts_with_all = ["resume", "fail_fast", "records", "summary_by"])]
    shard: Option<Shard>,
    /// Go on after a case without a result; the default
    #[arg(long, overrides_with = "fail_fast", help_heading = COURSE)]
    keep_going: bool,
    /// Stop after the first case without a result; what was finished is kept
    #[arg(long, overrides_with = "keep_going", help_heading = COURSE)]
    fail_fast: bool,
    /// Threads; all cores when absent. Results do not depend on it
    #[arg(short, long, value_name = "N", help_heading = COURSE, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Replace the seed of the scenario
    #[arg(long, value_name = "S", help_heading = SCENARIO)]
    seed: Option<u64>,
    /// Replace the number of replicas
    #[arg(long, value_name = "R", help_heading = SCENARIO, value_parser = clap::value_parser!(u32).range(1..))]
    replicas: Option<u32>,
    /// Replace the fidelity
    #[arg(long, value_name = "F", help_heading = SCENARIO)]
    fidelity: Option<Fidelity>,
    #[command(flatten, next_help_heading = SCENARIO)]
    set: SetArgs,
    #[command(flatten, next_help_heading = SCENARIO)]
    what_if: WhatIfArgs,
    /// Form of the summary on stdout
    #[arg(long, value_enum, default_value_t, help_heading = SUMMARY)]
    format: Form,
    #[cfg(feature = "figures")]
    #[command(flatten, next_help_heading = RESULTS)]
    pictures: super::plot::PicturesArgs,
    #[command(flatten, next_help_heading = SUMMARY)]
    table: TableArgs,
    #[command(flatten)]
    view: View,
    /// Check everything and say what would be run, and how long that takes
    #[arg(long, help_heading = COURSE)]
    dry_run: bool,
    #[command(flatten, next_help_heading = COURSE)]
    programs: ProgramsArg,
    /// Start also what takes more than an hour, or writes more than there is room for
    #[arg(short, long, help_heading = COURSE)]
    yes: bool,
}

impl RunArgs {
    pub fn run(mut self, signals: &Signals) -> Result<Exit, Failure> {
        self.format = self.format.settled();
        self.summary_by.check(self.format)?;
        self.table.check(self.format, &self.summary_by)?;
        let overrides = Overrides {
            seed: self.seed,
            replicas: self.replicas.and_then(Count::new),
            fidelity: self.fidelity,
            set: self.set.sources()?,
        };
        if !self.what_if.is_empty() {
            return self.change_keys(&overrides, signals);
        }
        let mut scenarios = scenarios::load(&self.files, overrides)?;
        if self.shard.is_some() {
            shards_know_how_many(&scenarios)?;
        }
        if self.dry_run {
            return self.describe(scenarios);
        }
        if self.format == Form::Configurations && self.out.is_none() {
            // This needs no case.
            return self.rank(&scenarios, signals.raise_first()?);
        }
        self.programs.ask(&self.files, &scenarios)?;
        let folders = self.folders(&scenarios)?;
        let interrupt = signals.raise_first()?;
        for scenario in &mut scenarios {
            precision::decide(scenario, self.jobs(), interrupt)?;
        }
        let formats = self.records.formats();
        let by = self.summary_by.clone().for_form(self.format);
        let by = by.as_ref();
        let starts = match self.shard {
            // Shards never replace a run.
            Some(_) => vec![Start::Over; scenarios.len()],
            None => resume::starts(&scenarios, &folders, self.older(), &formats, by)?,
        };
        let runner = Runner {
            jobs: self.jobs(),
            fail_fast: self.fail_fast && !self.keep_going,
            interrupt,
            signals: Some(signals),
            formats: &formats,
            all_columns: self.records.all_columns,
            by,
            printed: self.format.printed(by.is_some()),
            consent: self.consent(),
        };

        let mut summaries = Summaries::new(self.format, self.table.page(), scenarios.len() > 1);
        let each = scenarios.iter().zip(&folders).zip(starts);
        let worst = self.run_each(each, &runner, &mut summaries);
        // Also prints what was run before a failure.
        summaries.end()?;
        Ok(match worst? {
            Exit::Interrupted => signals.exit(),
            worst => worst,
        })
    }

    fn run_each<'s>(
        &self,
        each: impl Iterator<Item = ((&'s Scenario, &'s Option<OutputFolder>), Start)>,
        runner: &Runner<'_>,
        summaries: &mut Summaries,
    ) -> Result<Exit, Failure> {
        let mut worst = Exit::Done;
        for ((scenario, folder), start) in each {
            let finished = match (self.shard, folder) {
                (Some(shard), Some(folder)) => runner.run_shard(scenario, folder, shard)?,
                _ if start == Start::Complete => {
                    terminal::note(&format!("{}: already complete", scenario.name));
                    continue;
                }
                _ => {
                    let (finished, summary) = runner.run(scenario, folder.as_ref(), start)?;
                    if self.format != Form::Configurations {
                        let places = Places::from_scenario(scenario);
                        summaries.add(&scenario.name, &summary, &places)?;
                    } else if finished.ending == RunEnding::Complete {
                        self.rank(std::slice::from_ref(scenario), runner.interrupt)?;
                    }
                    finished
                }
            };
            if let Some(folder) = folder {
                self.draw(folder, scenario, finished.ending, runner.interrupt)?;
            }
            let kept = InterruptedOutput::new(self.shard, folder.as_ref());
            worst = worst.max(runner::judge(scenario, &finished, kept));
            if finished.ending != RunEnding::Complete {
                break;
            }
        }
        Ok(worst)
    }

    /// Runs the scenarios with and without changed keys.
    fn change_keys(&self, overrides: &Overrides, signals: &Signals) -> Result<Exit, Failure> {
        let changes = self.what_if.changes()?;
        let scenarios = scenarios::load_silently(&self.files, overrides.clone())?;
        self.programs.ask(&self.files, &scenarios)?;
        let effort = (self.jobs(), signals.raise_first()?);
        let page = self.table.page();
        what_if::run(&self.files, overrides, &changes, effort, self.format, &page)?;
        Ok(Exit::Done)
    }

    /// Describes the run, and estimates its time.
    fn describe(&self, mut scenarios: Vec<Scenario>) -> Result<Exit, Failure> {
        terminal::print_lines(&describe(&scenarios))?;
        // On stderr, because it depends on the machine.
        for scenario in &mut scenarios {
            let text = estimate::without_programs(scenario, self.jobs())?;
            terminal::note(&format!("{}: {text}", scenario.name));
        }
        Ok(Exit::Done)
    }

    /// Draws the requested figures of a finished run, and reports where its results are.
    fn draw(
        &self,
        folder: &OutputFolder,
        scenario: &Scenario,
        ending: RunEnding,
        interrupt: &Interrupt,
    ) -> Result<(), Failure> {
        #[cfg(feature = "figures")]
        if ending == RunEnding::Complete && self.shard.is_none() {
            self.pictures.of_run(folder, scenario, interrupt)?;
        }
        #[cfg(not(feature = "figures"))]
        let _ = (ending, interrupt);
        let (name, path) = (&scenario.name, folder.path().display());
        terminal::detail(&format!("{name}: written to {path}"));
        Ok(())
    }

    fn consent(&self) -> Consent {
        Consent {
            is_given: self.yes,
            stdin_is_taken: self.files.iter().any(|file| file.as_os_str() == "-"),
        }
    }

    /// Prints time and cost of every configuration.
    fn rank(&self, scenarios: &[Scenario], interrupt: &Interrupt) -> Result<Exit, Failure> {
        let mut out = Rankings::new(RankFormat::Table, self.view.shown(self.table.wide));
        for scenario in scenarios {
            let runs = u64::from(rank::RUNS);
            let rankings = rank::ranked(scenario, runs, self.jobs(), interrupt)?;
            out.add(scenario, &rankings)?;
        }
        out.end()?;
        Ok(Exit::Done)
    }

    fn older(&self) -> ExistingResultsAction {
        match (self.resume, self.overwrite) {
            (true, _) => ExistingResultsAction::Resume,
            (false, true) => ExistingResultsAction::Overwrite,
            (false, false) => ExistingResultsAction::Keep,
        }
    }

    fn jobs(&self) -> usize {
        self.jobs.map_or_else(scenarios::available, usize::from)
    }

    /// The output folders, one per scenario; shards share a folder.
    fn folders(&self, scenarios: &[Scenario]) -> Result<Vec<Option<OutputFolder>>, Failure> {
        let Some(out) = &self.out else {
            return Ok(vec![None; scenarios.len()]);
        };
        let names: Vec<&str> = scenarios.iter().map(|own| &*own.name).collect();
        let open = match self.shard {
            Some(_) => OutputFolder::shared,
            None => OutputFolder::alone,
        };
        let folders = out::folders(out, &names, open)?;
        Ok(folders.into_iter().map(Some).collect())
    }
}

/// Refuses scenarios whose number of replicas only a whole run can determine.
fn shards_know_how_many(scenarios: &[Scenario]) -> Result<(), Failure> {
    let mut wrong = Diagnostics::default();
    for scenario in scenarios.iter().filter(|s| s.precision.is_some()) {
        wrong.push(precision::open_number(scenario, "a shard"));
    }
    no_mistakes(wrong)
}

fn describe(scenarios: &[Scenario]) -> String {
    let mut text = String::new();
    for scenario in scenarios {
        let subject = &scenario.subject;
        if let Some(study) = MarketPolicies::study_of(&**subject) {
            let (policies, size) = (study.policies.len(), study.size());
            let pricing = match scenario.policies.len() {
                1 => String::new(),
                several => format!("pricing policies {several} × "),
            };
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{}: {} cases = settings {} × worlds {} × {pricing}policies {policies} and the clairvoyant × lives {}\n\
                 {} at most in a life; seed {}\n{}",
                scenario.name,
                scenario.cases(),
                scenario.runs_in.len(),
                study.market.worlds.len(),
                scenario.replicas,
                plural_with_commas(size.ticks as u64, "tick"),
                scenario.seed,
                study.market.about,
            );
            continue;
        }
        let configurations = subject.configurations();
        let settings = match scenario.runs_in.len() {
            0 | 1 => String::new(),
            several => format!("settings {several} × "),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}: {} cases = {settings}workloads {} × policies {} × objectives {} × strategies {} × replicas {}\n\
             {configurations} configurations; fidelity {}; seed {}",
            scenario.name,
            scenario.cases(),
            subject.names().len(),
            scenario.policies.len(),
            scenario.objectives.len(),
            scenario.strategies.len(),
            scenario.replicas,
            scenario.fidelity.name(),
            scenario.seed,
        );
        if let Some(wanted) = scenario.precision {
            let _ = writeln!(
                text,
                "more replicas until net overheads are known to ±{} %, at most {}",
                100.0 * wanted.half_width,
                wanted.most
            );
        }
        for left_out in scenario.subject.left_out() {
            let _ = writeln!(text, "{left_out}");
        }
        if let Some(impossible) = subject.impossible() {
            let _ = writeln!(text, "{impossible}");
        }
    }
    text
}
