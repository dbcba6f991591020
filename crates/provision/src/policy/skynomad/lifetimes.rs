//! Expected remaining lifetimes: Nelson–Aalen's cumulative hazard over runs that were seen, times a factor where losses
//! come in bursts.

use std::collections::VecDeque;

/// Hazard of a zone of which no loss was seen, per hour.
const LEAST_HAZARD: f64 = 1e-8;

/// A cumulative hazard: its steps at ages in hours, and what it rises by beyond the last.
#[derive(Debug)]
pub(super) struct Knots {
    steps: Vec<(f64, f64)>,
    tail: f64,
}

impl Knots {
    /// Nelson–Aalen over runs: their hours, and whether they ended by a loss.
    pub(super) fn of(runs: impl Iterator<Item = (f64, bool)> + Clone) -> Knots {
        let mut lost: Vec<f64> = runs.clone().filter(|run| run.1).map(|run| run.0).collect();
        lost.sort_by(f64::total_cmp);
        let mut steps: Vec<(f64, f64)> = Vec::new();
        for chunk in lost.chunk_by(|a, b| a == b) {
            let at_risk = runs.clone().filter(|run| run.0 + 1e-9 >= chunk[0]).count();
            steps.push((chunk[0], chunk.len() as f64 / at_risk as f64));
        }
        let tail = (steps.last()).map_or(LEAST_HAZARD, |step| step.1.max(LEAST_HAZARD));
        Knots { steps, tail }
    }

    /// Expected remaining hours of a run of an age, where the hazard is multiplied by a factor.
    pub(super) fn expected_h(&self, age_h: f64, factor: f64, tick_h: f64) -> f64 {
        let (mut expected, mut survives, mut at) = (0.0, 1.0, age_h);
        for &(age, step) in self.steps.iter().filter(|knot| knot.0 > age_h + 1e-12) {
            expected += survives * (age - at);
            survives *= libm::exp(-factor * step);
            at = age;
        }
        // Beyond the last knot it rises by the last step per tick.
        let dies = 1.0 - libm::exp(-factor * self.tail);
        let per_tick = if dies > 1e-9 {
            dies
        } else {
            (factor * self.tail).max(1e-9)
        };
        expected + survives * tick_h / per_tick
    }

    fn hazard(&self, age_h: f64) -> f64 {
        if age_h <= 0.0 {
            return 0.0;
        }
        let (mut sum, mut last) = (0.0, 0.0);
        for &(age, step) in self.steps.iter().take_while(|knot| knot.0 < age_h) {
            sum += step;
            last = age;
        }
        sum + (age_h - last) * self.tail
    }

    /// The hazard that was borne from one age to another; a little where something failed without any.
    pub(super) fn risk(&self, ages: Option<(f64, f64)>, failures: u32, tick_h: f64) -> f64 {
        let borne = ages.map_or(0.0, |(from, to)| self.hazard(to) - self.hazard(from));
        let mut risk = borne.max(0.0);
        if risk <= 0.0 && self.steps.is_empty() && (ages.is_some() || failures > 0) {
            risk = self.tail * tick_h;
        }
        if risk <= 0.0 && failures > 0 {
            risk = self.tail * tick_h;
        }
        risk
    }
}

/// Whether losses come faster than the hazard says: the densest recent stretch of failures per hazard borne.
#[derive(Debug)]
pub struct Bursts {
    /// Hazard borne and failures, tick by tick, of the last eight units of hazard.
    events: VecDeque<(f64, u32)>,
    total: f64,
    /// What the hazard is multiplied by; at least 1.
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

/// Units of hazard that are remembered.
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

    /// Failures per hazard of the densest stretch up to now that bore one unit at most.
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
