//! Which configurations fail, as runs fall out of memory or never reach a target: beyond a cliff on one coordinate.

use super::constants::Constants;
use super::experts::shares;
use super::prior::Configurations;
use crate::search::other_jobs::{OtherJobs, OtherRun};

/// What is believed of failures: one of many cliffs, or none.
#[derive(Debug, Clone)]
pub(super) struct Failures<'c> {
    cliffs: &'c Cliffs,
    /// Logarithms of the weights: of no cliff, then of each.
    log_weights: Vec<f64>,
    /// Odds that a run fails, per configuration.
    pub(super) odds: Vec<f64>,
}

#[derive(Debug, Clone)]
pub(super) struct Cliffs {
    all: Vec<Cliff>,
    count: usize,
    /// Logarithms of the weights before the first run: of no cliff, then of each.
    log_weights: Vec<f64>,
    before: f64,
    beyond: f64,
}

#[derive(Debug, Clone)]
struct Cliff {
    /// Whether each configuration is beyond it.
    beyond: Vec<bool>,
}

impl Cliffs {
    /// One at each value of each coordinate and of all memory and all cores, for what is below and for what is above.
    pub(super) fn new(configurations: &Configurations, constants: &Constants) -> Cliffs {
        let each = constants.cliff / configurations.coordinates().len().max(1) as f64;
        let (mut all, mut log_weights) = (Vec::new(), vec![libm::log(1.0 - constants.cliff)]);
        for values in configurations.coordinates() {
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            sorted.dedup();
            let most = constants.cliffs.min(sorted.len() - 1);
            for number in 1..=most {
                // Evenly over the distinct values: a cliff just below this one.
                let edge = sorted[number * (sorted.len() - 1) / most];
                for above in [false, true] {
                    let beyond = values.iter().map(|v| (*v < edge) != above).collect();
                    all.push(Cliff { beyond });
                    log_weights.push(libm::log(each) - libm::log((2 * most) as f64));
                }
            }
        }
        Cliffs {
            all,
            count: configurations.count,
            log_weights,
            before: constants.fails,
            beyond: constants.fails_beyond,
        }
    }

    /// Cliffs weighed by the runs of earlier jobs. Each job counts as much as the prior for the cliffs that its runs make likely: what fits
    /// into memory differs by input, too.
    pub(super) fn after_history(mut self, others: &OtherJobs) -> Cliffs {
        let mut weights = shares(self.log_weights.iter().copied());
        for job in &others.jobs {
            let mut failures = Failures::new(&self);
            for (at, run) in job.runs.iter().enumerate() {
                if let Some(run) = run {
                    failures.count(at, matches!(run, OtherRun::Failed(_)));
                }
            }
            for (sum, own) in weights
                .iter_mut()
                .zip(shares(failures.log_weights.into_iter()))
            {
                *sum += own;
            }
        }
        self.log_weights = weights.into_iter().map(libm::log).collect();
        self
    }
}

impl<'c> Failures<'c> {
    pub(super) fn new(cliffs: &'c Cliffs) -> Failures<'c> {
        let mut failures = Failures {
            cliffs,
            log_weights: cliffs.log_weights.clone(),
            odds: vec![cliffs.before; cliffs.count],
        };
        failures.weigh();
        failures
    }

    /// Odds that a run fails or misses a quality, where the odds of that are known.
    pub(super) fn with(&self, missed: Option<Vec<f64>>) -> Vec<f64> {
        let either = |(fails, missed): (&f64, f64)| 1.0 - (1.0 - fails) * (1.0 - missed);
        match missed {
            Some(missed) => self.odds.iter().zip(missed).map(either).collect(),
            None => self.odds.clone(),
        }
    }

    pub(super) fn learn(&mut self, at: usize, failed: bool) {
        self.count(at, failed);
        self.weigh();
    }

    fn count(&mut self, at: usize, failed: bool) {
        let log = |odds: f64| libm::log(if failed { odds } else { 1.0 - odds });
        let (before, beyond) = (log(self.cliffs.before), log(self.cliffs.beyond));
        let (none, each) = self.log_weights.split_at_mut(1);
        none[0] += before;
        for (weight, cliff) in each.iter_mut().zip(&self.cliffs.all) {
            *weight += if cliff.beyond[at] { beyond } else { before };
        }
    }

    fn weigh(&mut self) {
        let weights = shares(self.log_weights.iter().copied());
        self.odds.fill(self.cliffs.before);
        let more = self.cliffs.beyond - self.cliffs.before;
        for (weight, cliff) in weights[1..].iter().zip(&self.cliffs.all) {
            let more = more * weight;
            if more > 1e-6 {
                for (odds, beyond) in self.odds.iter_mut().zip(&cliff.beyond) {
                    *odds += if *beyond { more } else { 0.0 };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::other_jobs::OtherJob;
    use crate::search::value_of_information::prior::{Column, Role};

    fn configurations() -> Configurations {
        let column = |role, values: [f64; 6]| Column {
            role,
            values: values.to_vec(),
        };
        Configurations {
            columns: vec![
                column(Role::Nodes, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
                column(Role::Rate, [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]),
            ],
            count: 6,
            per_worker: false,
        }
    }

    #[test]
    fn two_failures_of_small_clusters_speak_against_small_ones() {
        let cliffs = Cliffs::new(&configurations(), &Constants::default());
        let mut failures = Failures::new(&cliffs);
        let before = failures.odds.clone();
        assert!(
            before.iter().all(|odds| *odds > 0.05 && *odds < 0.3),
            "{before:?}"
        );
        failures.learn(1, true);
        failures.learn(2, true);
        assert!(
            failures.odds[0] > 0.5 && failures.odds[0] > failures.odds[5] + 0.2,
            "{:?}",
            failures.odds
        );
        failures.learn(3, false);
        assert!(
            failures.odds[5] < 0.2 && failures.odds[0] > 0.6,
            "{:?}",
            failures.odds
        );
    }

    #[test]
    fn runs_that_end_well_make_failures_unlikely() {
        let cliffs = Cliffs::new(&configurations(), &Constants::default());
        let mut failures = Failures::new(&cliffs);
        (0..6).for_each(|at| failures.learn(at, false));
        assert!(
            failures.odds.iter().all(|odds| *odds < 0.06),
            "{:?}",
            failures.odds
        );
    }

    /// Two earlier jobs failed on small clusters: the third is expected to fail there, and not on large ones.
    #[test]
    fn where_earlier_jobs_failed_a_failure_is_likely() {
        let job = |program: &str| OtherJob {
            name: program.to_owned(),
            program: program.to_owned(),
            runs: (0..6)
                .map(|at| {
                    Some(if at < 2 {
                        OtherRun::Failed(1.0)
                    } else {
                        OtherRun::Reached(1.0)
                    })
                })
                .collect(),
        };
        let odds = |jobs: Vec<OtherJob>| {
            let cliffs = Cliffs::new(&configurations(), &Constants::default());
            Failures::new(&cliffs.after_history(&OtherJobs { jobs })).odds
        };
        let (none, two) = (odds(Vec::new()), odds(vec![job("a"), job("b")]));
        assert!(
            two[0] > 2.0 * none[0] && two[5] < none[5],
            "{none:?} {two:?}"
        );
    }
}
