//! Several beliefs about the same job, each weighed by how well it predicted what was observed.

use super::constants::Constants;
use super::field::{Field, OBSERVED, Prior};
use crate::search::{Objective, Task};
use scavsim_base::stats::normal;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ObservedRun {
    /// Logarithm of the seconds that it took, or was given before it ended.
    pub(super) log_time: f64,
    /// Logarithm of the seconds of a step, where steps are counted.
    pub(super) log_step: Option<f64>,
    pub(super) end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Reached,
    GivenUp,
    Failed,
}

/// Weights that sum to 1, from their logarithms.
pub(super) fn shares(logs: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
    let most = logs.clone().fold(f64::NEG_INFINITY, f64::max);
    let raw = logs.map(|log| libm::exp(log - most));
    let sum: f64 = raw.clone().sum();
    raw.map(|weight| weight / sum).collect()
}

/// One expert: the logarithm of time is the sum of its parts.
#[derive(Debug, Clone)]
struct Expert<'p> {
    log_weight: f64,
    caution: f64,
    parts: Vec<Field<'p>>,
}

/// Shifts logarithms whose level nobody knows, so that an expert's optimum is at 0: one standard deviation below the least that it expects.
/// What experts say of the level differs for no reason, and those that happen to say more would weigh more.
fn relate_to_optimum(moments: &mut [(f64, f64)], caution: f64) {
    let low = moments
        .iter()
        .map(|(mean, variance)| mean + 0.5 * caution * variance - variance.sqrt());
    let optimum = low.filter(|low| low.is_finite()).reduce(f64::min);
    for (mean, _) in moments {
        *mean -= optimum.unwrap_or(0.0);
    }
}

impl Expert<'_> {
    /// Whether nothing was seen of a part, so that its level is unknown.
    fn has_no_level(&self) -> bool {
        self.parts.iter().any(Field::is_new)
    }

    /// Log-likelihood of how a run ended, by the belief about its whole time; 0 for the first run, which sets the level.
    fn log_likelihood(&self, at: usize, seen: &ObservedRun) -> f64 {
        if self.has_no_level() {
            return 0.0;
        }
        let mean: f64 = self.parts.iter().map(|part| part.mean[at]).sum();
        let known: f64 = self.parts.iter().map(|part| part.variance(at)).sum();
        let variance = known + OBSERVED * OBSERVED;
        let error = seen.log_time - mean;
        match seen.end {
            End::Reached => -0.5 * (libm::log(variance) + error * error / variance),
            End::GivenUp | End::Failed => {
                let above = normal::cdf(-error / known.sqrt());
                libm::log(above.max(f64::MIN_POSITIVE))
            }
        }
    }
}

/// How the logarithm of the objective follows from that of time: `power` times it, and `offset` of each configuration.
#[derive(Debug, Clone)]
pub(super) struct LogObjective {
    pub(super) power: f64,
    pub(super) offset: Vec<f64>,
}

#[derive(Debug, Clone)]
pub(super) struct Experts<'p> {
    all: Vec<Expert<'p>>,
    /// Whether some see parts of time and some only the whole: then all are weighed by the whole.
    are_mixed: bool,
}

/// Mean and variance of the logarithm of the objective, per expert, at all configurations.
#[derive(Debug, Clone)]
pub(super) struct ObjectivePrediction {
    /// Sum to 1.
    pub(super) weights: Vec<f64>,
    /// By expert.
    pub(super) moments: Vec<Vec<(f64, f64)>>,
    /// How much of the spread counts for what each expects.
    cautions: Vec<f64>,
}

