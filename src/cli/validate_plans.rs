//! `scavsim validate plans`: predictions of the law of layers for measured plans.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};

use super::exit::{Exit, Failure, wrong};
use super::listing::{self, Format, written};
use super::terminal;
use scavsim_base::text::{Column, Page, Sheet};
use scavsim_measure::validate::plans::{
    self, JudgedPlans, MemoryError, PlanSplit, PredictedRun, pace, runs,
};
use scavsim_parallel::law::constants::{Constant, GENERATIONS, NAMES, RUNTIME_CONSTANTS};
use scavsim_parallel::runtime::{RuntimePreset, preset};
use scavsim_read::input::{Diagnostic, Diagnostics, Source};

/// Runtimes among which runs decide if none is named.
const LIKELY: [&str; 3] = ["fsdp", "megatron-core", "megatron-deepspeed"];

/// Arguments of `validate plans` and of `import runs`: runs, and the runtime that they ran under.
#[derive(Debug, Args)]
pub(super) struct RunsArgs {
    /// A CSV of runs: model, gpu, gpus, micro_batch, global_batch, step_s or tokens_per_s_per_gpu; docs/import.md has all columns
    #[arg(value_name = "RUNS.csv")]
    pub(super) file: PathBuf,
    /// The runtime that they ran under: a name of `scavsim list runtimes`, or a file [default: fsdp, or the one that they are likelier under]
    #[arg(long, value_name = "RUNTIME")]
    runtime: Option<String>,
}

/// Arguments of `validate plans`.
#[derive(Debug, Args)]
pub struct ValidatePlansArgs {
    #[command(flatten)]
    runs: RunsArgs,
    /// Predict each run by the runtime as it is, and leave nothing out: done at once
    #[arg(long)]
    foretell: bool,
    /// Form of the tables
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) struct ReadRuns {
    pub(super) preset: RuntimePreset,
    /// Whether these runs were used to fit the runtime, so that it is judged without them.
    is_from_before: bool,
    pub(super) rows: Vec<runs::PlanRow>,
    pub(super) hash: String,
}

impl RunsArgs {
    pub(super) fn read(&self) -> Result<ReadRuns, Failure> {
        let mut diagnostics = Diagnostics::default();
        let presets = self.presets(&mut diagnostics);
        let source = Source::read(&self.file, &mut diagnostics);
        let hash =
            (source.as_ref()).map_or_else(String::new, |source| preset::hash_of_runs(&source.text));
        let usual = (presets.first()).map_or("bf16", |preset| preset.precision.as_str());
        let rows = source.and_then(|source| runs::read(&source, usual, &mut diagnostics));
        let preset = match (presets.len(), &rows) {
            (0 | 1, _) | (_, None) => presets.into_iter().next(),
            (_, Some(rows)) => pace::likeliest(presets, rows),
        };
        let named = preset.as_ref().map(|preset| Arc::clone(&preset.name));
        let preset = preset.map(|preset| preset.before(&hash));
        let is_from_before = preset.as_ref().map(|preset| &preset.name) != named.as_ref();
        if let (Some(preset), Some(rows)) = (&preset, &rows) {
            for (line, doubt) in pace::impossible(preset, rows) {
                let title = format!("{}: line {line} is {doubt}", self.file.display());
                diagnostics.push(
                    Diagnostic::general(title)
                        .with_help("runs that cannot be would spoil what is fitted to them"),
                );
            }
        }
        if let Some(rows) = &rows {
            for (one, other, factor) in runs::contradictions(rows) {
                let title = format!(
                    "{}: lines {one} and {other} are one plan, and one took {factor:.2} times as long",
                    self.file.display()
                );
                let help = "they are not averaged: keep the one that holds";
                diagnostics.push(Diagnostic::general(title).with_help(help));
            }
        }
        let (Some(preset), Some(rows), true) = (preset, rows, diagnostics.is_empty()) else {
            return Err(Failure::Wrong(diagnostics));
        };
        Ok(ReadRuns {
            preset: pace::with_pace(preset, &rows),
            is_from_before,
            rows,
            hash,
        })
    }

    pub(super) fn judged(&self, read: &ReadRuns) -> Result<JudgedPlans, Failure> {
        plans::judge(&read.preset, &read.rows).ok_or_else(|| self.no_plan(read))
    }

