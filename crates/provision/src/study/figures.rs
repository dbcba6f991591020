//! What the lives of a setting come to, per policy.

use super::run::Met;
use crate::life::outcome::Outcome;

/// Figures of a policy in a setting.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    /// Lives with a result, which the figures are of; where there is none, they are no numbers.
    pub lives: usize,
    /// Lives in which the policy failed.
    pub failed: usize,
    /// Why the first of these failed.
    pub why_failed: Option<String>,
    /// Mean USD of a life.
    pub cost_usd: f64,
    /// Half the width of its 95 % interval.
    pub cost_ci_usd: f64,
    /// Mean cost over that of the clairvoyant, where there is one; mean of the lives' ratios.
    pub over_clairvoyant: Option<f64>,
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

/// Figures of each policy, and of the clairvoyant last.
pub fn figures(met: &[Met]) -> Vec<Figures> {
    let policies = met.first().map_or(0, |one| one.outcomes.len());
    let pair = |one: &Met, outcome: &Outcome| {
        (outcome.clone(), one.optimum.as_ref().map(Outcome::cost_usd))
    };
    let of = |policy: usize| -> Vec<_> {
        met.iter()
            .map(|one| pair(one, &one.outcomes[policy]))
            .collect()
    };
    let mut all: Vec<Figures> = (0..policies)
        .map(|policy| Figures::of(&of(policy)))
        .collect();
    let optima = met
        .iter()
        .filter_map(|one| Some(pair(one, one.optimum.as_ref()?)));
    all.push(Figures::of(&optima.collect::<Vec<_>>()));
    all
}

impl Figures {
    /// Whether all lives were done in time.
    pub fn keeps_all(&self) -> bool {
        self.failed == 0 && self.kept == self.lives
    }

    fn of(all: &[(Outcome, Option<f64>)]) -> Figures {
        let why_failed = all.iter().find_map(|(one, _)| one.failed.clone());
        let has_result = |(one, _): &&(Outcome, Option<f64>)| one.failed.is_none();
        let lives: Vec<_> = all.iter().filter(has_result).collect();
        let n = lives.len() as f64;
        let mean =
            |of: &dyn Fn(&Outcome) -> f64| lives.iter().map(|(one, _)| of(one)).sum::<f64>() / n;
        let cost_usd = mean(&Outcome::cost_usd);
        let variance = mean(&|one| (one.cost_usd() - cost_usd).powi(2)) * n / (n - 1.0).max(1.0);
        let ratios: Vec<f64> = (lives.iter())
            .filter_map(|(one, optimum)| Some(one.cost_usd() / (*optimum)?))
            .collect();
        let has_all = !ratios.is_empty() && ratios.len() == lives.len();
        Figures {
            lives: lives.len(),
            failed: all.len() - lives.len(),
            why_failed,
            cost_usd,
            cost_ci_usd: 1.96 * (variance / n).sqrt(),
            over_clairvoyant: has_all.then(|| ratios.iter().sum::<f64>() / n),
            kept: lives.iter().filter(|(one, _)| one.kept()).count(),
            unfinished: lives
                .iter()
                .filter(|(one, _)| one.finished_s.is_none())
                .count(),
            late_h: mean(&|one| one.late_s / 3600.0),
            spot_h: mean(&|one| one.spot_s / 3600.0),
            on_demand_h: mean(&|one| one.on_demand_s / 3600.0),
            losses: mean(&|one| f64::from(one.losses)),
            moves: mean(&|one| f64::from(one.moves)),
            launches: mean(&|one| f64::from(one.launches)),
            caught: mean(&|one| f64::from(u8::from(one.caught))),
        }
    }
}
