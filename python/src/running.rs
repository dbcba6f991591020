//! A run: the lock is released, Ctrl-C is heard, progress is told.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use scavsim::{Depends, Interrupt, RecordBatches, Registry, Scenario};

use crate::mistakes::raised;
use crate::spoken::spoken;
use crate::table::{Records, arrow_failed};

/// Records in a batch.
const ROWS: usize = 4_096;
/// Between two looks at signals.
const LOOK: Duration = Duration::from_millis(20);

/// What a scenario comes from.
#[derive(FromPyObject)]
pub(crate) enum Text {
    /// Its text.
    Toml(String),
    /// Its file.
    File(PathBuf),
}

/// Name, how a conversation with it begins, and whether it is told the objective, prices, earlier runs.
type Strategies = Vec<(String, Py<PyAny>, bool, bool, bool)>;

fn checked(
    py: Python<'_>,
    text: &Text,
    set: &[String],
    strategies: Strategies,
    jobs: Option<usize>,
    interrupt: &Interrupt,
) -> PyResult<Scenario> {
    let mut registry = Registry::default();
    for (name, open, objective, prices, earlier_runs) in strategies {
        let mut depends = Depends::NOTHING;
        (depends.objective, depends.prices) = (objective, prices);
        let own = spoken(open).depending(depends).earlier_runs(earlier_runs);
        registry = registry.with(&name, own);
    }
    let mut options = Scenario::options().registry(registry).interrupt(interrupt);
    for line in set {
        options = options.set(line);
    }
    if let Some(jobs) = jobs {
        options = options.jobs(jobs);
    }
    let read = py.detach(|| match text {
        Text::Toml(text) => options.parse(text),
        Text::File(path) => options.open(path),
    });
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
    let scenario = checked(py, &text, &set, strategies, None, &Interrupt::default())?;
    Ok((scenario.name().to_owned(), scenario.cases()))
}

/// Runs a scenario. `progress` is called with how many cases are done, and how many there are.
#[pyfunction]
pub(crate) fn run(
    py: Python<'_>,
    text: Text,
    set: Vec<String>,
    strategies: Strategies,
    jobs: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Records> {
    let interrupt = Interrupt::default();
    let scenario = checked(py, &text, &set, strategies, jobs, &interrupt)?;
    let (name, cases) = (scenario.name().to_owned(), scenario.cases());
    let done = AtomicU64::new(0);
    let look = || -> PyResult<()> {
        Python::attach(|py| {
            py.check_signals()?;
            match &progress {
                Some(told) => told
                    .call1(py, (done.load(Ordering::Relaxed), cases))
                    .map(|_| ()),
                None => Ok(()),
            }
        })
    };
    let gathered = py.detach(|| {
        thread::scope(|scope| {
            let running = scope.spawn(|| gather(&scenario, &done));
            let mut stopped = Ok(());
            while !running.is_finished() {
                thread::sleep(LOOK);
                if stopped.is_ok() {
                    stopped = look();
                    if stopped.is_err() {
                        interrupt.raise();
                    }
                }
            }
            let gathered = running.join();
            stopped.and_then(|()| look()).map(|()| gathered)
        })
    })?;
    let (schema, batches, finished) = match gathered {
        Ok(gathered) => gathered?,
        Err(_) => {
            return Err(PyRuntimeError::new_err(
                "the run ended in a fault of scavsim",
            ));
        }
    };
    Ok(Records {
        schema,
        batches,
        cases: finished.cases,
        failed: finished.failed,
        name,
    })
}

type Gathered = (arrow_schema::SchemaRef, Vec<RecordBatch>, scavsim::Finished);

fn gather(scenario: &Scenario, done: &AtomicU64) -> PyResult<Gathered> {
    let mut waiting = RecordBatches::default();
    let mut batches: Vec<RecordBatch> = Vec::new();
    let mut wrong: Option<ArrowError> = None;
    let finished = scenario.run(|record| {
        waiting.take(record);
        if waiting.waiting() == ROWS {
            match waiting.batch() {
                Ok(batch) => batches.push(batch),
                Err(error) => wrong = Some(error),
            }
        }
        done.fetch_add(1, Ordering::Relaxed);
    });
    let finished = finished.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    if waiting.waiting() > 0 {
        batches.push(waiting.batch().map_err(arrow_failed)?);
    }
    match wrong {
        Some(error) => Err(arrow_failed(error)),
        None => Ok((waiting.schema(), batches, finished)),
    }
}