    fn no_plan(&self, read: &ReadRuns) -> Failure {
        let title = format!("{}: a run's numbers make no plan", self.file.display());
        let help = plans::misfits(&read.preset, &read.rows).join("; ");
        wrong(title, &help)
    }

    /// The named runtime, or the ones among which runs decide.
    fn presets(&self, diagnostics: &mut Diagnostics) -> Vec<RuntimePreset> {
        match &self.runtime {
            Some(named) => self.preset(named, diagnostics).into_iter().collect(),
            None => (LIKELY.iter())
                .filter_map(|name| preset::embedded(name, diagnostics))
                .collect(),
        }
    }

    fn preset(&self, named: &str, diagnostics: &mut Diagnostics) -> Option<RuntimePreset> {
        let path = PathBuf::from(named);
        if named.contains('/') || path.extension().is_some_and(|e| e == "toml") {
            let source = Source::read(&path, diagnostics)?;
            return RuntimePreset::read(named, &source, diagnostics);
        }
        let found = preset::embedded(named, diagnostics);
        if found.is_none() {
            let title = format!("unknown runtime `{named}`");
            let help = format!("allowed here: {}, or a file", preset::names().join(", "));
            diagnostics.push(Diagnostic::general(title).with_help(help));
        }
        found
    }
}

impl ValidatePlansArgs {
    pub fn run(self) -> Result<Exit, Failure> {
        let read = self.runs.read()?;
        let page = terminal::page();
        if self.foretell {
            // They would be left out silently.
            if !plans::misfits(&read.preset, &read.rows).is_empty() {
                return Err(self.runs.no_plan(&read));
            }
            terminal::print(&foretold(&read, self.format, &page)?)?;
            return Ok(Exit::Done);
        }
        let judged = self.runs.judged(&read)?;
        let mut text = written(&splits(&judged.splits, self.format), self.format, &page)?;
        if self.format == Format::Table {
            text += &remarks(&read, &judged, &page);
        }
        terminal::print(&text)?;
        Ok(Exit::Done)
    }
}

/// Each run with its prediction, and in tables what they come to.
fn foretold(read: &ReadRuns, format: Format, page: &Page) -> anyhow::Result<String> {
    let ReadRuns { preset, rows, .. } = read;
    let figure = |value: Option<f64>, digits| match value {
        Some(value) => listing::figure(value, digits, format),
        None => Value::Null,
    };
    let runs = plans::predicted_runs(preset, rows);
    let number = |head, digits, of: fn(&PredictedRun<'_>) -> Option<f64>| {
        Column::number(head, move |run: &&PredictedRun<'_>| figure(of(run), digits))
    };
    let sheet = Sheet::new(
        &runs,
        [
            Column::number("line", |run: &&PredictedRun<'_>| json!(run.row.line)),
            Column::text("model", |run: &&PredictedRun<'_>| {
                json!(&*run.row.measured.run.model.name)
            }),
            Column::number("gpus", |run: &&PredictedRun<'_>| {
                json!(run.row.measured.run.gpus)
            }),
            Column::text("gpu", |run: &&PredictedRun<'_>| {
                json!(&*run.row.measured.run.node.gpu)
            }),
            number("step_s", 3, |run| Some(run.row.measured.step_s)),
            number("predicted_s", 3, |run| run.step_s),
            number("off_%", 1, |run| {
                Some(100.0 * (run.step_s? / run.row.measured.step_s - 1.0))
            }),
            number("p5_s", 3, |run| Some(run.step_s? / run.factor)),
            number("p95_s", 3, |run| Some(run.step_s? * run.factor)),
            number("peak_gib", 1, |run| run.row.peak_gib),
            number("predicted_gib", 1, |run| run.peak_gib),
        ],
    );
    let mut text = written(&sheet, format, page)?;
    if format == Format::Table {
        let split = plans::foretold(preset, rows);
        let all = format!(
            "{} runs under `{}`: steps are {:.1} % off in the mean, {:.0} % at worst in line {}; 90 % intervals hold {:.0} %.",
            split.runs,
            preset.name,
            100.0 * split.mean,
            100.0 * split.worst.0,
            split.worst.1,
            100.0 * split.covered
        );
        let memory = plans::memory(preset, &preset.prior.medians, rows);
        for line in [Some(all), memory.map(memory_in_words)]
            .into_iter()
            .flatten()
        {
            text += &page.prose(&line, 2);
        }
    }
    Ok(text)
}

