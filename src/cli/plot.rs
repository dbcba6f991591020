//! `scavsim plot`: figures of a finished run, as SVG, PNG and Vega-Lite.

use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use super::finished::{FinishedRun, same_scenario, wrong};
use super::set::SetArgs;
use super::signals::Signals;
use super::{Exit, Failure, rank, report, run, terminal};
use scavsim_base::Lock;
use scavsim_data::workload::{Workload, library, load};
use scavsim_lab::scenario::Scenario;
use scavsim_read::input::{Diagnostic, Diagnostics, regular};
use scavsim_show::figure::gathered::Gathered;
use scavsim_show::figure::{Asked, Figure, KINDS, Kind, Material, draw, life, vega};
use scavsim_show::report::Folder;
use scavsim_show::report::manifest::{self, Identity};
use scavsim_sim::engine::Interrupt;

/// Configurations up to which all are valued anew; beyond, those in the records are shown.
const MOST_CONFIGURATIONS: usize = 20_000;
/// Runs of each configuration where its figures are means of runs.
const RUNS: u64 = 1;
/// Where figures go in a result folder.
const FOLDER: &str = "figures";

/// Arguments of `plot`.
#[derive(Debug, Args)]
pub struct PlotArgs {
    /// The folder of a finished run, or NAME.events.jsonl of `scavsim trace` for the life of one job
    #[arg(value_name = "RESULTS")]
    results: PathBuf,
    /// Kinds of figures, with commas [default: those that tell of strategies]
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = kinds())]
    kind: Vec<String>,
    #[command(flatten)]
    known: KnownArgs,
    /// Show this workload alone
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// Show this setting, as the column `setting` names it [default: the first]
    #[arg(long, value_name = "NAME")]
    setting: Option<String>,
    /// Show this pricing policy [default: the first]
    #[arg(long, value_name = "NAME")]
    pricing: Option<String>,
    /// Show this objective [default: the first]
    #[arg(long, value_name = "NAME")]
    objective: Option<String>,
    /// Join configurations with lines of equal batch, or of equal workers
    #[arg(long, value_enum, default_value_t)]
    lines: Lines,
    /// Write to this folder [default: `figures` in RESULTS]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Forms of each figure, with commas
    #[arg(long, value_name = "FORM", value_delimiter = ',', value_enum, default_values_t = [Form::Svg, Form::Png, Form::Vega])]
    form: Vec<Form>,
}

/// What is known of a run besides its folder.
#[derive(Debug, Clone, Args)]
pub struct KnownArgs {
    /// The scenario file of the run: for all configurations and for predictions, which records do not hold
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    #[command(flatten)]
    set: SetArgs,
}

/// What configurations joined by a line have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Lines {
    /// The global batch
    #[default]
    Batch,
    /// The number of workers
    Workers,
}

/// A form of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// NAME.svg
    Svg,
    /// NAME.png
    Png,
    /// NAME.vl.json, a Vega-Lite specification with its data
    Vega,
}

/// Every kind, and all of them.
fn kinds() -> clap::builder::PossibleValuesParser {
    let all = PossibleValue::new(ALL).help("every kind that this run can have");
    let kinds = KINDS
        .iter()
        .map(|kind| PossibleValue::new(kind.name).help(kind.about));
    kinds.chain([all]).collect::<Vec<_>>().into()
}

const ALL: &str = "all";

impl PlotArgs {
    /// Runs the command.
    ///
    /// # Errors
    /// [`Failure`]; figures that a run cannot have, if they are asked for, are wrong usage.
    pub fn run(self, signals: &Signals) -> Result<Exit, Failure> {
        if self.results.is_file() {
            return self.life();
        }
        let run = FinishedRun::open(&self.results)?;
        let material = self.known.material(&run, signals.raise_first()?)?;
        let asked = Asked {
            setting: self.setting.clone(),
            workload: self.workload.clone(),
            pricing: self.pricing.clone(),
            objective: self.objective.clone(),
            by_workers: self.lines == Lines::Workers,
        };
        let figures = chosen(&material, &asked, &self.kind)?;
        let out = match &self.out {
            Some(out) => Folder::prepare(out),
            None => Folder::existing(&self.results).subfolder(FOLDER),
        };
        self.put(&figures, out)
    }

