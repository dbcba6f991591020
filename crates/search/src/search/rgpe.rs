//! Ranking-weighted ensembles of Gaussian processes (RGPE), as Karasu searches clusters with the runs of other jobs. Each other
//! job has a process over its own runs; the ensemble is their mean, each weighted by how often it ranks the runs of this job
//! better than all others do, in draws from what each expects there. This job's own process is judged by what it expects of each
//! run from the others. Not theirs: draws at several places are independent, and a run that failed counts as a third more
//! than the worst.

use super::belief::Belief;
use super::features::Features;
use super::gaussian_process::GaussianProcess;
use super::latin_hypercube::design;
use super::other_jobs::OtherJobs;
use super::trials::{Model, TrialOutcome, Trials, check_size, most_values, runs};
use super::{BuildResult, Depends, Past, Recipe, Task, ready};
use scavsim_base::rng::Stream;
use scavsim_base::settings;
use scavsim_base::stats::Welford;
use scavsim_read::input::checked::{Count, ShareOf};

/// Configurations at most, and other jobs and runs of each that have a process.
const MOST: usize = 5_000;
const MOST_JOBS: usize = 30;
const MOST_RUNS: usize = 60;
/// Draws from the processes, each of which votes for the best.
const DRAWS: usize = 64;
/// Runs of this job before its own process has a weight.
const LEAST_OWN: usize = 3;
/// A process is left out whose median draw ranks worse than this share of the draws of this job's own.
const DILUTES: f64 = 0.95;

settings! {
    /// Settings of ranking-weighted ensembles.
    pub struct RgpeSettings {
        /// Runs, whatever is expected of further ones; without it, its own rule says when to stop.
        pub budget: Option<Count>,
        /// Runs from all parts of the space, before anything is ranked.
        pub first: Count = Count::new(3).expect("3 is at least 1"),
        /// Runs before its own rule may stop it.
        pub least: Count = Count::new(6).expect("6 is at least 1"),
        /// The search stops when less than this share of the best value is expected to be gained.
        pub stop_below: ShareOf = ShareOf::new(0.1).expect("it is a share"),
    }

    name: "rgpe",
    what: "Bayesian optimisation with the processes of other jobs, each weighted by how well it ranks the runs of this one",
    formula: "probes: runs to the target where E[(b − Y)⁺]·P(within limits) is greatest; Y = Σ w·Y(job), w: share of draws in which it ranks best",
    source: "Feurer, Letham and Bakshy, 2018; Scheinert et al., Karasu, 2023",
    example: "search.strategies = [\"rgpe\"]",
}

impl Recipe for RgpeSettings {
    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> BuildResult {
        check_size(task, MOST)?;
        let others = OtherJobs::take_some(task, past)?;
        let settings = self.clone();
        let features = Features::for_space(task.space, task.prices);
        let of_jobs: Vec<Vec<Belief>> = (others.some_jobs(MOST_JOBS).into_iter())
            .filter_map(|job| {
                let ratios = others.jobs[job].ratios(task).into_iter().enumerate();
                let known: Vec<(usize, f64)> = ratios
                    .filter_map(|(at, ratio)| Some((at, libm::log(ratio?))))
                    .collect();
                let spread = known.len().div_ceil(MOST_RUNS).max(1);
                let known: Vec<(usize, f64)> = known.into_iter().step_by(spread).collect();
                Scaled::new(&known)?.beliefs(&features, task.space.len())
            })
            .collect();
        ready(Depends::BOTH, move |task, testbed, stream, forecast| {
            let count = task.space.len();
            let budget = runs(settings.budget, count);
            let first = (settings.first.get() as usize).min(budget);
            let first = design(&features, count, first, stream);
            let model = Rgpe {
                settings: &settings,
                of_jobs: &of_jobs,
                features: &features,
                log_most: most_values(task).into_iter().map(libm::log).collect(),
                own: Vec::new(),
                worst: f64::NEG_INFINITY,
                stream,
            };
            Trials::new(task, testbed, forecast).search(budget, first, model)
        })
    }
}

/// Logarithms of runs with mean 0 and variance 1, and what they were.
struct Scaled {
    runs: Vec<(usize, f64)>,
    mean: f64,
    deviation: f64,
}

