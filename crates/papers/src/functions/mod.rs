//! Named functions of the model, for expressions without records. A function is a line in the list of its file: its
//! parameters, optional ones with a `?`, and a sentence.

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
