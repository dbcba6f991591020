//! The native part of the Python package `scavsim`: runs, checks, and the program itself.
//!
//! - `asking`: commands of the program, asked in this process.
//! - `running`: a run, with its lock released and Ctrl-C heard; `table`: its records as Arrow.
//! - `mistakes`: what is wrong with a scenario, as an exception; `spoken`: strategies in Python.

mod asking;
mod mistakes;
mod running;
mod spoken;
mod table;

use pyo3::prelude::*;

/// The program, with these arguments, the name of the program first: its exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| scavsim::cli::Cli::from_arguments(arguments).run() as u8)
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(running::run, module)?)?;
    module.add_function(wrap_pyfunction!(running::check, module)?)?;
    module.add_function(wrap_pyfunction!(asking::ask, module)?)?;
    module.add_function(wrap_pyfunction!(asking::options, module)?)?;
    module.add_class::<table::Records>()?;
    module.add("Mistakes", module.py().get_type::<mistakes::Mistakes>())?;
    let unknown = module.py().get_type::<mistakes::UnknownOption>();
    module.add("UnknownOption", unknown)?;
    module.add("Stopped", module.py().get_type::<running::Stopped>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    Ok(())
}
