//! Parcae: plans that were measured on preemptible V100s, and which of them was taken when VMs came and went.

use std::collections::BTreeSet;

use super::file_inputs::FileInputs;
use super::function::{Function, function};
use super::no_value::NoValue;
use scavsim_read::expression::Arguments;
use scavsim_read::input::csv::{Row, Table};
use scavsim_read::input::{Diagnostics, Source};
use scavsim_sim::plans::FastestOn;
use scavsim_sim::plans::forecast::SpanOf;
use scavsim_sim::plans::reaction::{Aim, Moves, Prospect, ReactionCosts, worth};

const STEPS: (&str, &str) = (
    "data/plans/parcae-steps.csv",
    include_str!("../../../../data/plans/parcae-steps.csv"),
);
const CHOICES: (&str, &str) = (
    "data/plans/parcae-choices.csv",
    include_str!("../../../../data/plans/parcae-choices.csv"),
);

pub(super) const FUNCTIONS: &[Function] = &[
    function!(data parcae_fastest_share ["model"] "share of minutes in which the plan that was fastest by the source is the fastest by its measured table on the VMs that stay, or within 2 %"),
    function!(parcae_samples ["model", "choice"] "samples over the trace, with pauses by measured costs, if every minute the plan is that of the source by `throughput`, `liveput` or `predicted`, or ours: `last-value`, `clairvoyant`"),
];

/// Seconds between two choices.
const MINUTE_S: f64 = 60.0;
/// How much less than the fastest still is as fast.
const AS_FAST: f64 = 0.98;
/// Minutes that a clairvoyant choice looks ahead.
const AHEAD: usize = 60;

#[derive(Debug, Clone, Copy, PartialEq)]
struct MeasuredPlan {
    data: u32,
    pipeline: u32,
    samples_per_s: f64,
}

/// A minute of the trace: VMs that stay, come and go, and what the source took, as (data, pipeline).
#[derive(Debug, Clone, Copy)]
struct Minute {
    kept: u32,
    added: u32,
    removed: u32,
    taken: [(u32, u32); 3],
}

/// Names of what the source took, in the order of a [`Minute`].
const TAKEN: [&str; 3] = ["throughput", "liveput", "predicted"];

