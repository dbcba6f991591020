//! The protocol between scavsim and a strategy that is a program, in lines of JSON.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::search::Goal;
use crate::search::other_jobs::{OtherJob, OtherJobs, OtherRun};
use crate::search::{Forecast, Objective, Task};
use crate::testbed::{Extent, History, Observation, SearchCost, Stop, Target};
use scavsim_talk::lines::{Given, NotUnderstood};
use scavsim_talk::numbered_conversation::Said;
use scavsim_talk::program::MessageTerms;

pub(super) const TERMS: MessageTerms = MessageTerms {
    task: "search",
    done: "chosen",
    answers: "`probe`, `cold_start`, `choose`, `predict`, `fail`",
};

#[derive(Debug)]
pub(super) enum Answer {
    Probe(Probe),
    ColdStart(ColdStart),
    Choose(usize),
    /// End of the search: seconds to the target per configuration, null where unknown.
    Predict(Vec<Option<f64>>),
}

/// An answer as written, with the number of its line.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct StrategyReply {
    number: Given<u64>,
    probe: Given<Probe>,
    cold_start: Given<ColdStart>,
    choose: Given<usize>,
    predict: Given<Vec<Option<f64>>>,
    fail: Given<String>,
    ready: Given<bool>,
}

/// By default as many steps as the workload's probes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Probe {
    pub(super) configuration: usize,
    steps: Option<u64>,
    share: Option<f64>,
    fidelity: Option<f64>,
    seconds: Option<f64>,
    usd: Option<f64>,
    to_target: Option<bool>,
}

impl Probe {
    pub(super) fn extent(&self, probe_steps: u64) -> Result<Extent, Stop> {
        let whole = self.to_target.unwrap_or(false);
        let said = [
            self.steps.map(Extent::Steps),
            self.share.map(Extent::Share),
            self.fidelity.map(Extent::Fidelity),
            self.seconds.map(Extent::Seconds),
            self.usd.map(Extent::Usd),
            whole.then_some(Extent::ToTarget),
        ];
        let mut said = said.into_iter().flatten();
        match (said.next(), said.next()) {
            (None, _) => Ok(Extent::Steps(probe_steps)),
            (Some(one), None) => Ok(one),
            _ => Err(Stop::Failed(
                "the program asks for a probe of two lengths".to_owned(),
            )),
        }
    }
}

/// By default as long as the workload's.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ColdStart {
    pub(super) configuration: usize,
    pub(super) steps: Option<u64>,
}

pub(super) fn understood(said: StrategyReply) -> Result<Said<Answer>, NotUnderstood> {
    let answers = [
        said.probe.0.map(Answer::Probe),
        said.cold_start.0.map(Answer::ColdStart),
        said.choose.0.map(Answer::Choose),
        said.predict.0.map(Answer::Predict),
    ];
    Ok(Said {
        number: said.number.0,
        answers: answers.into_iter().flatten().collect(),
        fail: said.fail.0,
        is_ready: said.ready.0.is_some(),
    })
}

pub(super) fn predict(times: &[Option<f64>], forecast: &mut Forecast) -> Result<(), Stop> {
    let (found, expected) = (times.len(), forecast.time_s.len());
    if found != expected {
        return Err(Stop::Failed(format!(
            "the program predicts {found} of {expected} configurations"
        )));
    }
    for (at, time_s) in times.iter().enumerate() {
        let Some(time_s) = *time_s else { continue };
        if time_s <= 0.0 {
            return Err(Stop::Failed(format!(
                "the program predicts {time_s} s for configuration {at}: seconds are above 0, and null where nothing is known"
            )));
        }
        forecast.predict(at, time_s);
    }
    Ok(())
}

