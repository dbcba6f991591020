//! Successive halving: many configurations on little, few of them on more, the last in whole runs (Jamieson & Talwalkar 2016).
//!
//! The first rung runs the least cheap version of configurations drawn at random. Each further rung runs the best of the
//! last one on the next share, so many fewer that all rungs take as much of runs: with shares r < s of a run, n·r/s of n go
//! on. Theirs is one loss; here a run has a quality that must come to the target, and a value. What is short of the target
//! goes in two equal steps: first those furthest from it, √(r/s) of all staying, then the dearest. Those that come to the target by
//! a cheap version already all pass the first. Whole runs go on until one reaches the target, by the order of the last rung.
//!
//! With `brackets`, searches of that kind follow each other that begin one rung higher each, as in Hyperband (Li et al.
//! 2018); a configuration that a bracket before has run on a share is not run on it again.

use super::trials::{CheapTrial, Trials};
use super::{BuildResult, Depends, Past, Recipe, Task, UnusableStrategy, ready};
use crate::testbed::Stop;
use scavsim_base::rng::Stream;
use scavsim_base::settings;
use scavsim_read::input::checked::Count;

settings! {
    /// Settings of successive halving.
    pub struct SuccessiveHalvingSettings {
        /// Configurations of the first rung; all when absent.
        pub budget: Option<Count>,
        /// Searches that follow each other, each beginning one rung higher: Hyperband.
        pub brackets: Count = Count::new(1).expect("1 is at least 1"),
    }

    name: "successive-halving",
    what: "cheap versions of many runs, the best of them on more, the last to the target; needs a grid with fidelities",
    formula: "probes: n of a share r, n·r/s of the next share s, …; the last to the target",
    source: "Jamieson and Talwalkar, AISTATS 2016; `brackets`: Li et al., Hyperband, JMLR 2018",
    example: "search.strategies = [\"successive-halving@27\"]",
}

/// Why a strategy of cheap runs is of no use on a workload, where it is not.
pub(super) fn needs_fidelities(task: &Task<'_>) -> Result<(), UnusableStrategy> {
    if task.fidelities.is_empty() {
        return Err(UnusableStrategy(
            "there are no cheap versions of its runs: only a measured grid with `[fidelity]` has them".to_owned(),
        ));
    }
    Ok(())
}

impl Recipe for SuccessiveHalvingSettings {
    fn build(&self, task: &Task<'_>, _: &mut Past<'_>) -> BuildResult {
        needs_fidelities(task)?;
        let settings = self.clone();
        ready(Depends::BOTH, move |task, testbed, stream, forecast| {
            let count = task.space.len();
            let first = settings
                .budget
                .map_or(count, |budget| budget.get() as usize);
            let mut rungs = Rungs {
                trials: Trials::new(task, testbed, forecast),
                seen: vec![vec![None; count]; task.fidelities.len()],
            };
            let brackets = (settings.brackets.get() as usize).min(task.fidelities.len());
            let mut left = Vec::new();
            for bracket in 0..brackets {
                let least = task.fidelities[0] / task.fidelities[bracket];
                let drawn = draw(count, kept(first.min(count), least), stream);
                left.extend(rungs.climb(task, bracket, drawn)?);
            }
            // Where none came to the target: those that went furthest, then any.
            let rest = draw(count, count, stream);
            for at in left.into_iter().rev().chain(rest) {
                if rungs.trials.is_reached {
                    break;
                }
                if !rungs.trials.tried[at] {
                    rungs.trials.run(at, None)?;
                }
            }
            rungs.trials.decide()
        })
    }
}

struct Rungs<'a, 't> {
    trials: Trials<'a, 't>,
    /// By share and configuration.
    seen: Vec<Vec<Option<CheapTrial>>>,
}