impl Scaled {
    /// `None` of fewer than two, or of equal ones.
    fn new(runs: &[(usize, f64)]) -> Option<Scaled> {
        let mut all = Welford::default();
        runs.iter().for_each(|(_, log)| all.add(*log));
        let (mean, deviation) = (all.mean(), all.standard_deviation());
        (deviation > 0.0).then(|| Scaled {
            runs: runs
                .iter()
                .map(|(at, log)| (*at, (log - mean) / deviation))
                .collect(),
            mean,
            deviation,
        })
    }

    fn beliefs(&self, features: &Features, count: usize) -> Option<Vec<Belief>> {
        beliefs(self.runs.iter(), features, count)
    }
}

fn beliefs<'r>(
    runs: impl Iterator<Item = &'r (usize, f64)>,
    features: &Features,
    count: usize,
) -> Option<Vec<Belief>> {
    let mut process = GaussianProcess::new(features, count);
    runs.for_each(|(at, value)| process.observe(*at, *value));
    process.beliefs()
}

struct Rgpe<'s> {
    settings: &'s RgpeSettings,
    /// What the process of each other job expects everywhere, scaled.
    of_jobs: &'s [Vec<Belief>],
    features: &'s Features,
    /// Logarithms of the greatest values that keep the limits.
    log_most: Vec<f64>,
    /// Logarithms of what runs came to.
    own: Vec<(usize, f64)>,
    worst: f64,
    stream: &'s mut Stream,
}

impl Model for Rgpe<'_> {
    fn learn(&mut self, at: usize, outcome: TrialOutcome) {
        let log = outcome.log(self.worst);
        if log.is_finite() {
            self.worst = self.worst.max(log);
            self.own.push((at, log));
        }
    }

    fn next(&mut self, trials: &Trials<'_, '_>) -> Option<(usize, Option<f64>)> {
        let best = trials.best.map(|(_, value)| value);
        if best == Some(0.0) {
            return None; // nothing is better than for nothing
        }
        let count = trials.tried.len();
        let scaled = Scaled::new(&self.own);
        let mut models: Vec<&[Belief]> = self.of_jobs.iter().map(Vec::as_slice).collect();
        let own = scaled
            .as_ref()
            .and_then(|own| own.beliefs(self.features, count));
        let weights = match (&scaled, &own) {
            (Some(scaled), Some(own)) if scaled.runs.len() >= LEAST_OWN => {
                models.push(own);
                self.weights(scaled, count)
            }
            _ => vec![1.0 / models.len().max(1) as f64; models.len()],
        };
        let ensemble = |at: usize| {
            let parts = weights.iter().zip(&models);
            let (mean, variance) = parts.fold((0.0, 0.0), |(mean, variance), (weight, model)| {
                let deviation = weight * model[at].deviation;
                (
                    mean + weight * model[at].mean,
                    variance + deviation * deviation,
                )
            });
            let deviation = variance.sqrt();
            Belief { mean, deviation }
        };
        let settings = self.settings;
        let may_stop = settings.budget.is_none() && trials.has_enough(settings.least);
        let Some(scaled) = scaled else {
            // One run has no scale, as equal ones have none: where others expect the least.
            let (at, _) = trials.most(|at| -ensemble(at).mean)?;
            return (!may_stop).then_some((at, None));
        };
        let best = best.map_or(self.worst, libm::log);
        let gain = |at: usize| {
            let belief = ensemble(at);
            let belief = Belief {
                mean: scaled.mean + scaled.deviation * belief.mean,
                deviation: scaled.deviation * belief.deviation,
            };
            belief.log_improvement(best) * belief.at_most(self.log_most[at])
        };
        let (at, gain) = trials.most(gain)?;
        (!may_stop || gain >= settings.stop_below.get()).then_some((at, None))
    }
}

