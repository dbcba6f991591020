//! Batches of unlike workers that suit their speed, where all wait for the slowest.

use super::batching::{Batching, Bounds, Controller, WorkerGroup};

/// Looks of a controller after which it is taken not to settle.
const MOST_LOOKS: u32 = 100;
/// Fewest samples of a worker, as a share of the mean.
const LEAST_SHARE: f64 = 1e-3;

#[derive(Debug, Clone, PartialEq)]
pub struct Balance {
    pub batches: Vec<f64>,
    pub changes: u32,
    /// Guesses of the workers' speeds from equal batches.
    pub speeds: Vec<f64>,
    /// Seconds that the steps before took longer than those on the final batches.
    pub unbalanced_s: f64,
}

/// Batches and guesses of speed before workers changed their speed.
#[derive(Debug, Clone, PartialEq)]
pub struct PreviousBalance {
    /// Guesses of speed when the job began.
    pub speeds: Vec<f64>,
    pub batches: Vec<f64>,
}

/// Settles the batches of workers that together take `samples` a step; worker k takes `step_s(k, b)` seconds for b samples,
/// whose error is returned. Guesses of speed are `sizes`, or come from equal batches, or are those `before` a change of
/// speed.
pub fn settle<E>(
    batching: &Batching,
    before: Option<&PreviousBalance>,
    workers: usize,
    sizes: Option<&[f64]>,
    samples: f64,
    mut step_s: impl FnMut(usize, f64) -> Result<f64, E>,
) -> Result<Balance, E> {
    let equal = samples / workers as f64;
    let mut times = |batches: &[f64]| -> Result<Vec<f64>, E> {
        (batches.iter().enumerate())
            .map(|(worker, b)| step_s(worker, *b))
            .collect()
    };
    let slowest = |times: &[f64]| times.iter().fold(0.0, |a: f64, b| a.max(*b));
    let speeds: Vec<f64> = match before {
        Some(before) => before.speeds.clone(),
        None if sizes.is_some() => sizes.unwrap_or_default().to_vec(),
        None => (times(&vec![equal; workers])?.iter())
            .map(|t| 1.0 / t.max(f64::MIN_POSITIVE))
            .collect(),
    };
    let bounds = Bounds {
        least: LEAST_SHARE * equal,
        most: f64::INFINITY,
    };
    let group = WorkerGroup {
        sizes: speeds,
        bounds: vec![bounds; workers],
        batch: samples,
    };
    let mut controller = Controller::new(batching, &group);
    if let Some(before) = before {
        controller.batches.clone_from(&before.batches);
    }
    let mut unbalanced_s = 0.0;
    if let Some(looks) = batching.policy().looks() {
        let mut seen = times(&controller.batches)?;
        let mut steps = Vec::new();
        for _ in 0..MOST_LOOKS {
            let step_s = slowest(&seen);
            if !controller.look(&seen) {
                break;
            }
            steps.push(looks.every as f64 * step_s);
            seen = times(&controller.batches)?;
        }
        let settled_s = looks.every as f64 * slowest(&seen);
        unbalanced_s = steps.iter().map(|s| (s - settled_s).max(0.0)).sum();
    }
    let changes = controller.changes as u32;
    Ok(Balance {
        batches: controller.batches,
        changes,
        speeds: group.sizes,
        unbalanced_s,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{close, near};
    use std::convert::Infallible;

    fn times(worker: usize, batch: f64) -> Result<f64, Infallible> {
        Ok(0.1 + batch / [10.0, 20.0, 40.0][worker])
    }

    #[test]
    fn a_controller_settles_within_two_changes_and_others_do_not_change() {
        let of = |batching: &Batching| {
            settle(batching, None, 3, None, 210.0, times).unwrap_or_else(|n| match n {})
        };
        let slowest = |b: &Balance| {
            let t = |k: usize| times(k, b.batches[k]).unwrap_or(0.0);
            t(0).max(t(1)).max(t(2))
        };
        let uniform = of(&Batching::Uniform);
        assert_eq!((uniform.changes, slowest(&uniform)), (0, 7.1));
        let dynamic = of(&Batching::Dynamic(Default::default()));
        assert!((1..=2).contains(&dynamic.changes), "{dynamic:?}");
        // All as quick as each other takes (210 + 0.1·70)/70 = 3.1 s.
        close(slowest(&dynamic), 3.1, 0.05);
        assert!(dynamic.unbalanced_s > 50.0 * 3.9);
        let guessed = of(&Batching::Static);
        assert!(guessed.changes == 0 && slowest(&guessed) < 3.3);
        near(dynamic.batches.iter().sum(), 210.0, 1e-9);
    }
}
