use std::path::PathBuf;

/// A repeat whose logarithm differs from the median by this, a factor of one and a half, is an outlier.
pub const ASTRAY: f64 = 0.405;

/// Maximum number of samples in one pass over the data.
pub(super) const MOST_SAMPLES: u64 = 1_000_000_000_000;

#[derive(Debug, Clone)]
pub struct ProfileOptions {
    pub file: PathBuf,
    pub name: String,
    /// D.
    pub samples_per_epoch: u64,
    /// Epochs for every batch, if the table has none.
    pub epochs: Option<f64>,
    pub unit: Option<Unit>,
    /// Whether the batch is per worker or global, if the user says.
    pub batch: Option<BatchIs>,
    pub cold_start_steps: Option<u64>,
    pub probe_steps: Option<u64>,
    pub restore_s: Option<f64>,
    pub parameters: Option<u64>,
    pub run: RunDescription,
}

/// Facts about the machines that a log, an export or a table may lack.
#[derive(Debug, Clone, Default)]
pub struct RunDescription {
    /// VM type, or a VM shape.
    pub vm: Option<String>,
    pub workers: Option<u32>,
    /// Samples of all workers in a step.
    pub batch: Option<u32>,
    /// Tokens of a sample.
    pub sequence: Option<u32>,
}

/// Unit of the times in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Unit {
    /// Seconds
    #[default]
    S,
    /// Milliseconds
    Ms,
}

impl Unit {
    pub(super) fn seconds(self) -> f64 {
        match self {
            Unit::S => 1.0,
            Unit::Ms => 1e-3,
        }
    }
}

/// Whose samples the batch counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum BatchIs {
    /// Samples of all workers together
    Global,
    /// Samples of each worker
    Local,
}
