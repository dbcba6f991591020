//! The quality of the best found run over the spending on the search.

use scavsim_base::stats::RunningMedian;

/// Spending, relative to the oracle's run.
pub const SPENT: [f64; 7] = [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0];

/// The simple regret of the best run so far, at each of [`SPENT`]; after the end of the search, of the choice.
#[derive(Clone)]
pub struct Curve {
    regrets: Vec<RunningMedian>,
    /// Cases without a result so far.
    nothing: [u64; SPENT.len()],
    cases: u64,
}

impl Default for Curve {
    fn default() -> Curve {
        Curve {
            regrets: vec![RunningMedian::new(); SPENT.len()],
            nothing: [0; SPENT.len()],
            cases: 0,
        }
    }
}

/// Regret at each of [`SPENT`]; `None` as long as nothing was found.
pub(super) type Regrets = [Option<f64>; SPENT.len()];

impl Curve {
    pub(super) fn add(&mut self, regrets: &Regrets) {
        self.cases += 1;
        for (at, regret) in regrets.iter().enumerate() {
            match regret {
                Some(regret) => self.regrets[at].add(*regret),
                None => self.nothing[at] += 1,
            }
        }
    }

    /// The median regret at each of [`SPENT`], where cases without a result rank last; `None` if these are half of all or
    /// more.
    pub fn medians(&mut self) -> Regrets {
        let mut medians = [None; SPENT.len()];
        for (at, median) in medians.iter_mut().enumerate() {
            let found = self.cases - self.nothing[at];
            if 2 * found > self.cases {
                let rank = 0.5 * (self.cases - 1) as f64 / (found - 1).max(1) as f64;
                *median = self.regrets[at].quantile(rank.min(1.0));
            }
        }
        medians
    }
}

/// A probe, or the end of a search: the spending so far relative to the oracle's run, and the value of the run relative to
/// the oracle's, minus 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CurveStep {
    pub(super) spent: f64,
    /// The value of the run, which decides the best, and its expected regret, if it reached the target.
    pub(super) found: Option<(f64, f64)>,
}

/// Regret at each of [`SPENT`] of a search with these probes, and with this regret of its final choice.
pub(super) fn regrets(steps: &[CurveStep], choice: Option<f64>) -> Regrets {
    let end = steps.last().map_or(0.0, |step| step.spent);
    SPENT.map(|most| {
        if most >= end {
            return choice;
        }
        let by_then = steps.iter().take_while(|step| step.spent <= most);
        let found = by_then.filter_map(|step| step.found);
        found
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, regret)| regret)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regret_is_of_the_best_run_so_far_and_in_the_end_of_the_choice() {
        let step = |spent, found| CurveStep { spent, found };
        let steps = [
            step(0.8, None),
            step(1.9, Some((3.0, 2.0))),
            step(4.0, Some((2.0, 1.0))),
            step(9.0, Some((5.0, 4.0))),
        ];
        let told = regrets(&steps, Some(0.9)).map(|regret| regret.unwrap_or(f64::INFINITY));
        let none = f64::INFINITY;
        assert_eq!(told, [none, none, 2.0, 1.0, 0.9, 0.9, 0.9]);
        // Without a probe the choice applies from the start.
        assert_eq!(regrets(&[], Some(0.3)), [Some(0.3); SPENT.len()]);
    }

    #[test]
    fn what_found_nothing_counts_as_worse_than_everything() {
        let mut curve = Curve::default();
        for regret in [Some(0.1), Some(0.2), Some(0.3), None, None] {
            curve.add(&[regret; SPENT.len()]);
        }
        assert_eq!(curve.medians()[0], Some(0.3));
        curve.add(&[None; SPENT.len()]);
        assert_eq!(curve.medians()[0], None);
    }
}
