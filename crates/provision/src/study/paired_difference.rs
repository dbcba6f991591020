//! Policies compared with one of them, life by life.

use scavsim_base::stats::{Interval, Welford};

/// Cost difference of a policy to another on the same lives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedDifference {
    /// Mean USD that a life costs more.
    pub more_usd: f64,
    /// 95 % interval of that mean; `None` where there are too few lives.
    pub interval: Option<Interval>,
    /// Share of lives that cost less.
    pub cheaper: f64,
}

/// Sums over the differences of all pairs of policies; their size does not grow with the lives.
#[derive(Debug, Clone)]
pub struct PairedSums {
    policies: usize,
    /// Extra cost of the first of a pair, and how often it costs less, row by row.
    pairs: Vec<(Welford, usize)>,
}

impl PairedSums {
    pub fn new(policies: usize) -> PairedSums {
        PairedSums {
            policies,
            pairs: vec![(Welford::default(), 0); policies * policies],
        }
    }

    /// Adds each policy's cost in the next life; `None` where it failed.
    pub fn add(&mut self, costs: &[Option<f64>]) {
        for (at, (more, cheaper)) in self.pairs.iter_mut().enumerate() {
            let pair = costs[at / self.policies].zip(costs[at % self.policies]);
            if let Some(usd) = pair.map(|(one, other)| one - other) {
                more.add(usd);
                *cheaper += usize::from(usd < -1e-9);
            }
        }
    }

    /// Each policy compared with number `against`, where each life counts as `independence` independent ones.
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
