//! Which configurations fail, as runs fall out of memory or never reach a target: beyond a cliff on one coordinate.

use super::constants::Constants;
use super::experts::shares;
use super::prior::Configurations;

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
    /// Logarithm of the odds of none, and of each.
    prior: (f64, f64),
    before: f64,
    beyond: f64,
}

#[derive(Debug, Clone)]
struct Cliff {
    log_prior: f64,
    beyond: Vec<bool>,
}

impl Cliffs {
    /// One at each value of each coordinate and of all memory and all cores, for what is below and for what is above.
    pub(super) fn new(configurations: &Configurations, constants: &Constants) -> Cliffs {
        let mut all = Vec::new();
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
                    let log_prior = -libm::log((2 * most) as f64);
                    all.push(Cliff { log_prior, beyond });
                }
            }
        }
        let each = constants.cliff / configurations.coordinates().len().max(1) as f64;
        Cliffs {
            all,
            count: configurations.count,
            prior: (libm::log(1.0 - constants.cliff), libm::log(each)),
            before: constants.fails,
            beyond: constants.fails_beyond,
        }
    }
}

impl<'c> Failures<'c> {
    pub(super) fn new(cliffs: &'c Cliffs) -> Failures<'c> {
        let each = cliffs
            .all
            .iter()
            .map(|cliff| cliffs.prior.1 + cliff.log_prior);
        let mut failures = Failures {
            cliffs,
            log_weights: std::iter::once(cliffs.prior.0).chain(each).collect(),
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
        let log = |odds: f64| libm::log(if failed { odds } else { 1.0 - odds });
        let (before, beyond) = (log(self.cliffs.before), log(self.cliffs.beyond));
        let (none, each) = self.log_weights.split_at_mut(1);
        none[0] += before;
        for (weight, cliff) in each.iter_mut().zip(&self.cliffs.all) {
            *weight += if cliff.beyond[at] { beyond } else { before };
        }
        self.weigh();
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
}