pub(super) fn task(
    task: &Task<'_>,
    earlier: Option<&History>,
    others: Option<&OtherJobs>,
) -> Value {
    let space = task.space;
    let configurations: Vec<Value> = (0..space.len())
        .map(|at| {
            let values = space.axes().iter().enumerate().map(|(axis, of)| {
                let value = if of.levels().is_empty() {
                    json!(space.value(at, axis))
                } else {
                    json!(space.text(at, axis))
                };
                (of.name.to_string(), as_whole_number(value))
            });
            Value::Object(values.collect())
        })
        .collect();
    let earlier = earlier.map(|earlier| {
        let runs = earlier.runs.iter().map(|run| {
            json!({
                "vm": run.vm.as_deref(),
                "workers": run.workers,
                "batch": run.batch,
                "other": run.other.as_deref(),
                "step_s": run.step_s(),
                "noise_normalised": run.noise_normalised,
                "epochs": run.epochs,
                "time_s": run.time_s,
            })
        });
        runs.collect::<Vec<_>>()
    });
    let limits = task.limits;
    let machines = (0..space.len()).map(|at| {
        let machine = task.machine(at)?;
        Some(json!({
            "vcpu": as_whole_number(json!(machine.vcpu)),
            "memory_gib": machine.memory_gib,
            "gpus": machine.gpus,
        }))
    });
    let machines = Some(machines.collect()).filter(|all: &Vec<_>| all.iter().any(Option::is_some));
    let (quality_at_least, quality_at_most) = match task.goal {
        Some(Goal::AtLeast(least)) => (Some(least), None),
        Some(Goal::AtMost(most)) => (None, Some(most)),
        None => (None, None),
    };
    json!({
        "protocol": 1,
        "workload": task.workload,
        "configurations": configurations,
        "machines": machines,
        "samples_per_epoch": task.samples_per_epoch,
        "stated_epochs": task.stated_epochs,
        "parameters": task.parameters,
        "cold_start_steps": task.cold_start_steps,
        "probe_steps": task.probe_steps,
        "fidelities": task.fidelities,
        "quality_at_least": quality_at_least,
        "quality_at_most": quality_at_most,
        "limits": {
            "max_time_s": limits.max_time_s,
            "max_cost_usd": limits.max_cost_usd,
            "max_miss": limits.max_miss,
        },
        "earlier_runs": earlier,
        "other_jobs": others.map(|others| others.jobs.iter().map(other_job).collect::<Vec<_>>()),
    })
}

/// Another job: where it reached the target, and where it failed, with seconds.
fn other_job(job: &OtherJob) -> Value {
    let runs = job.runs.iter().enumerate();
    let runs = runs.filter_map(|(at, run)| {
        Some(match (*run)? {
            OtherRun::Reached(seconds) => json!({ "configuration": at, "reached_s": seconds }),
            OtherRun::Failed(seconds) => json!({ "configuration": at, "failed_s": seconds }),
        })
    });
    json!({ "workload": job.name, "program": job.program, "runs": runs.collect::<Vec<_>>() })
}

/// Workers and batches as whole numbers, for programs that count with them.
fn as_whole_number(value: Value) -> Value {
    match value.as_f64() {
        Some(x) if x.fract() == 0.0 && x.abs() < 1e15 => json!(x as i64),
        _ => value,
    }
}

/// What a search of the task is told besides.
pub(super) fn search(task: &Task<'_>, seed: usize) -> Value {
    let usd_per_hour = task.prices.map(|prices| {
        let all = 0..task.space.len();
        all.map(|at| prices.usd_per_hour(at)).collect::<Vec<_>>()
    });
    let objective = task.objective.map(Objective::name);
    json!({
        "seed": seed,
        "objective": objective,
        "repeats": task.repeats,
        "usd_per_hour": usd_per_hour,
    })
}

#[derive(Serialize)]
pub(super) struct ObservationMessage {
    pub(super) observation: Option<ObservationFields>,
    pub(super) spent_s: f64,
    pub(super) spent_usd: Option<f64>,
}

#[derive(Serialize)]
pub(super) struct ObservationFields {
    steps: Option<u64>,
    pub(super) step_s: Option<f64>,
    pub(super) compute_s: Option<f64>,
    pub(super) communication_s: Option<f64>,
    noise_normalised: Option<f64>,
    quality: Option<f64>,
    pub(super) reached_s: Option<f64>,
    pub(super) more_than_s: Option<f64>,
    pub(super) failed_s: Option<f64>,
}

pub(super) fn observation(seen: Option<Observation>, spent: SearchCost) -> ObservationMessage {
    let observation = seen.map(|o| {
        let (reached_s, more_than_s, failed_s) = match o.target {
            Target::Unknown => (None, None, None),
            Target::Reached(seconds) => (Some(seconds), None, None),
            Target::MoreThan(seconds) => (None, Some(seconds), None),
            Target::Failed(seconds) => (None, None, Some(seconds)),
        };
        ObservationFields {
            steps: o.steps,
            step_s: o.step_s,
            compute_s: o.compute_s,
            communication_s: o.communication_s,
            noise_normalised: o.noise_normalised,
            quality: o.quality,
            reached_s,
            more_than_s,
            failed_s,
        }
    });
    ObservationMessage {
        observation,
        spent_s: spent.seconds,
        spent_usd: spent.usd,
    }
}
