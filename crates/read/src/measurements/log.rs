//! Logs of training programs.

use super::steps::{
    MeasuredSteps, MeasurementFile, RunFacts, TableResult, batch_of, number_after, whole_number,
};
use crate::input::Diagnostic;

const MS_PER_S: f64 = 1e3;

/// Megatron-LM: a line per logged iteration, with its milliseconds and the global batch.
pub(super) fn read_megatron(
    file: &MeasurementFile<'_>,
    facts: &RunFacts<'_>,
) -> Option<TableResult> {
    let source = file.source;
    let key = "elapsed time per iteration (ms)";
    let mut found = MeasuredSteps {
        kind: "a log of Megatron-LM",
        steps: Vec::new(),
        batch: None,
        workers: None,
    };
    let mut batches: Vec<u32> = Vec::new();
    for (line, text) in source.text.lines().enumerate() {
        let batch = number_after(text, "global batch size").and_then(whole_number);
        found.workers = (number_after(text, "world size").and_then(whole_number)).or(found.workers);
        if let Some(ms) = number_after(text, key) {
            found.steps.push((line, ms / MS_PER_S));
            batches.extend(batch);
        }
    }
    if !source.text.contains(key) {
        return None;
    }
    batches.dedup();
    if let [first, .., last] = batches[..] {
        let title = format!(
            "{}: the global batch grows from {first} to {last} in this log of Megatron-LM",
            source.name
        );
        let help = "leave the lines of one batch";
        return Some(Err(Diagnostic::general(title).with_help(help)));
    }
    found.batch = batches.first().copied();
    Some(found.into_table(source, facts))
}

/// DeepSpeed: samples per second of its timer, now and then.
pub(super) fn read_deepspeed(
    file: &MeasurementFile<'_>,
    facts: &RunFacts<'_>,
) -> Option<TableResult> {
    let source = file.source;
    let key = "CurrSamplesPerSec";
    if !source.text.contains(key) {
        return None;
    }
    let stated = source.text.lines().find_map(|line| {
        let behind = ["train_batch_size", "train_batch_size\""];
        behind
            .iter()
            .find_map(|key| whole_number(number_after(line, key)?))
    });
    let world = source.text.lines().find_map(|line| {
        let behind = ["world_size", "world size"];
        behind
            .iter()
            .find_map(|key| whole_number(number_after(line, key)?))
    });
    let batch = stated.or(facts.batch);
    let rate = |(line, text)| Some((line, number_after(text, key)?));
    let rates = source.text.lines().enumerate().filter_map(rate);
    let steps = rates.map(|(line, rate)| (line, f64::from(batch.unwrap_or(1)) / rate));
    let found = MeasuredSteps {
        kind: "a log of DeepSpeed",
        steps: steps.collect(),
        batch,
        workers: world,
    };
    Some(found.into_table(source, facts))
}

/// The summary of Hugging Face's Trainer, on its console or in `all_results.json`: rates of the whole run.
pub(super) fn read_trainer_summary(
    file: &MeasurementFile<'_>,
    facts: &RunFacts<'_>,
) -> Option<TableResult> {
    let (source, key) = (file.source, "train_steps_per_second");
    let is_summary = source.text.contains(key) && !source.text.contains("log_history");
    let last = |key: &str| {
        let mut lines = source.text.lines().rev();
        lines.find_map(|line| number_after(line, key))
    };
    let rate = last(key).filter(|_| is_summary)?;
    let seconds = last("train_runtime").unwrap_or_default();
    let passes = last("epoch").unwrap_or(1.0).max(1.0);
    let samples = last("train_samples_per_second").map(|rate| rate * seconds);
    let by_samples =
        samples.and_then(|samples| batch_of(samples, (rate * seconds).round(), passes));
    let found = MeasuredSteps {
        kind: "the summary of a Hugging Face Trainer",
        steps: vec![(0, 1.0 / rate)],
        batch: facts.batch.or(by_samples),
        workers: None,
    };
    Some(found.into_table(source, facts))
}

/// Progress bars of tqdm, which carriage returns keep on one line of a terminal: `20/600 [00:31<15:02, 1.56s/it]`.
pub(super) fn read_progress_bars(
    file: &MeasurementFile<'_>,
    facts: &RunFacts<'_>,
) -> Option<TableResult> {
    let source = file.source;
    let step_s = |bar: &str| {
        let number = |unit: &str| {
            let before = bar.split_once(unit)?.0;
            before.rsplit([' ', ',']).next()?.parse::<f64>().ok()
        };
        number("s/it").or_else(|| Some(1.0 / number("it/s")?))
    };
    let lines = source.text.lines().enumerate();
    let bars = lines.flat_map(|(line, text)| text.split('\r').map(move |bar| (line, bar)));
    let is_bar = |bar: &str| bar.contains('<') && bar.contains('[');
    let steps = bars
        .filter(|(_, bar)| is_bar(bar))
        .filter_map(|(line, bar)| Some((line, step_s(bar)?)));
    let found = MeasuredSteps {
        kind: "a log with progress bars",
        steps: steps.collect(),
        batch: None,
        workers: None,
    };
    (!found.steps.is_empty()).then(|| found.into_table(source, facts))
}

/// NCCL tests time links, not steps.
pub(super) fn refuse_nccl(file: &MeasurementFile<'_>, _: &RunFacts<'_>) -> Option<TableResult> {
    let source = file.source;
    let is_one = source.text.contains("busbw") && source.text.contains("algbw");
    is_one.then(|| {
        let title = format!("{}: results of nccl-tests, which time links and no training step", source.name);
        let help = "write the largest `busbw` as `gb_per_s` of a link in a folder of layers (`scavsim import layers`, links.csv)";
        Err(Diagnostic::general(title).with_help(help))
    })
}
