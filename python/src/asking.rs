//! Commands, asked in this process: the lock is released, Ctrl-C is heard, mistakes are exceptions.

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use scavsim::Interrupt;
use scavsim::cli::asked::{self, Refusal};

use crate::mistakes::{UnknownOption, raised};
use crate::running::watched;

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
    let look = |py: Python<'_>| py.check_signals();
    let answer = watched(py, &interrupt, look, || {
        asked::ask(&arguments, given, &interrupt)
    })?;
    answer
        .map(|answer| (answer.exit as u8, answer.printed, answer.notes))
        .map_err(|refusal| refused(py, refusal))
}

/// The long names of the options that a command takes.
#[pyfunction]
pub(crate) fn options(command: &str) -> Vec<String> {
    asked::options(command)
}

fn refused(py: Python<'_>, refusal: Refusal) -> PyErr {
    match refusal {
        Refusal::Wrong(mistakes) => raised(py, &mistakes),
        Refusal::Interrupted => PyKeyboardInterrupt::new_err(()),
        Refusal::Failed(why) => PyRuntimeError::new_err(why),
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
