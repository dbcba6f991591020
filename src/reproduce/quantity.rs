//! How each quantity of a scenario is computed, by name. A new quantity is one function and one line.

use std::path::Path;
use std::sync::Arc;

use super::figures::{Figures, Quantity, mean, quantities};
use super::selector::Selector;
use super::stage::Stage;
use super::transient::{
    cost_after_loss, ended_runs, knee_of_means, lost_workers, mean_cost, mean_saving,
    mean_speed_up, mean_time, time_after_loss,
};
use crate::input::{Diagnostic, Diagnostics, Source};
use crate::scenario::{self, Overrides};
use crate::search::Objective;
use crate::search::models::{EpochLine, NoiseLine};
use crate::search::settings::{EpochsFrom, NoiseBy};
use crate::stats::Line;
use crate::units::SECONDS_PER_HOUR;

impl Figures for Stage {
    const QUANTITIES: &'static [Quantity<Stage>] = quantities! {
        time_to_target,
        cost_to_target,
        time_with_step,
        probe_time,
        noise_line_intercept,
        noise_line_slope,
        noise_line_at,
        epoch_line_mean_error,
        epoch_line_error_mean,
        worst_over_best_time,
        cost_saving,
        knee_workers,
        knee_batch,
        cheapest_workers,
        cheapest_batch,
        cold_start_time,
        cold_start_cost,
        cold_start_share_time,
        cold_start_share_cost,
        prediction_error_mean,
        mean_time,
        mean_cost,
        mean_speed_up,
        mean_saving,
        lost_workers,
        ended_runs,
        time_after_loss,
        cost_after_loss,
        knee_of_means,
    };

    fn set_up(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Stage> {
        let folder = Path::new("scenarios/paper");
        let scenario = scenario::load(source, folder, Overrides::default(), diagnostics)?;
        Stage::new(scenario)
            .map_err(|error| {
                diagnostics.push(Diagnostic::general(format!("{}: {error}", source.name)));
            })
            .ok()
    }
}

/// Hours from the start to the target, simulated.
fn time_to_target(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    let (arena, cell) = stage.cell(selector)?;
    Ok(stage.simulate(arena, cell, 0)?.0)
}

/// USD from the start to the target, simulated.
fn cost_to_target(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    let (arena, cell) = stage.cell(selector)?;
    Ok(stage.simulate(arena, cell, stage.policy(selector)?)?.1)
}

/// Hours to the target if a step took the selector's `step_s`: steps to the target from epochs and
/// data set size, times a step measured elsewhere.
fn time_with_step(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    let (arena, cell) = stage.cell(selector)?;
    let step_s: f64 = selector.number("step_s")?;
    Ok(arena.world()?.truths[cell].steps_to_target * step_s / SECONDS_PER_HOUR)
}

/// Seconds that the selector's `steps` take.
fn probe_time(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    let (arena, cell) = stage.cell(selector)?;
    let steps: f64 = selector.number("steps")?;
    Ok(arena.world()?.truths[cell].expected_step_s * steps)
}

fn noise_line(stage: &Stage, selector: &Selector) -> Result<Line, String> {
    NoiseLine::of(&stage.history(selector)?, NoiseBy::Average)
        .and_then(|line| line.single())
        .ok_or_else(|| "no noise was measured".to_owned())
}

/// a of the K-averaged noise line γ/K = a + s/√B.
fn noise_line_intercept(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    Ok(noise_line(stage, selector)?.intercept)
}

/// s of the K-averaged noise line γ/K = a + s/√B.
fn noise_line_slope(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    Ok(noise_line(stage, selector)?.slope)
}

/// The K-averaged noise line at a batch.
fn noise_line_at(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    let batch: f64 = selector.number("batch")?;
    Ok(noise_line(stage, selector)?.at(1.0 / batch.sqrt()))
}

