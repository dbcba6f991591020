//! Mistakes as an exception that carries all of them.

use pyo3::create_exception;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

create_exception!(
    scavsim,
    Mistakes,
    PyValueError,
    "All that is wrong with a scenario. Shown, it is the report of the program; `mistakes` lists each as a dict with \
     `title`, `file`, `line`, `label`, `help`."
);

create_exception!(
    scavsim,
    UnknownOption,
    PyTypeError,
    "A command takes no such option. `told` has the `option`, and what is `near` it."
);

/// The exception for what was found.
pub(crate) fn raised(py: Python<'_>, found: &scavsim::Mistakes) -> PyErr {
    let error = Mistakes::new_err(found.to_string());
    let listed = || -> PyResult<Vec<Bound<'_, PyDict>>> {
        found
            .iter()
            .map(|mistake| {
                let own = PyDict::new(py);
                own.set_item("title", &mistake.title)?;
                own.set_item("file", mistake.file())?;
                own.set_item("line", mistake.line())?;
                own.set_item("label", &mistake.label)?;
                own.set_item("help", &mistake.help)?;
                Ok(own)
            })
            .collect()
    };
    match listed().and_then(|all| error.value(py).setattr("mistakes", all)) {
        Ok(()) => error,
        Err(other) => other,
    }
}
