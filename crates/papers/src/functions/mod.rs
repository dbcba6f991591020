//! Functions of the model by name: what expressions ask beside records.
//!
//! In: names of lives, workloads, VM types and so on, and numbers. Out: figures. A function is a line in the list of its
//! file: its parameters, those that may be absent with a `?`, and a sentence.
//!
//! - [`function`]: what a function is; [`file_inputs`]: what it is asked of.
//! - [`lives`]: how long VMs live; [`runs`]: jobs on VMs that are lost, with and without checkpoints.
//! - [`servers`]: asynchronous workers and parameter servers; [`unequal`]: workers that are unlike,
//!   [`unequal_jobs`] as a file names them.
//! - [`bags`]: a job of a bag. [`plans`]: models cut over GPUs that were measured;
//!   [`traces`]: which of them is taken when VMs come and go.
//! - [`delays`]: what was measured of starts, restarts and checkpoints; [`prices`]: what is listed.
//! - [`scenarios`]: rows that scenarios give, and functions of single runs of them.
//! - [`lines`]: what strategies fit to noise and epochs.
//! - [`no_value`]: why a function has no value.

pub mod bags;
pub mod delays;
mod draws;
pub mod file_inputs;
pub mod function;
pub mod lifetime_spec;
pub mod lines;
pub mod lives;
pub mod no_value;
pub mod plans;
pub mod prices;
pub mod runs;
pub mod scenarios;
pub mod servers;
pub mod traces;
pub mod unequal;
pub mod unequal_jobs;

pub use file_inputs::FileInputs;
pub use function::Function;
pub use lifetime_spec::{LifetimeSpec, LifetimesByName};
pub use no_value::NoValue;
pub use unequal_jobs::UnequalJobInputs;

impl Function {
    pub fn all() -> impl Iterator<Item = &'static Function> {
        let files = [
            lives::FUNCTIONS,
            runs::FUNCTIONS,
            servers::FUNCTIONS,
            unequal::FUNCTIONS,
            delays::FUNCTIONS,
            bags::FUNCTIONS,
            plans::FUNCTIONS,
            traces::FUNCTIONS,
            prices::FUNCTIONS,
            lines::FUNCTIONS,
        ];
        files.into_iter().flatten()
    }
}
