//! Measurements in JSON.

use std::collections::BTreeMap;

use serde_json::Value;

use super::steps::{MeasuredSteps, MeasurementFile, RunFacts, TableResult, batch_of, whole_number};
use crate::input::{Diagnostic, Source};

const MICROSECONDS: f64 = 1e-6;

pub(super) fn read(file: &MeasurementFile<'_>, facts: &RunFacts<'_>) -> Option<TableResult> {
    let source = file.source;
    let text = source.text.trim_start();
    let list = text.strip_prefix('[').map(str::trim_start);
    if !text.starts_with('{') && !list.is_some_and(|list| list.starts_with(['{', '[', ']'])) {
        return None;
    }
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(why) => {
            let title = format!("{}: JSON that ends or breaks: {why}", source.name);
            return Some(Err(Diagnostic::general(title)));
        }
    };
    if value.get("log_history").is_some() {
        return Some(trainer(source, &value, facts));
    }
    if value.get("traceEvents").is_some() {
        return Some(profile(source, &value, facts));
    }
    Some(Err(other(source, &value)))
}

/// `trainer_state.json` of Hugging Face's Trainer: the mean step of the run, and its batch by the two rates.
fn trainer(source: &Source, value: &Value, facts: &RunFacts<'_>) -> TableResult {
    let kind = "the state of a Hugging Face Trainer";
    let last = (value["log_history"].as_array().into_iter().flatten())
        .find(|entry| entry.get("train_runtime").is_some());
    let number = |key: &str| last.and_then(|entry| entry[key].as_f64());
    let steps = value["global_step"].as_f64().filter(|steps| *steps > 0.0);
    let (Some(seconds), Some(steps)) = (number("train_runtime"), steps) else {
        let title = format!("{}: {kind}, without `train_runtime`", source.name);
        let help = "it is written when the training has ended; a table with `step_s` from a timer does as well";
        return Err(Diagnostic::general(title).with_help(help));
    };
    let samples = number("train_samples_per_second").map(|rate| rate * seconds);
    let passes = value["epoch"].as_f64().unwrap_or(1.0).max(1.0);
    let by_samples = samples.and_then(|samples| batch_of(samples, steps, passes));
    let found = MeasuredSteps {
        kind,
        steps: vec![(0, seconds / steps)],
        batch: facts.batch.or(by_samples),
        workers: None,
    };
    found.into_table(source, facts)
}

/// A trace of PyTorch's profiler: its step events, of the process with the most.
fn profile(source: &Source, value: &Value, facts: &RunFacts<'_>) -> TableResult {
    let mut by_process: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for event in value["traceEvents"].as_array().into_iter().flatten() {
        let is_step = event["name"]
            .as_str()
            .is_some_and(|name| name.starts_with("ProfilerStep"));
        if let (true, Some(us)) = (
            is_step && event["cat"] != "gpu_user_annotation",
            event["dur"].as_f64(),
        ) {
            let process = event["pid"].to_string();
            by_process
                .entry(process)
                .or_default()
                .push(us * MICROSECONDS);
        }
    }
    let steps = by_process
        .into_values()
        .max_by_key(Vec::len)
        .unwrap_or_default();
    let found = MeasuredSteps {
        kind: "a trace of PyTorch's profiler",
        steps: steps.into_iter().enumerate().collect(),
        batch: None,
        workers: value["distributedInfo"]["world_size"]
            .as_f64()
            .and_then(whole_number),
    };
    found.into_table(source, facts)
}

/// JSON without steps: what it is, and which command reads it.
fn other(source: &Source, value: &Value) -> Diagnostic {
    let known = [
        (
            "SpotPriceHistory",
            "spot prices as `aws ec2 describe-spot-price-history` prints them",
            "`scavsim import prices` reads prices of catalogues",
        ),
        (
            "Items",
            "prices as Azure's retail API returns them",
            "`scavsim import prices` reads prices of catalogues",
        ),
        (
            "hidden_size",
            "the configuration of a model",
            "`scavsim import model` reads it, and `scavsim advise --model` asks about it",
        ),
        (
            "text_config",
            "the configuration of a model",
            "`scavsim import model` reads it, and `scavsim advise --model` asks about it",
        ),
        (
            "metadata",
            "a trace of availability",
            "`scavsim import market` reads it",
        ),
    ];
    let found = known.iter().find(|(key, ..)| value.get(key).is_some());
    let expected = "expected a table, a log of Megatron-LM, DeepSpeed or a Trainer, trainer_state.json, a trace of PyTorch's profiler, or an export of TensorBoard, W&B, Lightning or Ultralytics";
    let (what, help) = found.map_or(("JSON of no known kind", expected), |(_, what, help)| {
        (*what, *help)
    });
    Diagnostic::general(format!("{}: {what}, without step times", source.name)).with_help(help)
}
