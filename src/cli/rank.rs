//! `scavsim rank`: time and cost of every configuration, best first.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::exit::{Exit, Failure};
use super::progress::Progress;
use super::set::SetArgs;
use super::signals::Signals;
use super::terminal::PrintedForm;
use super::{scenarios, terminal};
use scavsim_base::text::Page;
use scavsim_engine::Interrupt;
use scavsim_experiment::Ranking;
use scavsim_experiment::ranking::{RankingOptions, rank};
use scavsim_scenario::{Overrides, Scenario};
use scavsim_search::search::Objective;
use scavsim_show::report::{Places, ranking_data, ranking_table};

/// Arguments of `rank`.
#[derive(Debug, Args)]
pub struct RankArgs {
    /// Scenario files; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Sort by this, in place of the first objective of the scenario
    #[arg(long, value_enum)]
    objective: Option<RankOrder>,
    #[command(flatten)]
    pub(super) view: View,
    /// Show of the configurations on VMs of the same types and terms only the best
    #[arg(long)]
    best_of_each_vm: bool,
    /// Show all columns, however wide
    #[arg(long)]
    wide: bool,
    /// Simulated runs of each configuration
    #[arg(long, value_name = "N", default_value_t = RUNS, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    runs: u32,
    /// Form on stdout; CSV and JSON hold all configurations and all columns
    #[arg(long, value_enum, default_value_t)]
    format: RankFormat,
    /// Write a page about the ranking of one scenario to this file
    #[cfg(feature = "figures")]
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Threads; all cores when absent. Results do not depend on it
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Replace the seed of the scenario
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    #[command(flatten)]
    set: SetArgs,
}

/// How much of a table is shown.
#[derive(Debug, Clone, Copy, Args)]
pub struct View {
    /// Rows of a table: a number, or `all`
    #[arg(long, value_name = "N", default_value = "20", value_parser = top)]
    top: Top,
}

/// The number of rows, or all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Top(Option<usize>);

fn top(text: &str) -> Result<Top, &'static str> {
    match text {
        "all" => Ok(Top(None)),
        _ => match text.parse() {
            Ok(0) | Err(_) => Err("expected a whole number of at least 1, or `all`"),
            Ok(rows) => Ok(Top(Some(rows))),
        },
    }
}

/// Runs of each configuration, for the 90 % intervals.
pub(super) const RUNS: u32 = 400;

impl View {
    /// The number of rows, and their page.
    pub fn shown(self, wide: bool) -> (Option<usize>, Page) {
        let mut page = terminal::page();
        if wide {
            page.width = usize::MAX;
        }
        (self.top.0, page)
    }
}

/// What to sort by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RankOrder {
    /// The shortest time first
    Time,
    /// The lowest cost first
    Cost,
    /// The knee of the Pareto front of both first
    Knee,
}

impl From<RankOrder> for Objective {
    fn from(by: RankOrder) -> Objective {
        match by {
            RankOrder::Time => Objective::Time,
            RankOrder::Cost => Objective::Cost,
            RankOrder::Knee => Objective::Knee,
        }
    }
}

/// Form of a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum RankFormat {
    /// For people
    #[default]
    Table,
    /// For spreadsheets and data frames
    Csv,
    /// For programs
    Json,
    /// The tables for people, as Markdown
    Markdown,
    /// The tables for people, as LaTeX
    Latex,
}

terminal::printed_form!(RankFormat);

impl RankArgs {
    pub fn run(mut self, signals: &Signals) -> Result<Exit, Failure> {
        self.format = self.format.settled();
        let overrides = Overrides {
            seed: self.seed,
            set: self.set.sources()?,
            ..Overrides::default()
        };
        let mut scenarios = scenarios::load_silently(&self.files, overrides)?;
        // Tables print the remarks below.
        if self.format != RankFormat::Table {
            scenarios::note_remarks(&scenarios);
        }
        #[cfg(feature = "figures")]
        if self.report.is_some() && scenarios.len() > 1 {
            let what = "`--report` is about one scenario".to_owned();
            return Err(super::exit::wrong(what, "name one scenario file"));
        }
        for scenario in &mut scenarios {
            if let Some(by) = self.objective {
                let by = Objective::from(by);
                scenario.objectives.retain(|objective| *objective != by);
                scenario.objectives.insert(0, by);
            }
        }
        let jobs = self.jobs.map_or_else(scenarios::available, usize::from);
        let interrupt = signals.raise_first()?;
        let mut out = Rankings::new(self.format, self.view.shown(self.wide));
        for scenario in &scenarios {
            let mut rankings = ranked(scenario, u64::from(self.runs), jobs, interrupt)?;
            if self.best_of_each_vm {
                rankings.iter_mut().for_each(Ranking::keep_best_of_each_vm);
            }
            out.add(scenario, &rankings)?;
            #[cfg(feature = "figures")]
            if let Some(file) = &self.report {
                let places = Places::from_scenario(scenario);
                let page =
                    scavsim_show::page::of_run::of_rankings(&scenario.name, rankings, &places);
                super::page::put(&page, file)?;
            }
        }
        out.end()?;
        Ok(Exit::Done)
    }
}

/// The rankings of a scenario; prints what was left out.
pub(super) fn ranked(
    scenario: &Scenario,
    runs: u64,
    jobs: usize,
    interrupt: &Interrupt,
) -> Result<Vec<Ranking>, Failure> {
    for sentence in scenario.subject.left_out().into_iter() {
        terminal::note(&format!("{}: {sentence}", scenario.name));
    }
    let all = scenario.subject.configurations() as u64;
    let progress = Progress::start(&scenario.name, all);
    let options = RankingOptions {
        runs,
        jobs,
        interrupt,
        progress: &progress.counter,
    };
    let rankings = rank(scenario, options);
    drop(progress);
    Ok(rankings?)
}

/// Prints rankings, of one scenario after the other.
pub(super) struct Rankings {
    format: RankFormat,
    shown: (Option<usize>, Page),
    begun: bool,
    values: Vec<Value>,
}

impl Rankings {
    pub(super) fn new(format: RankFormat, shown: (Option<usize>, Page)) -> Self {
        Rankings {
            format,
            shown,
            begun: false,
            values: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, of: &Scenario, rankings: &[Ranking]) -> std::io::Result<()> {
        let scenario = &of.name;
        let is_first = !std::mem::replace(&mut self.begun, true);
        match self.format {
            RankFormat::Table | RankFormat::Markdown | RankFormat::Latex => {
                let mut places = Places::from_scenario(of);
                // There is no strategy here.
                places.remarks.averaged = None;
                terminal::print(&ranking_table::render(
                    scenario,
                    rankings,
                    &places,
                    self.shown.0,
                    &self.shown.1,
                ))
            }
            RankFormat::Csv => terminal::print(&ranking_data::csv(scenario, rankings, is_first)),
            RankFormat::Json => {
                self.values.push(ranking_data::json(scenario, rankings));
                Ok(())
            }
        }
    }

    pub(super) fn end(self) -> std::io::Result<()> {
        match (self.format, &self.values[..]) {
            (RankFormat::Json, [one]) => terminal::print(&format!("{one:#}\n")),
            (RankFormat::Json, all) => {
                terminal::print(&format!("{:#}\n", Value::Array(all.to_vec())))
            }
            _ => Ok(()),
        }
    }
}
