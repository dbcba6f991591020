//! A whole run in memory, for comparisons: the summary of its groups and other collected data.

use super::exit::Failure;
use super::progress::Progress;
use scavsim_experiment::subject::Lives;
use scavsim_experiment::{Aggregated, Conduct, Group, Plan, RunEnding, Sink, Summary, Tasks};

/// Runs all cases of a plan into a sink, and returns its groups in order.
pub(super) fn run(
    plan: &mut Plan,
    name: &str,
    jobs: usize,
    sink: &mut (dyn Sink + Send),
) -> Result<Vec<Group>, Failure> {
    let tasks = Tasks::from_plan(plan);
    let mut summary = Summary::new(None, false, tasks);
    let progress = Progress::start(name, plan.cases());
    let conduct = Conduct::new(jobs, &progress.counter);
    let sinks: &mut [&mut (dyn Sink + Send)] = &mut [&mut summary, sink];
    let finished = scavsim_experiment::run(plan, tasks.behind(0), conduct, sinks)?;
    drop(progress);
    if finished.ending == RunEnding::Interrupted {
        return Err(Failure::Interrupted);
    }
    if let Some(why) = plan.lives().and_then(Lives::hopeless) {
        return Err(anyhow::anyhow!("{name}: {why}").into());
    }
    Ok(match summary.finish()? {
        Aggregated::Usual(groups) => groups,
        Aggregated::By(_) => Vec::new(),
    })
}
