//! Search by the value of information: a run is tried while what it teaches is expected to save more, over all runs of
//! the job that are to come, than it costs.
//!
//! Prices are known, so only time is believed in: as a whole, or where steps are counted as seconds of a step and steps to the
//! target, each a Gaussian field over all configurations (`field`) with a prior of how such jobs go (`prior`). Experts of different
//! confidence are weighed by how well they foretold (`experts`). A run may be given up at a multiple of the best known value,
//! and then still tells that it takes more. A run that reached the target is one of the R that were wanted.

mod experts;
mod field;
mod prior;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::trials::{Observed, Outcome, Trials};
use super::{Depends, Forecast, Objective, Past, Recipe, Strategy, Task, Unusable};
use crate::input::checked::Count;
use crate::rng::Stream;
use crate::testbed::{Stop, Testbed};
use experts::{End, Experts, Seen, Told};
use prior::Configurations;

/// Most configurations: each belief holds a covariance of every pair.
const MOST: usize = 1024;
/// Configurations whose worth is looked at closely, of each of two orders.
const CLOSELY: usize = 20;
/// Multiples of the best value at which a run may be given up.
const CAPS: [f64; 4] = [1.0, 1.3, 1.7, 2.5];

/// Settings of search by the value of information.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ValueOfInformationSettings {
    /// Runs at most; without it, its own rule alone says when to stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Count>,
}

impl Recipe for ValueOfInformationSettings {
    fn summary(&self) -> &str {
        "run what is worth its price in view of all runs to come; known prices, experts weighed by what they foretold"
    }

    fn build(&self, task: &Task<'_>, _: &mut Past<'_>) -> Result<Box<dyn Strategy>, Unusable> {
        let count = task.space.len();
        if count > MOST {
            return Err(Unusable(format!(
                "{count} configurations; it believes in at most {MOST}"
            )));
        }
        Ok(Box::new(ValueOfInformation {
            budget: self.budget.map_or(usize::MAX, |b| b.get() as usize),
        }))
    }
}

struct ValueOfInformation {
    budget: usize,
}

/// What to run next, and at which value of the objective to give it up.
struct Next {
    at: usize,
    cap: Option<f64>,
}

impl Strategy for ValueOfInformation {
    fn depends(&self) -> Depends {
        Depends::BOTH
    }

    fn search(
        &self,
        task: &Task<'_>,
        testbed: &mut dyn Testbed,
        _: &mut Stream,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        let Some(prices) = task.prices else {
            return Err(Stop::Failed("it was told no prices".to_owned()));
        };
        let hour = |at: usize| prices.usd_per_hour(at).filter(|usd| *usd > 0.0);
        let power = match task.objective {
            Some(Objective::Knee) => 2.0,
            _ => 1.0,
        };
        let log_price = |at: usize| match task.objective {
            Some(Objective::Time) | None => 0.0,
            _ => hour(at).map_or(f64::INFINITY, |usd| libm::log(usd / 3600.0)),
        };
        let log_prices: Vec<f64> = (0..task.space.len()).map(log_price).collect();
        let configurations = Configurations::of(task.space, prices);
        let mut experts = Experts::of_time(&configurations);
        let mut trials = Trials::new(task, testbed, forecast);
        // What has no price is not to be had, and what was tried need not be tried again.
        let mut closed: Vec<bool> = log_prices.iter().map(|p| p.is_infinite()).collect();
        let mut runs = task.repeats.max(1);
        while runs > 0 && trials.count < self.budget {
            let told = experts.told(power, &log_prices);
            let best = trials.best.map(|(_, value)| value);
            let Some(next) = next(&experts, &told, power, best, runs, &closed) else {
                break;
            };
            closed[next.at] = true;
            let (outcome, observed) = trials.run_and_see(next.at, next.cap)?;
            let end = match outcome {
                Outcome::Reached(_) => End::Reached,
                Outcome::Above(_) => End::GivenUp,
                Outcome::Failed(_) => End::Failed,
            };
            runs -= u64::from(end == End::Reached);
            if let Some(seen) = seen(observed, end) {
                if seen.log_step.is_some() && !experts.see_steps() {
                    experts = Experts::of_steps(&configurations);
                }
                experts.learn(next.at, &seen);
            }
        }
        trials.decide();
        Ok(())
    }
}

/// The logarithms of what was observed of a run that ended so, where it took any time.
fn seen(observed: Observed, end: End) -> Option<Seen> {
    let above_zero = |value: Option<f64>| value.filter(|v| *v > 0.0 && v.is_finite());
    Some(Seen {
        log_time: libm::log(above_zero(observed.time_s)?),
        log_step: above_zero(observed.step_s).map(libm::log),
        end,
    })
}

/// The run that is worth most, if any is worth its price with `runs` more to come.
fn next(
    experts: &Experts,
    told: &Told,
    power: f64,
    best: Option<f64>,
    runs: u64,
    closed: &[bool],
) -> Option<Next> {
    let open: Vec<usize> = (0..closed.len()).filter(|&at| !closed[at]).collect();
    let expected: Vec<(usize, f64)> = open.iter().map(|&at| (at, told.expected(at))).collect();
    let least = expected.iter().map(|e| e.1).fold(f64::INFINITY, f64::min);
    let reference = best.map_or(least, |best| best.min(least));
    // What a run takes until it ends or is given up; then the best known is run.
    let first = |at: usize, expected: f64| -> (f64, Option<f64>) {
        let whole = (expected, None);
        let Some(best) = best else { return whole };
        CAPS.into_iter()
            .map(|factor| {
                let cap = factor * reference;
                let (taken, above) = told.until(at, cap);
                (taken + best * above, Some(cap))
            })
            .fold(
                whole,
                |least, next| if next.0 < least.0 { next } else { least },
            )
    };
    let more = (runs - 1) as f64;
    let mut looked: Vec<(usize, f64, f64, Option<f64>)> = (expected.iter())
        .map(|&(at, expected)| {
            let (first, cap) = first(at, expected);
            (at, expected, first, cap)
        })
        .collect();
    let gain = |at: usize| {
        let (taken, above) = told.until(at, reference);
        // E[max(reference − value, 0)].
        (1.0 - above) * reference - (taken - reference * above)
    };
    let mut close: Vec<usize> = (0..looked.len()).collect();
    let worth: Vec<f64> = (looked.iter())
        .map(|(at, _, first, _)| runs as f64 * gain(*at) - first)
        .collect();
    close.sort_by(|&a, &b| worth[b].total_cmp(&worth[a]).then(a.cmp(&b)));
    let mut chosen: Vec<usize> = close.iter().copied().take(CLOSELY).collect();
    close.sort_by(|&a, &b| looked[a].1.total_cmp(&looked[b].1).then(a.cmp(&b)));
    chosen.extend(close.iter().copied().take(CLOSELY));
    chosen.sort_unstable();
    chosen.dedup();
    let total = |place: &usize| {
        let (at, _, first, _) = looked[*place];
        let after = match more > 0.0 {
            true => experts.after(told, at, power, best.unwrap_or(f64::INFINITY), closed),
            false => 0.0,
        };
        first + more * after
    };
    let found = (chosen.iter().map(|place| (*place, total(place))))
        .reduce(|least, next| if next.1 < least.1 { next } else { least });
    let (place, total) = found?;
    let worthwhile = best.is_none_or(|best| total < runs as f64 * best);
    worthwhile.then(|| {
        let (at, _, _, cap) = looked.swap_remove(place);
        Next { at, cap }
    })
}
