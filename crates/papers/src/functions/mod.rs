//! Functions of the model by name: what expressions ask beside records.
//!
//! In: names of lives, workloads, VM types and so on, and numbers. Out: figures. A function is a line in the list of its
//! file: its parameters, those that may be absent with a `?`, and a sentence.
//!
//! - [`lives`]: how long VMs live; [`runs`]: jobs on VMs that are lost, with and without checkpoints.
//! - [`servers`]: asynchronous workers and parameter servers; [`unequal`]: workers that are unlike.
//! - [`bags`]: a job of a bag. [`plans`]: models cut over GPUs that were measured.
//! - [`delays`]: what was measured of starts, restarts and checkpoints; [`prices`]: what is listed.
//! - [`scenarios`]: rows that scenarios give, and functions of single runs of them.
//! - [`lines`]: what strategies fit to noise and epochs.

pub mod bags;
pub mod delays;
pub mod lines;
pub mod lives;
pub mod plans;
pub mod prices;
pub mod runs;
pub mod scenarios;
pub mod servers;
pub mod unequal;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use scavsim_base::rng::{Purpose, Stream, Streams};
use scavsim_read::expression::{Arguments, Value};
use scavsim_sim::training::Fidelity;

pub use lives::{Life, Lives};
pub use unequal::Unequal;

/// What names stand for that a file gives, beside those of the library.
#[derive(Debug, Default)]
pub struct Given {
    /// Lives of VMs.
    pub lives: Lives,
    /// Jobs, clusters and policies of unequal workers.
    pub unequal: Unequal,
    /// How finely functions simulate, where they can choose.
    pub fidelity: Fidelity,
    /// Schedules of checkpoints, made when they are first asked for.
    schedules: RefCell<BTreeMap<String, runs::Schedule>>,
}

impl Given {
    /// With these names.
    pub fn new(lives: Lives, unequal: Unequal, fidelity: Fidelity) -> Given {
        Given {
            lives,
            unequal,
            fidelity,
            ..Given::default()
        }
    }
}

/// A function of the model.
#[derive(Debug)]
pub struct Function {
    /// Name of the function, with the unit of what it gives.
    pub name: &'static str,
    /// Parameters of the function.
    pub parameters: &'static [&'static str],
    /// What it gives, in a sentence.
    pub what: &'static str,
    of: Of,
}

/// How a function is computed.
enum Of {
    Number(fn(&Given, &Arguments<'_>) -> Result<f64, String>),
    Numbers(fn(&Given, &Arguments<'_>) -> Result<Vec<f64>, String>),
}

impl fmt::Debug for Of {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a function")
    }
}

impl Function {
    /// All of them.
    pub fn all() -> impl Iterator<Item = &'static Function> {
        let files = [
            lives::FUNCTIONS,
            runs::FUNCTIONS,
            servers::FUNCTIONS,
            unequal::FUNCTIONS,
            delays::FUNCTIONS,
            bags::FUNCTIONS,
            plans::FUNCTIONS,
            prices::FUNCTIONS,
            lines::FUNCTIONS,
        ];
        files.into_iter().flatten()
    }

    /// The function's value.
    ///
    /// # Errors
    /// Why there is none.
    pub fn value(&self, given: &Given, arguments: &Arguments<'_>) -> Result<Value, String> {
        match self.of {
            Of::Number(of) => of(given, arguments).map(Value::Number),
            Of::Numbers(of) => {
                let numbers = of(given, arguments)?.into_iter();
                Ok(Value::List(numbers.map(Value::Number).collect()))
            }
        }
    }
}

/// A line of a list of functions.
macro_rules! function {
    ($of:ident [$($parameter:literal),*] $what:literal) => {
        $crate::functions::Function {
            name: stringify!($of),
            parameters: &[$($parameter),*],
            what: $what,
            of: $crate::functions::Of::Number($of),
        }
    };
    (list $of:ident [$($parameter:literal),*] $what:literal) => {
        $crate::functions::Function {
            name: stringify!($of),
            parameters: &[$($parameter),*],
            what: $what,
            of: $crate::functions::Of::Numbers($of),
        }
    };
}
use function;

/// Seed of what functions draw.
const SEED: u64 = 20;
/// Draws at most.
const MOST_DRAWS: u64 = 10_000_001;

fn stream(purpose: Purpose) -> Stream {
    Streams::new(SEED).stream(0, purpose)
}

/// How often a function is to draw.
fn draws(arguments: &Arguments<'_>) -> Result<u64, String> {
    arguments.whole("draws", 1..MOST_DRAWS)
}

/// The mean of `draws` values, or of as many as give each of `each` equally often.
fn mean_drawn(
    draws: u64,
    each: &[f64],
    purpose: Purpose,
    draw: impl Fn(f64, &mut Stream) -> f64,
) -> f64 {
    let mut stream = stream(purpose);
    let rounds = draws.div_ceil(each.len().max(1) as u64);
    let (mut count, mut sum) = (0.0, 0.0);
    for _ in 0..rounds {
        for &one in each {
            sum += draw(one, &mut stream);
            count += 1.0;
        }
    }
    sum / count
}
