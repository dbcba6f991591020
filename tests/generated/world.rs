//! The context of a scenario, with which its values must be compatible.

use crate::luck::Luck;
use crate::names::Listed;

/// The scale of a scenario and the names in it.
#[derive(Debug, Clone)]
pub struct World {
    pub workloads: Vec<String>,
    /// VM types that may be named.
    pub vms: Vec<String>,
    /// Day and region of their listed prices.
    pub listed: Listed,
    /// Kinds of clusters that are defined.
    pub kinds: Vec<String>,
    /// Measured values: worker counts, samples of a worker.
    pub workers: Vec<u32>,
    pub local_batches: Vec<u32>,
    /// Seconds of a step of a worker, hours of a run.
    pub worker_s: f64,
    pub job_h: f64,
    /// Layer profile and GPUs of its nodes.
    pub profile: String,
    /// Whether nodes have a GPU that the scenario defines.
    pub own_gpu: bool,
    /// Which of the names of a registry is next.
    pub turn: usize,
    /// Number of keys that may still hold several values.
    pub lists: usize,
}

/// A random number between two, uniform in its logarithm, of three digits.
pub fn between(least: f64, most: f64, luck: &mut Luck) -> f64 {
    let share = luck.below(100_001) as f64 / 100_000.0;
    rounded(least * (most / least).powf(share))
}

/// Rounds to three digits.
pub fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().expect("a number")
}

/// A fraction as TOML writes it.
pub fn number(value: f64) -> String {
    format!("{:?}", rounded(value))
}

/// True with this probability in per cent.
pub fn percent(share: usize, luck: &mut Luck) -> bool {
    luck.below(100) < share
}
