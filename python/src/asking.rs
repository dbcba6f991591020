//! Commands, asked in this process: the lock is released, Ctrl-C is heard, mistakes are exceptions.

use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use scavsim::Interrupt;
use scavsim::cli::asked::{self, Refusal};

use crate::mistakes::{UnknownOption, raised};
use crate::running::LOOK;

/// What work may take to stop after a signal.
const MOST: Duration = Duration::from_millis(700);

/// What a command answered: its exit code, what it prints, and what it says beside that.
type Answered = (u8, String, Vec<String>);

/// Asks a command of the program. `-` as a scenario is the text that is `given`.
#[pyfunction]
#[pyo3(signature = (arguments, given = None))]
pub(crate) fn ask(
    py: Python<'_>,
    arguments: Vec<String>,
    given: Option<String>,
) -> PyResult<Answered> {
    let interrupt = Interrupt::default();
    let own = interrupt.clone();
    let working = thread::Builder::new().spawn(move || asked::ask(&arguments, given, &own))?;
    let answer = py.detach(|| finished(working, &interrupt))?;
    answer
        .map(|answer| (answer.exit as u8, answer.printed, answer.notes))
        .map_err(|refusal| refused(py, refusal))
}

/// What a thread comes to. After a signal it has a moment to stop; one that does not look at its interrupt is left behind: what it
/// says then is heard by nobody.
fn finished<T>(working: JoinHandle<T>, interrupt: &Interrupt) -> PyResult<T> {
    let mut stopped: Option<(Instant, PyErr)> = None;
    while !working.is_finished() {
        thread::sleep(LOOK);
        match stopped.take() {
            None => {
                if let Err(signal) = Python::attach(|py| py.check_signals()) {
                    interrupt.raise();
                    stopped = Some((Instant::now(), signal));
                }
            }
            Some((since, signal)) if since.elapsed() >= MOST => return Err(signal),
            waiting => stopped = waiting,
        }
    }
    match stopped {
        Some((_, signal)) => Err(signal),
        None => (working.join())
            .map_err(|_| PyRuntimeError::new_err("the command ended in a fault of scavsim")),
    }
}

/// The long names of the options that a command takes.
#[pyfunction]
pub(crate) fn options(command: &str) -> Vec<String> {
    asked::options(command)
}

/// The exception for a refusal.
pub(crate) fn refused(py: Python<'_>, refusal: Refusal) -> PyErr {
    match refusal {
        Refusal::Wrong(mistakes) => raised(py, &mistakes),
        Refusal::Interrupted => PyKeyboardInterrupt::new_err(()),
        Refusal::Failed(why) => program_error(py, why).unwrap_or_else(|other| other),
        Refusal::UnknownOption { option, near } => {
            let error = UnknownOption::new_err(format!("unknown option {option}"));
            let told = || -> PyResult<()> {
                let own = PyDict::new(py);
                own.set_item("option", option)?;
                own.set_item("near", near)?;
                error.value(py).setattr("told", own)
            };
            match told() {
                Ok(()) => error,
                Err(other) => other,
            }
        }
    }
}

/// `scavsim.ProgramError`, with the exit code of what has failed.
fn program_error(py: Python<'_>, why: String) -> PyResult<PyErr> {
    let class = py.import("scavsim._program")?.getattr("ProgramError")?;
    Ok(PyErr::from_value(class.call1((1, why))?))
}
