//! Policies beside one of them, life by life: all of them met the same markets.

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

    /// Takes in what each policy cost in a life that follows those before; `None` where it failed.
    pub fn add(&mut self, costs: &[Option<f64>]) {
        for (at, (more, cheaper)) in self.pairs.iter_mut().enumerate() {
            let pair = costs[at / self.policies].zip(costs[at % self.policies]);
            if let Some(usd) = pair.map(|(one, other)| one - other) {
                more.add(usd);
                *cheaper += usize::from(usd < -1e-9);
            }
        }
    }

    /// What each policy costs more than that of number `against`, where each life counts as so many independent ones.
    pub fn against(&self, against: usize, independence: f64) -> Vec<PairedDifference> {
        let of = |policy: usize| {
            let (more, cheaper) = &self.pairs[policy * self.policies + against];
            PairedDifference {
                more_usd: more.mean(),
                interval: more.interval_as_of(independence * more.count() as f64),
                cheaper: *cheaper as f64 / more.count().max(1) as f64,
            }
        };
        (0..self.policies).map(of).collect()
    }
}
