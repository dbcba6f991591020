//! Coordinate descent: from the starting configuration along one axis after the other, always to the
//! best neighbour, until none is better. It minimises what the scenario asks for: time, cost at the
//! prices that everybody knows, or for the knee their product, which needs no scale of either.

use super::prober::Prober;
use super::settings::probing_settings;
use super::trials::{point, value};
use super::{BuildResult, Depends, Forecast, Past, Recipe, Task, ready, space};
use crate::testbed::{Stop, Testbed};

probing_settings! {
    /// Settings of coordinate descent.
    pub struct CoordinateDescentSettings {}

    name: "coordinate-descent",
    what: "from the start along one axis after the other to the best neighbour, by the objective",
    formula: "probes: neighbours along one axis after the other, as long as the objective gets better; epochs: line of earlier runs; noise and step: read",
    source: "usual baseline",
    example: "search.strategies = [\"coordinate-descent\"]",
}

impl Recipe for CoordinateDescentSettings {
    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> BuildResult {
        let groups = space::groups(task.space);
        let start = space::start(&groups, self.start).unwrap_or(0);
        let probing = Prober::new(task, past, self.probes());
        ready(Depends::BOTH, move |task, testbed, _, forecast| {
            probing.cold_start(testbed)?;
            let mut walk = Descent {
                task,
                probing: &probing,
                testbed,
                forecast,
                tried: vec![false; task.space.len()],
            };
            let mut best = start;
            let mut value = walk.value(best)?;
            loop {
                let before = best;
                for axis in 0..task.space.axes().len() {
                    // Along an axis as far as it gets better, in either direction.
                    while let Some((next, lower)) = walk.better(best, axis, value)? {
                        (best, value) = (next, lower);
                    }
                }
                if best == before {
                    break;
                }
            }
            if value < (false, f64::INFINITY) {
                forecast.decided = Some(best);
            }
            Ok(())
        })
    }
}

struct Descent<'a, 't> {
    task: &'a Task<'a>,
    probing: &'a Prober,
    testbed: &'t mut dyn Testbed,
    forecast: &'t mut Forecast,
    tried: Vec<bool>,
}

impl Descent<'_, '_> {
    /// How good a configuration is, lower is better; it is probed if it was not. Infinite where nothing is known of it.
    fn value(&mut self, at: usize) -> Result<DescentScore, Stop> {
        if !std::mem::replace(&mut self.tried[at], true) {
            (self.probing).probe_and_predict(self.testbed, at, self.forecast)?;
        }
        let Some(time_s) = self.forecast.time_s[at] else {
            return Ok((true, f64::INFINITY));
        };
        let point = point(self.task, at, time_s);
        // From beyond the limits the way leads to them first.
        let is_within = self.task.is_within(at, &point);
        Ok((!is_within, value(self.task.objective, &point)))
    }

    /// The better of the two neighbours on an axis, if it is below `value`.
    fn better(
        &mut self,
        from: usize,
        axis: usize,
        value: DescentScore,
    ) -> Result<Option<(usize, DescentScore)>, Stop> {
        let mut best = None;
        let mut least = value;
        for at in neighbours(self.task, from, axis).into_iter().flatten() {
            let value = self.value(at)?;
            if value < least {
                (best, least) = (Some((at, value)), value);
            }
        }
        Ok(best)
    }
}

/// Whether the limits are exceeded, and what is to be minimised.
type DescentScore = (bool, f64);

/// The configurations nearest below and above on an axis, that are the same on all others.
fn neighbours(task: &Task<'_>, from: usize, axis: usize) -> [Option<usize>; 2] {
    let space = task.space;
    let own = space.value(from, axis);
    let is_beside = |at: &usize| {
        let mut others = (0..space.axes().len()).filter(|other| *other != axis);
        others.all(|other| space.value(*at, other) == space.value(from, other))
    };
    let beside = || (0..space.len()).filter(is_beside);
    let by_value = |a: &usize, b: &usize| space.value(*a, axis).total_cmp(&space.value(*b, axis));
    [
        beside()
            .filter(|at| space.value(*at, axis) < own)
            .max_by(by_value),
        beside()
            .filter(|at| space.value(*at, axis) > own)
            .min_by(by_value),
    ]
}