/// Errors in percent of the pooled epoch line fed with measured noise, with their worker counts.
fn epoch_line_errors(stage: &Stage, selector: &Selector) -> Result<Vec<(u32, f64)>, String> {
    let history = stage.history(selector)?;
    let line = EpochLine::fit(&history, EpochsFrom::Pooled).ok_or("no epochs were measured")?;
    Ok((history.runs.iter())
        .filter_map(|run| {
            let (noise, epochs) = (run.noise_normalised?, run.epochs?);
            Some((
                run.workers?,
                100.0 * (line.epochs(noise) / epochs - 1.0).abs(),
            ))
        })
        .collect())
}

/// Mean error in percent of the pooled epoch line over all measured cells.
fn epoch_line_mean_error(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    let errors = epoch_line_errors(stage, selector)?;
    mean(errors.iter().map(|e| e.1))
}

/// The same over the cells with the selector's `workers`.
fn epoch_line_error_mean(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    let workers: u32 = selector.number("workers")?;
    let errors = epoch_line_errors(stage, selector)?;
    mean(errors.iter().filter(|e| e.0 == workers).map(|e| e.1))
}

/// Longest over shortest expected time of all configurations.
fn worst_over_best_time(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    let (_, _, arena) = stage.workload(selector)?;
    let (low, high) = range(arena.world()?.truths.iter().map(|t| t.expected_time_s()));
    Ok(high / low)
}

/// What the cheapest configuration saves against the dearest, in percent.
fn cost_saving(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    let (_, _, arena) = stage.workload(selector)?;
    let points = &arena.expected[stage.policy(selector)?];
    let (low, high) = range(points.iter().map(|p| p.cost_usd));
    Ok(100.0 * (1.0 - low / high))
}

fn knee_workers(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    Ok(f64::from(best(stage, selector, Objective::Knee)?.0))
}

fn knee_batch(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    Ok(f64::from(best(stage, selector, Objective::Knee)?.1))
}

fn cheapest_workers(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    Ok(f64::from(best(stage, selector, Objective::Cost)?.0))
}

fn cheapest_batch(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    Ok(f64::from(best(stage, selector, Objective::Cost)?.1))
}

/// Workers and batch of the oracle's choice.
fn best(stage: &Stage, selector: &Selector, objective: Objective) -> Result<(u32, u32), String> {
    let (_, _, arena) = stage.workload(selector)?;
    let policy = stage.policy(selector)?;
    let objective = (stage.plan.objectives.iter())
        .position(|o| *o == objective)
        .ok_or_else(|| format!("the scenario lacks the objective `{}`", objective.name()))?;
    let index = arena.oracle[policy][objective].ok_or("the limits leave no configuration")?;
    let at = &arena.world()?.truths[index].configuration;
    Ok((at.workers, at.batch))
}

/// Hours of the cold start of partial search.
fn cold_start_time(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    Ok(stage.cold_start(selector)?.0)
}

/// USD of the cold start of partial search.
fn cold_start_cost(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    Ok(stage.cold_start(selector)?.1)
}

/// Cold start in percent of the expected time of the selector's cell.
fn cold_start_share_time(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    Ok(100.0 * stage.cold_start(selector)?.0 / stage.expected(selector)?.0)
}

/// Cold start in percent of the expected cost of the selector's cell.
fn cold_start_share_cost(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    Ok(100.0 * stage.cold_start(selector)?.1 / stage.expected(selector)?.1)
}

/// Mean error in percent of the time that a strategy predicts, end to end, over the configurations
/// with the selector's `workers`, or one of its `columns`.
fn prediction_error_mean(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    let columns = match selector.numbers("columns")? {
        Some(columns) => columns,
        None => vec![selector.number("workers")?],
    };
    let errors = stage.prediction_errors(selector)?;
    mean(
        (errors.iter())
            .filter(|(at, _)| columns.contains(&at.workers))
            .map(|(_, error)| 100.0 * error),
    )
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
        (low.min(v), high.max(v))
    })
}
