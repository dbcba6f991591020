//! Data of scenarios for expressions: rows, and functions of single runs.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::NoValue;
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};
use scavsim_data::usage::Usage;
use scavsim_experiment::columns::Value as Field;
use scavsim_experiment::{
    COLUMNS, Column, Conduct, Evaluator, Plan, PlanError, Record, SearchProblem, Sink, Tasks, run,
};
use scavsim_read::expression::{Arguments, Cell, ColumnTable};
use scavsim_scenario::ClusterScenario as _;
use scavsim_scenario::Scenario;
use scavsim_search::testbed::{History, JobTrial, SimulatedCluster};

/// Rows that `scavsim run` writes.
pub const RECORDS: &str = "records";

/// Other rows of a scenario, with their columns.
pub const KINDS: &[(&str, &[&str])] = &[
    ("records", &[]),
    (
        "truths",
        &[
            "workload",
            "pricing",
            "vm",
            "workers",
            "batch",
            "other",
            "time_h",
            "cost_usd",
            "training_time_h",
            "step_s",
            "steps_to_target",
        ],
    ),
    (
        "predictions",
        &[
            "workload",
            "strategy",
            "vm",
            "workers",
            "batch",
            "other",
            "predicted_time_h",
            "training_time_h",
        ],
    ),
    (
        "history",
        &[
            "workload", "vm", "workers", "batch", "noise", "epochs", "step_s",
        ],
    ),
];

pub const FUNCTIONS: &[(&str, &[&str], &str)] = &[
    (
        "time_after_loss_h",
        &["vm", "workers", "at_s", "scenario?"],
        "mean hours of runs of a kind of cluster in each of which one worker is lost after that many seconds, and no other",
    ),
    (
        "cost_after_loss_usd",
        &["vm", "workers", "at_s", "scenario?"],
        "mean cost of the same runs under the first policy",
    ),
];

/// The column with the line of `each` of a record.
const EACH: &str = "each";

/// A scenario, once for each of several lines of TOML.
#[derive(Debug)]
pub struct Variants(pub Vec<(Arc<str>, Scenario)>);

impl Variants {
    /// Columns of a kind of rows: for records those of `scavsim run`, the keys that make settings, and the line of `each`.
    pub fn columns(&self, kind: &str) -> Option<Vec<String>> {
        if kind == RECORDS {
            let all = COLUMNS.iter().map(|column| column.name.to_owned());
            return Some(all.chain(self.axes()).chain([EACH.to_owned()]).collect());
        }
        let (_, columns) = KINDS.iter().find(|(own, _)| *own == kind)?;
        Some(columns.iter().map(|name| (*name).to_owned()).collect())
    }

    /// Last parts of the keys that make settings.
    fn axes(&self) -> Vec<String> {
        let mut axes: Vec<String> = Vec::new();
        let settings = self.0.iter().flat_map(|(_, scenario)| &scenario.runs_in);
        for (axis, _) in settings.flat_map(|setting| axis_values(&setting.name)) {
            if !axes.iter().any(|known| known == axis) {
                axes.push(axis.to_owned());
            }
        }
        axes
    }

    pub fn programs(&self) -> Vec<String> {
        let all = self.0.iter().flat_map(|(_, scenario)| scenario.programs());
        all.collect()
    }

    /// Rows of a kind; for records only the columns `used`.
    pub fn table(&self, kind: &str, used: &BTreeSet<String>) -> Result<ColumnTable, NoValue> {
        if kind == RECORDS {
            return self.records(used);
        }
        let columns = KINDS.iter().find(|(own, _)| *own == kind);
        let mut table = ColumnTable::new(
            columns
                .map_or(&[][..], |(_, columns)| columns)
                .iter()
                .copied(),
        );
        for (_, scenario) in &self.0 {
            if kind == "history" {
                history(scenario, &mut table);
                continue;
            }
            let plan = Plan::new(scenario)?;
            match kind {
                "truths" => truths(&plan, &mut table)?,
                _ => predictions(&plan, &mut table)?,
            }
        }
        Ok(table)
    }

    fn records(&self, used: &BTreeSet<String>) -> Result<ColumnTable, NoValue> {
        let kept: Vec<&Column> = COLUMNS.iter().filter(|c| used.contains(c.name)).collect();
        let axes = self.axes();
        let names = kept.iter().map(|column| column.name);
        let names = names.chain(axes.iter().map(String::as_str)).chain([EACH]);
        let mut rows = Rows {
            table: ColumnTable::new(names),
            kept,
            axes: &axes,
            each: Cell::Empty,
        };
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        for (each, scenario) in &self.0 {
            rows.each = Cell::Text(Arc::clone(each));
            let mut plan = Plan::on_threads(jobs, scenario, &scavsim_engine::Interrupt::NEVER)?;
            let tasks = Tasks::from_plan(&plan);
            let progress = AtomicU64::new(0);
            let conduct = Conduct::new(jobs, &progress);
            run(&mut plan, tasks.behind(0), conduct, &mut [&mut rows])?;
        }
        Ok(rows.table)
    }

