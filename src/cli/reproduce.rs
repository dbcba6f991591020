//! `scavsim reproduce`: published figures compared with ours.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
#[cfg(feature = "figures")]
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::exit::{Exit, Failure, no_mistakes, wrong};
#[cfg(feature = "figures")]
use super::page;
use super::programs::ProgramsArg;
use super::progress::Progress;
use super::terminal::{self, PrintedForm};
use super::what_if::WhatIfArgs;
use scavsim_base::text::{Markup, Page};
use scavsim_papers::reproduce::{Comparison, Paper, Size, Tally, Verdict, compare, render};
use scavsim_read::input::checked::Count;
use scavsim_read::input::{Diagnostics, nearest_or_all};
#[cfg(feature = "figures")]
use scavsim_show::page::of_comparisons;
use scavsim_sim::training::Fidelity;

/// Arguments of `reproduce`.
#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// Papers to reproduce, by name or folder; all of the library when absent
    #[arg(value_name = "PAPER")]
    papers: Vec<String>,
    /// Form of the comparison
    #[arg(long, value_enum, default_value_t)]
    format: ReproduceFormat,
    /// How finely to simulate: papers hold in all or do not hold
    #[arg(long, value_enum, default_value_t)]
    fidelity: Fidelity,
    /// Replicas of each scenario [default: as many as a paper says]
    #[arg(long, value_name = "N")]
    replicas: Option<NonZeroU32>,
    #[command(flatten)]
    programs: ProgramsArg,
    /// Show every figure, claim and chosen constant
    #[arg(long)]
    all: bool,
    /// Only figures and quantities with this in their names
    #[arg(long, value_name = "FIGURE")]
    only: Option<String>,
    #[command(flatten)]
    what_if: WhatIfArgs,
    /// Show all columns of tables, however wide
    #[arg(long)]
    wide: bool,
    /// Write a page about one paper to this file, too
    #[cfg(feature = "figures")]
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// Form of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum ReproduceFormat {
    /// For people: a line per quantity, what is off, and how it came out
    #[default]
    Table,
    /// For people: how it came out
    Summary,
    /// For programs; the stable interface
    Json,
    /// For a page
    Markdown,
    /// The tables for people, as LaTeX
    Latex,
}

impl PrintedForm for ReproduceFormat {
    fn markup(self) -> Option<Markup> {
        (self == ReproduceFormat::Latex).then_some(Markup::Latex)
    }
}

impl ReproduceArgs {
    pub fn run(mut self) -> Result<Exit, Failure> {
        self.format = self.format.settled();
        let papers = self.papers()?;
        let page = terminal::wide_page(self.wide);
        #[cfg(feature = "figures")]
        if self.report.is_some() && papers.len() != 1 {
            let help = "name it: `scavsim reproduce scavenger --report FILE`";
            return Err(wrong("`--report` is about one paper", help));
        }
        if !self.what_if.is_empty() {
            return self.change_keys(&papers, &page);
        }
        let mut exit = Exit::Done;
        let mut values: Vec<Value> = Vec::new();
        let mut all = Vec::new();
        for paper in papers {
            let progress =
                Progress::for_unbounded_work(&format!("{}: computing its figures", paper.name));
            let rows = self.figures(&paper)?;
            drop(progress);
            #[cfg(feature = "figures")]
            if let Some(file) = &self.report {
                page::put(&of_comparisons::contents(&paper, &rows), file)?;
            }
            match self.format {
                ReproduceFormat::Table | ReproduceFormat::Latex => {
                    let render = if self.all {
                        render::table
                    } else {
                        render::overview
                    };
                    terminal::print(&render(&paper, &rows, &page))?;
                }
                ReproduceFormat::Summary => {
                    terminal::print(&render::summary(&paper, &rows, &page))?;
                }
                ReproduceFormat::Markdown => terminal::print(&render::markdown(&paper, &rows))?,
                ReproduceFormat::Json => values.push(render::value(&paper, &rows)),
            }
            if rows.iter().any(|r| r.verdict == Verdict::Outside) {
                exit = Exit::OutsideTolerance;
            }
            all.push(rows);
        }
        let is_for_people = matches!(
            self.format,
            ReproduceFormat::Table | ReproduceFormat::Summary
        );
        if is_for_people && all.len() > 1 {
            let tally = Tally::count(all.iter().map(Vec::as_slice));
            terminal::print(&render::total(all.len(), &tally, &page))?;
        }
        if self.format == ReproduceFormat::Json {
            let text = serde_json::to_string_pretty(&values).map_err(anyhow::Error::from)?;
            terminal::print(&(text + "\n"))?;
        }
        Ok(exit)
    }

    /// The requested figures of a paper.
    fn figures(&self, paper: &Paper) -> Result<Vec<Comparison>, Failure> {
        let mut rows = compare(paper).map_err(Failure::Wrong)?;
        let Some(only) = &self.only else {
            return Ok(rows);
        };
        let all: BTreeSet<String> = rows.iter().map(|row| row.quantity.clone()).collect();
        let wanted = only.to_lowercase();
        rows.retain(|row| {
            let names = [&row.figure, &row.quantity];
            names
                .iter()
                .any(|name| name.to_lowercase().contains(&wanted))
        });
        if rows.is_empty() {
            let title = format!("{} has no figure `{only}`", paper.name);
            let help = nearest_or_all(only, all.iter().map(String::as_str));
            return Err(wrong(title, &help));
        }
        Ok(rows)
    }

    /// Prints how changed keys affect the figures of papers.
    fn change_keys(&self, papers: &[Paper], page: &Page) -> Result<Exit, Failure> {
        let changes = self.what_if.changes()?;
        for paper in papers {
            let name = self.papers.iter().find(|own| own.ends_with(&paper.name));
            let name = name.unwrap_or(&paper.name);
            let mut mistakes = Diagnostics::default();
            let mut opened = Vec::new();
            for change in &changes {
                let set = std::slice::from_ref(&change.source);
                match Paper::open_changed(name, self.size(), set) {
                    Ok(paper) => opened.push((change.name.clone(), paper)),
                    Err(more) => mistakes.extend(more),
                }
            }
            no_mistakes(mistakes)?;
            let base = self.figures(paper)?;
            let changed = opened.into_iter();
            let changed = changed
                .map(|(change, paper)| Ok((change, self.figures(&paper)?)))
                .collect::<Result<Vec<_>, Failure>>()?;
            terminal::print(&render::what_if(&base, &changed, page))?;
        }
        Ok(Exit::Done)
    }

    fn size(&self) -> Size {
        Size {
            fidelity: self.fidelity,
            replicas: self.replicas.and_then(|n| Count::new(n.get())),
        }
    }

    fn papers(&self) -> Result<Vec<Paper>, Failure> {
        let all = Paper::names().into_iter().map(str::to_owned);
        let names = if self.papers.is_empty() {
            all.collect()
        } else {
            self.papers.clone()
        };
        let size = self.size();
        let mut wrong = Diagnostics::default();
        let mut papers = Vec::new();
        for name in &names {
            match Paper::open(name, size) {
                Ok(paper) => papers.push((name, paper)),
                Err(mistakes) => wrong.extend(mistakes),
            }
        }
        no_mistakes(wrong)?;
        let library = Paper::names();
        let own = papers
            .iter()
            .filter(|(name, _)| !library.contains(&name.as_str()));
        for (name, paper) in own {
            let who = format!("The paper in {name}");
            self.programs.ask_anyway(&who, paper.programs())?;
        }
        Ok(papers.into_iter().map(|(_, paper)| paper).collect())
    }
}
