//! `scavsim import`: turns measurements into a workload folder or a layer profile, or real runs into a grid.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::exit::{Exit, Failure, accept, refuse_existing};
use super::import_market::MarketArgs;
use super::import_plans::{ImportRunsArgs, ModelArgs};
use super::out::{last, stem};
use super::profile::{EpochsArg, ProfileArgs};
use super::progress::Progress;
use super::{terminal, units, validate};
use scavsim_base::output::write_file;
use scavsim_import::folder::{self, Kind};
use scavsim_import::prices::skypilot;
use scavsim_import::{ImportResult, grid, layers, profile, trial};
use scavsim_read::input::{Diagnostic, Diagnostics};

/// Arguments of `import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    #[command(subcommand)]
    source: Source,
}

/// One per source.
#[derive(Debug, Subcommand)]
enum Source {
    /// Your own measurements: a CSV with vm, workers, batch, step_s
    Profile(ProfileImportArgs),
    /// Real runs of jobs over configurations: a measured grid, replayed as it is
    Grid(GridArgs),
    /// Seconds and bytes of a model's layers, for plans that cut it over GPUs
    Layers(LayersArgs),
    /// A model's architecture from its config.json, as model hubs publish it, for `model` in `[parallel]`
    Model(ModelArgs),
    /// Plans that you ran: a runtime whose constants they tell, for `runtime` in `[parallel]`
    #[command(
        after_help = "Example: constants from a few runs on rented nodes\n  scavsim import runs my-runs.csv --out my-runtime.toml"
    )]
    Runs(ImportRunsArgs),
    /// Traces of spot availability, a JSON file per zone, made into a market that policies meet
    #[command(
        after_help = "Example: one zone, made into a market that a scenario names as `market.traces = \"my-market\"`\n  scavsim import market us-west-2a_v100_1.json --on-demand-usd-per-h 3.06 --spot-usd-per-h 0.97 --out my-market"
    )]
    Market(MarketArgs),
    /// Prices of today, made into a table that a scenario names as `price_table` or `spot_series`
    #[command(subcommand)]
    Prices(PricesSource),
}

/// One per source of prices.
#[derive(Debug, Subcommand)]
enum PricesSource {
    /// SkyPilot's catalogue, as it lies in ~/.sky/catalogs/vN
    Skypilot(SkypilotArgs),
}

#[derive(Debug, Args)]
struct SkypilotArgs {
    /// Folders with CLOUD/vms.csv, or of one cloud; of several days they make a series
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Day on which it was fetched, one for each folder whose name is no day
    #[arg(long, value_name = "DAY")]
    date: Vec<String>,
    /// Only this cloud
    #[arg(long)]
    cloud: Vec<String>,
    /// Only this region
    #[arg(long)]
    region: Vec<String>,
    /// A host and its accelerators where they are rows of their own, as on GCP: n1-standard-8+T4:2, or my-name=n1-standard-8+T4:2
    #[arg(long, value_name = "HOST+ACCELERATOR:COUNT")]
    attach: Vec<String>,
    /// The table
    #[arg(long, value_name = "FILE.csv")]
    out: PathBuf,
    /// Replace a file that is already there
    #[arg(long)]
    force: bool,
}

impl SkypilotArgs {
    fn run(self) -> Result<Exit, Failure> {
        let mut diagnostics = Diagnostics::default();
        refuse_existing(&self.out, self.force, &mut diagnostics);
        let options = skypilot::SkypilotOptions {
            folders: self.folders,
            dates: self.date,
            clouds: self.cloud,
            regions: self.region,
            attach: self.attach,
        };
        let imported = skypilot::read(&options, &mut diagnostics)?;
        let imported = accept(imported, diagnostics)?;
        trial::prices(&imported.text, &self.out).map_err(Failure::Wrong)?;
        write_file(&self.out, imported.text.as_bytes())?;
        terminal::warn(imported.report.warnings());
        terminal::print(&imported.report.to_string())?;
        Ok(Exit::Done)
    }
}

#[derive(Debug, Args)]
struct ProfileImportArgs {
    #[command(flatten)]
    table: ProfileArgs,
    #[command(flatten)]
    passes: EpochsArg,
    /// Steps until a noise reading settles [default: 100]
    #[arg(long, value_name = "N", value_parser = units::count::<0, { u64::MAX }>)]
    cold_start_steps: Option<u64>,
    /// Steps of one probe [default: 20]
    #[arg(long, value_name = "N", value_parser = units::count::<0, { u64::MAX }>)]
    probe_steps: Option<u64>,
    /// Folder of the workload
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Name of the workload [default: as the folder or file]
    #[arg(long)]
    name: Option<String>,
    /// Replace a workload that is already there
    #[arg(long)]
    force: bool,
}

