//! Measured plans, and the work done over a trace by each policy of choosing among them when VMs come and go.

use std::sync::Arc;

use super::file_inputs::FileInputs;
use super::function::{Function, function};
use super::no_value::NoValue;
use scavsim_plans::feasible_plan::FastestOn;
use scavsim_plans::forecast::SpanOf;
use scavsim_plans::reaction::{Aim, Moves, Prospect, ReactionCosts, worth};
use scavsim_read::expression::{Arguments, Cell, ColumnTable, Fault};

pub(super) const FUNCTIONS: &[Function] = &[
    function!(traced_samples ["plans", "minutes", "model", "choice"] "samples over the minutes of a table, with pauses by measured costs, if the plan of a model is every minute that of a column, or ours: `last-value`, `clairvoyant`"),
];

/// Seconds between two choices.
const MINUTE_S: f64 = 60.0;
/// Minutes that a clairvoyant choice looks ahead.
const AHEAD: usize = 60;

struct MeasuredPlan {
    name: Arc<str>,
    data: u32,
    pipeline: u32,
    samples_per_s: f64,
}

impl MeasuredPlan {
    fn gpus(&self) -> u32 {
        self.data.saturating_mul(self.pipeline)
    }
}

/// A minute of the trace: the number of VMs, and whether some came or went.
struct Minute {
    vms: u32,
    adds: bool,
    removes: bool,
}

/// The rows of a model in a table of the paper.
struct ModelRows<'t> {
    table: &'t ColumnTable,
    rows: Vec<usize>,
}

impl<'t> ModelRows<'t> {
    fn new(table: &'t str, given: &'t FileInputs, model: &str) -> Result<Self, NoValue> {
        let known = given.tables.keys().map(String::as_str);
        let found = given.tables.get(table);
        let table = found.ok_or_else(|| NoValue::unknown("table", table, known))?;
        let mut all = ModelRows {
            table,
            rows: (0..table.height()).collect(),
        };
        let mut names = all.texts("model")?;
        all.rows.retain(|row| *names[*row] == *model);
        if all.rows.is_empty() {
            names.sort_unstable();
            names.dedup();
            let known: Vec<&str> = names.iter().map(|name| &**name).collect();
            let what = format!("model `{model}`");
            return Err(NoValue::not_measured(what, model, &known));
        }
        Ok(all)
    }

    fn cells(&self, column: &str) -> Result<impl Iterator<Item = &'t Cell>, NoValue> {
        let known = self.table.names().iter().map(String::as_str);
        let cells = self.table.column(column);
        let cells = cells.ok_or_else(|| NoValue::unknown("column", column, known))?;
        Ok(self.rows.iter().map(|row| &cells[*row]))
    }

    fn texts(&self, column: &str) -> Result<Vec<Arc<str>>, NoValue> {
        let text = |cell: &Cell| match cell {
            Cell::Text(text) => Arc::clone(text),
            other => other.shown().into(),
        };
        Ok(self.cells(column)?.map(text).collect())
    }

    fn numbers(&self, column: &str) -> Result<Vec<f64>, NoValue> {
        let number = |cell: &Cell| {
            let number = cell.number();
            number.ok_or_else(|| Fault::Holds {
                name: column.to_owned(),
                found: cell.shown(),
            })
        };
        Ok(self.cells(column)?.map(number).collect::<Result<_, _>>()?)
    }
}

fn traced_samples(given: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    let (model, choice) = (arguments.text("model")?, arguments.text("choice")?);
    let rows = ModelRows::new(arguments.text("plans")?, given, model)?;
    let degrees = rows
        .numbers("data")?
        .into_iter()
        .zip(rows.numbers("pipeline")?);
    let plans: Vec<MeasuredPlan> = (rows.texts("plan")?.into_iter().zip(degrees))
        .zip(rows.numbers("samples_per_s")?)
        .map(|((name, (data, pipeline)), samples_per_s)| MeasuredPlan {
            name,
            data: data as u32,
            pipeline: pipeline as u32,
            samples_per_s,
        })
        .collect();
    let rows = ModelRows::new(arguments.text("minutes")?, given, model)?;
    let changes = rows
        .numbers("added")?
        .into_iter()
        .zip(rows.numbers("removed")?);
    let minutes: Vec<Minute> = (rows.numbers("kept")?.into_iter().zip(changes))
        .map(|(kept, (added, removed))| Minute {
            vms: (kept + added) as u32,
            adds: added > 0.0,
            removes: removed > 0.0,
        })
        .collect();
    // The current number of VMs, and the time in which a change must pay; or the future number.
    let (ahead, seconds) = match choice {
        "last-value" => (1, AHEAD as f64 * MINUTE_S),
        "clairvoyant" => (AHEAD, MINUTE_S),
        column => {
            let taken = rows.texts(column)?;
            let place = |at: usize| plans.iter().position(|plan| plan.name == taken[at]);
            return Ok(samples(&plans, &minutes, |at, _| place(at)));
        }
    };
    let fastest = fastest(&plans);
    Ok(samples(&plans, &minutes, |at, now| {
        let path = minutes[at..].iter().take(ahead).map(|minute| SpanOf {
            seconds,
            gpus: minute.vms,
        });
        let (data, pipeline) = now.map_or((1, 1), |at| (plans[at].data, plans[at].pipeline));
        let best = worth::best(&Prospect {
            fastest: &fastest,
            gpus: minutes[at].vms,
            path: &path.collect::<Vec<_>>(),
            trained: now,
            pause_s: pause_s(data, pipeline, minutes[at].adds),
            is_start: now.is_none(),
            aim: Aim::Throughput,
        })?;
        Some(fastest[best.0].at)
    }))
}

/// The plans for which none is as fast on fewer VMs.
fn fastest(plans: &[MeasuredPlan]) -> Vec<FastestOn> {
    let mut all: Vec<FastestOn> = (plans.iter().enumerate())
        .map(|(at, plan)| FastestOn {
            gpus: plan.gpus(),
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

/// Seconds of a change to a plan; its layers and state are not counted, because they are known for one model only.
fn pause_s(data: u32, pipeline: u32, adds: bool) -> f64 {
    ReactionCosts::parcae().pause_s(&Moves {
        data,
        pipeline,
        layers: 0,
        bytes: 0.0,
        adds,
    })
}

/// Samples over all minutes with the plans that `choose` selects, each by its index and the plan before.
fn samples(
    plans: &[MeasuredPlan],
    minutes: &[Minute],
    mut choose: impl FnMut(usize, Option<usize>) -> Option<usize>,
) -> f64 {
    let (mut sum, mut now) = (0.0, None);
    for (at, minute) in minutes.iter().enumerate() {
        let next = choose(at, now);
        if let Some(plan) = next
            .map(|at| &plans[at])
            .filter(|plan| plan.gpus() <= minute.vms)
        {
            let pause = if next != now {
                pause_s(plan.data, plan.pipeline, minute.adds)
            } else if minute.removes {
                pause_s(plan.data, plan.pipeline, false)
            } else {
                0.0
            };
            sum += plan.samples_per_s * (MINUTE_S - pause).max(0.0);
        }
        now = next;
    }
    sum
}
