//! No search: what was best in the mean over earlier runs of other jobs.

use super::other_jobs::OtherJobs;
use super::{BuildResult, Depends, Forecast, Past, Recipe, Task, ready};
use crate::testbed::Stop;
use scavsim_base::settings;

settings! {
    /// Settings of the strategy `average-best`.
    pub struct AverageBestSettings {}

    name: "average-best",
    what: "what was best in the mean over earlier runs of other jobs; without a look at this one",
    formula: "probes: none; least mean over programs of value over the job's least value. Where it fails, the next",
    source: "usual baseline",
    example: "search.strategies = [\"average-best\"]",
}

impl Recipe for AverageBestSettings {
    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> BuildResult {
        let others = OtherJobs::take_some(task, past)?;
        ready(Depends::BOTH, move |task, _, _, forecast| {
            pick(&others, task, forecast)
        })
    }
}

/// Decides for the configuration of the least mean ratio, and after it for the next ones.
pub(super) fn pick(
    others: &OtherJobs,
    task: &Task<'_>,
    forecast: &mut Forecast,
) -> Result<(), Stop> {
    let why = "no configuration that others ran has a price before it was run";
    forecast.decide_in_order(order(others, task).into_iter(), why)
}

/// Configurations that others ran, from the least mean ratio on. A job that did not run one says of it what its median run says.
fn order(others: &OtherJobs, task: &Task<'_>) -> Vec<usize> {
    let ratios: Vec<(Vec<Option<f64>>, f64)> = (others.jobs.iter())
        .map(|job| {
            let ratios = job.ratios(task);
            let mut known: Vec<f64> = ratios.iter().copied().flatten().collect();
            known.sort_by(f64::total_cmp);
            let median = known.get(known.len() / 2).copied();
            (ratios, median.unwrap_or(f64::NAN))
        })
        .collect();
    let mut all: Vec<(usize, f64)> = Vec::new();
    for at in 0..task.space.len() {
        if ratios.iter().all(|(of_job, _)| of_job[at].is_none()) {
            continue;
        }
        let means = others.means(|place, _| {
            let (of_job, median) = &ratios[place];
            of_job[at].or((!median.is_nan()).then_some(*median))
        });
        all.push((at, means.iter().sum::<f64>() / means.len() as f64));
    }
    all.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    all.into_iter().map(|(at, _)| at).collect()
}
