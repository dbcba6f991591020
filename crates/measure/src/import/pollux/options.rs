//! What is imported of the artifact, and how.

use std::path::PathBuf;

/// VM type of the measurements.
pub const VM: &str = "g4dn.12xlarge";
/// Names of the files.
pub const PLACEMENTS: &str = "placements.csv";
/// See [`PLACEMENTS`].
pub const SCALABILITY: &str = "scalability.csv";
/// See [`PLACEMENTS`]; the batch stands for the star.
pub const VALIDATION: &str = "validation-*.csv";

#[derive(Debug, Clone, Default)]
pub struct PolluxOptions {
    /// Folder of one application.
    pub folder: PathBuf,
    /// Application, if it is a known one; by default the name of the folder.
    pub application: Option<String>,
    /// VM type that the shapes are named after.
    pub vm: String,
    pub name: String,
    /// Other names of the files, which must then be there.
    pub placements: Option<String>,
    /// See `placements`.
    pub scalability: Option<String>,
    /// See `placements`; with a star for the batch.
    pub validation: Option<String>,
    /// M₀; by default the smallest batch of a validation run.
    pub initial_batch: Option<u32>,
    /// D; by default from the run at M₀.
    pub samples_per_epoch: Option<u64>,
    /// Passes over the data in the run at M₀; by default one per row.
    pub epochs: Option<f64>,
    /// Progress at the target, in steps at M₀; by default where the run at M₀ ended.
    pub target_progress: Option<f64>,
    pub restore_s: Option<f64>,
    /// Parameters of the model; by default as known.
    pub parameters: Option<u64>,
}
