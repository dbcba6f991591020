//! Expected remaining lifetimes: Nelson–Aalen's cumulative hazard over seen runs, times a factor for bursts of losses.

use std::collections::VecDeque;

/// Hazard per hour of a zone without seen losses.
const LEAST_HAZARD: f64 = 1e-8;

/// Difference in hours of runs that count as equally long.
const SAME_H: f64 = 1e-9;

/// Steps of a cumulative hazard by Nelson–Aalen, at the ages of losses.
#[derive(Debug, Default)]
pub(super) struct Knots {
    knots: Vec<Knot>,
    /// Hours of each run that ended.
    ended_h: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Knot {
    age_h: f64,
    lost: u32,
    /// Ended runs that became as old.
    at_risk: u32,
    /// Odds to outlive it as last computed, and for which factor and number at risk.
    outlives: f64,
    of: (f64, u32),
}

impl Knot {
    /// Runs at risk, with the current run if it is as old.
    fn at_risk(&self, open_h: Option<f64>) -> u32 {
        let is_open = open_h.is_some_and(|hours| hours + SAME_H >= self.age_h);
        self.at_risk + u32::from(is_open)
    }

    fn step(&self, open_h: Option<f64>) -> f64 {
        f64::from(self.lost) / f64::from(self.at_risk(open_h))
    }
}

impl Knots {
    /// Adds a run that ended, by a loss or otherwise.
    pub(super) fn push(&mut self, hours: f64, is_lost: bool) {
        let as_old = |knot: &&mut Knot| hours + SAME_H >= knot.age_h;
        for knot in self.knots.iter_mut().filter(as_old) {
            knot.at_risk += 1;
        }
        self.ended_h.push(hours);
        if !is_lost {
            return;
        }
        // Odds are reckoned anew where more were lost or at risk.
        let unknown = (f64::NAN, 0);
        let place = (self.knots).binary_search_by(|knot| knot.age_h.total_cmp(&hours));
        match place {
            Ok(at) => {
                self.knots[at].lost += 1;
                self.knots[at].of = unknown;
            }
            Err(at) => {
                let as_old = |ended: &&f64| **ended + SAME_H >= hours;
                let at_risk = self.ended_h.iter().filter(as_old).count() as u32;
                let knot = Knot {
                    age_h: hours,
                    lost: 1,
                    at_risk,
                    outlives: 1.0,
                    of: unknown,
                };
                self.knots.insert(at, knot);
            }
        }
    }

    /// Step beyond the last knot.
    fn tail(&self, open_h: Option<f64>) -> f64 {
        let last = self.knots.last();
        last.map_or(LEAST_HAZARD, |knot| knot.step(open_h).max(LEAST_HAZARD))
    }

    /// Expected remaining hours at an age, with the hazard times a factor. A current run of `open_h` counts as not seen to end.
    pub(super) fn expected_h(
        &mut self,
        age_h: f64,
        open_h: Option<f64>,
        factor: f64,
        tick_h: f64,
    ) -> f64 {
        let (mut expected, mut survives, mut at) = (0.0, 1.0, age_h);
        let first = (self.knots).partition_point(|knot| knot.age_h <= age_h + 1e-12);
        for knot in &mut self.knots[first..] {
            expected += survives * (knot.age_h - at);
            let of = (factor, knot.at_risk(open_h));
            if knot.of != of {
                knot.outlives = libm::exp(-factor * knot.step(open_h));
                knot.of = of;
            }
            survives *= knot.outlives;
            at = knot.age_h;
        }
        // Beyond the last knot it rises by the last step per tick.
        let tail = self.tail(open_h);
        let dies = 1.0 - libm::exp(-factor * tail);
        let per_tick = if dies > 1e-9 {
            dies
        } else {
            (factor * tail).max(1e-9)
        };
        expected + survives * tick_h / per_tick
    }

    fn hazard(&self, age_h: f64, open_h: Option<f64>) -> f64 {
        if age_h <= 0.0 {
            return 0.0;
        }
        let (mut sum, mut last) = (0.0, 0.0);
        for knot in self.knots.iter().take_while(|knot| knot.age_h < age_h) {
            sum += knot.step(open_h);
            last = knot.age_h;
        }
        sum + (age_h - last) * self.tail(open_h)
    }