    /// Draws a job from its trace, beside it if nothing else is said.
    fn life(&self) -> Result<Exit, Failure> {
        let name = self.results.display().to_string();
        if !self.kind.is_empty() {
            let what = format!("{name} is one job: `--kind` is for the folder of a run");
            return Err(wrong(what, "leave `--kind` away"));
        }
        let lines = BufReader::new(regular::open(&self.results)?);
        let figure = life::figure(lines, &name).map_err(|error| {
            wrong(
                error.to_string(),
                "`scavsim trace FILE --case N` writes NAME.events.jsonl",
            )
        })?;
        let beside = self
            .results
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let beside = beside.unwrap_or(Path::new("."));
        let out = Folder::prepare(self.out.as_deref().unwrap_or(beside));
        self.put(&[figure], out)
    }

    /// Writes figures and prints where they are.
    fn put(&self, figures: &[Figure], out: io::Result<Folder>) -> Result<Exit, Failure> {
        let files = written(figures, out, &self.form)?;
        let lines = files.iter().map(|file| format!("{}\n", file.display()));
        terminal::print(&lines.collect::<String>())?;
        Ok(Exit::Done)
    }
}

/// What `run` draws of its results.
#[derive(Debug, Clone, Copy, Args)]
pub struct PicturesArgs {
    /// Draw the usual figures into `figures` in `--out`, as `scavsim plot` does
    #[arg(long, requires = "out", conflicts_with = "shard")]
    plot: bool,
    /// Write the page `report.html` to `--out`, as `scavsim report` does
    #[arg(long, requires = "out", conflicts_with = "shard")]
    report: bool,
}

impl PicturesArgs {
    /// Draws a run that has just ended, into its folder.
    ///
    /// # Errors
    /// [`Failure`].
    pub(super) fn of_run(
        self,
        folder: &Path,
        scenario: &Scenario,
        interrupt: &Interrupt,
    ) -> Result<(), Failure> {
        if !(self.plot || self.report) {
            return Ok(());
        }
        let run = FinishedRun::open(folder)?;
        let material = material(&run, Some(scenario.clone()), interrupt)?;
        let mut files = Vec::new();
        if self.plot {
            let figures = chosen(&material, &Asked::default(), &[])?;
            let out = Folder::existing(folder).subfolder(FOLDER);
            files = written(&figures, out, Form::value_variants())?;
        }
        if self.report {
            let page = folder.join(report::FILE);
            report::written(&material, &page)?;
            files.push(page);
        }
        // Stdout has the summary.
        files
            .iter()
            .for_each(|file| terminal::note(&file.display().to_string()));
        Ok(())
    }
}

impl KnownArgs {
    /// All that figures of a run are made of.
    ///
    /// # Errors
    /// [`Failure`]; a scenario that is not that of the run is wrong usage.
    pub(super) fn material(
        &self,
        run: &FinishedRun,
        interrupt: &Interrupt,
    ) -> Result<Material, Failure> {
        let set = self.set.sources()?;
        let scenario = match &self.scenario {
            Some(file) => Some(same_scenario(file, set, &run.identity)?),
            None if !set.is_empty() => {
                let what = "`-s` replaces a key of the scenario, but none is named".to_owned();
                return Err(wrong(what, "name it with `--scenario FILE`"));
            }
            None => None,
        };
        material(run, scenario, interrupt)
    }
}

