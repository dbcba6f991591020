//! Policies that set the batches of unequal workers in one cluster. Batches are real numbers: a fraction stands for its mean over
//! the steps.

pub mod dynamic;
pub mod omnilearn;
pub mod proportional;
pub mod registry;
pub mod shares;
pub mod uniform;

pub use registry::Batching;

#[derive(Debug, Clone, PartialEq)]
pub struct WorkerGroup {
    /// Cores, FLOPS or guesses of speed of each worker at the start, its throughput X_k in any unit; empty where nothing is known.
    pub sizes: Vec<f64>,
    /// b_min: fewest samples of each worker. Their sum is at most `batch`.
    pub least: Vec<f64>,
    /// Global batch K·b0, kept by all policies.
    pub batch: f64,
}

/// Fewest samples of a worker where none are given, as a share of the mean. A controller divides by batches: never zero.
pub const LEAST_SHARE: f64 = 1e-3;

impl WorkerGroup {
    /// So many workers that may have nearly all samples, or nearly none.
    pub fn unbounded(workers: usize, sizes: Vec<f64>, batch: f64) -> WorkerGroup {
        WorkerGroup {
            sizes,
            least: vec![LEAST_SHARE * (batch / workers as f64); workers],
            batch,
        }
    }
}

/// Sets the batches of unequal workers. It sees sizes, bounds and step times, never the law.
pub trait BatchPolicy {
    fn start(&self, group: &WorkerGroup, batches: &mut [f64]);

    /// Steps from one look at mean step times to the next; `None` for one that never looks.
    fn looks_every(&self) -> Option<u64> {
        None
    }

    /// Wanted batches into `next`, from mean step times `seen_s`; false where those in `batches` should stay.
    fn adjust(
        &self,
        _: &WorkerGroup,
        _seen_s: &[f64],
        _batches: &[f64],
        _next: &mut [f64],
    ) -> bool {
        false
    }
}
