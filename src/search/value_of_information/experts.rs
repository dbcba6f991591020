//! Several beliefs of the same job, each weighed by how well it foretold what was seen.

use super::field::Field;
use super::prior::{Configurations, STEP, STEPS, Shape, TIME};
use crate::stats::normal;

/// How sure of its prior each expert is.
const SCALES: [f64; 3] = [0.5, 1.0, 2.0];
/// An expert of less weight says nothing of what a run would teach.
const LEAST_WEIGHT: f64 = 0.02;
/// A run that failed is taken for one that takes as much longer, of the logarithm.
const FAILED: f64 = 0.3;
/// Nodes and weights of the Gauss–Hermite rule of three, for a standard normal.
const NODES: [(f64, f64); 3] = [
    (-1.732_050_807_568_877_2, 1.0 / 6.0),
    (0.0, 2.0 / 3.0),
    (1.732_050_807_568_877_2, 1.0 / 6.0),
];

/// What a run of a configuration showed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Seen {
    /// Logarithm of the seconds that it took, or was given before it ended.
    pub(super) log_time: f64,
    /// Logarithm of the seconds of a step, where steps are counted.
    pub(super) log_step: Option<f64>,
    /// How it ended.
    pub(super) end: End,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum End {
    Reached,
    GivenUp,
    Failed,
}

/// One expert: the logarithm of time is the sum of its parts.
#[derive(Debug, Clone)]
struct Expert {
    log_weight: f64,
    parts: Vec<Field>,
}

/// All experts of a job.
#[derive(Debug, Clone)]
pub(super) struct Experts {
    all: Vec<Expert>,
    /// Logarithm of the longest time seen.
    worst: f64,
}

/// Mean and standard deviation of the logarithm of the objective, per expert, at all configurations.
pub(super) struct Told {
    /// Sum to 1.
    pub(super) weights: Vec<f64>,
    /// By expert.
    pub(super) moments: Vec<Vec<(f64, f64)>>,
}

impl Experts {
    /// Those that see the time only.
    pub(super) fn of_time(configurations: &Configurations) -> Experts {
        Experts::of(configurations, &[&TIME])
    }

    /// Those that see steps and their seconds.
    pub(super) fn of_steps(configurations: &Configurations) -> Experts {
        Experts::of(configurations, &[&STEP, &STEPS])
    }

    fn of(configurations: &Configurations, shapes: &[&Shape]) -> Experts {
        let expert = |scale: f64| Expert {
            log_weight: 0.0,
            parts: (shapes.iter())
                .map(|shape| configurations.field(shape, scale))
                .collect(),
        };
        Experts {
            all: SCALES.into_iter().map(expert).collect(),
            worst: f64::NEG_INFINITY,
        }
    }

    /// Whether steps are seen.
    pub(super) fn see_steps(&self) -> bool {
        self.all
            .first()
            .is_some_and(|expert| expert.parts.len() > 1)
    }

    /// Learns from a run.
    pub(super) fn learn(&mut self, at: usize, seen: &Seen) {
        let worst = self.worst.max(seen.log_time);
        for expert in &mut self.all {
            let gained = match (&mut expert.parts[..], seen.log_step) {
                ([step, steps], Some(log_step)) => {
                    let of_step = step.observe(at, log_step);
                    of_step
                        + match seen.end {
                            End::Reached => steps.observe(at, seen.log_time - log_step),
                            End::GivenUp => steps.exceeds(at, seen.log_time - log_step),
                            End::Failed => {
                                steps.observe(at, worst + FAILED - log_step);
                                0.0
                            }
                        }
                }
                // Of two parts the last takes what one figure tells.
                (parts, _) => {
                    let before: f64 = (parts[..parts.len() - 1].iter())
                        .map(|part| part.mean[at])
                        .sum();
                    let last = parts.len() - 1;
                    match seen.end {
                        End::Reached => parts[last].observe(at, seen.log_time - before),
                        End::GivenUp => parts[last].exceeds(at, seen.log_time - before),
                        End::Failed => {
                            parts[last].observe(at, worst + FAILED - before);
                            0.0
                        }
                    }
                }
            };
            expert.log_weight += gained;
        }
        self.worst = worst;
    }

