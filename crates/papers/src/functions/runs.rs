//! Jobs on VMs that are lost, with and without checkpoints.

use std::rc::Rc;

use super::draws::{draws, mean_drawn, mean_over_ages};
use super::file_inputs::{FileInputs, Schedule};
use super::function::{Function, function};
use super::lives::{age_h, life};
use super::no_value::NoValue;

use scavsim_base::rng::{ModelKey, Purpose};
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_data::cloud::lifetimes::Lifetime;
use scavsim_read::expression::Arguments;
use scavsim_sim::cluster::checkpoint::run_time::{from_age_h, from_scratch_h};
use scavsim_sim::cluster::checkpoint::{
    DynamicSchedule, LossOdds, SinceStart, Task, YoungDaly, drawn, run_time,
};

const MINUTES_PER_HOUR: f64 = SECONDS_PER_HOUR / 60.0;

pub(super) const FUNCTIONS: &[Function] = &[
    function!(increase_h ["life", "job_h", "age_h?"] "hours that a job takes longer if its VM is lost at most once, as published: ∫ t dF(t) from the age of the VM to the end of the job"),
    function!(run_time_h ["life", "job_h", "age_h?", "restart_min?"] "expected hours of a job without checkpoints that begins anew on new VMs until one lives long enough, the first of an age"),
    function!(drawn_increase_h ["life", "job_h", "draws"] "the increase of a job on a new VM from drawn lives"),
    function!(drawn_run_time_h ["life", "job_h", "age_h", "restart_min", "draws"] "the run time from drawn lives; several ages in turn"),
    function!(young_daly_min ["write_min", "mtbf_h"] "minutes between checkpoints, √(2δM)"),
    function!(daly_h ["job_h", "every_min", "write_min", "restart_min", "mtbf_h"] "expected hours of a job with checkpoints where losses are memoryless: Daly 2006, eq. 20"),
    function!(list schedule_min ["life", "job_h", "age_h?", "odds", "write_min", "restart_min", "step_min", "longest_h?", "every_min?"] "minutes of work between checkpoints if no VM is lost, from a table of jobs up to the longest: `odds` are `exact`, `of-new` or `since-start`"),
    function!(checkpointed_h ["life", "job_h", "age_h?", "odds", "write_min", "restart_min", "step_min", "longest_h?", "every_min?"] "expected hours of a job with the checkpoints of such a table, or with one at a fixed interval of minutes"),
    function!(drawn_checkpointed_h ["life", "job_h", "age_h", "odds", "write_min", "restart_min", "step_min", "longest_h?", "every_min?", "draws"] "the same from drawn lives; several ages in turn"),
];

fn minutes_in_h(arguments: &Arguments<'_>, name: &str) -> Result<f64, NoValue> {
    Ok(arguments.number(name)? / MINUTES_PER_HOUR)
}

fn increase_h(given: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    let (_, life) = life(given, arguments)?;
    let job_h = arguments.number("job_h")?;
    Ok(run_time::increase_h(life, age_h(arguments)?, job_h))
}

fn run_time_h(given: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    let (_, life) = life(given, arguments)?;
    let job_h = arguments.number("job_h")?;
    let restart_h = arguments.optional_number("restart_min")?.unwrap_or(0.0) / MINUTES_PER_HOUR;
    Ok(match arguments.optional_number("age_h")? {
        None => from_scratch_h(life, job_h, restart_h),
        Some(age_h) => from_age_h(life, age_h, job_h, restart_h),
    })
}

fn drawn_increase_h(given: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    let (_, life) = life(given, arguments)?;
    let job_h = arguments.number("job_h")?;
    let key = Purpose::ModelLives(ModelKey::from_name("increase"));
    Ok(mean_drawn(
        draws(arguments)?,
        &[0.0],
        key,
        |_, stream| match life.sample(stream) {
            lost_at_h if lost_at_h < job_h => lost_at_h,
            _ => 0.0,
        },
    ))
}

fn drawn_run_time_h(given: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    let (_, life) = life(given, arguments)?;
    let job_h = arguments.number("job_h")?;
    let restart_h = minutes_in_h(arguments, "restart_min")?;
    if from_scratch_h(life, job_h, 0.0).is_infinite() {
        return Err(NoValue::LivesTooShort);
    }
    mean_over_ages(arguments, "run_time", |age_h, stream| {
        drawn::run_time_h(life, age_h, job_h, restart_h, stream)
    })
}

