//! Policies beside one of them, life by life: all of them met the same markets.

use super::overlap::Sample;
use super::run::StartOutcomes;
use crate::policy_run::outcome::Outcome;
use scavsim_base::stats::{Interval, Welford};

/// What a policy costs more than another on the same lives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedDifference {
    /// Mean USD that a life costs more.
    pub more_usd: f64,
    /// The 95 % interval of that mean; `None` where the lives are too few for one.
    pub interval: Option<Interval>,
    /// Share of lives that cost less.
    pub cheaper: f64,
}

/// Sums over the differences of all pairs of policies; they do not grow with the lives.
#[derive(Debug, Clone)]
pub struct PairedSums {
    policies: usize,
    /// What the first of a pair costs more, and how often it costs less, row by row.
    pairs: Vec<(Welford, usize)>,
}

impl PairedSums {
    /// Sums of so many policies, without lives.
    pub fn new(policies: usize) -> PairedSums {
        PairedSums {
            policies,
            pairs: vec![(Welford::default(), 0); policies * policies],
        }
    }

    /// Takes in lives, which follow those before.
    pub fn add(&mut self, met: &[StartOutcomes]) {
        for one in met {
            // Nothing of a life in which one of a pair failed.
            let cost = |life: &Outcome| life.failed.is_none().then(|| life.cost_usd());
            let costs: Vec<Option<f64>> = one.outcomes.iter().map(cost).collect();
            for (at, (more, cheaper)) in self.pairs.iter_mut().enumerate() {
                let pair = costs[at / self.policies].zip(costs[at % self.policies]);
                let Some(usd) = pair.map(|(one, other)| one - other) else {
                    continue;
                };
                more.add(usd);
                *cheaper += usize::from(usd < -1e-9);
            }
        }
    }

    /// What each policy costs more than that of number `against`, over lives that are such a sample.
    pub fn against(&self, against: usize, sample: &Sample) -> Vec<PairedDifference> {
        let of = |policy: usize| {
            let (more, cheaper) = &self.pairs[policy * self.policies + against];
            PairedDifference {
                more_usd: more.mean(),
                interval: more.interval_as_of(sample.effective(more.count())),
                cheaper: *cheaper as f64 / more.count().max(1) as f64,
            }
        };
        (0..self.policies).map(of).collect()
    }
}
