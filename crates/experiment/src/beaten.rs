//! Which configurations are certainly worse than others, by what their runs tell.

use super::effort::{Effort, SCREENING_RUNS};
use super::estimate::Sample;
use scavsim_base::stats::student_t;
use scavsim_data::pricing::Tariff;
use scavsim_search::search::{Limits, Objective};

/// Probability of a bound from [`SCREENING_RUNS`] (Student's t).
const SCREENED: f64 = 0.9995;
/// Standard errors beyond which a difference is settled (99 %, normal).
pub(super) const SETTLED: f64 = 2.576;

#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    pub objectives: &'a [Objective],
    pub limits: &'a Limits,
    /// Configurations that may be chosen, per policy, where `limits` do not tell.
    pub allowed: Option<&'a [Vec<bool>]>,
    pub tariffs: &'a [Tariff],
    pub effort: Effort,
}

/// Share by which losses that `runs` runs did not meet may lengthen the mean: at most 3 in n runs meet one (95 %, rule of three),
/// at the cost of a whole run each.
pub(super) fn unseen(runs: u64) -> f64 {
    3.0 / runs.max(1) as f64
}

/// Configurations that no objective chooses under any policy, at 99 %; by few runs, at 99.9 %.
pub(super) fn beaten(
    samples: &[Sample],
    question: Question<'_>,
    may_lose: impl Fn(usize) -> bool,
) -> Vec<bool> {
    let is_allowed = |policy: usize, at: usize| question.allowed.is_none_or(|all| all[policy][at]);
    let limited = question.allowed.is_none() && question.limits.are_any();
    let mut is_out = vec![true; samples.len()];
    let bound = |of: usize, (at, sample): (usize, &Sample)| {
        let (e, runs) = (sample.estimate(of), sample.runs());
        let (times, longer) = match runs {
            _ if e.error.is_infinite() => return (e.value, e.value),
            2..=SCREENING_RUNS if sample.losses() == 0 && may_lose(at) => {
                (student_t::quantile(SCREENED, runs - 1), unseen(runs))
            }
            2..=SCREENING_RUNS => (student_t::quantile(SCREENED, runs - 1), 0.0),
            _ => (SETTLED, 0.0),
        };
        let off = times * e.error;
        (e.value - off, (e.value + off) * (1.0 + longer))
    };
    let bounds = |of: usize| -> Vec<(f64, f64)> {
        samples
            .iter()
            .enumerate()
            .map(|sample| bound(of, sample))
            .collect()
    };
    let times = bounds(0);
    for policy in 0..question.tariffs.len() {
        let costs = bounds(policy + 1);
        let allowed = || (0..samples.len()).filter(|at| is_allowed(policy, *at));
        let least = |all: &[(f64, f64)]| allowed().fold(f64::INFINITY, |a, at| a.min(all[at].1));
        let (least_time, least_cost) = (least(&times), least(&costs));
        let front = Corners::new(allowed().map(|at| (times[at].1, costs[at].1)));
        for at in allowed() {
            let (time, cost) = (times[at].0, costs[at].0);
            // One that is faster and cheaper keeps within limits that this one keeps to.
            let beaten = || front.beats(time, cost);
            is_out[at] &= question.objectives.iter().all(|objective| match objective {
                Objective::Time if !limited => time > least_time,
                Objective::Cost if !limited => cost > least_cost,
                _ => beaten(),
            });
        }
    }
    is_out
}

/// Pairs by their first, each with the least second of all up to it.
struct Corners(Vec<(f64, f64)>);

impl Corners {
    fn new(pairs: impl Iterator<Item = (f64, f64)>) -> Corners {
        let mut pairs: Vec<(f64, f64)> = pairs.filter(|pair| !pair.0.is_nan()).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut least = f64::INFINITY;
        for (_, second) in &mut pairs {
            least = least.min(*second);
            *second = least;
        }
        Corners(pairs)
    }

    fn beats(&self, first: f64, second: f64) -> bool {
        let before = self.0.partition_point(|pair| pair.0 < first);
        before > 0 && self.0[before - 1].1 < second
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn corners_beat_what_one_of_them_beats(
            pairs in prop::collection::vec((0u8..9, 0u8..9), 0..20), first in 0u8..9, second in 0u8..9
        ) {
            let value = |of: u8| match of {
                7 => f64::INFINITY,
                8 => f64::NAN,
                of => f64::from(of),
            };
            let pairs: Vec<(f64, f64)> = pairs.iter().map(|p| (value(p.0), value(p.1))).collect();
            let (first, second) = (value(first), value(second));
            let beats = pairs.iter().any(|pair| pair.0 < first && pair.1 < second);
            prop_assert_eq!(Corners::new(pairs.iter().copied()).beats(first, second), beats);
        }
    }
}