impl ProfileImportArgs {
    fn run(self) -> Result<Exit, Failure> {
        let mut diagnostics = Diagnostics::default();
        let progress = Progress::for_unbounded_work("import");
        let ProfileImportArgs { table, out, .. } = self;
        let inputs = [&*table.file];
        folder::check(&out, Kind::WORKLOAD, self.force, &inputs, &mut diagnostics);
        let name = self.name.unwrap_or_else(|| stem(&table.file));
        let options = profile::ProfileOptions {
            cold_start_steps: self.cold_start_steps,
            probe_steps: self.probe_steps,
            ..table.options(name, self.passes.epochs)
        };
        let imported = profile::read(&options, &mut diagnostics);
        let ImportResult { draft, report, .. } = accept(imported, diagnostics)?;
        let files = draft.files().map_err(anyhow::Error::from)?;
        trial::workload(&files, &out).map_err(Failure::Wrong)?;
        folder::write(&files, &out, Kind::WORKLOAD)?;
        terminal::warn(report.warnings());
        for refused in &trial::prices_of_vms(&files, &out) {
            note_missing_price(refused);
        }
        let left_out = validate::of_import(&trial::folder(&files, &out))?;
        drop(progress);
        terminal::print(&format!("{report}{left_out}"))?;
        Ok(Exit::Done)
    }
}

#[derive(Debug, Args)]
struct GridArgs {
    /// Table with a row per run
    file: PathBuf,
    /// What its columns are
    #[arg(long, value_name = "GRID.toml")]
    spec: PathBuf,
    /// Folder of the grid [default: only check it]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace a grid that is already there
    #[arg(long, requires = "out")]
    force: bool,
}

impl GridArgs {
    fn run(self) -> Result<Exit, Failure> {
        let mut diagnostics = Diagnostics::default();
        if let Some(out) = &self.out {
            let inputs = [&*self.file, &*self.spec];
            folder::check(out, Kind::GRID, self.force, &inputs, &mut diagnostics);
        }
        let options = grid::GridOptions {
            file: self.file,
            spec: self.spec,
        };
        let imported = grid::read(&options, &mut diagnostics).map_err(anyhow::Error::from)?;
        let imported = accept(imported, diagnostics)?;
        if let Some(out) = &self.out {
            trial::grid(&imported.files, out).map_err(Failure::Wrong)?;
            folder::write(&imported.files, out, Kind::GRID)?;
        }
        terminal::warn(&imported.warnings);
        terminal::print(&imported.report.to_string())?;
        Ok(Exit::Done)
    }
}

#[derive(Debug, Args)]
struct LayersArgs {
    /// Seconds: a CSV with gpu, tensor, micro_batch, layer, forward_s, backward_s, update_s
    times: PathBuf,
    /// Bytes: a CSV with tensor, layer, parameters, stored_bytes, output_bytes
    #[arg(long, value_name = "FILE")]
    memory: PathBuf,
    /// Tokens per sequence
    #[arg(long, value_name = "N", value_parser = units::count::<0, { u64::MAX }>)]
    sequence: u64,
    /// Width of what a layer hands on, in values per token
    #[arg(long, value_name = "N", value_parser = units::count::<0, { u64::MAX }>)]
    hidden: u64,
    /// Bytes of a parameter, a gradient, a value of an activation
    #[arg(long, value_name = "BYTES", default_value_t = 4.0)]
    bytes_per_value: f64,
    /// Bytes of optimiser state per parameter
    #[arg(long, value_name = "BYTES", default_value_t = 8.0)]
    optimizer_bytes: f64,
    /// Model, for people [default: the name]
    #[arg(long)]
    model: Option<String>,
    /// Where it is from, for people [default: the name of the file]
    #[arg(long, value_name = "TEXT")]
    source: Option<String>,
    /// Terms of use [default: not said]
    #[arg(long, value_name = "TEXT")]
    licence: Option<String>,
    /// Folder of the layer profile
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Name of the layer profile [default: as the folder]
    #[arg(long)]
    name: Option<String>,
    /// Replace a layer profile that is already there
    #[arg(long)]
    force: bool,
}

impl LayersArgs {
    fn run(self) -> Result<Exit, Failure> {
        let mut diagnostics = Diagnostics::default();
        let inputs = [&*self.times, &*self.memory];
        let d = &mut diagnostics;
        folder::check(&self.out, Kind::LAYERS, self.force, &inputs, d);
        let options = layers::LayersOptions {
            name: self.name.clone().unwrap_or_else(|| last(&self.out)),
            times: self.times,
            memory: self.memory,
            model: self.model,
            sequence: self.sequence,
            hidden: self.hidden,
            bytes_per_value: self.bytes_per_value,
            optimizer_bytes: self.optimizer_bytes,
            source: self.source,
            licence: self.licence,
        };
        let imported = layers::read(&options, &mut diagnostics);
        let imported = accept(imported, diagnostics)?;
        folder::write(&imported.files, &self.out, Kind::LAYERS)?;
        terminal::print(&imported.report.to_string())?;
        Ok(Exit::Done)
    }
}

impl ImportArgs {
    pub fn run(self) -> Result<Exit, Failure> {
        match self.source {
            Source::Profile(args) => args.run(),
            Source::Grid(args) => args.run(),
            Source::Layers(args) => args.run(),
            Source::Model(args) => args.run(),
            Source::Runs(args) => args.run(),
            Source::Market(args) => args.run(),
            Source::Prices(PricesSource::Skypilot(args)) => args.run(),
        }
    }
}

fn note_missing_price(refused: &Diagnostic) {
    let told = std::iter::once(&*refused.title).chain(refused.help.as_deref());
    let told = told.collect::<Vec<_>>().join(". What to do: ");
    terminal::note(&format!(
        "`scavsim run` needs a price for this workload: {told}"
    ));
}
