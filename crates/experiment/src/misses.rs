//! How often configurations miss the limits, and how far their runs scatter, where a share of runs may miss. Counted over the
//! runs that the oracle chooses by (`expectation.rs`) and more of them. A strategy, which predicts a mean, adds the margin from
//! the mean to the quantile.

use super::beaten::SETTLED;
use super::effort::Effort;
use super::expectation::{RunValues, Runner, Runners};
use scavsim_data::pricing::Tariff;
use scavsim_engine::Parallelism;
use scavsim_search::search::{Limits, Point};
use scavsim_search::testbed::{Environment, Terms};

/// Runs of every configuration; of one whose quantile is near a limit; the most, where the share of misses is not settled.
const RUNS: [u64; 3] = [200, 1_000, 10_000];
/// Ratio of quantile and limit beyond which they are not near.
const NEAR: f64 = 1.5;

#[derive(Debug)]
pub(super) struct Misses {
    /// Configurations that keep the limits in enough runs, per policy.
    pub(super) allowed: Vec<Vec<bool>>,
    /// Quantiles per configuration: seconds, then USD per policy; `None` where all runs are equal.
    quantiles: Vec<Vec<Option<f64>>>,
    few_runs: Option<u64>,
}

/// Scatter of runs where a share of them may miss the limits.
#[derive(Debug)]
pub struct Spread {
    /// Quantile over mean of the time, per configuration.
    pub time: Vec<f64>,
    /// Quantile over mean of the cost, per policy and configuration.
    pub cost: Vec<Vec<f64>>,
    /// Fewest runs behind a configuration, where they may not be enough.
    pub few_runs: Option<u64>,
}

impl Misses {
    /// Runs the configurations; `None` where limits are on expectations.
    pub(super) fn count(
        hands: Parallelism,
        ground: &dyn Environment,
        configurations: usize,
        terms: &Terms,
        limits: &Limits,
        tariffs: &[Tariff],
    ) -> Option<Misses> {
        let max_miss = limits.max_miss?;
        let runners = Runners::new(hands, || {
            Runner::new(ground, terms, tariffs, Effort::default())
        });
        let each = hands.each(configurations, 1, |at| {
            let most = (ground.most_expectation_runs(at) / 2).clamp(1, RUNS[2]);
            let mut sample = MissSample {
                values: vec![Vec::new(); tariffs.len() + 1],
                missed: vec![0; tariffs.len()],
            };
            let mut enough = RUNS[0].min(most);
            runners.with(0, |runner| {
                while sample.runs() < enough && !runner.is_stopped() {
                    sample.add_run(runner.run_values(at, sample.runs()).0, limits);
                    if sample.runs() == enough {
                        enough = sample.enough(limits, max_miss).min(most);
                    }
                }
            });
            sample.finish(max_miss, most)
        });
        let mut misses = Misses {
            allowed: vec![Vec::new(); tariffs.len()],
            quantiles: vec![Vec::new(); tariffs.len() + 1],
            few_runs: None,
        };
        for own in each {
            if (2..RUNS[0]).contains(&own.most) {
                misses.few_runs = Some(misses.few_runs.map_or(own.most, |few| few.min(own.most)));
            }
            for (allowed, own) in misses.allowed.iter_mut().zip(own.allowed) {
                allowed.push(own);
            }
            for (quantiles, own) in misses.quantiles.iter_mut().zip(own.quantiles) {
                quantiles.push(own);
            }
        }
        Some(misses)
    }

    /// Quantiles relative to what is expected.
    pub(super) fn into_spread(self, expected: &[Vec<Point>]) -> Spread {
        let over = |quantiles: &[Option<f64>], points: &[Point], mean: fn(&Point) -> f64| {
            let each = quantiles.iter().zip(points.iter().map(mean));
            each.map(|(quantile, mean)| margin(*quantile, mean))
                .collect()
        };
        let (times, costs) = self.quantiles.split_at(1);
        Spread {
            time: over(&times[0], &expected[0], |point| point.time_s),
            cost: (costs.iter().zip(expected))
                .map(|(usd, points)| over(usd, points, |point| point.cost_usd))
                .collect(),
            few_runs: self.few_runs,
        }
    }
}

struct MissSample {
    values: Vec<Vec<f64>>,
    /// How many missed a limit, per policy.
    missed: Vec<u64>,
}

struct OfOne {
    allowed: Vec<bool>,
    quantiles: Vec<Option<f64>>,
    most: u64,
}

