//! This library in process.

use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use scavsim::experiment::columns::Value as Cell;
use scavsim::experiment::{AXIS, COLUMNS, Evaluator, Plan, Record};
use scavsim::input::{Diagnostics, Source};
use scavsim::report::trace_jsonl;
use scavsim::report::trace_names::TraceOf;
use scavsim::scenario::{self, Overrides};
use scavsim::training::Fidelity;
use scavsim::{Interrupt, RunEnding, Scenario};
use serde_json::Value;

use crate::draft::SCENARIO;
use crate::program::{Not, Wrong, crashed};
use crate::rows::Row;

pub fn schema() -> Value {
    scenario::file::schema().to_value()
}

/// Reads the scenario in a folder.
pub fn check(folder: &Path) -> Result<(), Not> {
    guarded(|| open(folder, None).map(|_| ()))
}

/// Its records.
pub fn run(folder: &Path, jobs: usize, patience: Duration) -> Result<Vec<Row>, Not> {
    guarded(|| {
        let (interrupt, alarm) = alarm(patience);
        let scenario = open(folder, Some((&interrupt, jobs)))?;
        let mut rows = Vec::new();
        let mut columns = None;
        let finished = scenario.run(|record| {
            let columns = columns.get_or_insert_with(|| Arc::new(names(record)));
            rows.push(row(record, columns));
        });
        drop(alarm);
        match finished {
            Ok(finished) if matches!(finished.ending, RunEnding::Interrupted) => Err(Not::TooSlow),
            Ok(_) => Ok(rows),
            Err(why) => Err(crashed(why)),
        }
    })
}

/// The largest relative standard error of the expectations of any configuration.
pub fn stated_error(folder: &Path, patience: Duration) -> Result<f64, Not> {
    guarded(|| {
        let scenario = read(folder)?;
        let (interrupt, alarm) = alarm(patience);
        let plan = Plan::heeding(&scenario, &interrupt);
        drop(alarm);
        if interrupt.is_raised() {
            return Err(Not::TooSlow);
        }
        let all = plan.map_err(crashed)?.precision();
        let errors = all.iter().map(|(_, precision)| precision.error);
        Ok(errors.filter(|error| error.is_finite()).fold(0.0, f64::max))
    })
}

/// All events of a case, in fidelity `event`.
pub fn trace(folder: &Path, case: u64, most: u64, patience: Duration) -> Result<String, Not> {
    guarded(|| watch(folder, case, most, patience))
}

fn open(folder: &Path, how: Option<(&Interrupt, usize)>) -> Result<Scenario, Not> {
    let mut options = Scenario::options();
    if let Some((interrupt, jobs)) = how {
        options = options.interrupt(interrupt).jobs(jobs);
    }
    options.open(folder.join(SCENARIO)).map_err(|mistakes| {
        let all = mistakes.iter().map(|mistake| Wrong {
            file: mistake.file().unwrap_or_default().to_owned(),
            line: mistake.line(),
            said: mistake.title.clone(),
        });
        Not::Refused(all.collect())
    })
}

/// The scenario in a folder, as the inner crates represent it.
fn read(folder: &Path) -> Result<scenario::Scenario, Not> {
    let mut diagnostics = Diagnostics::default();
    let source = Source::read(&folder.join(SCENARIO), &mut diagnostics);
    let source = source.ok_or(Not::Refused(Vec::new()))?;
    scenario::load(&source, folder, Overrides::default(), &mut diagnostics)
        .ok_or(Not::Refused(Vec::new()))
}

fn watch(folder: &Path, case: u64, most: u64, patience: Duration) -> Result<String, Not> {
    let mut scenario = read(folder)?;
    scenario.fidelity = Fidelity::Event;
    let (interrupt, alarm) = alarm(patience);
    let plan = Plan::heeding(&scenario, &interrupt);
    if interrupt.is_raised() {
        return Err(Not::TooSlow);
    }
    let plan = plan.map_err(crashed)?;
    let watched = Evaluator::new(&plan).watch(plan.case(case), most);
    drop(alarm);
    if interrupt.is_raised() {
        return Err(Not::TooSlow);
    }
    // A case without a result has no trace.
    let Ok(watched) = watched else {
        return Err(Not::Refused(Vec::new()));
    };
    let vms = match watched.arena.ground.facts().rented {
        Some(vms) => vms,
        None => return Err(Not::Refused(Vec::new())),
    };
    let of = TraceOf::new(&plan, watched.case, Fidelity::Event.name(), vms);
    let mut text = Vec::new();
    trace_jsonl::write(&of, &watched.entries, &mut text).map_err(crashed)?;
    String::from_utf8(text).map_err(crashed)
}

/// A flag that is raised at the end of `patience`, unless the alarm is dropped before.
fn alarm(patience: Duration) -> (Interrupt, Alarm) {
    let interrupt = Interrupt::default();
    let raised = interrupt.clone();
    let (stop, stopped) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        if stopped.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout) {
            raised.raise();
        }
    });
    (interrupt, Alarm(stop))
}

/// Rings at the end of `patience`, unless it is dropped.
struct Alarm(#[expect(dead_code, reason = "it is dropped")] mpsc::Sender<()>);

/// A panic is a crash.
fn guarded<T>(body: impl FnOnce() -> Result<T, Not>) -> Result<T, Not> {
    panic::catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|why| {
        let text = why.downcast_ref::<String>().cloned();
        let text = text.or_else(|| why.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(Not::Crashed(format!("panic: {}", text.unwrap_or_default())))
    })
}

/// Names of all columns, followed by the axes.
fn names(record: &Record<'_>) -> Vec<String> {
    let axes = record
        .axes
        .names()
        .iter()
        .map(|axis| format!("{AXIS}{axis}"));
    let columns = COLUMNS.iter().map(|column| column.name.to_owned());
    columns.chain(axes).collect()
}

fn row(record: &Record<'_>, columns: &Arc<Vec<String>>) -> Row {
    let cells = COLUMNS.iter().map(|column| match (column.of)(record) {
        Cell::Empty => String::new(),
        Cell::Count(count) => count.to_string(),
        Cell::Text(text) => text.to_owned(),
        Cell::Whole(whole) => whole.to_string(),
        Cell::Figure(figure) => figure.to_string(),
    });
    let axes = record.axes.names().iter().map(|axis| {
        let value = record.axes.value(axis);
        value.map_or_else(String::new, |value| value.to_string())
    });
    Row::new(columns.clone(), cells.chain(axes).collect())
}
