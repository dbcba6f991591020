//! Jobs on VMs whose lives are drawn, loss by loss: what the formulas are checked against. All in hours.

use super::dynamic::{DynamicSchedule, Task};
use scavsim_base::rng::Stream;
use scavsim_data::cloud::lifetimes::Lifetime;

/// Whether hours are fewer by more than what rounding makes of them: many lives end at the same deadline.
pub fn is_shorter(hours: f64, than_h: f64) -> bool {
    hours < than_h - 1e-9
}

/// Hours of a job that begins anew after each loss of its VM; ends only if VMs can live that long.
pub fn run_time_h(
    life: &Lifetime,
    age_h: f64,
    job_h: f64,
    restart_h: f64,
    stream: &mut Stream,
) -> f64 {
    let mut clock_h = 0.0;
    let mut rest_h = life.sample_rest(age_h, stream);
    while is_shorter(rest_h, job_h) {
        clock_h += rest_h + restart_h;
        rest_h = life.sample(stream);
    }
    clock_h + job_h
}

/// Hours of a job that follows the schedule of `table` and falls back on its last checkpoint.
pub fn checkpointed_h(
    life: &Lifetime,
    table: &DynamicSchedule,
    task: Task,
    job_h: f64,
    mut age_h: f64,
    stream: &mut Stream,
) -> f64 {
    let (mut clock_h, mut left_h) = (0.0, job_h);
    let mut lost_at_h = age_h + life.sample_rest(age_h, stream);
    // Half a step: what rounding leaves is no work.
    while left_h > 0.5 * task.step_h {
        let work_h = table.next_h(left_h, age_h);
        let is_last = work_h >= left_h - 1e-9;
        let ends_h = age_h + work_h + if is_last { 0.0 } else { task.write_h };
        // As in the table, a stretch that ends at the deadline is lost.
        if is_shorter(ends_h, lost_at_h) {
            clock_h += ends_h - age_h;
            age_h = ends_h;
            left_h -= work_h;
        } else {
            clock_h += lost_at_h - age_h + task.restart_h;
            age_h = 0.0;
            lost_at_h = life.sample(stream);
        }
    }
    clock_h
}
