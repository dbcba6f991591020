use scavsim_data::workload::Workload;
use scavsim_data::workload::spread::Interval;

/// One way of holding out, and its result.
#[derive(Debug, Clone, PartialEq)]
pub struct ValidationSplit {
    pub workload: String,
    pub left_out: &'static str,
    /// Shape or table from which it holds out.
    pub of: String,
    /// Number of predicted measurements.
    pub asked: usize,
    pub answered: usize,
    /// Mean absolute error of the predictions, %: the mean over the groups that were held out.
    pub error: Option<f64>,
    /// The worst prediction, %.
    pub worst: Option<f64>,
    /// Share of predictions with a 90 % interval whose interval contains the measured value, %.
    pub covered: Option<f64>,
    /// Why nothing was predicted, or not all.
    pub reason: Option<UnansweredReason>,
    pub answers: Vec<Answer>,
}

/// Why a workload has no prediction for one way of holding out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnansweredReason {
    #[error("fewer than three worker counts")]
    FewCounts,
    #[error("no placement has three batches")]
    FewBatches,
    #[error("no law for all placements")]
    NotPooled,
    #[error("no uneven placement on several VMs")]
    AllEven,
    /// Too few clusters would be left to predict the large ones.
    #[error("fewer than two smaller numbers of VMs")]
    FewSizes,
    /// The usual first measurements are missing.
    #[error("no batch was measured on one worker, a full VM, and two of them")]
    NoLadder,
    #[error("epochs of fewer than three batches")]
    FewEpochs,
    #[error("the rest does not surround it, and has no law")]
    NoLaw,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Everything, in turn.
    Whole,
    /// Only worker counts of each shape and large clusters, as a report has time for.
    Report,
}

/// One prediction of a held-out measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    pub measured: f64,
    /// The prediction and its standard deviation, in logarithms.
    pub said: Option<(f64, Option<f64>)>,
}

impl ValidationSplit {
    /// The split of folds, each with the predictions of its held-out values, or why there is none.
    pub(super) fn from_folds(
        workload: &Workload,
        left_out: &'static str,
        of: impl Into<String>,
        folds: Result<Vec<Vec<Answer>>, UnansweredReason>,
    ) -> ValidationSplit {
        let (folds, reason) = match folds {
            Ok(folds) => (folds, None),
            Err(reason) => (Vec::new(), Some(reason)),
        };
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
                Some(Interval::around(said, deviation?).contains(a.measured))
            })
            .collect();
        let count = |n: usize| (n > 0).then_some(n as f64);
        let answered = answers().filter(|a| a.said.is_some()).count();
        ValidationSplit {
            workload: workload.name.clone(),
            left_out,
            of: of.into(),
            asked,
            answered,
            error: count(errors.len()).map(|n| errors.iter().sum::<f64>() / n),
            worst: answers()
                .filter_map(|a| Some(100.0 * (a.said?.0 / a.measured - 1.0).abs()))
                .reduce(f64::max),
            covered: count(held.len())
                .map(|n| 100.0 * held.iter().filter(|h| **h).count() as f64 / n),
            reason: reason.or((answered < asked).then_some(UnansweredReason::NoLaw)),
            answers: answers().copied().collect(),
        }
    }
}