/// The rows of a model in an embedded table, as `parse` reads them.
fn rows_of<T>(
    model: &str,
    (file, text): (&str, &'static str),
    columns: &[&str],
    parse: impl Fn(&Row<'_>, &mut Diagnostics) -> Option<T>,
) -> Result<Vec<T>, NoValue> {
    let mut wrong = Diagnostics::default();
    let columns = [&["model"], columns].concat();
    let table = Table::read(&Source::new(file, text), &columns, &[], &mut wrong);
    let (mut all, mut known) = (Vec::new(), BTreeSet::new());
    for row in table.iter().flat_map(Table::rows) {
        let name = row.text("model", &mut wrong).unwrap_or_default();
        known.insert(name);
        all.extend((name == model).then(|| parse(&row, &mut wrong)).flatten());
    }
    if !wrong.is_empty() {
        return Err(NoValue::WrongTables(wrong));
    }
    if all.is_empty() {
        let known: Vec<&str> = known.into_iter().collect();
        return Err(NoValue::not_measured(
            format!("model `{model}`"),
            model,
            &known,
        ));
    }
    Ok(all)
}

/// The measured plans of a model, and the minutes in which one was taken.
fn measured(arguments: &Arguments<'_>) -> Result<(Vec<MeasuredPlan>, Vec<Minute>), NoValue> {
    let model = arguments.text("model")?;
    let count = |row: &Row<'_>, key, least, d: &mut _| {
        row.whole_number(key, least..=1000, d)
            .map(|count| count as u32)
    };
    let columns = ["data", "pipeline", "samples_per_s"];
    let plans = rows_of(model, STEPS, &columns, |row, d| {
        Some(MeasuredPlan {
            data: count(row, "data", 1, d)?,
            pipeline: count(row, "pipeline", 1, d)?,
            samples_per_s: row.number("samples_per_s", 1e-9..=1e12, d)?,
        })
    })?;
    let columns = [&["kept", "added", "removed"], &TAKEN[..]].concat();
    let minutes = rows_of(model, CHOICES, &columns, |row, d| {
        let mut taken = [(0, 0); TAKEN.len()];
        for (plan, key) in taken.iter_mut().zip(TAKEN) {
            let (data, pipeline) = row.text(key, d)?.split_once('x')?;
            *plan = (data.parse().ok()?, pipeline.parse().ok()?);
        }
        Some(Minute {
            kept: count(row, "kept", 0, d)?,
            added: count(row, "added", 0, d)?,
            removed: count(row, "removed", 0, d)?,
            taken,
        })
    })?;
    Ok((plans, minutes))
}

fn parcae_fastest_share(_: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    let (plans, minutes) = measured(arguments)?;
    let is_fast = |minute: &&Minute| {
        let there_are = minute.kept + minute.added - minute.removed;
        let fits = plans
            .iter()
            .filter(|plan| plan.data * plan.pipeline <= there_are);
        let best = fits.map(|plan| plan.samples_per_s).fold(0.0, f64::max);
        rate(&plans, minute.taken[0]) >= AS_FAST * best
    };
    Ok(minutes.iter().filter(is_fast).count() as f64 / minutes.len() as f64)
}

/// Samples per second of a plan; 0 of one that was not measured.
fn rate(plans: &[MeasuredPlan], (data, pipeline): (u32, u32)) -> f64 {
    let found = plans
        .iter()
        .find(|plan| (plan.data, plan.pipeline) == (data, pipeline));
    found.map_or(0.0, |plan| plan.samples_per_s)
}

fn parcae_samples(_: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    let (plans, minutes) = measured(arguments)?;
    let choice = arguments.text("choice")?;
    if let Some(column) = TAKEN.iter().position(|name| *name == choice) {
        return Ok(samples(&plans, &minutes, |at, _| {
            Some(minutes[at].taken[column])
        }));
    }
    let fastest = fastest(&plans);
    // As many VMs as there are, for as long as a change has to pay; or as many as there will be.
    let (ahead, seconds) = match choice {
        "last-value" => (1, AHEAD as f64 * MINUTE_S),
        "clairvoyant" => (AHEAD, MINUTE_S),
        _ => {
            let known = [&TAKEN[..], &["last-value", "clairvoyant"]].concat();
            return Err(NoValue::not_measured(
                format!("choice `{choice}`"),
                choice,
                &known,
            ));
        }
    };
    Ok(samples(&plans, &minutes, |at, now| {
        let gpus = |minute: &Minute| minute.kept + minute.added;
        let path = minutes[at..].iter().take(ahead).map(|minute| SpanOf {
            seconds,
            gpus: gpus(minute),
        });
        let path: Vec<SpanOf> = path.collect();
        let place = |plan: (u32, u32)| {
            plans
                .iter()
                .position(|own| (own.data, own.pipeline) == plan)
        };
        let (data, pipeline) = now.unwrap_or((1, 1));
        let best = worth::best(&Prospect {
            fastest: &fastest,
            gpus: gpus(&minutes[at]),
            path: &path,
            trained: now.and_then(place),
            pause_s: pause_s((data, pipeline), minutes[at].added > 0),
            is_start: now.is_none(),
            aim: Aim::Throughput,
        })?;
        let plan = plans[fastest[best.0].at];
        Some((plan.data, plan.pipeline))
    }))
}

/// The plans of which none is as fast on fewer VMs.
fn fastest(plans: &[MeasuredPlan]) -> Vec<FastestOn> {
    let mut all: Vec<FastestOn> = (plans.iter().enumerate())
        .map(|(at, plan)| FastestOn {
            gpus: plan.data * plan.pipeline,
            step_s: 1.0 / plan.samples_per_s,
            data: plan.data,
            at,
        })
        .collect();
    all.sort_by(|a, b| (a.gpus.cmp(&b.gpus)).then(a.step_s.total_cmp(&b.step_s)));
    let mut least = f64::INFINITY;
    all.retain(|one| {
        let is_faster = one.step_s < least;
        least = least.min(one.step_s);
        is_faster
    });
    all
}

/// Seconds of a change to a plan; its layers and state are not counted, as they are of one model only.
fn pause_s((data, pipeline): (u32, u32), adds: bool) -> f64 {
    ReactionCosts::parcae().pause_s(&Moves {
        data,
        pipeline,
        layers: 0,
        bytes: 0.0,
        adds,
    })
}

/// Samples over all minutes of the plans that `choose` takes, each by its place and what trained before.
fn samples(
    plans: &[MeasuredPlan],
    minutes: &[Minute],
    mut choose: impl FnMut(usize, Option<(u32, u32)>) -> Option<(u32, u32)>,
) -> f64 {
    let (mut sum, mut now) = (0.0, None);
    for (at, minute) in minutes.iter().enumerate() {
        let next = choose(at, now);
        let Some(plan) = next else {
            now = None;
            continue;
        };
        let there_are = minute.kept + minute.added;
        let rate = if plan.0 * plan.1 <= there_are {
            rate(plans, plan)
        } else {
            0.0
        };
        let pause = if next != now {
            pause_s(plan, minute.added > 0)
        } else if minute.removed > 0 {
            pause_s(plan, false)
        } else {
            0.0
        };
        sum += rate * (MINUTE_S - pause).max(0.0);
        now = next;
    }
    sum
}