impl MissSample {
    /// Result from all runs, of which there may be `most`.
    fn finish(mut self, max_miss: f64, most: u64) -> OfOne {
        let beyond = beyond(self.runs(), max_miss);
        OfOne {
            allowed: self.missed.iter().map(|missed| *missed <= beyond).collect(),
            quantiles: (self.values.iter_mut())
                .map(|values| quantile(values, max_miss))
                .collect(),
            most,
        }
    }

    fn runs(&self) -> u64 {
        self.values[0].len() as u64
    }

    fn add_run(&mut self, run: RunValues<'_>, limits: &Limits) {
        for (all, value) in self.values.iter_mut().zip(run.0) {
            all.push(*value);
        }
        for (missed, misses) in self.missed.iter_mut().zip(run.misses(limits)) {
            *missed += u64::from(misses);
        }
    }

    /// Runs that it takes, as far as those so far tell.
    fn enough(&mut self, limits: &Limits, max_miss: f64) -> u64 {
        if !self.is_settled(max_miss) {
            return 2 * self.runs();
        }
        if self.is_near(limits, max_miss) {
            self.runs().max(RUNS[1])
        } else {
            self.runs()
        }
    }

    fn is_near(&mut self, limits: &Limits, max_miss: f64) -> bool {
        self.values.iter_mut().enumerate().any(|(at, values)| {
            let most = match at {
                0 => limits.max_time_s,
                _ => limits.max_cost_usd,
            };
            most.is_some_and(|most| {
                let value = quantile(values, max_miss).unwrap_or(values[0]);
                (most / NEAR..=most * NEAR).contains(&value)
            })
        })
    }

    /// Whether more runs would hardly change the answer under any policy.
    fn is_settled(&self, max_miss: f64) -> bool {
        let runs = self.runs() as f64;
        let error = (max_miss * (1.0 - max_miss) / runs).sqrt();
        let is_far = |missed: &u64| (*missed as f64 / runs - max_miss).abs() > SETTLED * error;
        self.missed.iter().all(is_far)
    }
}

/// Runs of `runs` that may miss; the relief keeps a whole number that came out a rounding error too low.
fn beyond(runs: u64, max_miss: f64) -> u64 {
    (runs as f64 * max_miss + 1e-9).floor() as u64
}

/// The least of `values` that at most the share exceeds; `None` where all are equal or none is there. Reorders `values`.
fn quantile(values: &mut [f64], max_miss: f64) -> Option<f64> {
    let first = values.first()?;
    if values.iter().all(|value| value == first) {
        return None;
    }
    let place = values.len() - 1 - beyond(values.len() as u64, max_miss) as usize;
    Some(*values.select_nth_unstable_by(place, f64::total_cmp).1)
}

/// Quantile over mean; 1 without either.
fn margin(quantile: Option<f64>, mean: f64) -> f64 {
    match quantile {
        Some(quantile) if mean > 0.0 && mean.is_finite() => quantile / mean,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_leaves_no_more_than_the_share_beyond() {
        let all = |n: u32| (1..=n).rev().map(f64::from).collect::<Vec<_>>();
        assert_eq!(quantile(&mut all(100), 0.05), Some(95.0));
        assert_eq!(quantile(&mut all(100), 0.5), Some(50.0));
        // Of 19 runs none may be beyond, of 20 one.
        assert_eq!(quantile(&mut all(19), 0.05), Some(19.0));
        assert_eq!(quantile(&mut all(20), 0.05), Some(19.0));
        assert_eq!(quantile(&mut [7.0; 5], 0.05), None);
        assert_eq!(quantile(&mut [], 0.05), None);
        // Shares whose product with the runs is rounded down.
        assert_eq!((beyond(1000, 0.005), beyond(300, 0.07)), (5, 21));
    }

    #[test]
    fn runs_that_end_without_a_result_miss_every_limit() {
        let limits = Limits {
            max_time_s: Some(10.0),
            max_miss: Some(0.25),
            ..Limits::default()
        };
        let mut sample = MissSample {
            values: vec![Vec::new(); 2],
            missed: vec![0],
        };
        let failed = [f64::INFINITY; 2];
        for run in [[9.0, 1.0], failed, [11.0, 1.0], [8.0, 1.0]] {
            sample.add_run(RunValues(&run), &limits);
        }
        assert_eq!(sample.missed, [2]);
        assert_eq!(quantile(&mut sample.values[0], 0.25), Some(11.0));
        assert_eq!(quantile(&mut sample.values[1], 0.25), Some(1.0));
        assert_eq!(quantile(&mut sample.values[1], 0.2), Some(f64::INFINITY));
    }
}
