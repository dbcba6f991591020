//! Bayesian optimisation over configurations and shares of a run, as TrimTuner does (Mendes et al. 2020): what cheap versions tell of
//! whole runs is bought where it is worth most for its price.
//!
//! Two Gaussian processes over configurations and shares: the logarithm of the value per share, and by how much the quality
//! is beyond the target. A run is worth how far it is expected to fall below the best whole run so far, times the chance that
//! it comes to the target; a cheap version of it as much less as it tells of the whole one, by its correlation with it (Huang,
//! Allen, Notz & Miller 2006); both over what they are expected to take. TrimTuner's own measure is the entropy of the
//! optimum; theirs too: first runs on the least share, and one configuration on all of them.

use super::features::Features;
use super::gaussian_process::GaussianProcess;
use super::latin_hypercube::design;
use super::successive_halving::needs_fidelities;
use super::trials::{BEYOND, TrialOutcome, Trials};
use super::{BuildResult, Depends, Past, Prices, Recipe, Task, UnusableStrategy, ready};
use crate::testbed::Stop;
use scavsim_base::settings;
use scavsim_data::space::{Axis, Space};
use scavsim_read::input::checked::{Count, ShareOf};

/// Configurations and shares together at most.
const MOST: usize = 20_000;

settings! {
    /// Settings of Bayesian optimisation over shares of a run.
    pub struct TrimtunerLikeSettings {
        /// Runs of any share, after which only whole ones follow, and only until one reaches the target.
        pub budget: Count = Count::new(60).expect("60 is at least 1"),
        /// Configurations of the first runs.
        pub first: Count = Count::new(8).expect("8 is at least 1"),
        /// Share of the best run below which it stops: what is still expected to be gained.
        pub stop_below: ShareOf = ShareOf::new(0.1).expect("it is a share"),
        /// Whether a whole run is given up when it has come to the value of the best one.
        pub give_up: bool = true,
    }

    name: "trimtuner-like",
    what: "Bayesian optimisation over configurations and shares of a run, most for the price; needs a grid with fidelities",
    formula: "probes: P(target)·E[(b − Y)⁺]·ρ(share)/price greatest; ln Y and quality: Gaussian processes over both",
    source: "Mendes et al., TrimTuner, MASCOTS 2020; ρ: Huang et al., SMO 2006",
    example: "search.strategies = [\"trimtuner-like\"]",
}

impl Recipe for TrimtunerLikeSettings {
    fn build(&self, task: &Task<'_>, _: &mut Past<'_>) -> BuildResult {
        needs_fidelities(task)?;
        let all = (task.fidelities.len() + 1) * task.space.len();
        if all > MOST {
            return Err(UnusableStrategy(format!(
                "{all} configurations and shares of a run, and it can hold beliefs of {MOST} at most"
            )));
        }
        let settings = self.clone();
        ready(Depends::BOTH, move |task, testbed, stream, forecast| {
            let count = task.space.len();
            let Some(features) = places(task) else {
                return Err(Stop::Failed("its space has no further axis".to_owned()));
            };
            let first = settings.first.get() as usize;
            let own = Features::for_space(task.space, task.prices);
            let first = design(&own, count, first, stream);
            let mut search = Search::new(task, Trials::new(task, testbed, forecast), &features);
            for (number, at) in first.into_iter().enumerate() {
                let shares = if number == 0 {
                    task.fidelities.len()
                } else {
                    1
                };
                for level in 0..shares {
                    search.run_cheaply(at, level)?;
                }
            }
            let budget = settings.budget.get() as usize;
            loop {
                let is_cheap_still = search.runs < budget;
                let is_reached = search.trials.is_reached;
                if is_reached && !is_cheap_still {
                    break;
                }
                let Some(next) = search.next(is_cheap_still) else {
                    break;
                };
                if is_reached && next.gain < settings.stop_below.get() {
                    break;
                }
                if next.level < task.fidelities.len() {
                    search.run_cheaply(next.at, next.level)?;
                } else {
                    search.run(next.at, settings.give_up)?;
                }
            }
            search.trials.decide()
        })
    }
}

struct OfConfiguration<'p> {
    prices: &'p dyn Prices,
    count: usize,
}

impl Prices for OfConfiguration<'_> {
    fn run_usd(&self, place: usize, seconds: f64) -> Option<f64> {
        self.prices.run_usd(place % self.count, seconds)
    }
}

/// Configurations with every share of a run, whole ones last: a share after the other.
fn places(task: &Task<'_>) -> Option<Features> {
    let axis = Axis::numeric("share of a whole run", "1");
    let axes = [task.space.axes(), &[axis]].concat();
    let shares = task.fidelities.iter().chain(&[1.0]);
    let rows = shares.flat_map(|share| {
        let each = 0..task.space.len();
        each.map(|at| [task.space.row(at), &[*share]].concat())
    });
    let space = Space::new(axes, rows).ok()?;
    let prices = task.prices.map(|prices| OfConfiguration {
        prices,
        count: task.space.len(),
    });
    let prices = prices.as_ref().map(|prices| prices as &dyn Prices);
    Some(Features::for_space(&space, prices))
}

#[derive(Debug, Clone, Copy)]
struct NextProbe {
    at: usize,
    level: usize,
    /// What is expected to be gained, by whatever configuration, as a share of the best.
    gain: f64,
}