impl Rungs<'_, '_> {
    /// Runs these on the shares from one on, and the last to the target. Those that fell out come back, the worst first.
    fn climb(
        &mut self,
        task: &Task<'_>,
        from: usize,
        mut rung: Vec<usize>,
    ) -> Result<Vec<usize>, Stop> {
        let shares = task.fidelities;
        let mut fallen = Vec::new();
        for level in from..shares.len() {
            for &at in &rung {
                if self.seen[level][at].is_none() {
                    self.seen[level][at] = self.trials.run_cheaply(at, shares[level])?;
                }
            }
            let next = shares.get(level + 1).copied().unwrap_or(1.0);
            let seen = &self.seen[level];
            let out = cut(&mut rung, seen, shares[level] / next, task.goal.is_some());
            fallen.extend(out);
        }
        for &at in &rung {
            if !self.trials.tried[at] {
                self.trials.run(at, None)?;
            }
        }
        Ok(fallen)
    }
}

/// How many of so many go on where a share of them does, at least one.
fn kept(count: usize, share: f64) -> usize {
    ((count as f64 * share * (1.0 + 1e-12)).floor() as usize).clamp(1, count.max(1))
}

/// Leaves the best of a rung, in order of their values, where a share of them goes on; the others come back, the worst first.
fn cut(
    rung: &mut Vec<usize>,
    seen: &[Option<CheapTrial>],
    share: f64,
    has_goal: bool,
) -> Vec<usize> {
    let go_on = kept(rung.len(), share);
    let mut fallen = Vec::new();
    if has_goal {
        // What shows no quality, as it failed or was not run so, is worst.
        let beyond = |at: usize| {
            let shown = seen[at].and_then(|trial| trial.beyond);
            shown.map_or(f64::NEG_INFINITY, |beyond| beyond.min(0.0))
        };
        rung.sort_by(|&a, &b| beyond(b).total_cmp(&beyond(a)));
        let good = rung.iter().filter(|&&at| beyond(at) >= 0.0).count();
        let stay = kept(rung.len(), share.sqrt()).max(good).max(go_on);
        fallen.extend(rung.drain(stay..).rev());
    }
    let value = |at: usize| seen[at].map_or(f64::INFINITY, |trial| trial.value);
    rung.sort_by(|&a, &b| value(a).total_cmp(&value(b)));
    fallen.extend(rung.drain(go_on..).rev());
    fallen
}

fn draw(count: usize, some: usize, stream: &mut Stream) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for place in 0..some.min(count) {
        let other = place + stream.below(count - place);
        order.swap(place, other);
    }
    order.truncate(some);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(value: f64, beyond: Option<f64>) -> Option<CheapTrial> {
        Some(CheapTrial { value, beyond })
    }

    #[test]
    fn a_quarter_goes_on_half_by_quality_and_half_by_value() {
        // The cheapest two are the worst by quality.
        let seen: Vec<_> = (0..8)
            .map(|at| trial(f64::from(at), Some(f64::from(at) - 8.0)))
            .collect();
        let mut rung: Vec<usize> = (0..8).collect();
        let fallen = cut(&mut rung, &seen, 0.25, true);
        assert_eq!(rung, [4, 5]);
        assert_eq!(fallen, [0, 1, 2, 3, 7, 6]);
        let mut rung: Vec<usize> = (0..8).collect();
        cut(&mut rung, &seen, 0.25, false);
        assert_eq!(rung, [0, 1]);
    }

    #[test]
    fn those_at_the_target_all_pass_and_those_without_quality_do_not() {
        let seen = [
            trial(9.0, Some(0.1)),
            trial(3.0, Some(0.2)),
            trial(1.0, None),
            trial(2.0, Some(0.0)),
        ];
        let mut rung = vec![0, 1, 2, 3];
        cut(&mut rung, &seen, 0.25, true);
        assert_eq!(rung, [3]);
    }

    #[test]
    fn one_goes_on_at_least() {
        assert_eq!((kept(9, 1.0 / 3.0), kept(2, 0.1), kept(1, 0.5)), (3, 1, 1));
        let drawn = draw(5, 5, &mut Stream::seeded(1));
        let mut sorted = drawn.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3, 4]);
    }
}
