//! `scavsim import`: measurements made into a workload folder or a layer profile, or real runs into a grid.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::exit::{Exit, Failure};
use super::import_market::MarketArgs;
use super::import_plans::{ImportRunsArgs, ModelArgs};
use super::profile::ProfileArgs;
use super::progress::Progress;
use super::{terminal, validate};
use scavsim_base::output::write_file;
use scavsim_measure::import::folder::{self, Kind};
use scavsim_measure::import::prices::skypilot;
use scavsim_measure::import::{ImportResult, grid, layers, mlperf, pollux, profile, trial};
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
    /// Measurements of one application in the form of the Pollux (OSDI 2021) artifact
    Pollux(PolluxArgs),
    /// MLPerf reference convergence points and result logs
    MlperfRcp(MlperfArgs),
    /// Real runs of jobs over configurations: a measured grid, replayed as it is
    Grid(GridArgs),
    /// Seconds and bytes of a model's layers, for plans that cut it over GPUs
    Layers(LayersArgs),
    /// A model's architecture from its config.json, as model hubs publish it, for `model` in `[parallel]`
    Model(ModelArgs),
    /// Plans that you ran: a runtime whose constants they tell, for `runtime` in `[parallel]`
    #[command(
        after_help = "Example: what a few runs on rented nodes tell\n  scavsim import runs my-runs.csv --out my-runtime.toml"
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
        if !self.force && std::fs::symlink_metadata(&self.out).is_ok() {
            let title = format!("{} is already there", self.out.display());
            let help = "choose another file, or replace it with --force";
            diagnostics.push(Diagnostic::general(title).with_help(help));
        }
        let options = skypilot::SkypilotOptions {
            folders: self.folders,
            dates: self.date,
            clouds: self.cloud,
            regions: self.region,
            attach: self.attach,
        };
        let imported = skypilot::read(&options, &mut diagnostics)?;
        let Some(imported) = imported.filter(|_| diagnostics.is_empty()) else {
            return Err(Failure::Wrong(diagnostics));
        };
        trial::prices(&imported.text, &self.out).map_err(Failure::Wrong)?;
        write_file(&self.out, imported.text.as_bytes())?;
        terminal::warn(imported.report.warnings());
        terminal::print(&imported.report.to_string())?;
        Ok(Exit::Done)
    }
}

