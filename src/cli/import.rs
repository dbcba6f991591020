//! `scavsim import`: measurements made into a workload folder, or real runs into a grid.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::{Exit, Failure, terminal};
use crate::import::folder::{self, Kind};
use crate::import::{Imported, grid, mlperf, pollux, profile, trial};
use crate::input::Diagnostics;

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
    Profile(ProfileArgs),
    /// One application of the Pollux (OSDI 2021) artifact
    Pollux(PolluxArgs),
    /// MLPerf reference convergence points and result logs
    MlperfRcp(MlperfArgs),
    /// Real runs of jobs over configurations: a measured grid, replayed as it is
    Grid(GridArgs),
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
struct ProfileArgs {
    /// Table with vm, workers, batch, step_s; where known compute_s, communication_s, noise, epochs
    file: PathBuf,
    /// Samples in one pass over the data
    #[arg(long, value_name = "N")]
    samples_per_epoch: u64,
    /// Passes over the data to the target, for batches without their own
    #[arg(long, value_name = "N")]
    epochs: Option<f64>,
    /// Unit of the times in the table [default: s; asked about where that is not likely]
    #[arg(long)]
    unit: Option<profile::Unit>,
    /// Whose samples `batch` counts [default: global; asked about where that is not likely]
    #[arg(long)]
    batch: Option<profile::BatchIs>,
    /// Steps until a noise reading settles [default: 100]
    #[arg(long, value_name = "N")]
    cold_start_steps: Option<u64>,
    /// Steps of one probe [default: 20]
    #[arg(long, value_name = "N")]
    probe_steps: Option<u64>,
    /// Seconds to restore a checkpoint in a new configuration [default: 60]
    #[arg(long, value_name = "S")]
    restore_s: Option<f64>,
    #[command(flatten)]
    out: OutArgs,
}

#[derive(Debug, Args)]
struct PolluxArgs {
    /// Folder of one application: placements.csv, scalability.csv, validation-*.csv
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Application, if the folder is not named after it
    #[arg(long)]
    app: Option<String>,
    /// VM type that the shapes are named after
    #[arg(long, default_value = pollux::VM)]
    vm: String,
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
        let options = grid::Options {
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
        terminal::print(&imported.report.to_string())?;
        Ok(Exit::Done)
    }
}

impl ImportArgs {
    /// Runs the command.
    ///
    /// # Errors
    /// [`Failure`] with every mistake in the input, or with what kept the folder from being
    /// written.
    pub fn run(self) -> Result<Exit, Failure> {
        let mut diagnostics = Diagnostics::default();
        let d = &mut diagnostics;
        let (imported, out) = match self.source {
            Source::Profile(args) => {
                args.out.check(&[args.file.as_path()], d);
                let name = args.out.name.clone().unwrap_or_else(|| stem(&args.file));
                let options = profile::Options {
                    file: args.file,
                    name,
                    samples_per_epoch: args.samples_per_epoch,
                    epochs: args.epochs,
                    unit: args.unit,
                    batch: args.batch,
                    cold_start_steps: args.cold_start_steps,
                    probe_steps: args.probe_steps,
                    restore_s: args.restore_s,
                };
                (profile::read(&options, d), args.out)
            }
            Source::Pollux(args) => {
                args.out.check(&[args.folder.as_path()], d);
                let options = pollux::Options {
                    folder: args.folder,
                    application: args.app,
                    vm: args.vm,
                    name: args.out.name(),
                };
                (pollux::read(&options, d), args.out)
            }
            Source::MlperfRcp(args) => {
                let inputs: Vec<&Path> = (args.rcps.iter().chain(&args.runs))
                    .map(PathBuf::as_path)
                    .collect();
                args.out.check(&inputs, d);
                let options = mlperf::Options {
                    rcps: args.rcps,
                    runs: args.runs,
                    choice: mlperf::runs::Choice {
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
        };
        let imported = imported.filter(|_| diagnostics.is_empty());
        let Some(Imported { draft, report }) = imported else {
            return Err(Failure::Wrong(diagnostics));
        };
        let files = draft.files().map_err(anyhow::Error::from)?;
        trial::workload(&files, &out.out).map_err(Failure::Wrong)?;
        folder::write(&files, &out.out, Kind::WORKLOAD)?;
        terminal::warn(report.warnings());
        terminal::print(&report.to_string())?;
        Ok(Exit::Done)
    }
}

impl OutArgs {
    /// Whether the folder may be written.
    fn check(&self, inputs: &[&Path], diagnostics: &mut Diagnostics) {
        folder::check(&self.out, Kind::WORKLOAD, self.force, inputs, diagnostics);
    }

    /// The name of the workload.
    fn name(&self) -> String {
        let last = || self.out.file_name().unwrap_or_default().to_string_lossy();
        self.name.clone().unwrap_or_else(|| last().into_owned())
    }
}

fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}