struct Search<'a, 't, 'f> {
    task: &'a Task<'a>,
    trials: Trials<'a, 't>,
    /// Logarithms of values per share.
    values: GaussianProcess<'f>,
    beyond: GaussianProcess<'f>,
    tried: Vec<bool>,
    runs: usize,
    worst_log: f64,
    worst_beyond: f64,
}

impl<'a, 't, 'f> Search<'a, 't, 'f> {
    fn new(task: &'a Task<'a>, trials: Trials<'a, 't>, features: &'f Features) -> Self {
        let places = (task.fidelities.len() + 1) * task.space.len();
        Search {
            task,
            trials,
            values: GaussianProcess::new(features, places),
            beyond: GaussianProcess::new(features, places),
            tried: vec![false; places],
            runs: 0,
            worst_log: f64::NEG_INFINITY,
            worst_beyond: 0.0,
        }
    }

    fn learn(&mut self, place: usize, log: f64, beyond: Option<f64>) {
        (self.tried[place], self.runs) = (true, self.runs + 1);
        if log.is_finite() {
            self.worst_log = self.worst_log.max(log);
            self.values.observe(place, log);
        }
        if self.task.goal.is_some() {
            // A run that shows none is as bad as any.
            let beyond = beyond.filter(|beyond| beyond.is_finite());
            let beyond = beyond.unwrap_or(self.worst_beyond);
            self.worst_beyond = self.worst_beyond.min(beyond);
            self.beyond.observe(place, beyond);
        }
    }

    fn run_cheaply(&mut self, at: usize, level: usize) -> Result<(), Stop> {
        let place = level * self.task.space.len() + at;
        let share = self.task.fidelities[level];
        match self.trials.run_cheaply(at, share)? {
            Some(seen) => self.learn(place, libm::log(seen.value / share), seen.beyond),
            None => self.tried[place] = true,
        }
        Ok(())
    }

    fn run(&mut self, at: usize, gives_up: bool) -> Result<(), Stop> {
        let place = self.task.fidelities.len() * self.task.space.len() + at;
        let cap = self.trials.best.map(|(_, best)| best).filter(|_| gives_up);
        let outcome = self.trials.run(at, cap)?;
        let goal = self.task.goal.zip(self.trials.seen.quality);
        let beyond = goal.map(|(goal, quality)| goal.beyond(quality));
        let log = match outcome {
            // With a quality it is known what was wrong with it.
            TrialOutcome::Above(value) | TrialOutcome::Failed(value) if beyond.is_some() => {
                libm::log(value)
            }
            outcome => outcome.log(self.worst_log),
        };
        match outcome {
            // It takes more than the best, and its quality is not known.
            TrialOutcome::Above(value) if cap.is_some_and(|cap| value >= 0.99 * cap) => {
                (self.tried[place], self.runs) = (true, self.runs + 1);
                self.values.observe(place, libm::log(value) + BEYOND);
            }
            _ => self.learn(place, log, beyond),
        }
        Ok(())
    }

    fn next(&self, is_cheap_still: bool) -> Option<NextProbe> {
        let count = self.task.space.len();
        let whole = self.task.fidelities.len();
        let open = || (0..count).filter(|&at| !self.trials.tried[at]);
        let (Some(values), Some(beyond)) = (self.values.beliefs(), self.likely()) else {
            // Nothing is known yet of how values vary: as they come.
            return open().next().map(|at| NextProbe {
                at,
                level: whole,
                gain: f64::INFINITY,
            });
        };
        let best = self.trials.best.map(|(_, value)| libm::log(value));
        let all = &values[whole * count..];
        // Where nothing has reached the target, anything is a gain.
        let best =
            best.unwrap_or_else(|| all.iter().map(|b| b.mean).fold(self.worst_log, f64::max));
        let gain = |at: usize| all[at].log_improvement(best) * beyond[at];
        let most = open().map(gain).fold(0.0, f64::max);
        let levels = if is_cheap_still { 0 } else { whole }..=whole;
        let mut next: Option<(NextProbe, f64)> = None;
        for level in levels {
            let share = self.task.fidelities.get(level).copied().unwrap_or(1.0);
            for at in open().filter(|&at| !self.tried[level * count + at]) {
                let place = level * count + at;
                let belief = &values[place];
                let deviation = belief.deviation * belief.deviation;
                let takes = libm::exp(belief.mean + 0.5 * deviation - best) * share;
                let worth = gain(at) * self.tells(place, whole * count + at) / takes;
                if next.is_none_or(|(_, most)| worth > most) {
                    let gain = most;
                    next = Some((NextProbe { at, level, gain }, worth));
                }
            }
        }
        next.map(|(next, _)| next)
    }

    /// The chance of each configuration that a whole run comes to the target.
    fn likely(&self) -> Option<Vec<f64>> {
        let count = self.task.space.len();
        if self.task.goal.is_none() {
            return Some(vec![1.0; count]);
        }
        let all = self.beyond.beliefs()?;
        let whole = &all[self.task.fidelities.len() * count..];
        Some(
            whole
                .iter()
                .map(|belief| 1.0 - belief.at_most(0.0))
                .collect(),
        )
    }

    fn tells(&self, place: usize, whole: usize) -> f64 {
        let of = |process: &GaussianProcess<'_>| process.correlation(place, whole).unwrap_or(1.0);
        match self.task.goal {
            Some(_) => of(&self.values).min(of(&self.beyond)),
            None => of(&self.values),
        }
    }
}