/// Where the workload goes.
#[derive(Debug, Args)]
struct OutArgs {
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

#[derive(Debug, Args)]
struct ProfileImportArgs {
    #[command(flatten)]
    table: ProfileArgs,
    /// Steps until a noise reading settles [default: 100]
    #[arg(long, value_name = "N")]
    cold_start_steps: Option<u64>,
    /// Steps of one probe [default: 20]
    #[arg(long, value_name = "N")]
    probe_steps: Option<u64>,
    #[command(flatten)]
    out: OutArgs,
}

#[derive(Debug, Args)]
struct PolluxArgs {
    /// Folder of one application: placements.csv, scalability.csv or both, validation-*.csv
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Application of the artifact, for its names, if the folder is not named after it
    #[arg(long)]
    app: Option<String>,
    /// VM type that the shapes are named after
    #[arg(long, default_value = pollux::VM)]
    vm: String,
    /// Name of the file of steps by placement [default: placements.csv]
    #[arg(long, value_name = "FILE")]
    placements: Option<String>,
    /// Name of the file of steps by VMs and workers [default: scalability.csv]
    #[arg(long, value_name = "FILE")]
    scalability: Option<String>,
    /// Names of the files of whole runs, `*` for the batch [default: validation-*.csv]
    #[arg(long, value_name = "FILES")]
    validation: Option<String>,
    /// Batch whose steps count progress [default: the smallest of the whole runs]
    #[arg(long, value_name = "B")]
    initial_batch: Option<u32>,
    /// Samples in one pass over the data [default: from the run at the initial batch]
    #[arg(long, value_name = "N")]
    samples_per_epoch: Option<u64>,
    /// Passes over the data in the run at the initial batch [default: one per row]
    #[arg(long, value_name = "N")]
    epochs: Option<f64>,
    /// Target, in steps at the initial batch [default: where the run at it ended]
    #[arg(long, value_name = "STEPS")]
    target_progress: Option<f64>,
    /// Seconds to restore a checkpoint in a new configuration [default: as known, or 60]
    #[arg(long, value_name = "S")]
    restore_s: Option<f64>,
    /// Parameters of the model, whose gradients workers exchange [default: as known]
    #[arg(long, value_name = "N")]
    parameters: Option<u64>,
    #[command(flatten)]
    out: OutArgs,
}

#[derive(Debug, Args)]
struct MlperfArgs {
    /// Reference convergence points of one benchmark
    #[arg(required = true, value_name = "RCP.json")]
    rcps: Vec<PathBuf>,
    /// Table of runs
    #[arg(long, value_name = "RUNS.csv")]
    runs: Option<PathBuf>,
    /// Whose runs
    #[arg(long, requires = "runs")]
    submitter: Option<String>,
    /// Runs on which accelerator
    #[arg(long, requires = "runs")]
    accelerator: Option<String>,
    /// Runs of which round, such as v4.0
    #[arg(long, requires = "runs")]
    round: Option<String>,
    /// VM type that the shapes are named after [default: the cloud's, or the accelerator]
    #[arg(long, requires = "runs")]
    vm: Option<String>,
    #[command(flatten)]
    out: OutArgs,
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
        let Some(imported) = imported.filter(|_| diagnostics.is_empty()) else {
            return Err(Failure::Wrong(diagnostics));
        };
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
    /// Seconds: a CSV with gpu, tensor, micro_batch, layer, forward_s, backward_s, update_s, or profiles.json of Sailor
    times: PathBuf,
    /// Bytes: a CSV with tensor, layer, parameters, stored_bytes, output_bytes, or llm_info.json of Sailor
    #[arg(long, value_name = "FILE")]
    memory: PathBuf,
    /// Tokens per sequence
    #[arg(long, value_name = "N")]
    sequence: u64,
    /// Width of what a layer hands on, in values per token
    #[arg(long, value_name = "N")]
    hidden: u64,
    /// Bytes of a parameter, a gradient, a value of an activation
    #[arg(long, value_name = "BYTES", default_value_t = 4.0)]
    bytes_per_value: f64,
    /// Bytes of optimiser state per parameter
    #[arg(long, value_name = "BYTES", default_value_t = 8.0)]
    optimizer_bytes: f64,
    /// Which model, in a JSON with several
    #[arg(long)]
    model: Option<String>,
    /// Bandwidths: network_coeffs_all_homo.json of Sailor, to links.csv
    #[arg(long, value_name = "FILE.json")]
    links: Option<PathBuf>,
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
        let inputs: Vec<&Path> = [Some(&self.times), Some(&self.memory), self.links.as_ref()]
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
            .collect();
        folder::check(
            &self.out,
            Kind::LAYERS,
            self.force,
            &inputs,
            &mut diagnostics,
        );
        let last = || self.out.file_name().unwrap_or_default().to_string_lossy();
        let options = layers::LayersOptions {
            name: self.name.clone().unwrap_or_else(|| last().into_owned()),
            times: self.times,
            memory: self.memory,
            links: self.links,
            model: self.model,
            sequence: self.sequence,
            hidden: self.hidden,
            bytes_per_value: self.bytes_per_value,
            optimizer_bytes: self.optimizer_bytes,
            source: self.source,
            licence: self.licence,
        };
        let imported = layers::read(&options, &mut diagnostics);
        let Some(imported) = imported.filter(|_| diagnostics.is_empty()) else {
            return Err(Failure::Wrong(diagnostics));
        };
        folder::write(&imported.files, &self.out, Kind::LAYERS)?;
        terminal::print(&imported.report.to_string())?;
        Ok(Exit::Done)
    }
}

