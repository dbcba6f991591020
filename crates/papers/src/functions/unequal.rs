//! Functions of jobs on mixed workers.

use super::file_inputs::FileInputs;
use super::function::{Function, function};
use super::unequal_jobs::{Job, Law, Outcome, Setup, all, named};
use scavsim_read::expression::Arguments;

pub(super) const FUNCTIONS: &[Function] = &[
    function!(unequal_time_s ["job", "cluster", "batching"] "seconds of a job of `[unequal.jobs]` on a cluster of `[unequal.clusters]` with the batches of `[unequal.batching]`, without variation"),
    function!(unequal_left_out_s ["job", "cluster", "batching"] "the same by the law that its other times give: all in `fitted_to_min` but those of this cluster with these batches"),
    function!(unequal_left_out_error ["job"] "mean error in % of all times in `fitted_to_min`, each by the law that the others give"),
    function!(unequal_changes ["job", "cluster", "batching"] "how often its batches change"),
];

use super::no_value::NoValue;
fn job<'g>(given: &'g FileInputs, arguments: &Arguments<'_>) -> Result<&'g Job, NoValue> {
    named(&given.unequal.jobs, "job", arguments.text("job")?)
}

fn setup<'a>(arguments: &'a Arguments<'_>) -> Result<Setup<'a>, NoValue> {
    Ok((arguments.text("cluster")?, arguments.text("batching")?))
}

fn run(given: &FileInputs, arguments: &Arguments<'_>) -> Result<Outcome, NoValue> {
    let job = job(given, arguments)?;
    let law = given.unequal.law(job, None)?;
    given.unequal.outcome(job, law, setup(arguments)?)
}

fn unequal_time_s(given: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    Ok(run(given, arguments)?.time_s)
}

fn unequal_changes(given: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    Ok(run(given, arguments)?.changes as f64)
}

fn unequal_left_out_s(given: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    given
        .unequal
        .left_out_s(job(given, arguments)?, setup(arguments)?)
}

fn unequal_left_out_error(given: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    let job = job(given, arguments)?;
    let Law::FittedToMin(times) = &job.law else {
        return Err(NoValue::LawIsGiven);
    };
    let (mut sum, mut count) = (0.0, 0.0);
    for (cluster, batching, minutes) in all(times) {
        let seconds = given.unequal.left_out_s(job, (cluster, batching))?;
        (sum, count) = (sum + (seconds / (60.0 * minutes) - 1.0).abs(), count + 1.0);
    }
    if count > 0.0 {
        Ok(100.0 * sum / count)
    } else {
        Err(NoValue::NoTimes)
    }
}
