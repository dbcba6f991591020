//! `scavsim validate`: predictions of workloads for measurements that were held out.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::exit::{Exit, Failure};
use super::listing::{Format, figure, sound, written};
use super::progress::Progress;
use super::terminal;
use super::validate_plans::ValidatePlansArgs;
use scavsim_base::text::{Column, Page, Sheet};
use scavsim_data::workload::{library, load};
use scavsim_engine::Interrupt;
use scavsim_measure::validate::{Depth, UnansweredReason, ValidationSplit, validate};
use scavsim_read::input::{Diagnostic, Diagnostics, Folder};

/// Arguments of `validate`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ValidateArgs {
    #[command(subcommand)]
    of: Option<ValidateCommand>,
    /// Workloads: names of embedded ones, or folders [default: all embedded ones]
    #[arg(value_name = "WORKLOAD", value_parser = super::suggest::suggested(library::names), hide_possible_values = true)]
    workloads: Vec<String>,
    /// Form of the table
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What else than workloads can be validated.
#[derive(Debug, Subcommand)]
enum ValidateCommand {
    /// Plans that were run: how far predicted steps are off, with some runs or groups of them left out
    #[command(
        after_help = "Example: a model, a GPU, a number of GPUs left out\n  scavsim validate plans data/plans/mpt-fsdp.csv"
    )]
    Plans(ValidatePlansArgs),
}

impl ValidateArgs {
    pub fn run(self) -> Result<Exit, Failure> {
        if let Some(ValidateCommand::Plans(plans)) = self.of {
            return plans.run();
        }
        let mut diagnostics = Diagnostics::default();
        let names = if self.workloads.is_empty() {
            library::names().into_iter().map(str::to_owned).collect()
        } else {
            self.workloads
        };
        let mut all = Vec::new();
        for name in &names {
            let folder =
                library::embedded(name).unwrap_or_else(|| Folder::Disk(PathBuf::from(name)));
            if let Folder::Disk(path) = &folder
                && !path.is_dir()
            {
                let unknown = Diagnostic::general(format!("unknown workload `{name}`"));
                let help = "see `scavsim list workloads`, or name a folder such as ./my-workload";
                diagnostics.push(unknown.with_help(help));
                continue;
            }
            all.extend(load::load(&folder, &mut diagnostics));
        }
        let all = sound((all, diagnostics))?;
        let progress = Progress::over("validate", "workloads", all.len() as u64);
        let mut splits: Vec<ValidationSplit> = Vec::new();
        for workload in &all {
            if Interrupt::is_raised_here() {
                return Err(Failure::Interrupted);
            }
            splits.extend(validate(workload, Depth::Whole));
            progress.counter.fetch_add(1, Ordering::Relaxed);
        }
        drop(progress);
        let list = list(&splits, self.format);
        let page = terminal::page();
        let mut text = written(&list, self.format, &page)?;
        if self.format == Format::Table {
            for workload in splits.chunk_by(|a, b| a.workload == b.workload) {
                text += &unanswered(workload, &format!("{}: ", workload[0].workload), &page);
            }
        }
        terminal::print(&text)?;
        Ok(Exit::Done)
    }
}

/// Hold-outs in the report of an import; nothing if nothing could be held out.
pub(super) fn of_import(folder: &Folder) -> Result<String, Failure> {
    let mut diagnostics = Diagnostics::default();
    let workload = load::load(folder, &mut diagnostics);
    let workload = sound((workload, diagnostics))?;
    let splits = workload.map_or(Vec::new(), |w| validate(&w, Depth::Report));
    if splits.iter().all(|split| split.asked == 0) {
        return Ok(String::new());
    }
    // All belong to the one workload.
    let list = list(&splits, Format::Table).without("workload");
    let page = terminal::page();
    let table = written(&list, Format::Table, &page)?;
    Ok(format!("\n{table}{}", unanswered(&splits, "", &page)))
}

/// Why splits are not predicted or not possible: a line for each reason, after `start`.
fn unanswered(splits: &[ValidationSplit], start: &str, page: &Page) -> String {
    let mut reasons: Vec<UnansweredReason> = Vec::new();
    for reason in splits.iter().filter_map(|split| split.reason) {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let line = |reason: UnansweredReason| {
        let own = splits.iter().filter(|split| split.reason == Some(reason));
        let what: Vec<String> = own
            .map(|split| format!("{} of {}", split.left_out, split.of))
            .collect();
        let asked = if reason == UnansweredReason::NoLaw {
            "not answered"
        } else {
            "not asked"
        };
        page.prose(
            &format!("{start}{asked}: {} ({reason})", what.join(", ")),
            2,
        )
    };
    reasons.into_iter().map(line).collect()
}

/// Splits as a list: with two digits in tables, with all in other formats.
pub(super) fn list(splits: &[ValidationSplit], format: Format) -> Sheet<'_, &ValidationSplit> {
    let rounds = matches!(format, Format::Table | Format::Markdown);
    let share = |head, digits: usize, of: fn(&ValidationSplit) -> Option<f64>| {
        Column::number(head, move |split: &&ValidationSplit| {
            of(split).map_or(Value::Null, |value| figure(value, digits, format))
        })
    };
    let mut columns = vec![
        Column::text("workload", |split: &&ValidationSplit| json!(split.workload)),
        Column::text("left_out", |split: &&ValidationSplit| json!(split.left_out)),
        Column::text("of", |split: &&ValidationSplit| json!(split.of)).wrapped(),
        Column::number("asked", |split: &&ValidationSplit| json!(split.asked)),
        Column::number("answered", |split: &&ValidationSplit| json!(split.answered)),
        share("error_%", 2, |split| split.error),
        share("worst_%", 1, |split| split.worst),
        share("covered_%", 0, |split| split.covered),
    ];
    if rounds {
        columns.push(Column::text("", |split: &&ValidationSplit| {
            let off = split.covered.is_some_and(|c| !(85.0..=95.0).contains(&c));
            if off { "!" } else { "" }
        }));
    }
    if format != Format::Table {
        let reason =
            |split: &&ValidationSplit| json!(split.reason.map(|reason| reason.to_string()));
        columns.push(Column::text("reason", reason));
    }
    // Splits without predictions are listed below a table, with the reason.
    let shown = |split: &&ValidationSplit| format != Format::Table || split.asked > 0;
    Sheet::new(splits.iter().filter(shown), columns)
}
