//! Batches of unlike workers that suit their speed, where all wait for the slowest.

use super::batching::{Batching, WorkerGroup};

/// Looks of a controller after which it is taken not to settle.
pub const MOST_LOOKS: usize = 100;

#[derive(Debug, Clone, PartialEq)]
pub struct Balance {
    pub batches: Vec<f64>,
    /// Seconds of each worker's step on these batches.
    pub times_s: Vec<f64>,
    /// Seconds of each worker's step on all batches before, each kept from one look of the controller to the next.
    pub tried_s: Vec<Vec<f64>>,
    /// Guesses of the workers' speeds from equal batches.
    pub speeds: Vec<f64>,
    /// Steps from one look of the controller to the next.
    pub every: u64,
}

impl Balance {
    pub fn changes(&self) -> usize {
        self.tried_s.len()
    }

    /// Seconds until batches settle, of which each change takes `restart_s`, and steps before take longer than on the final
    /// batches.
    pub fn settle_s(&self, restart_s: f64) -> f64 {
        let step_s = |times: &[f64]| self.every as f64 * slowest(times);
        let settled_s = step_s(&self.times_s);
        let tried = self.tried_s.iter();
        let unbalanced_s: f64 = tried
            .map(|times| (step_s(times) - settled_s).max(0.0))
            .sum();
        self.changes() as f64 * restart_s + unbalanced_s
    }
}

pub fn slowest(times: &[f64]) -> f64 {
    times.iter().fold(0.0, |a: f64, b| a.max(*b))
}

/// Batches and guesses of speed before workers changed their speed.
#[derive(Debug, Clone, PartialEq)]
pub struct PreviousBalance {
    /// Guesses of speed when the job began.
    pub speeds: Vec<f64>,
    pub batches: Vec<f64>,
}

/// Settles the batches of `group` in at most `most_looks`; worker k takes `step_s(k, b)` seconds for b samples, whose error is
/// returned. Guesses of speed are those `before` a change of speed, or the group's sizes, or come from equal batches.
pub fn settle<E>(
    batching: &Batching,
    before: Option<&PreviousBalance>,
    mut group: WorkerGroup,
    most_looks: usize,
    mut step_s: impl FnMut(usize, f64) -> Result<f64, E>,
) -> Result<Balance, E> {
    let mut times = |batches: &[f64]| -> Result<Vec<f64>, E> {
        (batches.iter().enumerate())
            .map(|(worker, b)| step_s(worker, *b))
            .collect()
    };
    let workers = group.least.len();
    let mut batches = vec![group.batch / workers as f64; workers];
    if let Some(before) = before {
        group.sizes.clone_from(&before.speeds);
    } else if group.sizes.is_empty() {
        let equal = times(&batches)?.into_iter();
        group.sizes = equal.map(|t| 1.0 / t.max(f64::MIN_POSITIVE)).collect();
    }
    let policy = batching.policy();
    match before {
        Some(before) => batches.clone_from(&before.batches),
        None => policy.start(&group, &mut batches),
    }
    let (mut times_s, mut tried_s) = (times(&batches)?, Vec::new());
    let (every, mut next) = (policy.looks_every().unwrap_or(0), batches.clone());
    while every > 0
        && tried_s.len() < most_looks
        && policy.adjust(&group, &times_s, &batches, &mut next)
    {
        std::mem::swap(&mut batches, &mut next);
        tried_s.push(std::mem::replace(&mut times_s, times(&batches)?));
    }
    Ok(Balance {
        batches,
        times_s,
        tried_s,
        speeds: group.sizes,
        every,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{close, near};
    use proptest::prelude::*;
    use std::convert::Infallible;

    /// Settles workers of so many cores, of which each sample takes 1 s, and as many as `fixed` in every step.
    fn settled(batching: &str, cores: &[f64], fixed: f64, group: WorkerGroup) -> Balance {
        #[derive(serde::Deserialize)]
        struct Table {
            batching: Batching,
        }
        let table: Table = toml::from_str(&format!("batching = {batching}")).expect("it is legal");
        let step_s =
            |worker: usize, batch: f64| Ok::<_, Infallible>((fixed + batch) / cores[worker]);
        let Ok(balance) = settle(&table.batching, None, group, MOST_LOOKS, step_s);
        balance
    }

    /// Workers of 3, 5 and 12 cores, as in the histogram of the paper.
    fn three(batching: &str, fixed: f64) -> Balance {
        let cores = [3.0, 5.0, 12.0];
        let group = WorkerGroup::unbounded(3, cores.to_vec(), 192.0);
        settled(batching, &cores, fixed, group)
    }

    #[test]
    fn a_controller_settles_within_two_changes_and_others_do_not_change() {
        let uniform = three("\"uniform\"", 4.0);
        assert_eq!((uniform.changes(), &*uniform.batches), (0, &[64.0; 3][..]));
        assert_eq!(uniform.settle_s(30.0), 0.0);
        let dynamic = three("{ dynamic = {} }", 4.0);
        assert!((1..=2).contains(&dynamic.changes()), "{dynamic:?}");
        // All as quick as each other take (192 + 3·4)/20 s, or within the dead-band of it.
        dynamic
            .times_s
            .iter()
            .for_each(|time_s| close(*time_s, 10.2, 0.05));
        near(dynamic.batches.iter().sum(), 192.0, 1e-9);
        // Fifty steps of 68/3 s on equal batches.
        let unbalanced_s = 50.0 * (68.0 / 3.0 - slowest(&dynamic.times_s));
        let restarts_s = 30.0 * dynamic.changes() as f64;
        near(dynamic.settle_s(30.0) - restarts_s, unbalanced_s, 50.0);
    }

    #[test]
    fn static_is_in_proportion_and_a_controller_without_a_dead_band_arrives_there() {
        for batching in [
            "\"static\"",
            "\"by-size\"",
            "{ dynamic = { dead_band = 0 } }",
        ] {
            let balance = three(batching, 0.0);
            for (found, expected) in balance.batches.iter().zip([28.8, 48.0, 115.2]) {
                close(*found, expected, 1e-9);
            }
        }
    }

    #[test]
    fn nothing_changes_inside_the_dead_band() {
        for (cores, changes) in [([3.1, 5.0, 11.7], 0), ([3.4, 5.0, 11.0], 1)] {
            let group = WorkerGroup::unbounded(3, vec![3.0, 5.0, 12.0], 192.0);
            let balance = settled("{ dynamic = { start = \"static\" } }", &cores, 0.0, group);
            assert_eq!(balance.changes(), changes);
        }
    }

    proptest! {
        /// Whatever the workers, global batch and bounds hold.
        #[test]
        fn policies_keep_the_global_batch_and_the_bounds(
            workers in prop::collection::vec((0.5..40f64, 1.0..30f64), 2..7),
            released in any::<bool>(),
        ) {
            let batching = if released {
                "{ omnilearn = { epoch_steps = 10 } }"
            } else {
                "{ dynamic = { every = 10, dead_band = 0.01 } }"
            };
            let (cores, least): (Vec<f64>, Vec<f64>) = workers.into_iter().unzip();
            let batch = 32.0 * cores.len() as f64;
            let (sizes, bounds) = (Vec::new(), least.clone());
            let group = WorkerGroup { sizes, least: bounds, batch };
            let balance = settled(batching, &cores, 4.0, group);
            prop_assert!((balance.batches.iter().sum::<f64>() / batch - 1.0).abs() < 1e-9);
            prop_assert!(balance.batches.iter().zip(&least).all(|(b, least)| b >= least));
        }
    }
}
