//! A run: the lock is released, Ctrl-C is heard, progress is told.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use pyo3::create_exception;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use scavsim::cli::asked::{RunningSummary, ask_about_programs, identity};
use scavsim::{Depends, Interrupt, RecordBatches, Registry, Scenario};

use crate::asking::refused;
use crate::mistakes::raised;
use crate::spoken::spoken;
use crate::table::{Records, arrow_failed};

/// Records in a batch.
const ROWS: usize = 4_096;
/// Between two looks at signals.
pub(crate) const LOOK: Duration = Duration::from_millis(20);

/// What a scenario comes from.
#[derive(FromPyObject)]
pub(crate) enum Text {
    /// Its text.
    Toml(String),
    /// Its file.
    File(PathBuf),
}

/// Name, how a conversation with it begins; whether it is told the objective, prices, earlier runs, other jobs; probes and seconds
/// beyond which a search fails.
type Strategies = Vec<(String, Py<PyAny>, (bool, bool, bool, bool), (u32, f64))>;

create_exception!(
    scavsim,
    Stopped,
    PyRuntimeError,
    "A run was stopped from outside."
);

/// Does `work` on another thread and calls `look` all the while; its error ends the work by the interrupt.
fn watched<T: Send>(
    py: Python<'_>,
    interrupt: &Interrupt,
    look: impl Fn(Python<'_>) -> PyResult<()> + Sync,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let look = || Python::attach(&look);
    let done = py.detach(|| {
        thread::scope(|scope| {
            let working = scope.spawn(work);
            let mut stopped = Ok(());
            while !working.is_finished() {
                thread::sleep(LOOK);
                if stopped.is_ok() {
                    stopped = look();
                    if stopped.is_err() {
                        interrupt.raise();
                    }
                }
            }
            let done = working.join();
            stopped.and_then(|()| look()).map(|()| done)
        })
    })?;
    done.map_err(|_| PyRuntimeError::new_err("the run ended in a fault of scavsim"))
}

fn checked(
    py: Python<'_>,
    text: &Text,
    set: &[String],
    strategies: Strategies,
    jobs: Option<usize>,
    interrupt: &Interrupt,
    look: impl Fn(Python<'_>) -> PyResult<()> + Sync,
) -> PyResult<Scenario> {
    let mut registry = Registry::default();
    for (name, open, told, (probes, search_s)) in strategies {
        let mut depends = Depends::NOTHING;
        let (earlier_runs, other_jobs);
        (depends.objective, depends.prices, earlier_runs, other_jobs) = told;
        let search = Duration::try_from_secs_f64(search_s)
            .map_err(|why| PyValueError::new_err(format!("`max_search_s` of `{name}`: {why}")))?;
        let own = spoken(open)
            .depending(depends)
            .earlier_runs(earlier_runs)
            .other_jobs(other_jobs)
            .bounded(probes, search);
        registry = registry.with(&name, own);
    }
    let mut options = Scenario::options().registry(registry).interrupt(interrupt);
    for line in set {
        options = options.set(line);
    }
    if let Some(jobs) = jobs {
        options = options.jobs(jobs);
    }
    let read = watched(py, interrupt, look, || match text {
        Text::Toml(text) => options.parse(text),
        Text::File(path) => options.open(path),
    })?;
    read.map_err(|mistakes| raised(py, &mistakes))
}

/// Checks a scenario: its name, and how many cases it has.
#[pyfunction]
pub(crate) fn check(
    py: Python<'_>,
    text: Text,
    set: Vec<String>,
    strategies: Strategies,
) -> PyResult<(String, u64)> {
    let interrupt = Interrupt::default();
    let scenario = checked(py, &text, &set, strategies, None, &interrupt, |py| {
        py.check_signals()
    })?;
    Ok((scenario.name().to_owned(), scenario.cases()))
}

/// Runs a scenario. `progress` is called with how many cases are done, and how many there are; `stop` is asked whether to go
/// on, and `over` told where that is not so. A file outside of the working folder starts no program unless `programs` says so.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn run(
    py: Python<'_>,
    text: Text,
    set: Vec<String>,
    strategies: Strategies,
    jobs: Option<usize>,
    progress: Option<Py<PyAny>>,
    stop: Option<Py<PyAny>>,
    over: Py<PyAny>,
    most_bytes: u64,
    programs: bool,
) -> PyResult<Records> {
    let interrupt = Interrupt::default();
    let asked = |py: Python<'_>| {
        py.check_signals()?;
        match &stop {
            Some(stop) if stop.call_method0(py, "is_set")?.is_truthy(py)? => {
                Err(Stopped::new_err("the run was stopped"))
            }
            _ => Ok(()),
        }
    };
    let scenario = checked(py, &text, &set, strategies, jobs, &interrupt, asked)?;
    if let Text::File(file) = &text {
        ask_about_programs(file, &scenario, programs).map_err(|refusal| refused(py, refusal))?;
    }
    let (name, cases) = (scenario.name().to_owned(), scenario.cases());
    if cases.saturating_mul(ROW_BYTES) > most_bytes {
        return Err(too_many(cases, most_bytes));
    }
    let manifest =
        identity(&scenario).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let done = AtomicU64::new(0);
    let look = |py: Python<'_>| {
        asked(py)?;
        match &progress {
            Some(told) => told
                .call1(py, (done.load(Ordering::Relaxed), cases))
                .map(|_| ()),
            None => Ok(()),
        }
    };
    let hearing = |py: Python<'_>| {
        let heard = look(py);
        if heard.is_err() {
            // Strategies that are waited for are waited for no more.
            over.call_method0(py, "set")?;
        }
        heard
    };
    let gathered = watched(py, &interrupt, hearing, || {
        gather(&scenario, &done, &interrupt, most_bytes)
    })?;
    let (schema, batches, finished, summary) = gathered?;
    Ok(Records {
        schema,
        batches,
        cases: finished.cases,
        failed: finished.failed,
        name,
        remarks: scenario.remarks_on_prices(),
        summary,
        manifest,
    })
}

