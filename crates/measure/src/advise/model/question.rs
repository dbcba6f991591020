//! What is asked of a model that nobody measured.

use crate::advise::decision::Goal;
use crate::advise::offers::OfferFilter;

#[derive(Debug, Clone)]
pub struct ModelQuestion {
    /// A model's name, or the path of an architecture.
    pub model: String,
    pub tokens: f64,
    /// Tokens of a sequence; what the model was made for, at most 8,192, when absent.
    pub sequence: Option<u32>,
    /// Sequences of a step; about a million tokens when absent.
    pub batch: Option<u32>,
    /// The runtime: a name, or the path of one.
    pub runtime: String,
    /// Precision; the runtime's when absent.
    pub precision: Option<String>,
    /// GPUs to choose from; all when empty.
    pub gpus: Vec<String>,
    pub most_gpus: u32,
    pub wanted: OfferFilter,
    pub goal: Goal,
    pub setup_min: f64,
    pub steps: u32,
    /// Simulated runs of each plan, where luck plays.
    pub runs: u64,
}