    /// Hazard between two ages; a little where something failed without any.
    pub(super) fn risk(
        &self,
        ages: Option<(f64, f64)>,
        open_h: Option<f64>,
        failures: u32,
        tick_h: f64,
    ) -> f64 {
        let borne = ages.map_or(0.0, |(from, to)| {
            self.hazard(to, open_h) - self.hazard(from, open_h)
        });
        let mut risk = borne.max(0.0);
        if risk <= 0.0 && self.knots.is_empty() && (ages.is_some() || failures > 0) {
            risk = self.tail(open_h) * tick_h;
        }
        if risk <= 0.0 && failures > 0 {
            risk = self.tail(open_h) * tick_h;
        }
        risk
    }
}

/// Ratio of losses to the hazard's: the densest recent stretch of failures per hazard.
#[derive(Debug)]
pub struct Bursts {
    /// Hazard and failures per tick, over the last eight units of hazard.
    events: VecDeque<(f64, u32)>,
    total: f64,
    /// Factor of the hazard, at least 1.
    pub(super) factor: f64,
}

impl Default for Bursts {
    fn default() -> Self {
        Bursts {
            events: VecDeque::new(),
            total: 0.0,
            factor: 1.0,
        }
    }
}

const REMEMBERED: f64 = 8.0;

impl Bursts {
    pub(super) fn push(&mut self, risk: f64, failures: u32) {
        if risk <= 0.0 && failures == 0 {
            return;
        }
        self.events.push_back((risk, failures));
        self.total += risk;
        while let Some(&(oldest, _)) = self.events.front()
            && self.total - oldest >= REMEMBERED
        {
            self.events.pop_front();
            self.total -= oldest;
        }
        self.factor = if self.total < 1.0 {
            1.0
        } else {
            self.densest().max(1.0)
        };
    }

    /// Failures per hazard of the densest stretch up to now over at most one unit.
    fn densest(&self) -> f64 {
        const LEAST: f64 = 1e-6;
        let (mut risk, mut failures, mut best) = (0.0, 0.0, None::<f64>);
        for (number, &(borne, failed)) in self.events.iter().rev().enumerate() {
            risk += borne;
            failures += f64::from(failed);
            if number == 0 && risk <= LEAST && failures <= 0.0 {
                continue;
            }
            let ratio = failures / if risk > 0.0 { risk } else { LEAST };
            if risk > 1.0 + 1e-9 {
                if number == 0 {
                    best = Some(ratio);
                }
                break;
            }
            if best.is_none_or(|best| ratio > best + 1e-9) {
                best = Some(ratio);
            }
        }
        best.unwrap_or_else(|| {
            let (risk, failures) = self.events.back().copied().unwrap_or((1.0, 0));
            f64::from(failures) / risk.max(LEAST)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Knots, LEAST_HAZARD, SAME_H};

    /// Steps of Nelson–Aalen from all runs at once: hours, and whether a loss ended them.
    fn steps(runs: &[(f64, bool)]) -> Vec<(f64, f64)> {
        let mut lost: Vec<f64> = runs.iter().filter(|run| run.1).map(|run| run.0).collect();
        lost.sort_by(f64::total_cmp);
        let step = |same: &[f64]| {
            let at_risk = runs.iter().filter(|run| run.0 + SAME_H >= same[0]).count();
            (same[0], same.len() as f64 / at_risk as f64)
        };
        lost.chunk_by(|a, b| a == b).map(step).collect()
    }

    fn expected_h(steps: &[(f64, f64)], age_h: f64, factor: f64, tick_h: f64) -> f64 {
        let (mut expected, mut survives, mut at) = (0.0, 1.0, age_h);
        for &(age, step) in steps.iter().filter(|step| step.0 > age_h + 1e-12) {
            expected += survives * (age - at);
            survives *= libm::exp(-factor * step);
            at = age;
        }
        let tail = steps.last().map_or(LEAST_HAZARD, |step| step.1);
        let dies = 1.0 - libm::exp(-factor * tail);
        expected
            + survives * tick_h
                / if dies > 1e-9 {
                    dies
                } else {
                    1e-9_f64.max(factor * tail)
                }
    }

    #[test]
    fn run_by_run_it_is_what_all_runs_say_at_once() {
        // Lengths that come again, in no order.
        let hours = |at: u64| (at * 7919 % 23) as f64 / 6.0;
        let (mut knots, mut runs) = (Knots::default(), Vec::new());
        for at in 0..60 {
            let open_h = (at % 3 > 0).then(|| hours(at + 5) + 0.1);
            let all = runs
                .iter()
                .copied()
                .chain(open_h.map(|hours| (hours, false)));
            let steps = steps(&all.collect::<Vec<_>>());
            for (age_h, factor) in [(0.0, 1.0), (hours(at), 1.5), (hours(at) + 0.1, 1.5)] {
                let ours = knots.expected_h(age_h, open_h, factor, 0.1);
                assert_eq!(ours, expected_h(&steps, age_h, factor, 0.1), "{at}");
            }
            let run = (hours(at), at % 4 != 1);
            knots.push(run.0, run.1);
            runs.push(run);
        }
    }
}
