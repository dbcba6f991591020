//! `scavsim import model` and `scavsim import runs`: an architecture, and a runtime with fitted constants.

use std::path::PathBuf;

use clap::Args;

use super::exit::{Exit, Failure, accept, no_mistakes, refuse_existing};
use super::listing::Format;
use super::out::{last, stem};
use super::terminal;
use super::validate_plans::{RunsArgs, remarks, splits};
use crate::cli::listing::written;
use scavsim_base::output::write_file;
use scavsim_import::model;
use scavsim_measure::validate::plans::calibrated;
use scavsim_read::input::{Diagnostics, Source};

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
    /// Writes the file and reports how a scenario names it.
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
        refuse_existing(&self.out.out, self.out.force, &mut diagnostics);
        let name = self.name.unwrap_or_else(|| stem(&self.out.out));
        let imported = Source::read(&self.file, &mut diagnostics)
            .and_then(|source| model::read(&source, &name, &mut diagnostics));
        let imported = accept(imported, diagnostics)?;
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
        refuse_existing(&self.out.out, self.out.force, &mut diagnostics);
        no_mistakes(diagnostics)?;
        let found = self.runs.read()?;
        let judged = self.runs.judged(&found)?;
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