/// Bytes that a record takes in memory, about: 1,676 of a run of the shipped scenarios.
const ROW_BYTES: u64 = 1_700;

fn too_many(cases: u64, most_bytes: u64) -> PyErr {
    let gb = |bytes: u64| bytes as f64 / 1e9;
    PyMemoryError::new_err(format!(
        "the records of {cases} cases take about {:.1} GB in memory, more than `memory_gb` = {}: `scavsim.run_into` writes \
         them to a folder, of which only what is needed is read",
        gb(cases.saturating_mul(ROW_BYTES)),
        gb(most_bytes)
    ))
}

type Gathered = (
    arrow_schema::SchemaRef,
    Vec<RecordBatch>,
    scavsim::Finished,
    String,
);

fn gather(
    scenario: &Scenario,
    done: &AtomicU64,
    interrupt: &Interrupt,
    most_bytes: u64,
) -> PyResult<Gathered> {
    let mut waiting = RecordBatches::with_axes(&scenario.axes());
    let mut batches: Vec<RecordBatch> = Vec::new();
    let mut wrong: Option<ArrowError> = None;
    let mut summary = RunningSummary::for_scenario(scenario);
    let mut not_summed: Option<std::io::Error> = None;
    let mut bytes = 0;
    let finished = scenario.run(|record| {
        waiting.push_record(record);
        if let Err(error) = summary.push_record(record) {
            not_summed = Some(error);
        }
        if waiting.waiting() == ROWS {
            match waiting.batch() {
                Ok(batch) => {
                    bytes += batch.get_array_memory_size() as u64;
                    batches.push(batch);
                }
                Err(error) => wrong = Some(error),
            }
            // A run to a precision has more cases than it begins with.
            if bytes > most_bytes {
                interrupt.raise();
            }
        }
        done.fetch_add(1, Ordering::Relaxed);
    });
    let finished = finished.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    if bytes > most_bytes {
        return Err(too_many(scenario.cases().max(finished.cases), most_bytes));
    }
    if waiting.waiting() > 0 {
        batches.push(waiting.batch().map_err(arrow_failed)?);
    }
    match (wrong, not_summed) {
        (Some(error), _) => Err(arrow_failed(error)),
        (_, Some(error)) => Err(PyRuntimeError::new_err(error.to_string())),
        (None, None) => Ok((waiting.schema(), batches, finished, summary.json())),
    }
}
