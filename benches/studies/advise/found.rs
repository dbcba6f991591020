//! Results of a study: regrets, coverage of intervals, and savings by advised measurements over random ones.

use scavsim::search::Objective;
use scavsim::stats::{Welford, student_t};

/// Results of one cut under one objective.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    /// True value of the choice over that of the best within the bounds of advice, predicted or not, less 1.
    pub(super) regret: f64,
    /// True value of the choice over the best that was ever measured, less 1.
    pub(super) regret_of_all: f64,
    /// `regret_of_all` after the advised measurement, and the mean after random ones; `None` if nothing was left to measure.
    pub(super) after: Option<(f64, f64)>,
}

/// Results of all cuts of a workload.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// The workload.
    pub workload: String,
    /// Number of all possible cuts.
    pub of: usize,
    /// Number of cuts that were made, and of those whose table the import refused or that left nothing to choose.
    pub cuts: usize,
    /// See `cuts`.
    pub refused: usize,
    /// Points kept and forgotten, over all cuts.
    pub kept: usize,
    /// See `kept`.
    pub forgotten: usize,
    /// Predictions of held-out configurations, between measurements and outside them, and the number of intervals that
    /// contain the truth.
    pub asked: [usize; 2],
    /// See `asked`.
    pub covered: [usize; 2],
    pub(super) outcomes: Vec<(Objective, Outcome)>,
}

/// A paired difference: its mean and the half width of its 95 % interval, and how often it was above and below 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paired {
    /// Pairs.
    pub count: usize,
    /// Mean difference.
    pub mean: f64,
    /// Half the width of its 95 % interval.
    pub half: f64,
    /// Pairs above and below 0.
    pub signs: (usize, usize),
}

impl Found {
    fn outcomes(&self, objective: Objective) -> impl Iterator<Item = &Outcome> {
        self.outcomes
            .iter()
            .filter(move |(o, _)| *o == objective)
            .map(|(_, outcome)| outcome)
    }

    /// Median, mean and 90 % quantile of regrets; `None` without any.
    pub fn regrets(&self, objective: Objective, of_all: bool) -> Option<[f64; 3]> {
        let regret = |o: &Outcome| if of_all { o.regret_of_all } else { o.regret };
        summary(self.outcomes(objective).map(regret))
    }

    /// Regret before, after the advised measurement and after a random one, and the saving of the advised one over the random.
    pub fn next(&self, objective: Objective) -> Option<([f64; 3], Paired)> {
        let pairs: Vec<(f64, f64, f64)> = (self.outcomes(objective))
            .filter_map(|o| {
                o.after
                    .map(|(next, random)| (o.regret_of_all, next, random))
            })
            .collect();
        let n = pairs.len() as f64;
        if pairs.is_empty() {
            return None;
        }
        let mean = |of: fn(&(f64, f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / n;
        let means = [mean(|p| p.0), mean(|p| p.1), mean(|p| p.2)];
        Some((means, paired(pairs.iter().map(|p| p.2 - p.1))))
    }

    /// Share of intervals that contain the truth: of all, between measurements, and outside them.
    pub fn coverage(&self) -> [Option<f64>; 3] {
        let share = |yes: usize, all: usize| (all > 0).then(|| yes as f64 / all as f64);
        let ([asked, beyond], [held, held_beyond]) = (self.asked, self.covered);
        [
            share(held + held_beyond, asked + beyond),
            share(held, asked),
            share(held_beyond, beyond),
        ]
    }

    pub(super) fn add(&mut self, one: &Found) {
        self.of += one.of;
        self.cuts += one.cuts;
        self.refused += one.refused;
        self.kept += one.kept;
        self.forgotten += one.forgotten;
        for at in 0..2 {
            self.asked[at] += one.asked[at];
            self.covered[at] += one.covered[at];
        }
        self.outcomes.extend(&one.outcomes);
    }

    /// The totals of several workloads.
    pub fn all(found: &[Found]) -> Found {
        let mut all = Found {
            workload: "all".to_owned(),
            ..Found::default()
        };
        found.iter().for_each(|one| all.add(one));
        all
    }
}

fn summary(values: impl Iterator<Item = f64>) -> Option<[f64; 3]> {
    let mut all: Vec<f64> = values.collect();
    all.sort_by(f64::total_cmp);
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    let ninth = (0.9 * all.len() as f64).ceil() as usize;
    let high = *all.get(ninth.saturating_sub(1))?;
    Some([scavsim::stats::median(&mut all)?, mean, high])
}

/// The mean of differences with its interval.
pub fn paired(differences: impl Iterator<Item = f64>) -> Paired {
    let mut all = Welford::default();
    let mut signs = (0, 0);
    for difference in differences {
        all.add(difference);
        signs.0 += usize::from(difference > 0.0);
        signs.1 += usize::from(difference < 0.0);
    }
    let error = (all.variance() / all.count().max(1) as f64).sqrt();
    Paired {
        count: all.count() as usize,
        mean: all.mean(),
        half: student_t::quantile(0.975, all.count().saturating_sub(1)) * error,
        signs,
    }
}
