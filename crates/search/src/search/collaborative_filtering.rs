//! Collaborative filtering, as Paragon and Quasar place jobs. Logarithms of times less the mean of their job are factored, L
//! ≈ Σ u·v, by alternating ridge regressions over earlier runs; the runs of this job, drawn at random, give it factors of its
//! own by one more.

use super::other_jobs::OtherJobs;
use super::trials::{self, TrialOutcome, Trials};
use super::{BuildResult, Depends, Past, Recipe, Task, ready};
use crate::testbed::Target;
use scavsim_base::settings;
use scavsim_base::stats::cholesky::{backward, cholesky_held, forward};
use scavsim_read::input::checked::Count;

/// Factors of a job and of a configuration, besides the mean of each.
const RANK: usize = 3;
/// Weight of the squares of factors beside those of errors.
const RIDGE: f64 = 0.1;
/// Rounds of alternating regressions: by then they move no more.
const ROUNDS: usize = 30;

settings! {
    /// Settings of collaborative filtering.
    pub struct CollaborativeFilteringSettings {
        /// Runs of this job, drawn at random, before one more of what looks best.
        pub budget: Count = Count::new(2).expect("2 is at least 1"),
    }

    name: "collaborative-filtering",
    what: "two runs drawn at random, and the rest as earlier jobs that went alike had it",
    formula: "probes: runs to the target; ln T = mean of the job + mean of the configuration + Σ u·v, 3 factors",
    source: "Delimitrou & Kozyrakis, Paragon, ASPLOS 2013; Quasar, ASPLOS 2014",
    example: "search.strategies = [\"collaborative-filtering@2\"]",
}

impl Recipe for CollaborativeFilteringSettings {
    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> BuildResult {
        let others = OtherJobs::take_some(task, past)?;
        let runs = self.budget.get() as usize;
        let factors = Factors::from_other_jobs(&others, task.space.len());
        ready(Depends::BOTH, move |task, testbed, stream, forecast| {
            let mut seen: Vec<(usize, f64)> = Vec::new();
            let mut trials = Trials::new(task, testbed, forecast);
            while trials.goes_on(runs) {
                let at = trials.any_left(stream);
                if let TrialOutcome::Reached(_) = trials.run(at, None)?
                    && let Target::Reached(time_s) = trials.seen.target
                {
                    seen.push((at, libm::log(time_s.max(f64::MIN_POSITIVE))));
                }
            }
            let logs = factors.foretold(&seen);
            let value = |at: usize| {
                let point = trials::point(task, at, libm::exp(logs[at]?));
                let value = trials::value(task.objective, &point);
                (value.is_finite() && task.is_within(at, &point)).then_some(value)
            };
            let best = trials.best.map_or(f64::INFINITY, |(_, value)| value);
            let left = trials.left().filter_map(|at| Some((at, value(at)?)));
            let least = left.reduce(|least, next| if next.1 < least.1 { next } else { least });
            // What looks better than the best run so far is run once before it is believed.
            if let Some((at, _)) = least.filter(|(_, value)| *value < best) {
                trials.run(at, None)?;
            }
            trials.decide()
        })
    }
}

struct Factors {
    /// `None` where no other job reached the target.
    means: Vec<Option<f64>>,
    /// [`RANK`] of each.
    factors: Vec<[f64; RANK]>,
}

impl Factors {
    fn from_other_jobs(others: &OtherJobs, count: usize) -> Factors {
        // Logarithms less the mean of their job.
        let logs: Vec<Vec<Option<f64>>> = (others.jobs.iter())
            .map(|job| {
                let log = |at: usize| job.runs[at]?.time_s().map(libm::log);
                let known = (0..count).filter_map(log);
                let mean = known.clone().sum::<f64>() / known.count() as f64;
                (0..count).map(|at| log(at).map(|l| l - mean)).collect()
            })
            .collect();
        let means: Vec<Option<f64>> = (0..count)
            .map(|at| {
                let known = logs.iter().filter_map(|of_job| of_job[at]);
                let count = known.clone().count();
                (count > 0).then(|| known.sum::<f64>() / count as f64)
            })
            .collect();
        let errors: Vec<Vec<(usize, f64)>> = (logs.iter())
            .map(|of_job| {
                let error = |at: usize| Some((at, of_job[at]? - means[at]?));
                (0..count).filter_map(error).collect()
            })
            .collect();
        // Any start does that is not the same for all factors.
        let mut factors: Vec<[f64; RANK]> = (0..count)
            .map(|at| std::array::from_fn(|f| libm::cos((at * (f + 1)) as f64)))
            .collect();
        let mut by_configuration = vec![Vec::new(); count];
        for _ in 0..ROUNDS {
            for seen in &mut by_configuration {
                seen.clear();
            }
            for of_job in &errors {
                let own = ridge(of_job.iter().map(|&(at, error)| (factors[at], error)));
                for &(at, error) in of_job {
                    by_configuration[at].push((own, error));
                }
            }
            for (factors, seen) in factors.iter_mut().zip(&by_configuration) {
                *factors = ridge(seen.iter().copied());
            }
        }
        Factors { means, factors }
    }

    /// Logarithms of the times of a job of which some were seen.
    fn foretold(&self, seen: &[(usize, f64)]) -> Vec<Option<f64>> {
        let known: Vec<(usize, f64)> = (seen.iter())
            .filter_map(|&(at, log)| Some((at, log - self.means[at]?)))
            .collect();
        if known.is_empty() {
            return vec![None; self.means.len()];
        }
        let level = known.iter().map(|(_, error)| error).sum::<f64>() / known.len() as f64;
        // Its level is as unknown as its factors: both from what was seen, about the means of that.
        let centre: [f64; RANK] = std::array::from_fn(|f| {
            known
                .iter()
                .map(|(at, _)| self.factors[*at][f])
                .sum::<f64>()
                / known.len() as f64
        });
        let about = |factors: &[f64; RANK]| -> [f64; RANK] {
            std::array::from_fn(|f| factors[f] - centre[f])
        };
        let own =
            ridge((known.iter()).map(|&(at, error)| (about(&self.factors[at]), error - level)));
        let log = |(mean, factors): (&Option<f64>, &[f64; RANK])| {
            let product: f64 = own.iter().zip(about(factors)).map(|(u, v)| u * v).sum();
            mean.map(|mean| level + mean + product)
        };
        self.means.iter().zip(&self.factors).map(log).collect()
    }
}

/// The coefficients x that make Σ (y − a·x)² + [`RIDGE`]·x² least.
fn ridge(rows: impl Iterator<Item = ([f64; RANK], f64)>) -> [f64; RANK] {
    let mut matrix = [0.0; RANK * RANK];
    let mut right = [0.0; RANK];
    for at in 0..RANK {
        matrix[at * RANK + at] = RIDGE;
    }
    for (row, value) in rows {
        for a in 0..RANK {
            right[a] += row[a] * value;
            for b in 0..RANK {
                matrix[a * RANK + b] += row[a] * row[b];
            }
        }
    }
    cholesky_held(&mut matrix, RANK, f64::MIN_POSITIVE);
    forward(&matrix, RANK, &mut right);
    backward(&matrix, RANK, &mut right);
    right
}
