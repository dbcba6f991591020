//! One way of leaving measurements out, and what came of it.

use scavsim_data::workload::Workload;
use scavsim_data::workload::spread::Interval;

/// One way of leaving out, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// Name of the workload.
    pub workload: String,
    /// What is left out.
    pub left_out: &'static str,
    /// Shape or table that was left out of.
    pub of: String,
    /// Measurements asked about.
    pub asked: usize,
    /// Measurements that were answered.
    pub answered: usize,
    /// Mean absolute error of the answers, %: the mean over what was left out at a time.
    pub error: Option<f64>,
    /// The worst answer, %.
    pub worst: Option<f64>,
    /// Share of answers with a 90 % interval whose interval holds the measured value, %.
    pub covered: Option<f64>,
    /// What was asked, one by one.
    pub answers: Vec<Answer>,
}

/// How much is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Everything, one after the other.
    Whole,
    /// Worker counts of each shape and large clusters only, as a report has time for.
    Report,
}

/// One answer to a question about what was left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// What was measured.
    pub measured: f64,
    /// The answer and its standard deviation, of the logarithm.
    pub said: Option<(f64, Option<f64>)>,
}

impl Split {
    /// The split of folds, each with the answers to what it left out.
    pub(super) fn of(
        workload: &Workload,
        left_out: &'static str,
        of: impl Into<String>,
        folds: &[Vec<Answer>],
    ) -> Option<Split> {
        let asked = folds.iter().map(Vec::len).sum();
        let errors: Vec<f64> = (folds.iter())
            .filter_map(|fold| {
                let said = fold.iter().filter_map(|a| Some((a.measured, a.said?.0)));
                let errors: Vec<f64> = said.map(|(m, s)| 100.0 * (s / m - 1.0).abs()).collect();
                (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
            })
            .collect();
        let answers = || folds.iter().flatten();
        let held: Vec<bool> = answers()
            .filter_map(|a| {
                let (said, deviation) = a.said?;
                Some(Interval::around(said, deviation?).holds(a.measured))
            })
            .collect();
        let count = |n: usize| (n > 0).then_some(n as f64);
        (asked > 0).then(|| Split {
            workload: workload.name.clone(),
            left_out,
            of: of.into(),
            asked,
            answered: answers().filter(|a| a.said.is_some()).count(),
            error: count(errors.len()).map(|n| errors.iter().sum::<f64>() / n),
            worst: answers()
                .filter_map(|a| Some(100.0 * (a.said?.0 / a.measured - 1.0).abs()))
                .reduce(f64::max),
            covered: count(held.len())
                .map(|n| 100.0 * held.iter().filter(|h| **h).count() as f64 / n),
            answers: answers().copied().collect(),
        })
    }
}
