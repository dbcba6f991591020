//! Policies beside one of them, life by life: all of them met the same markets.

use super::run::Met;
use scavsim_base::stats::{Interval, Welford};

/// What a policy costs more than another on the same lives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paired {
    /// Mean USD that a life costs more.
    pub more_usd: f64,
    /// The 95 % interval of that mean; `None` for a single life.
    pub interval: Option<Interval>,
    /// Share of lives that cost less.
    pub cheaper: f64,
}

/// What each policy costs more than that of number `against`, in lives in which neither failed.
pub fn paired(met: &[Met], against: usize) -> Vec<Paired> {
    let policies = met.first().map_or(0, |one| one.outcomes.len());
    let of = |policy: usize| {
        let mut more = Welford::default();
        let mut cheaper = 0.0;
        let mut lives = 0.0_f64;
        let both = |one: &&Met| {
            [policy, against]
                .iter()
                .all(|&at| one.outcomes[at].failed.is_none())
        };
        for one in met.iter().filter(both) {
            lives += 1.0;
            let usd = one.outcomes[policy].cost_usd() - one.outcomes[against].cost_usd();
            more.add(usd);
            cheaper += f64::from(u8::from(usd < -1e-9));
        }
        Paired {
            more_usd: more.mean(),
            interval: more.interval(),
            cheaper: cheaper / lives.max(1.0),
        }
    };
    (0..policies).map(of).collect()
}
