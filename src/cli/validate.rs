//! `scavsim validate`: what workloads say of measurements that were left out.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::Args;
use serde_json::{Value, json};

use super::listing::{List, sound};
use super::progress::Progress;
use super::{Exit, Failure, Format, terminal};
use scavsim_data::workload::{library, load};
use scavsim_measure::validate::{Depth, Split, validate};
use scavsim_read::input::{Diagnostic, Diagnostics, Folder};

/// Arguments of `validate`.
#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// Workloads: names of embedded ones, or folders [default: all embedded ones]
    #[arg(value_name = "WORKLOAD", value_parser = super::suggested(library::names), hide_possible_values = true)]
    workloads: Vec<String>,
    /// Form of the table
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl ValidateArgs {
    /// Runs the command.
    ///
    /// # Errors
    /// [`Failure`] when a workload is wrong, or stdout cannot be written.
    pub fn run(self) -> Result<Exit, Failure> {
        let mut diagnostics = Diagnostics::default();
        let names = match self.workloads.is_empty() {
            true => library::names().into_iter().map(str::to_owned).collect(),
            false => self.workloads,
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
        let all = sound(all, diagnostics)?;
        let progress = Progress::over("validate", "workloads", all.len() as u64);
        let mut splits: Vec<Split> = Vec::new();
        for workload in &all {
            splits.extend(validate(workload, Depth::Whole));
            progress.counter.fetch_add(1, Ordering::Relaxed);
        }
        drop(progress);
        terminal::print(&list(&splits, self.format).written(self.format, &terminal::page())?)?;
        Ok(Exit::Done)
    }
}

/// What an import's report says of hold-outs; nothing where nothing could be left out.
pub(super) fn of_import(folder: &Folder) -> Result<String, Failure> {
    let mut diagnostics = Diagnostics::default();
    let workload = load::load(folder, &mut diagnostics);
    let workload = sound(workload, diagnostics)?;
    let splits = workload.map_or(Vec::new(), |w| validate(&w, Depth::Report));
    if splits.is_empty() {
        return Ok(String::new());
    }
    let mut list = list(&splits, Format::Table);
    // All are of the one workload.
    list.header.remove(0);
    list.rows.iter_mut().for_each(|row| drop(row.remove(0)));
    list.text_columns = &[0, 1, 7];
    list.wrapped = Some(1);
    Ok(format!(
        "\n{}",
        list.written(Format::Table, &terminal::page())?
    ))
}

/// Splits as a list: for people with two digits, for programs with all.
pub(super) fn list(splits: &[Split], format: Format) -> List {
    let rounds = matches!(format, Format::Table | Format::Markdown);
    let figure = |value: Option<f64>, digits: usize| match value {
        None => Value::Null,
        Some(value) if rounds => json!(format!("{value:.digits$}")),
        Some(value) => json!(value),
    };
    let row = |s: &Split| {
        let mut row = vec![
            json!(s.workload),
            json!(s.left_out),
            json!(s.of),
            json!(s.asked),
            json!(s.answered),
            figure(s.error, 2),
            figure(s.worst, 1),
            figure(s.covered, 0),
        ];
        if rounds {
            let off = s.covered.is_some_and(|c| !(85.0..=95.0).contains(&c));
            row.push(json!(if off { "!" } else { "" }));
        }
        row
    };
    let mut header = vec![
        "workload",
        "left_out",
        "of",
        "asked",
        "answered",
        "error_%",
        "worst_%",
        "covered_%",
    ];
    if rounds {
        header.push("");
    }
    List {
        header,
        text_columns: &[0, 1, 2, 8],
        rows: splits.iter().map(row).collect(),
        wrapped: Some(2),
        ..List::default()
    }
}
