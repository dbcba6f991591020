//! What the lives of a setting come to, per policy.

use super::overlap::Sample;
use super::run::StartOutcomes;
use crate::policy_run::outcome::Outcome;
use scavsim_base::stats::Welford;

/// Figures of a policy in a setting.
#[derive(Debug, Clone, Default)]
pub struct PolicyMetrics {
    /// Lives with a result, which the figures are of; where there is none, they are no numbers.
    pub lives: usize,
    /// Lives in which the policy failed.
    pub failed: usize,
    /// Why the first of these failed.
    pub why_failed: Option<String>,
    /// Mean USD of a life.
    pub cost_usd: f64,
    /// Half the width of its 95 % interval; `None` where the lives are too few for one.
    pub cost_ci_usd: Option<f64>,
    /// Mean of the lives' costs over those of the clairvoyant; `None` where it has none, or where lives were late without a price
    /// or not done, so that they do not compare.
    pub over_clairvoyant: Option<f64>,
    /// Lives of the clairvoyant whose cost is a lower bound, not exact.
    pub inexact: usize,
    /// Lives that were done in time.
    pub kept: usize,
    /// Lives that were not done when their window ended.
    pub unfinished: usize,
    /// Mean hours late.
    pub late_h: f64,
    /// Mean hours on spot machines.
    pub spot_h: f64,
    /// Mean hours on demand.
    pub on_demand_h: f64,
    /// Mean number of losses, of moves to another zone, and of starts.
    pub losses: f64,
    /// Mean number of moves to another zone.
    pub moves: f64,
    /// Mean number of starts.
    pub launches: f64,
    /// Share of lives in which the safety net took over.
    pub caught: f64,
}

/// Sums over the lives of a setting, from which its figures are made; they do not grow with the lives.
#[derive(Debug, Clone)]
pub struct Sums {
    policies: Vec<PolicySums>,
    optimum: PolicySums,
}

impl PolicyMetrics {
    /// Whether all lives were done in time.
    pub fn keeps_all(&self) -> bool {
        self.failed == 0 && self.kept == self.lives
    }
}

/// Sums over the lives of a policy.
#[derive(Debug, Clone, Default)]
struct PolicySums {
    lives: usize,
    failed: usize,
    why_failed: Option<String>,
    cost_usd: Welford,
    /// Costs over those of the clairvoyant, and how many lives have one.
    over_clairvoyant: (f64, usize),
    inexact: usize,
    kept: usize,
    unfinished: usize,
    late_h: f64,
    spot_h: f64,
    on_demand_h: f64,
    losses: f64,
    moves: f64,
    launches: f64,
    caught: f64,
}

impl Sums {
    /// Sums of so many policies, without lives.
    pub fn new(policies: usize) -> Sums {
        Sums {
            policies: vec![PolicySums::default(); policies],
            optimum: PolicySums::default(),
        }
    }

    /// Takes in lives, which follow those before.
    pub fn add(&mut self, met: &[StartOutcomes]) {
        for one in met {
            let optimum_usd = one.optimum.as_ref().map(|optimum| optimum.bound_usd);
            for (sums, outcome) in self.policies.iter_mut().zip(&one.outcomes) {
                sums.add(outcome, outcome.cost_usd(), optimum_usd);
            }
            if let Some(optimum) = &one.optimum {
                self.optimum
                    .add(&optimum.outcome, optimum.bound_usd, optimum_usd);
                self.optimum.inexact += usize::from(!optimum.is_exact);
            }
        }
    }

    /// Figures of each policy, and of the clairvoyant last, over lives that are such a sample.
    pub fn figures(&self, sample: &Sample) -> Vec<PolicyMetrics> {
        let all = self.policies.iter().chain([&self.optimum]);
        all.map(|sums| sums.figures(sample)).collect()
    }
}

impl PolicySums {
    fn add(&mut self, one: &Outcome, cost_usd: f64, optimum_usd: Option<f64>) {
        if let Some(why) = &one.failed {
            self.failed += 1;
            self.why_failed.get_or_insert_with(|| why.clone());
            return;
        }
        self.lives += 1;
        self.cost_usd.add(cost_usd);
        let is_comparable = one.kept() || (one.finished.is_some() && one.lateness_usd.is_some());
        if let Some(optimum_usd) = optimum_usd.filter(|_| is_comparable) {
            self.over_clairvoyant.0 += cost_usd / optimum_usd;
            self.over_clairvoyant.1 += 1;
        }
        self.kept += usize::from(one.kept());
        self.unfinished += usize::from(one.finished.is_none());
        self.late_h += one.late.hours();
        self.spot_h += one.spot.hours();
        self.on_demand_h += one.on_demand.hours();
        self.losses += f64::from(one.losses);
        self.moves += f64::from(one.moves);
        self.launches += f64::from(one.launches);
        self.caught += f64::from(u8::from(one.caught));
    }

    fn figures(&self, sample: &Sample) -> PolicyMetrics {
        let n = self.lives as f64;
        let effective = sample.effective(self.lives as u64);
        let interval = self.cost_usd.interval_as_of(effective);
        let (ratios, with_optimum) = self.over_clairvoyant;
        let has_all = with_optimum > 0 && with_optimum == self.lives;
        PolicyMetrics {
            lives: self.lives,
            failed: self.failed,
            why_failed: self.why_failed.clone(),
            cost_usd: if self.lives > 0 {
                self.cost_usd.mean()
            } else {
                f64::NAN
            },
            cost_ci_usd: interval.map(|ends| 0.5 * (ends.high - ends.low)),
            over_clairvoyant: has_all.then(|| ratios / n),
            inexact: self.inexact,
            kept: self.kept,
            unfinished: self.unfinished,
            late_h: self.late_h / n,
            spot_h: self.spot_h / n,
            on_demand_h: self.on_demand_h / n,
            losses: self.losses / n,
            moves: self.moves / n,
            launches: self.launches / n,
            caught: self.caught / n,
        }
    }
}