fn young_daly_min(_: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    let write_h = minutes_in_h(arguments, "write_min")?;
    let young = YoungDaly::first_order(write_h, arguments.number("mtbf_h")?);
    let young = young.ok_or(NoValue::NotPositive("both times are"))?;
    Ok(young.interval_h() * MINUTES_PER_HOUR)
}

fn daly_h(_: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    let (job_h, mtbf_h) = (arguments.number("job_h")?, arguments.number("mtbf_h")?);
    Ok(run_time::daly_h(
        job_h,
        minutes_in_h(arguments, "every_min")?,
        minutes_in_h(arguments, "write_min")?,
        minutes_in_h(arguments, "restart_min")?,
        mtbf_h,
    ))
}

fn task(arguments: &Arguments<'_>) -> Result<Task, NoValue> {
    let job_h = arguments.number("job_h")?;
    let longest_h = arguments.optional_number("longest_h")?.unwrap_or(job_h);
    if job_h > longest_h {
        return Err(NoValue::JobTooLong);
    }
    Ok(Task {
        job_h: longest_h,
        write_h: minutes_in_h(arguments, "write_min")?,
        restart_h: minutes_in_h(arguments, "restart_min")?,
        step_h: minutes_in_h(arguments, "step_min")?,
    })
}

/// The schedule for these arguments, computed once.
fn schedule(
    given: &FileInputs,
    arguments: &Arguments<'_>,
    life: (&str, &Lifetime),
) -> Result<Schedule, NoValue> {
    let (name, life) = life;
    let (task, odds) = (task(arguments)?, arguments.text("odds")?);
    let every_min = arguments.optional_number("every_min")?;
    let key = format!("{name} {odds} {every_min:?} {task:?}");
    if let Some(known) = given.schedules.borrow().get(&key) {
        return Ok(known.clone());
    }
    let dynamic = |losses| {
        let table = match every_min {
            None => DynamicSchedule::best(life, task, losses),
            Some(minutes) => {
                DynamicSchedule::periodic(life, task, losses, minutes / MINUTES_PER_HOUR)
            }
        };
        table.map(|table| Schedule::Dynamic(Rc::new(table)))
    };
    let made = match (odds, every_min) {
        ("exact", _) => dynamic(LossOdds::Exact),
        ("of-new", _) => dynamic(LossOdds::Published),
        ("since-start", None) => {
            SinceStart::new(life, task).map(|table| Schedule::SinceStart(Rc::new(table)))
        }
        ("since-start", Some(_)) => {
            return Err(NoValue::SinceStart("of the best checkpoints only"));
        }
        (other, _) => {
            let legal = "none of `exact`, `of-new` and `since-start`";
            return Err(NoValue::Odds(other.to_owned(), legal));
        }
    };
    let made = made?;
    given.schedules.borrow_mut().insert(key, made.clone());
    Ok(made)
}

fn schedule_min(given: &FileInputs, arguments: &Arguments<'_>) -> Result<Vec<f64>, NoValue> {
    let job_h = arguments.number("job_h")?;
    let (name, life) = life(given, arguments)?;
    let stretches_h = match schedule(given, arguments, (name, life))? {
        Schedule::Dynamic(table) => {
            table.schedule_h(job_h, age_h(arguments)?, task(arguments)?.write_h)
        }
        Schedule::SinceStart(table) => table.stretches_h(job_h),
    };
    Ok(stretches_h
        .into_iter()
        .map(|hours| hours * MINUTES_PER_HOUR)
        .collect())
}

fn checkpointed_h(given: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    let job_h = arguments.number("job_h")?;
    let age_h = age_h(arguments)?;
    let (name, life) = life(given, arguments)?;
    Ok(match schedule(given, arguments, (name, life))? {
        Schedule::Dynamic(table) => table.expected_h(job_h, age_h),
        Schedule::SinceStart(table) => table.expected_h(job_h, age_h),
    })
}

fn drawn_checkpointed_h(given: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    let job_h = arguments.number("job_h")?;
    let (name, life) = life(given, arguments)?;
    let task = task(arguments)?;
    let Schedule::Dynamic(table) = schedule(given, arguments, (name, life))? else {
        let why = "no schedule that a job can follow";
        return Err(NoValue::SinceStart(why));
    };
    mean_over_ages(arguments, "overhead", |age_h, stream| {
        drawn::checkpointed_h(life, &table, task, job_h, age_h, stream)
    })
}
