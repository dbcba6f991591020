//! What a controller of batches makes of machines that differ by luck, in one replica.

use super::balance::{MOST_LOOKS, PreviousBalance, settle};
use super::batching::{Batching, WorkerGroup};

/// Workers under a controller of batches, each as a line a + s·b seconds for b samples, near where they settle without luck.
#[derive(Debug, Clone, PartialEq)]
pub struct Levelling {
    pub batching: Batching,
    /// a and s of each worker.
    pub lines: Vec<(f64, f64)>,
    /// Batches and guesses of speed at the level before, if there is one.
    pub before: Option<PreviousBalance>,
    pub samples: f64,
    /// Seconds of a restart after a change.
    pub restart_s: f64,
}

/// By how much a batch is varied, either way, to find the line of its worker.
const NEAR: f64 = 0.1;

impl Levelling {
    pub fn line<E>(
        batch: f64,
        mut step_s: impl FnMut(f64) -> Result<f64, E>,
    ) -> Result<(f64, f64), E> {
        let (less, more) = ((1.0 - NEAR) * batch, (1.0 + NEAR) * batch);
        let (low_s, high_s) = (step_s(less)?, step_s(more)?);
        let slope = ((high_s - low_s) / (more - less)).max(0.0);
        Ok((0.5 * (low_s + high_s) - slope * batch, slope))
    }

    /// Seconds of each worker's step on settled batches, with machines slower by `factors`; and seconds that settling takes.
    pub fn settled(&self, factors: &[f64]) -> (Vec<f64>, f64) {
        let step_s = |worker: usize, batch: f64| -> Result<f64, std::convert::Infallible> {
            let (base_s, slope) = self.lines[worker];
            // Far below the batches it was made for a line may fall below zero.
            let seconds = (base_s + slope * batch).max(f64::MIN_POSITIVE);
            Ok(factors.get(worker).copied().unwrap_or(1.0) * seconds)
        };
        let group = WorkerGroup::unbounded(self.lines.len(), Vec::new(), self.samples);
        let before = self.before.as_ref();
        let Ok(balance) = settle(&self.batching, before, group, MOST_LOOKS, step_s);
        let settle_s = balance.settle_s(self.restart_s);
        (balance.times_s, settle_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_machine_gets_fewer_samples() {
        let levelling = Levelling {
            batching: Batching::Dynamic(Default::default()),
            lines: vec![(0.1, 0.01); 4],
            before: None,
            samples: 400.0,
            restart_s: 30.0,
        };
        let alike = levelling.settled(&[1.0; 4]);
        assert_eq!(alike, (vec![1.1; 4], 0.0));
        let (times, settle_s) = levelling.settled(&[1.0, 1.0, 1.0, 1.5]);
        let slowest = times.iter().fold(0.0f64, |a, b| a.max(*b));
        // (400 + 4·10) / (3 + 1/1.5) / 100 s, or within the dead-band of it; 1.65 s on equal batches.
        assert!((slowest / 1.2 - 1.0).abs() < 0.05, "{times:?}");
        assert!((30.0..=80.0).contains(&settle_s), "{settle_s}");
    }
}
