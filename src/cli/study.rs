//! `scavsim study`: how good something is that has no paper to compare with.

use std::path::Path;

use clap::{Args, Subcommand, ValueEnum};

use super::progress::Progress;
use super::signals::Signals;
use super::{Exit, Failure, compare, example, run, terminal};
use scavsim_lab::scenario::{self, Overrides, Scenario};
use scavsim_measure::advise::{study, study_text};
use scavsim_measure::compare::run::cases;
use scavsim_measure::compare::{Comparison, Effort, Question, claims};
use scavsim_measure::latency;
use scavsim_read::input::{Diagnostics, Source};
use scavsim_show::report::document;

/// Arguments of `study`.
#[derive(Debug, Args)]
pub struct StudyArgs {
    #[command(subcommand)]
    study: Study,
    /// Form on stdout
    #[arg(long, value_enum, default_value_t, global = true)]
    format: Form,
    /// Show all columns, however wide
    #[arg(long, global = true)]
    wide: bool,
}

/// Form of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Form {
    /// For people
    #[default]
    Table,
    /// For documents
    Markdown,
}

#[derive(Debug, Subcommand)]
enum Study {
    /// Advice on profiles cut from measured workloads, where the truth is known
    Advise {
        /// At most so many cuts of each workload, evenly spread over all
        #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
        cuts: u32,
    },
    /// What papers claim of their searches, beside what the shipped grids and trainings say
    Claims,
    /// Steps of set-ups hidden in four ways, and choices within limits by what the rest says of them
    Latency,
}

impl StudyArgs {
    /// Runs the command.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn run(self, signals: &Signals) -> Result<Exit, Failure> {
        let text = match self.study {
            Study::Advise { cuts } => {
                let most = cuts as usize;
                study_text::render(&study::study(&study::WORKLOADS, most), most)
            }
            Study::Claims => claims::render(&comparisons(signals)?),
            Study::Latency => {
                let setups = latency::study(&latency::hidden::WORKLOADS);
                latency::text::render(&setups)
            }
        };
        let mut page = terminal::page();
        page.is_wide = self.wide;
        terminal::print(&match self.format {
            Form::Table => document::on_page(&text, &page),
            Form::Markdown => text,
        })?;
        Ok(Exit::Done)
    }
}

/// The comparisons that claims are held against, of shipped scenarios.
fn comparisons(signals: &Signals) -> Result<Vec<Comparison>, Failure> {
    let interrupt = signals.raise_first()?;
    let mut all = Vec::new();
    for ground in &claims::GROUNDS {
        let mut wrong = Diagnostics::default();
        let scenarios: Vec<Scenario> = (ground.scenarios.iter())
            .filter_map(|name| {
                let source = Source::new(*name, example::text(name)?);
                let overrides = Overrides {
                    set: vec![Source::new("set", ground.set)],
                    ..Overrides::default()
                };
                scenario::load(&source, Path::new("."), overrides, &mut wrong)
            })
            .collect();
        if !wrong.is_empty() {
            return Err(Failure::Wrong(wrong));
        }
        let question = Question {
            repeats: ground.repeats.to_vec(),
            parts: 0,
        };
        let progress = Progress::start(ground.name, cases(&scenarios, &question));
        let effort = Effort {
            jobs: run::available(),
            interrupt,
            progress: &progress.counter,
        };
        let compared = scavsim_measure::compare::compare(&scenarios, &question, effort);
        all.push(compared.map_err(compare::failure)?);
    }
    Ok(all)
}