impl<'p> Experts<'p> {
    /// One for each scale of the parts' priors, all with one caution.
    pub(super) fn new(priors: &[&'p Prior], scales: &[f64], caution: f64) -> Experts<'p> {
        let expert = |scale: &f64| Expert {
            log_weight: 0.0,
            caution,
            parts: (priors.iter().map(|prior| Field::new(prior, *scale))).collect(),
        };
        Experts {
            all: scales.iter().map(expert).collect(),
            are_mixed: false,
        }
    }

    /// Adds the weights that history gives to each expert, and experts that believe what earlier jobs imply of time as a whole: one per
    /// belief and scale, but for those of too little weight.
    pub(super) fn after_history(
        mut self,
        by_share: &'p [Prior],
        log_weights: &[Vec<f64>],
        constants: &Constants,
    ) -> Experts<'p> {
        let all: f64 = log_weights
            .iter()
            .flatten()
            .map(|log| libm::exp(*log))
            .sum();
        let least = libm::log(constants.least_weight * all);
        let mut log_weights = log_weights.iter();
        let of_any = log_weights.next().into_iter().flatten();
        for (expert, log_weight) in self.all.iter_mut().zip(of_any) {
            expert.log_weight += log_weight;
        }
        for (prior, log_weights) in by_share.iter().zip(log_weights) {
            let scaled = constants.scales.iter().zip(log_weights);
            let scaled = scaled.filter(|(_, log_weight)| **log_weight >= least);
            self.all.extend(scaled.map(|(scale, log_weight)| Expert {
                log_weight: *log_weight,
                caution: constants.caution,
                parts: vec![Field::new(prior, *scale)],
            }));
        }
        self.are_mixed |= self.see_steps();
        self
    }

    pub(super) fn see_steps(&self) -> bool {
        (self.all.first()).is_some_and(|expert| expert.parts.len() > 1)
    }

    /// Learns from a look: what is seen of each part.
    pub(super) fn look(&mut self, at: usize, logs: &[f64]) {
        for expert in &mut self.all {
            for (part, log) in expert.parts.iter_mut().zip(logs) {
                expert.log_weight += part.observe(at, *log);
            }
        }
    }

    /// Learns from a run. One that failed takes longer than it did, if it comes to its end at all.
    pub(super) fn learn(&mut self, at: usize, seen: &ObservedRun) {
        for expert in &mut self.all {
            let of_whole = self.are_mixed.then(|| expert.log_likelihood(at, seen));
            let (before, mut gained) = match (&mut expert.parts[..], seen.log_step) {
                ([step, _, ..], Some(log_step)) => (log_step, step.observe(at, log_step)),
                // Of two parts the last takes what one figure tells.
                (parts, _) => {
                    let others = &parts[..parts.len() - 1];
                    (others.iter().map(|part| part.mean[at]).sum(), 0.0)
                }
            };
            if let Some(last) = expert.parts.last_mut() {
                gained += match seen.end {
                    End::Reached => last.observe(at, seen.log_time - before),
                    End::GivenUp | End::Failed => last.exceeds(at, seen.log_time - before),
                };
            }
            expert.log_weight += of_whole.unwrap_or(gained);
        }
    }

    /// Mean of a part of the logarithm at a configuration.
    pub(super) fn part(&self, weights: &[f64], part: usize, at: usize) -> f64 {
        (self.all.iter().zip(weights))
            .map(|(expert, weight)| weight * expert.parts[part].mean[at])
            .sum()
    }

    pub(super) fn predict_objective(&self, to: &LogObjective) -> ObjectivePrediction {
        let moments = |expert: &Expert<'_>| {
            let at = |x: usize| {
                let mean: f64 = expert.parts.iter().map(|part| part.mean[x]).sum();
                let variance: f64 = expert.parts.iter().map(|part| part.variance(x)).sum();
                (
                    to.power * mean + to.offset[x],
                    to.power * to.power * variance,
                )
            };
            (0..to.offset.len()).map(at).collect()
        };
        let mut moments: Vec<Vec<(f64, f64)>> = self.all.iter().map(moments).collect();
        if self.all.iter().all(Expert::has_no_level) {
            for (moments, expert) in moments.iter_mut().zip(&self.all) {
                relate_to_optimum(moments, expert.caution);
            }
        }
        ObjectivePrediction {
            weights: shares(self.all.iter().map(|expert| expert.log_weight)),
            moments,
            cautions: self.all.iter().map(|expert| expert.caution).collect(),
        }
    }

