//! Shared parts of all kinds: facts that a file may lack, and the table of its steps.

use std::sync::Arc;

use super::words::Cells;
use crate::input::{Diagnostic, Source};

/// A step this many times larger or smaller than the median is unusual: a warm-up, a checkpoint, an evaluation.
const USUAL: f64 = 1.5;
/// Error of a batch that is computed from rounded rates.
const ROUNDED: f64 = 0.02;

/// A file, with its cells if it is a table.
pub(super) struct MeasurementFile<'s> {
    pub(super) source: &'s Arc<Source>,
    pub(super) cells: Option<Cells>,
}

impl MeasurementFile<'_> {
    pub(super) fn new(source: &Arc<Source>) -> MeasurementFile<'_> {
        MeasurementFile {
            source,
            cells: Cells::read(source),
        }
    }
}

/// GPUs of a VM type, if it is known.
pub type GpusOf<'f> = dyn Fn(&str) -> Option<u32> + 'f;

/// Facts that a file of measurements may lack.
#[derive(Default)]
pub struct RunFacts<'f> {
    /// VM type, or a VM shape.
    pub vm: Option<&'f str>,
    pub workers: Option<u32>,
    /// Samples of all workers in a step.
    pub batch: Option<u32>,
    /// Tokens of a sample.
    pub sequence: Option<u32>,
    pub samples_per_epoch: Option<u64>,
    /// GPUs of a VM type, if known.
    pub gpus_of: Option<&'f GpusOf<'f>>,
}

#[derive(Debug)]
pub struct Recognised {
    pub table: Arc<Source>,
    /// How the file was interpreted; `None` for a table that needed no change.
    pub sentence: Option<String>,
    /// Whether the file states that its batch is that of all workers.
    pub says_batch: bool,
    /// Whether it states the unit of its times.
    pub says_unit: bool,
}

pub(super) type TableResult = Result<Recognised, Diagnostic>;

/// Steps of one run, each with the line of its measurement.
pub(super) struct MeasuredSteps<'k> {
    pub(super) kind: &'k str,
    pub(super) steps: Vec<(usize, f64)>,
    pub(super) batch: Option<u32>,
    pub(super) workers: Option<u32>,
}

impl MeasuredSteps<'_> {
    /// The steps as a table; facts that the file lacks come from `facts`.
    pub(super) fn into_table(mut self, source: &Source, facts: &RunFacts<'_>) -> TableResult {
        let kind = self.kind;
        let unusual = self.leave_out_unusual();
        let (vm, workers) = (facts.vm, self.workers.or(facts.workers));
        let batch = self.batch.or(facts.batch);
        if self.steps.is_empty() {
            let title = format!("{}: {kind} without a step that was timed", source.name);
            return Err(Diagnostic::general(title));
        }
        let missing = [
            ("--vm", vm.is_none()),
            ("--workers", workers.is_none()),
            ("--batch-size", batch.is_none()),
        ];
        let missing: Vec<&str> = (missing.iter())
            .filter_map(|(option, is_missing)| is_missing.then_some(*option))
            .collect();
        let (Some(vm), Some(workers), Some(batch)) = (vm, workers, batch) else {
            let title = format!(
                "{}: {kind}, which does not say what it ran on ({} read)",
                source.name,
                steps_in_words(self.steps.len())
            );
            let help = format!("give {}", missing.join(", "));
            return Err(Diagnostic::general(title).with_help(help));
        };
        let shape = shape(vm, workers, facts);
        let count = steps_in_words(self.steps.len());
        let left_out = match unusual {
            0 => String::new(),
            _ => format!(
                "; {} more than {USUAL} times off the middle one are left out",
                steps_in_words(unusual)
            ),
        };
        let mut lines: Vec<String> = Vec::new();
        for (line, step_s) in self.steps {
            lines.resize(lines.len().max(line), "#".to_owned());
            lines.push(format!("{shape},{workers},{batch},{step_s}"));
        }
        let header = "vm,workers,batch,step_s";
        match lines.first_mut() {
            Some(first) if first == "#" => header.clone_into(first),
            _ => lines.insert(0, header.to_owned()),
        }
        Ok(Recognised {
            table: Source::new(source.name.clone(), lines.join("\n") + "\n"),
            sentence: Some(format!(
                "{} is {kind}: {count}, global batch {batch}, {workers} workers on {shape}{left_out}",
                source.name
            )),
            says_batch: true,
            says_unit: true,
        })
    }
}

impl MeasuredSteps<'_> {
    /// Leaves out invalid step times, and steps far from the median; returns the number of the latter.
    fn leave_out_unusual(&mut self) -> usize {
        self.steps
            .retain(|(_, step_s)| *step_s > 0.0 && step_s.is_finite());
        let mut all: Vec<f64> = self.steps.iter().map(|(_, step_s)| *step_s).collect();
        all.sort_by(f64::total_cmp);
        let Some(middle) = all.get(all.len().saturating_sub(1) / 2) else {
            return 0;
        };
        let is_usual = |step_s: f64| step_s <= USUAL * middle && step_s * USUAL >= *middle;
        let before = self.steps.len();
        if before > 2 {
            self.steps.retain(|(_, step_s)| is_usual(*step_s));
        }
        before - self.steps.len()
    }
}

fn steps_in_words(count: usize) -> String {
    match count {
        1 => "1 step time".to_owned(),
        count => format!("{count} step times"),
    }
}

/// The shape of a VM type with as many workers as GPUs on each, or fewer if there are fewer.
pub(super) fn shape(vm: &str, workers: u32, facts: &RunFacts<'_>) -> String {
    let gpus = facts.gpus_of.and_then(|gpus_of| gpus_of(vm)).unwrap_or(1);
    match gpus.min(workers) {
        _ if vm.contains('/') => vm.to_owned(),
        0 | 1 => vm.to_owned(),
        each => format!("{vm}/{each}"),
    }
}

/// The number after a key and its separator.
pub(super) fn number_after(text: &str, key: &str) -> Option<f64> {
    let rest = text
        .split_once(key)?
        .1
        .trim_start_matches([' ', ':', '=', '"', '\'']);
    let end = rest.find(|c: char| !(c.is_ascii_digit() || "+-.eE".contains(c)));
    rest[..end.unwrap_or(rest.len())].parse().ok()
}

pub(super) fn whole_number(number: f64) -> Option<u32> {
    let is_whole = number.fract() == 0.0 && (1.0..=1e9).contains(&number);
    is_whole.then_some(number as u32)
}

/// The batch of `steps` steps; `None` if the last step of each pass, which may be smaller, leaves it open.
pub(super) fn batch_of(samples: f64, steps: f64, passes: f64) -> Option<u32> {
    // Rates are rounded to three decimals.
    let batch = (samples / steps - ROUNDED).ceil();
    whole_number(batch).filter(|batch| steps / passes >= f64::from(*batch))
}