    /// What they tell of an objective whose logarithm is `power` times that of time and `prices` besides.
    pub(super) fn told(&self, power: f64, prices: &[f64]) -> Told {
        let most = self
            .all
            .iter()
            .map(|e| e.log_weight)
            .fold(f64::NEG_INFINITY, f64::max);
        let raw: Vec<f64> = (self.all.iter())
            .map(|expert| libm::exp(expert.log_weight - most))
            .collect();
        let sum: f64 = raw.iter().sum();
        let moments = |expert: &Expert| {
            let at = |x: usize| {
                let mean: f64 = expert.parts.iter().map(|part| part.mean[x]).sum();
                let variance: f64 = expert.parts.iter().map(|part| part.variance(x)).sum();
                (power * mean + prices[x], power * variance.sqrt())
            };
            (0..prices.len()).map(at).collect()
        };
        Told {
            weights: raw.iter().map(|w| w / sum).collect(),
            moments: self.all.iter().map(moments).collect(),
        }
    }

    /// The least value that is to be expected of any configuration after a run of `at` to the target, on average over how
    /// that may end: of the best known so far, of that run itself, and of what the others are then believed to take.
    /// `closed` are not to be had any more.
    pub(super) fn after(
        &self,
        told: &Told,
        at: usize,
        power: f64,
        best: f64,
        closed: &[bool],
    ) -> f64 {
        let kept: Vec<usize> = (0..self.all.len())
            .filter(|&e| told.weights[e] >= LEAST_WEIGHT)
            .collect();
        let all: f64 = kept.iter().map(|&e| told.weights[e]).sum();
        let mut expected = 0.0;
        for &from in &kept {
            let (mean, deviation) = told.moments[from][at];
            for (node, share) in NODES {
                let outcome = mean + node * deviation;
                // Likelier outcomes of an expert speak for it.
                let weights: Vec<f64> = (kept.iter())
                    .map(|&e| {
                        let (m, s) = told.moments[e][at];
                        let z = (outcome - m) / s;
                        told.weights[e] / s * libm::exp(-0.5 * z * z)
                    })
                    .collect();
                let sum: f64 = weights.iter().sum();
                let gains: Vec<f64> = (kept.iter())
                    .map(|&e| {
                        let (m, s) = told.moments[e][at];
                        (outcome - m) / (s * s) * power
                    })
                    .collect();
                let mut least = best.min(libm::exp(outcome));
                for x in (0..closed.len()).filter(|&x| !closed[x] && x != at) {
                    let mut value = 0.0;
                    for ((&e, weight), gain) in kept.iter().zip(&weights).zip(&gains) {
                        let shared: f64 =
                            (self.all[e].parts.iter()).map(|part| part.row(at)[x]).sum();
                        let (m, s) = told.moments[e][x];
                        let (_, own) = told.moments[e][at];
                        let moved = m + power * shared * gain;
                        let known = power * power * shared / own;
                        let left = (s * s - known * known).max(0.0);
                        value += weight / sum * libm::exp(moved + 0.5 * left);
                    }
                    least = least.min(value);
                }
                expected += told.weights[from] / all * share * least;
            }
        }
        expected
    }
}

impl Told {
    /// What is expected of a configuration.
    pub(super) fn expected(&self, at: usize) -> f64 {
        self.over(at, |m, s| libm::exp(m + 0.5 * s * s))
    }

    /// What a run is expected to take that is given up at `cap`, and how likely that is.
    pub(super) fn until(&self, at: usize, cap: f64) -> (f64, f64) {
        let log_cap = libm::log(cap);
        let taken = self.over(at, |m, s| {
            let d = (log_cap - m) / s;
            libm::exp(m + 0.5 * s * s) * normal::cdf(d - s) + cap * normal::cdf(-d)
        });
        let above = self.over(at, |m, s| normal::cdf((m - log_cap) / s));
        (taken, above)
    }

    fn over(&self, at: usize, of: impl Fn(f64, f64) -> f64) -> f64 {
        let pairs = self.weights.iter().zip(&self.moments);
        pairs
            .map(|(weight, moments)| {
                let (m, s) = moments[at];
                weight * of(m, s)
            })
            .sum()
    }
}