fn memory_in_words(memory: MemoryError) -> String {
    format!(
        "Peak memory of {}: {:.1} % off in the mean, {:+.1} % at worst, too little for {}; intervals hold {:.0} %.",
        memory.runs,
        100.0 * memory.mean,
        100.0 * memory.worst,
        memory.under,
        100.0 * memory.covered
    )
}

pub(super) fn splits(splits: &[PlanSplit], format: Format) -> Sheet<'_, &PlanSplit> {
    let share = |head, digits: usize, of: fn(&PlanSplit) -> f64| {
        Column::number(head, move |split: &&PlanSplit| {
            listing::figure(100.0 * of(split), digits, format)
        })
    };
    Sheet::new(
        splits,
        [
            Column::text("left_out", |split: &&PlanSplit| json!(split.left_out)),
            Column::number("groups", |split: &&PlanSplit| json!(split.groups)),
            Column::number("runs", |split: &&PlanSplit| json!(split.runs)),
            share("error_%", 1, |split| split.mean),
            share("median_%", 1, |split| split.median),
            share("worst_%", 0, |split| split.worst.0),
            Column::number("line", |split: &&PlanSplit| json!(split.worst.1)),
            share("covered_%", 0, |split| split.covered),
        ],
    )
}

pub(super) fn remarks(read: &ReadRuns, judged: &JudgedPlans, page: &Page) -> String {
    let ReadRuns {
        preset,
        is_from_before,
        rows,
        ..
    } = read;
    let mut text = format!(
        "{} runs under `{}`: errors of predicted steps; covered: by 90 % intervals.\n",
        rows.len(),
        preset.name
    );
    if *is_from_before {
        text += "The runtime was fitted to these runs: they are judged from what was expected before.\n";
    }
    if judged.curve.len() > 1 {
        let points: Vec<String> = (judged.curve.iter())
            .map(|point| {
                format!(
                    "{} runs {:.1} ({:.0})",
                    point.given,
                    100.0 * point.mean,
                    100.0 * point.covered
                )
            })
            .collect();
        text += &format!(
            "Given some runs, % error of the others (% in intervals): {}.\n",
            points.join(", ")
        );
    }
    if let Some(memory) = judged.memory {
        text += &memory_in_words(memory);
        text.push('\n');
    }
    let own_pace = judged.fitted.constants.value_of(Constant::Pace);
    if let Some(told) = pace::pace_in_words(own_pace) {
        text += &told;
        text.push('\n');
    }
    let crowded = plans::crowded(preset, rows);
    if let Some(first) = crowded.first() {
        text += &format!(
            "By the law {} more than a GPU has, as line {}, {:.0} GiB of {:.0}: is recomputation, sharding or attention another there?\n",
            match crowded.len() {
                1 => "1 run holds".to_owned(),
                several => format!("{several} runs hold"),
            },
            first.line,
            first.gib,
            first.has
        );
    }
    let moved = moved(preset, judged);
    if !moved.is_empty() {
        text += &format!("Constants that the runs move: {}.\n", moved.join(", "));
    }
    let lines = text.lines().map(|line| page.prose(line, 2));
    std::iter::once("\n".to_owned()).chain(lines).collect()
}

/// Constants that changed by a tenth or more.
fn moved(preset: &RuntimePreset, judged: &JudgedPlans) -> Vec<String> {
    let (before, after) = (&preset.prior.medians.0, &judged.fitted.constants.0);
    let name = |n: usize| match NAMES.get(n) {
        Some(name) => (*name).to_owned(),
        None => {
            let at = n - RUNTIME_CONSTANTS;
            let which = if at.is_multiple_of(2) {
                "matmul"
            } else {
                "attention"
            };
            format!("{} {which}", GENERATIONS[at / 2])
        }
    };
    (before.iter().zip(after).enumerate())
        .filter(|(_, (before, after))| (*after / *before - 1.0).abs() >= 0.1)
        .map(|(n, (before, after))| format!("{} {} → {}", name(n), figure(*before), figure(*after)))
        .collect()
}

fn figure(value: f64) -> String {
    if value < 0.01 {
        format!("{value:.2e}")
    } else {
        format!("{value:.3}")
    }
}
