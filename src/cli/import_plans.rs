//! `scavsim import model` and `scavsim import runs`: an architecture, and a runtime with constants of one's own.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::exit::{Exit, Failure, no_mistakes};
use super::listing::Format;
use super::terminal;
use super::validate_plans::{ReadRuns, RunsArgs, remarks, splits};
use crate::cli::listing::written;
use scavsim_base::output::write_file;
use scavsim_import::model;
use scavsim_measure::validate::plans::{PlanSplit, calibrated};
use scavsim_read::input::{Diagnostic, Diagnostics, Source};

/// A file that is made.
#[derive(Debug, Args)]
struct OutFileArgs {
    /// The file
    #[arg(long, value_name = "FILE.toml")]
    out: PathBuf,
    /// Replace a file that is already there
    #[arg(long)]
    force: bool,
}

impl OutFileArgs {
    fn check(&self, diagnostics: &mut Diagnostics) {
        if !self.force && fs::symlink_metadata(&self.out).is_ok() {
            let title = format!("{} is already there", self.out.display());
            let help = "choose another file, or replace it with --force";
            diagnostics.push(Diagnostic::general(title).with_help(help));
        }
    }

    /// Writes the file and says how a scenario names it.
    fn write(&self, text: &str, report: &str, key: &str) -> Result<Exit, Failure> {
        write_file(&self.out, text.as_bytes())?;
        let path = self.out.display();
        terminal::print(&format!(
            "{report}\n{path}: `{key} = \"./{}\"` in `[parallel]`.\n",
            last(&self.out)
        ))?;
        Ok(Exit::Done)
    }
}

fn last(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Arguments of `import model`.
#[derive(Debug, Args)]
pub struct ModelArgs {
    /// config.json of the model, as model hubs publish it
    #[arg(value_name = "CONFIG.json")]
    file: PathBuf,
    /// What the model is called [default: as the file that is made]
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    out: OutFileArgs,
}

impl ModelArgs {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let mut diagnostics = Diagnostics::default();
        self.out.check(&mut diagnostics);
        let stem = self
            .out
            .out
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let name = self.name.unwrap_or(stem);
        let imported = Source::read(&self.file, &mut diagnostics)
            .and_then(|source| model::read(&source, &name, &mut diagnostics));
        let Some(imported) = imported.filter(|_| diagnostics.is_empty()) else {
            return Err(Failure::Wrong(diagnostics));
        };
        let model = &imported.model;
        let billions = |count: u64| count as f64 * 1e-9;
        let mut report = format!(
            "{name}: {:.2} × 10⁹ parameters, {} blocks of {} values, sequences of {} tokens.",
            billions(model.parameters()),
            model.layers,
            model.hidden,
            model.sequence
        );
        if model.experts.is_some() {
            let active = billions(model.active_parameters());
            report += &format!(" A token goes through {active:.2} × 10⁹ of them.");
        }
        self.out.write(&imported.text, &report, "model")
    }
}

/// Runs of all that are foretold so many times as long as they took are of other units; published ones are within two and a half.
const TOO_FAST: f64 = 4.0;
/// Runs that took so many times as long as foretold: no set-up is so slow.
const TOO_SLOW: f64 = 30.0;
/// Tokens of a step, several times the most that anybody published.
const TOO_LARGE: f64 = 5e8;

/// What no runs can be, with the unit that was meant. `as_it_is` is what the runtime foretells before it is fitted.
fn strange(file: &str, found: &ReadRuns, as_it_is: Option<&PlanSplit>) -> Diagnostics {
    let mut wrong = Diagnostics::default();
    let mut doubt = |title: String, help: &str| {
        wrong.push(Diagnostic::general(format!("{file}: {title}")).with_help(help));
    };
    let large = found.rows.iter().find(|row| {
        let run = &row.measured.run;
        f64::from(run.global_batch) * f64::from(run.sequence) > TOO_LARGE
    });
    let off = as_it_is.map_or(0.0, |split| split.mean);
    if let Some(row) = large {
        let tokens =
            f64::from(row.measured.run.global_batch) * f64::from(row.measured.run.sequence);
        doubt(
            format!("line {}: {tokens:.1e} tokens in a step", row.line),
            "`global_batch` counts sequences: divide tokens by `sequence`",
        );
    } else if off > TOO_FAST {
        doubt(
            format!("runs are {:.1} times as fast as foretold", 1.0 + off),
            "`tokens_per_s_per_gpu` is of one GPU: divide that of all by `gpus`; `step_s` is seconds",
        );
    } else if (1.0 - 1.0 / TOO_SLOW..1.0).contains(&off) {
        doubt(
            format!(
                "runs take {:.0} times as long as foretold",
                1.0 / (1.0 - off)
            ),
            "`step_s` is seconds: divide milliseconds by 1000",
        );
    }
    wrong
}

/// Arguments of `import runs`.
#[derive(Debug, Args)]
pub struct ImportRunsArgs {
    #[command(flatten)]
    runs: RunsArgs,
    #[command(flatten)]
    out: OutFileArgs,
}

impl ImportRunsArgs {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let mut diagnostics = Diagnostics::default();
        self.out.check(&mut diagnostics);
        no_mistakes(diagnostics)?;
        let found = self.runs.read()?;
        let judged = self.runs.judged(&found)?;
        no_mistakes(strange(
            &last(&self.runs.file),
            &found,
            judged.splits.first(),
        ))?;
        let mut own = calibrated(&found.preset, &found.rows, &judged);
        own.source = format!(
            "fitted to {} runs of {}",
            found.rows.len(),
            last(&self.runs.file)
        );
        own.fitted_to = Some(found.hash.clone());
        let table = written(
            &splits(&judged.splits, Format::Table),
            Format::Table,
            &terminal::page(),
        )?;
        let report = format!("{table}{}", remarks(&found, &judged, &terminal::page()));
        self.out.write(&own.text(), &report, "runtime")
    }
}