fn material(
    run: &FinishedRun,
    scenario: Option<Scenario>,
    interrupt: &Interrupt,
) -> Result<Material, Failure> {
    let identity = &run.identity;
    let cases = identity.get("cases").and_then(serde_json::Value::as_u64);
    let across_vms = manifest::is_across_vms(identity);
    let mut gathered = Gathered::new(cases.unwrap_or(0), across_vms, run.tasks());
    run.hand_out(&mut gathered)?;
    if gathered.count == 0 {
        return Err(wrong(
            format!("the run of `{}` has no cases", run.name()),
            "its records hold the header only",
        ));
    }
    let (mut rankings, mut workloads) = (None, embedded(identity));
    if let Some(scenario) = &scenario {
        let all = scenario.subject.configurations();
        if all <= MOST_CONFIGURATIONS {
            rankings = Some(rank::ranked(scenario, RUNS, run::available(), interrupt)?);
        } else {
            terminal::note(&format!(
                "{}: of {all} configurations those that were chosen are shown",
                scenario.name
            ));
        }
        workloads = scenario
            .workloads()
            .iter()
            .map(|(workload, _)| workload.clone())
            .collect();
    }
    Ok(Material::new(
        identity.clone(),
        gathered,
        rankings,
        workloads,
        scenario,
    ))
}

/// The workloads of a run that are in the program, with the data that the run had.
fn embedded(identity: &Identity) -> Vec<Workload> {
    let all = identity.get("workloads").and_then(|all| all.as_array());
    let one = |entry: &serde_json::Value| {
        let folder = library::embedded(entry["name"].as_str()?)?;
        let workload = load::load(&folder, &mut Diagnostics::default())?;
        (entry["data_hash"] == *workload.hash).then_some(workload)
    };
    all.into_iter().flatten().filter_map(one).collect()
}

/// The figures of these kinds; without any, of the usual ones.
fn chosen(material: &Material, asked: &Asked, kinds: &[String]) -> Result<Vec<Figure>, Failure> {
    let every = kinds.iter().any(|kind| kind == ALL);
    let is_named = |kind: &Kind| kinds.iter().any(|name| name == kind.name);
    let mut figures = Vec::new();
    let mut wrong = Diagnostics::default();
    for kind in KINDS {
        if !(is_named(kind) || every || (kinds.is_empty() && kind.is_usual)) {
            continue;
        }
        match (kind.make)(material, asked) {
            Ok(figure) => figures.push(figure),
            Err(why) => {
                let what = format!("`{}` has no figure `{}`: {why}", material.name, kind.name);
                if is_named(kind) {
                    wrong.push(Diagnostic::general(what))
                } else {
                    terminal::note(&what)
                }
            }
        }
    }
    if wrong.is_empty() {
        Ok(figures)
    } else {
        Err(Failure::Wrong(wrong))
    }
}

/// Writes figures to a folder; where they are.
fn written(
    figures: &[Figure],
    out: io::Result<Folder>,
    forms: &[Form],
) -> Result<Vec<PathBuf>, Failure> {
    let folder = out.map_err(|error| {
        wrong(
            error.to_string(),
            "`--out` needs a folder in which files can be created",
        )
    })?;
    if let Ok(_alone) = Lock::alone(folder.path()) {
        // Of one that was killed.
        folder.remove_unnamed()?;
    }
    let mut files = Vec::new();
    for figure in figures {
        let name: String = (figure.name.chars())
            .map(|c| {
                if c.is_alphanumeric() || "-_.".contains(c) {
                    c
                } else {
                    '-'
                }
            })
            .collect();
        for form in forms {
            files.push(match form {
                Form::Svg => (format!("{name}.svg"), draw::svg(figure).into_bytes()),
                Form::Png => {
                    let png = draw::png(figure).map_err(anyhow::Error::msg)?;
                    (format!("{name}.png"), png)
                }
                Form::Vega => (format!("{name}.vl.json"), vega::text(figure).into_bytes()),
            });
        }
    }
    let mut paths = Vec::new();
    for (name, contents) in files {
        folder.write(&name, &contents)?;
        paths.push(folder.file(&name));
    }
    Ok(paths)
}