    /// What a run of `at` to the target tells of `hopeful`, other configurations: for each of its possible ends the odds of
    /// that end, the logarithm of the value there, and the least of what the others are then `worth`: by configuration, its expected
    /// value with at most so much caution, and the logarithm there.
    pub(super) fn after(
        &self,
        told: &ObjectivePrediction,
        at: usize,
        power: f64,
        hopeful: &[usize],
        (most_caution, worth): (f64, impl Fn(usize, f64, f64) -> f64),
        constants: &Constants,
    ) -> Vec<(f64, f64, f64)> {
        let kept: Vec<usize> = (0..self.all.len())
            .filter(|&e| told.weights[e] >= constants.least_weight)
            .collect();
        let all: f64 = kept.iter().map(|&e| told.weights[e]).sum();
        let width = hopeful.len();
        // Per expert and configuration: covariance with `at` over variance there, and mean plus half of what stays unknown.
        let mut follow = vec![0.0; kept.len() * width];
        let mut stays = vec![0.0; kept.len() * width];
        for (place, &e) in kept.iter().enumerate() {
            let (follow, stays) = (
                &mut follow[place * width..(place + 1) * width],
                &mut stays[place * width..(place + 1) * width],
            );
            for part in &self.all[e].parts {
                part.add_covariances(at, hopeful, power * power, follow);
            }
            let (_, own) = told.moments[e][at];
            let caution = self.all[e].caution.min(most_caution);
            for ((follow, stays), &x) in follow.iter_mut().zip(stays).zip(hopeful) {
                let (mean, variance) = told.moments[e][x];
                let shared = *follow;
                *follow = shared / own;
                *stays = mean + 0.5 * caution * (variance - shared * shared / own).max(0.0);
            }
        }
        let mut ends = Vec::with_capacity(kept.len() * normal::HERMITE.len());
        let mut weights = vec![0.0; kept.len()];
        for &from in &kept {
            let (mean, variance) = told.moments[from][at];
            let deviation = variance.sqrt();
            for (node, share) in normal::HERMITE {
                let outcome = mean + node * deviation;
                // Likelier outcomes of an expert speak for it.
                for (weight, &e) in weights.iter_mut().zip(&kept) {
                    let (m, v) = told.moments[e][at];
                    *weight = told.weights[e] / v.sqrt()
                        * libm::exp(-0.5 * (outcome - m) * (outcome - m) / v);
                }
                let sum: f64 = weights.iter().sum();
                let mut least = f64::INFINITY;
                for (x, &other) in hopeful.iter().enumerate() {
                    if other == at {
                        continue;
                    }
                    let mut value = 0.0;
                    for (place, (&e, weight)) in kept.iter().zip(&weights).enumerate() {
                        if *weight < 1e-3 * sum {
                            continue;
                        }
                        let (m, _) = told.moments[e][at];
                        let entry = place * width + x;
                        value +=
                            weight / sum * libm::exp(stays[entry] + follow[entry] * (outcome - m));
                    }
                    least = least.min(worth(other, value, outcome));
                }
                ends.push((told.weights[from] / all * share, outcome, least));
            }
        }
        ends
    }
}

impl ObjectivePrediction {
    pub(super) fn expected(&self, at: usize) -> f64 {
        let experts = self.weights.iter().zip(&self.moments).zip(&self.cautions);
        experts
            .map(|((weight, moments), caution)| {
                let (m, v) = moments[at];
                weight * libm::exp(m + 0.5 * caution * v)
            })
            .sum()
    }

    /// What a run is expected to take that is given up at `cap`, and how likely that is.
    pub(super) fn until(&self, at: usize, cap: f64) -> (f64, f64) {
        let log_cap = libm::log(cap);
        let (mut taken, mut above) = (0.0, 0.0);
        for (weight, moments) in self.weights.iter().zip(&self.moments) {
            let (m, v) = moments[at];
            let s = v.sqrt();
            let d = (log_cap - m) / s;
            let beyond = normal::cdf(-d);
            let mean = if d - s > -37.0 {
                libm::exp(m + 0.5 * v) * normal::cdf(d - s)
            } else {
                0.0
            };
            taken += weight * (mean + cap * beyond);
            above += weight * beyond;
        }
        (taken, above)
    }
}

/// The logarithm of the objective by that of time; infinite where a price is asked for that nobody knows.
pub(super) fn objective(task: &Task<'_>) -> LogObjective {
    let per_second = |at: usize| {
        let usd = task.prices.and_then(|prices| prices.usd_per_hour(at));
        usd.filter(|usd| *usd > 0.0)
            .map_or(f64::INFINITY, |usd| libm::log(usd / 3600.0))
    };
    let by_price = (0..task.space.len()).map(per_second);
    match task.objective {
        Some(Objective::Cost) => LogObjective {
            power: 1.0,
            offset: by_price.collect(),
        },
        Some(Objective::Knee) => LogObjective {
            power: 2.0,
            offset: by_price.collect(),
        },
        Some(Objective::Time) | None => LogObjective {
            power: 1.0,
            offset: vec![0.0; task.space.len()],
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One expert prefers the first of two configurations, one the other, and the first has a level of its own.
    fn expected(level: f64) -> [f64; 2] {
        let prior = |mean: Vec<f64>| Prior {
            mean,
            covariance: vec![0.1, 0.0, 0.0, 0.1],
            unsettled: Vec::new(),
            own: 0.0,
        };
        let (left, right) = (prior(vec![level, level + 1.0]), prior(vec![2.0, 0.0]));
        let mut experts = Experts::new(&[&left], &[1.0], 0.0);
        experts.all.extend(Experts::new(&[&right], &[1.0], 0.0).all);
        let objective = LogObjective {
            power: 1.0,
            offset: vec![0.0; 2],
        };
        let told = experts.predict_objective(&objective);
        [told.expected(0), told.expected(1)]
    }

    /// Before the first run a level means nothing: hours of one expert are seconds of the other.
    #[test]
    fn the_first_choice_depends_on_no_unit() {
        let (seconds, hours) = (expected(0.0), expected(-8.2));
        assert!(
            (seconds[0] - hours[0]).abs() < 1e-9,
            "{seconds:?} {hours:?}"
        );
        assert!(seconds[1] < seconds[0]);
    }
}