impl Rgpe<'_> {
    /// Weights of the other jobs' processes, and of this job's own as the last.
    fn weights(&mut self, own: &Scaled, count: usize) -> Vec<f64> {
        // What the rest of the runs expects of each.
        let without = |left_out: usize| {
            let rest = own.runs.iter().enumerate();
            let rest = rest.filter(|(place, _)| *place != left_out);
            let (at, _) = own.runs[left_out];
            let beliefs = beliefs(rest.map(|(_, run)| run), self.features, count);
            beliefs.map_or(UNKNOWN, |beliefs| beliefs[at])
        };
        let of_own: Vec<Belief> = (0..own.runs.len()).map(without).collect();
        let of_jobs = self.of_jobs.iter();
        let at_runs = of_jobs.map(|model| own.runs.iter().map(|(at, _)| model[*at]).collect());
        let at_runs: Vec<Vec<Belief>> = at_runs.chain([of_own]).collect();
        let own_place = at_runs.len() - 1;
        let truth: Vec<f64> = own.runs.iter().map(|(_, value)| *value).collect();
        let draws: Vec<Vec<usize>> = (at_runs.iter().enumerate())
            .map(|(model, beliefs)| {
                let vote = |_: usize| {
                    let draw = |of: &Belief| of.mean + of.deviation * self.stream.normal();
                    let drawn: Vec<f64> = beliefs.iter().map(draw).collect();
                    let others = if model == own_place { &truth } else { &drawn };
                    misranked(&drawn, others, &truth)
                };
                (0..DRAWS).map(vote).collect()
            })
            .collect();
        let at_share = |draws: &[usize], share: f64| {
            let mut sorted = draws.to_vec();
            sorted.sort_unstable();
            sorted[(share * (DRAWS - 1) as f64) as usize]
        };
        let most = at_share(&draws[own_place], DILUTES);
        let takes_part = |model: usize| model == own_place || at_share(&draws[model], 0.5) <= most;
        let part: Vec<usize> = (0..draws.len())
            .filter(|model| takes_part(*model))
            .collect();
        let best_in = |draw: usize| -> Vec<usize> {
            let least = part.iter().map(|model| draws[*model][draw]).min();
            let is_best = |model: &&usize| Some(draws[**model][draw]) == least;
            part.iter().filter(is_best).copied().collect()
        };
        let mut weights = vec![0.0; draws.len()];
        for best in (0..DRAWS).map(best_in) {
            for model in &best {
                weights[*model] += 1.0 / (DRAWS * best.len()) as f64;
            }
        }
        weights
    }
}

/// Belief about a place of which nothing is known, on the scale of runs.
const UNKNOWN: Belief = Belief {
    mean: 0.0,
    deviation: 1.0,
};

/// Pairs of runs that `drawn` beside `others` orders otherwise than the truth.
fn misranked(drawn: &[f64], others: &[f64], truth: &[f64]) -> usize {
    let all = 0..truth.len();
    let pairs = all.clone().flat_map(|a| all.clone().map(move |b| (a, b)));
    pairs
        .filter(|(a, b)| a != b && (drawn[*a] < others[*b]) != (truth[*a] < truth[*b]))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use scavsim_data::space::{Axis, Space};

    #[test]
    fn pairs_in_another_order_are_counted_both_ways() {
        let truth = [1.0, 2.0, 3.0];
        assert_eq!(misranked(&truth, &truth, &truth), 0);
        assert_eq!(misranked(&[2.0, 1.0, 3.0], &[2.0, 1.0, 3.0], &truth), 2);
        assert_eq!(misranked(&[3.0, 2.0, 1.0], &[3.0, 2.0, 1.0], &truth), 6);
    }

    /// Of two other jobs one has the values of this one, and one their negatives.
    #[test]
    fn a_job_that_ranks_alike_outweighs_one_that_does_not() {
        let places: Vec<[f64; 1]> = (1..=12).map(|x| [f64::from(x)]).collect();
        let space = Space::new(vec![Axis::numeric("x", "1")], places).expect("a space");
        let features = Features::for_space(&space, None);
        let value = |at: usize| libm::sin(at as f64 * 0.7);
        let of = |sign: f64| {
            let runs: Vec<(usize, f64)> = (0..12).map(|at| (at, sign * value(at))).collect();
            let scaled = Scaled::new(&runs).expect("they differ");
            scaled.beliefs(&features, 12).expect("enough was seen")
        };
        let of_jobs = [of(-1.0), of(1.0)];
        let mut stream = Stream::seeded(5);
        let own: Vec<(usize, f64)> = [0, 3, 5, 8, 11].map(|at| (at, value(at))).to_vec();
        let scaled = Scaled::new(&own).expect("they differ");
        let mut model = Rgpe {
            settings: &RgpeSettings::default(),
            of_jobs: &of_jobs,
            features: &features,
            log_most: vec![f64::INFINITY; 12],
            own,
            worst: 1.0,
            stream: &mut stream,
        };
        let weights = model.weights(&scaled, 12);
        assert!(
            (weights.iter().sum::<f64>() - 1.0).abs() < 1e-12,
            "{weights:?}"
        );
        assert!(weights[0] < 0.01 && weights[1] > 0.9, "{weights:?}");
    }
}