    /// Mean over runs of a configuration that each lose one worker after `at_s` seconds.
    pub fn after_loss(&self, what: &str, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
        let (vm, workers) = (arguments.text("vm")?, arguments.number("workers")?);
        let moments = arguments.numbers("at_s")?;
        for (_, scenario) in &self.0 {
            let plan = Plan::new(scenario)?;
            let cell = (0..plan.arena_count()).find_map(|at| {
                let arena = plan.arena(at).ok()?;
                let space = &arena.space;
                let is_it = |&at: &usize| {
                    space.vm(at).is_some_and(|own| **own == *vm)
                        && space.workers(at).map(f64::from) == Some(workers)
                };
                Some((arena, (0..space.len()).find(is_it)?))
            });
            let Some((arena, cell)) = cell else {
                continue;
            };
            let mut cluster = SimulatedCluster::new(arena.world()?, &plan.terms);
            let (mut usage, mut sum) = (Usage::default(), 0.0);
            for at_s in &moments {
                cluster.restart(0);
                cluster.lose_one(cell, SimTime::from_seconds(at_s.max(0.0)))?;
                let end = cluster.run_to_target(cell)?.net_end;
                cluster.usage_until(end, &mut usage);
                sum += match what {
                    "time_after_loss_h" => end.hours(),
                    _ => arena.tariffs[0].bill_usd(&usage),
                };
            }
            return Ok(sum / moments.len() as f64);
        }
        Err(NoValue::NoCluster {
            vm: vm.to_owned(),
            workers,
        })
    }
}

/// Collects records for a table.
struct Rows<'a> {
    table: ColumnTable,
    kept: Vec<&'static Column>,
    axes: &'a [String],
    each: Cell,
}

impl Sink for Rows<'_> {
    fn push_record(&mut self, record: &Record<'_>) -> io::Result<()> {
        let mut cells: Vec<Cell> = (self.kept.iter().enumerate())
            .map(|(at, column)| match (column.of)(record) {
                Field::Empty => Cell::Empty,
                Field::Count(count) => Cell::Number(count as f64),
                Field::Whole(whole) => Cell::Number(f64::from(whole)),
                Field::Figure(figure) => Cell::Number(figure),
                Field::Text(text) => self.table.text(at, text),
            })
            .collect();
        for (at, axis) in self.axes.iter().enumerate() {
            let own = axis_values(record.setting).find(|(name, _)| name == axis);
            cells.push(match own.map(|(_, value)| (value, value.parse())) {
                None => Cell::Empty,
                Some((_, Ok(number))) => Cell::Number(number),
                Some((value, Err(_))) => self.table.text(self.kept.len() + at, value),
            });
        }
        cells.push(self.each.clone());
        self.table.push(cells);
        Ok(())
    }
}

/// Last parts of the keys of a setting, with their values.
fn axis_values(setting: &str) -> impl Iterator<Item = (&str, &str)> {
    setting.split(';').filter_map(|part| {
        let (key, value) = part.split_once('=')?;
        Some((key.rsplit_once('.').map_or(key, |(_, last)| last), value))
    })
}

fn text(text: Option<&str>) -> Cell {
    text.map_or(Cell::Empty, |text| Cell::Text(Arc::from(text)))
}

fn number(number: Option<impl Into<f64>>) -> Cell {
    number.map_or(Cell::Empty, |number| Cell::Number(number.into()))
}

/// VM type, workers, batch and the other values of a configuration.
fn place(arena: &SearchProblem, at: usize) -> [Cell; 4] {
    let space = &arena.space;
    [
        text(space.vm(at).map(|vm| &**vm)),
        number(space.workers(at)),
        number(space.batch(at)),
        text(space.other(at)),
    ]
}

/// The expectations of every configuration, as in `scavsim rank`.
fn truths(plan: &Plan, table: &mut ColumnTable) -> Result<(), NoValue> {
    for at in 0..plan.arena_count() {
        let arena = plan.arena(at).map_err(PlanError::clone)?;
        let world = arena.world().ok();
        for (nth, policy) in plan.policies.iter().enumerate() {
            for (at, point) in arena.all_expected(nth).enumerate() {
                let truth = world.map(|world| &world.truths[at]);
                let training = arena.expected_time_s[at].map(|s| s / SECONDS_PER_HOUR);
                let front = [text(Some(&arena.workload)), text(Some(&policy.name))];
                let back = [
                    Cell::Number(point.time_s / SECONDS_PER_HOUR),
                    Cell::Number(point.cost_usd),
                    number(training),
                    number(truth.map(|truth| truth.expected_step_s)),
                    number(truth.map(|truth| truth.steps_to_target)),
                ];
                table.push(front.into_iter().chain(place(arena, at)).chain(back));
            }
        }
    }
    Ok(())
}

/// The predictions of every strategy for every configuration, in the first replica.
fn predictions(plan: &Plan, table: &mut ColumnTable) -> Result<(), NoValue> {
    let mut evaluator = Evaluator::new(plan);
    for at in 0..plan.arena_count() {
        let arena = plan.arena(at).map_err(PlanError::clone)?;
        for (index, contender) in arena.contenders.iter().enumerate() {
            let predicted = evaluator.predicted(at, index, 0).to_vec();
            for (at, time_s) in predicted.iter().enumerate() {
                let hours = |seconds: Option<f64>| number(seconds.map(|s| s / SECONDS_PER_HOUR));
                let front = [text(Some(&arena.workload)), text(Some(&contender.name))];
                let back = [hours(*time_s), hours(arena.expected_time_s[at])];
                table.push(front.into_iter().chain(place(arena, at)).chain(back));
            }
        }
    }
    Ok(())
}

fn history(scenario: &Scenario, table: &mut ColumnTable) {
    let Some(clusters) = scenario.clusters() else {
        return;
    };
    for (workload, _) in &clusters.workloads {
        for run in History::from_workload(workload, &clusters.reach).runs {
            table.push([
                text(Some(&workload.name)),
                text(run.vm.as_deref()),
                number(run.workers),
                number(run.batch),
                number(run.noise_normalised),
                number(run.epochs),
                number(run.step_s()),
            ]);
        }
    }
}
