//! `scavsim plot`: figures of a finished run, as SVG, PNG and Vega-Lite.

use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use super::exit::{Exit, Failure, no_mistakes, wrong};
use super::finished::FinishedRun;
use super::known::{KnownArgs, material};
use super::policies_plot::{self, PolicyPlotRequest};
use super::signals::Signals;
use super::{out, report, terminal};
use scavsim_engine::Interrupt;
use scavsim_provision::subject::MarketPolicies;
use scavsim_read::input::{Diagnostic, Diagnostics, regular};
use scavsim_scenario::Scenario;
use scavsim_show::figure::{
    Figure, FigureKind, FigureRequest, KINDS, Material, draw, job_timeline, vega,
};
use scavsim_show::report::OutputFolder;

const FOLDER: &str = "figures";

/// Arguments of `plot`.
#[derive(Debug, Args)]
pub struct PlotArgs {
    /// The folder of a finished run; NAME.events.jsonl of `scavsim trace` for the life of one job; or a scenario with `[policy]` for
    /// one life under each policy
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
    /// Show this setting, as the column `setting` names it; of a scenario with `[policy]` by its number [default: the first]
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
    /// Where the scenario has `[policy]`: show these policies, with commas [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    policy: Vec<String>,
    /// Where the scenario has `[policy]`: show the life of this number [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    life: Option<u32>,
    /// Write to this folder [default: `figures` in RESULTS, or beside the file]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Forms of each figure, with commas
    #[arg(long, value_name = "FORM", value_delimiter = ',', value_enum, default_values_t = [FigureForm::Svg, FigureForm::Png, FigureForm::Vega])]
    form: Vec<FigureForm>,
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
pub enum FigureForm {
    /// NAME.svg
    Svg,
    /// NAME.png
    Png,
    /// NAME.vl.json, a Vega-Lite specification with its data
    Vega,
}

fn kinds() -> clap::builder::PossibleValuesParser {
    let all = PossibleValue::new(ALL).help("every kind that this run can have");
    let kinds = KINDS
        .iter()
        .map(|kind| PossibleValue::new(kind.name).help(kind.about));
    kinds.chain([all]).collect::<Vec<_>>().into()
}

const ALL: &str = "all";

impl PlotArgs {
    pub fn run(self, signals: &Signals) -> Result<Exit, Failure> {
        if self.results.extension().is_some_and(|own| own == "toml") {
            return self.policies();
        }
        if !self.policy.is_empty() || self.life.is_some() {
            let what = format!("{} has no `[policy]`", self.results.display());
            return Err(wrong(
                what,
                "`--policy` and `--life` are for scenarios that have",
            ));
        }
        if self.results.is_file() {
            return self.life();
        }
        let run = FinishedRun::open(&self.results)?;
        let material = self.known.material(&run, signals.raise_first()?)?;
        let asked = FigureRequest {
            setting: self.setting.clone(),
            workload: self.workload.clone(),
            pricing: self.pricing.clone(),
            objective: self.objective.clone(),
            by_workers: self.lines == Lines::Workers,
        };
        let figures = chosen(&material, &asked, &self.kind)?;
        let out = match &self.out {
            Some(out) => OutputFolder::open(out),
            None => OutputFolder::open(&self.results).and_then(|own| own.subfolder(FOLDER)),
        };
        self.put(&figures, out)
    }

    /// Draws a job from its trace, by default next to the trace.
    fn life(&self) -> Result<Exit, Failure> {
        let name = self.results.display().to_string();
        if !self.kind.is_empty() {
            let what = format!("{name} is one job: `--kind` is for the folder of a run");
            return Err(wrong(what, "leave `--kind` away"));
        }
        let lines = BufReader::new(regular::open(&self.results)?);
        let figure = job_timeline::figure(lines, &name).map_err(|error| {
            wrong(
                error.to_string(),
                "`scavsim trace FILE --case N` writes NAME.events.jsonl",
            )
        })?;
        self.put(&[figure], self.output_folder())
    }

    /// Draws one life of a scenario with `[policy]`, a figure per policy.
    fn policies(&self) -> Result<Exit, Failure> {
        let given = [
            ("--kind", !self.kind.is_empty()),
            ("--workload", self.workload.is_some()),
            ("--pricing", self.pricing.is_some()),
            ("--objective", self.objective.is_some()),
        ];
        if let Some((option, _)) = given.iter().find(|one| one.1) {
            let what = format!("`{option}` says nothing of scenarios with `[policy]`");
            return Err(wrong(
                what,
                "allowed there: --policy, --setting, --life, --out, --form",
            ));
        }
        let asked = PolicyPlotRequest {
            policies: &self.policy,
            life: self.life,
            setting: self.setting.as_deref(),
        };
        let figures = policies_plot::of_file(self.results.clone(), &asked, self.known.programs)?;
        self.put(&figures, self.output_folder())
    }

    /// The requested folder, or the folder of the file.
    fn output_folder(&self) -> io::Result<OutputFolder> {
        let beside = self
            .results
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let beside = beside.unwrap_or(Path::new("."));
        OutputFolder::open(self.out.as_deref().unwrap_or(beside))
    }

    fn put(&self, figures: &[Figure], out: io::Result<OutputFolder>) -> Result<Exit, Failure> {
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
    pub(super) fn of_run(
        self,
        folder: &OutputFolder,
        scenario: &Scenario,
        interrupt: &Interrupt,
    ) -> Result<(), Failure> {
        if !(self.plot || self.report) {
            return Ok(());
        }
        let run = FinishedRun::open(folder.path())?;
        // Under policies nothing is searched: there are no configurations to rank.
        let searched = scenario.subject.lives().is_none().then(|| scenario.clone());
        let material = material(&run, searched, interrupt)?;
        let mut files = Vec::new();
        if self.plot {
            let figures = match MarketPolicies::study_of(&*scenario.subject) {
                Some(study) => {
                    policies_plot::figures(scenario, study, &PolicyPlotRequest::default())?
                }
                None => chosen(&material, &FigureRequest::default(), &[])?,
            };
            let out = folder.subfolder(FOLDER);
            files = written(&figures, out, FigureForm::value_variants())?;
        }
        if self.report {
            let page = folder.file(report::FILE);
            report::written(&material, &page)?;
            files.push(page);
        }
        // The summary is on stdout.
        files
            .iter()
            .for_each(|file| terminal::note(&file.display().to_string()));
        Ok(())
    }
}

/// The requested kinds of figures; by default the usual ones.
fn chosen(
    material: &Material,
    asked: &FigureRequest,
    kinds: &[String],
) -> Result<Vec<Figure>, Failure> {
    let every = kinds.iter().any(|kind| kind == ALL);
    let is_named = |kind: &FigureKind| kinds.iter().any(|name| name == kind.name);
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
    no_mistakes(wrong)?;
    Ok(figures)
}

fn written(
    figures: &[Figure],
    out: io::Result<OutputFolder>,
    forms: &[FigureForm],
) -> Result<Vec<PathBuf>, Failure> {
    let folder = out::writable(out)?;
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
                FigureForm::Svg => (format!("{name}.svg"), draw::svg(figure).into_bytes()),
                FigureForm::Png => {
                    let png = draw::png(figure).map_err(anyhow::Error::from)?;
                    (format!("{name}.png"), png)
                }
                FigureForm::Vega => (format!("{name}.vl.json"), vega::text(figure).into_bytes()),
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