impl ImportArgs {
    pub fn run(self) -> Result<Exit, Failure> {
        let mut diagnostics = Diagnostics::default();
        let d = &mut diagnostics;
        let progress = Progress::for_unbounded_work("import");
        let (imported, out) = match self.source {
            Source::Profile(args) => {
                let ProfileImportArgs { table, out, .. } = args;
                out.check(&[table.file.as_path()], d);
                let name = out.name.clone().unwrap_or_else(|| stem(&table.file));
                let options = profile::ProfileOptions {
                    cold_start_steps: args.cold_start_steps,
                    probe_steps: args.probe_steps,
                    ..table.options(name)
                };
                (profile::read(&options, d), out)
            }
            Source::Pollux(args) => {
                args.out.check(&[args.folder.as_path()], d);
                let options = pollux::PolluxOptions {
                    folder: args.folder,
                    application: args.app,
                    vm: args.vm,
                    name: args.out.name(),
                    placements: args.placements,
                    scalability: args.scalability,
                    validation: args.validation,
                    initial_batch: args.initial_batch,
                    samples_per_epoch: args.samples_per_epoch,
                    epochs: args.epochs,
                    target_progress: args.target_progress,
                    restore_s: args.restore_s,
                    parameters: args.parameters,
                };
                (pollux::read(&options, d), args.out)
            }
            Source::MlperfRcp(args) => {
                let inputs: Vec<&Path> = (args.rcps.iter().chain(&args.runs))
                    .map(PathBuf::as_path)
                    .collect();
                args.out.check(&inputs, d);
                let options = mlperf::MlperfOptions {
                    rcps: args.rcps,
                    runs: args.runs,
                    choice: mlperf::runs::RunFilter {
                        submitter: args.submitter,
                        accelerator: args.accelerator,
                        round: args.round,
                    },
                    vm: args.vm,
                    name: args.out.name(),
                };
                (mlperf::read(&options, d), args.out)
            }
            Source::Grid(args) => return args.run(),
            Source::Layers(args) => return args.run(),
            Source::Model(args) => return args.run(),
            Source::Runs(args) => return args.run(),
            Source::Market(args) => return args.run(),
            Source::Prices(PricesSource::Skypilot(args)) => return args.run(),
        };
        let imported = imported.filter(|_| diagnostics.is_empty());
        let Some(ImportResult { draft, report }) = imported else {
            return Err(Failure::Wrong(diagnostics));
        };
        let files = draft.files().map_err(anyhow::Error::from)?;
        trial::workload(&files, &out.out).map_err(Failure::Wrong)?;
        folder::write(&files, &out.out, Kind::WORKLOAD)?;
        terminal::warn(report.warnings());
        for refused in &trial::prices_of_vms(&files, &out.out) {
            note_missing_price(refused);
        }
        let left_out = validate::of_import(&trial::folder(&files, &out.out))?;
        drop(progress);
        terminal::print(&format!("{report}{left_out}"))?;
        Ok(Exit::Done)
    }
}

fn note_missing_price(refused: &Diagnostic) {
    let told = std::iter::once(&*refused.title).chain(refused.help.as_deref());
    let told = told.collect::<Vec<_>>().join(". What to do: ");
    terminal::note(&format!(
        "`scavsim run` needs a price for this workload: {told}"
    ));
}

impl OutArgs {
    fn check(&self, inputs: &[&Path], diagnostics: &mut Diagnostics) {
        folder::check(&self.out, Kind::WORKLOAD, self.force, inputs, diagnostics);
    }

    fn name(&self) -> String {
        let last = || self.out.file_name().unwrap_or_default().to_string_lossy();
        self.name.clone().unwrap_or_else(|| last().into_owned())
    }
}

fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}
