//! Quantities of kinds of clusters whose VMs are taken away while they train: means over the replicas of a scenario.
//!
//! A selector names `kind`, `workers` and, where only some runs count, `lost`: how many VMs they lost.

use super::figures::mean;
use super::selector::Selector;
use super::stage::Stage;
use crate::experiment::Arena;
use crate::search::{Objective, Point, objective};
use crate::testbed::SimulatedCluster;
use crate::training::Unfinished;
use crate::units::SimTime;
use crate::usage::{EndedBy, Usage};

/// One run of a cluster.
struct Run {
    /// Whether it reached the target, or lost its chief.
    ended_well: bool,
    /// VMs that were taken away, the chief apart.
    lost: u32,
    seconds: f64,
    usd: f64,
}

/// A kind of cluster with a worker count.
struct Cell<'s> {
    arena: &'s Arena,
    index: usize,
}

fn cell<'s>(stage: &'s Stage, kind: &str, workers: u32) -> Result<Cell<'s>, String> {
    (stage.plan.arenas())
        .find_map(|arena| {
            let space = &arena.space;
            let is_it = |&at: &usize| {
                space.vm(at).is_some_and(|vm| **vm == *kind) && space.workers(at) == Some(workers)
            };
            let index = (0..space.len()).find(is_it)?;
            Some(Cell { arena, index })
        })
        .ok_or_else(|| format!("the scenario has no `{kind}` with {workers} workers"))
}

fn named<'s>(stage: &'s Stage, selector: &Selector) -> Result<Cell<'s>, String> {
    cell(stage, selector.text("kind")?, selector.number("workers")?)
}

/// What a selector compares with: `against`, with `against_workers` or as many workers.
fn other<'s>(stage: &'s Stage, selector: &Selector) -> Result<Cell<'s>, String> {
    let workers = match selector.optional("against_workers") {
        Some(_) => selector.number("against_workers")?,
        None => selector.number("workers")?,
    };
    cell(stage, selector.text("against")?, workers)
}

/// Runs a cell in every replica; or once, if `lost_at` says when a worker is taken away, and no other VM is.
fn runs(stage: &Stage, cell: &Cell<'_>, lost_at: Option<SimTime>) -> Result<Vec<Run>, String> {
    let plan = &stage.plan;
    let mut cluster = SimulatedCluster::new(cell.arena.world()?, &plan.terms);
    let mut usage = Usage::default();
    let replicas = match lost_at {
        Some(_) => 1,
        None => plan.replicas,
    };
    let mut all = Vec::new();
    for replica in 0..replicas {
        cluster.restart(replica);
        if let Some(at) = lost_at {
            cluster
                .lose_one(cell.index, at)
                .map_err(|e| e.to_string())?;
        }
        let (ended_well, end) = match cluster.run_to_target(cell.index) {
            Ok(line) => (true, line.net_end),
            Err(Unfinished::ChiefLost { at }) => (false, at),
            Err(why) => return Err(why.to_string()),
        };
        cluster.usage_until(end, &mut usage);
        let lost: u32 = (usage.intervals.iter())
            .filter(|i| i.ended_by == EndedBy::Provider)
            .map(|i| i.vms)
            .sum();
        all.push(Run {
            ended_well,
            lost: lost.saturating_sub(u32::from(!ended_well)),
            seconds: end.seconds(),
            usd: cell.arena.tariffs[0].bill_usd(&usage),
        });
    }
    Ok(all)
}

/// Mean seconds and USD.
fn means(runs: &[Run]) -> Result<(f64, f64), String> {
    Ok((
        mean(runs.iter().map(|run| run.seconds))?,
        mean(runs.iter().map(|run| run.usd))?,
    ))
}

/// Mean seconds and USD of the runs of a cell that reached the target, and lost as many VMs as the selector says.
fn mean_of(stage: &Stage, cell: &Cell<'_>, selector: &Selector) -> Result<(f64, f64), String> {
    let lost: Option<u32> = match selector.optional("lost") {
        Some(_) => Some(selector.number("lost")?),
        None => None,
    };
    let mut all = runs(stage, cell, None)?;
    all.retain(|run| run.ended_well && lost.is_none_or(|lost| run.lost == lost));
    if all.is_empty() {
        return Err("no replica has such a run".to_owned());
    }
    means(&all)
}

/// Mean seconds of training.
pub(super) fn mean_time(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    Ok(mean_of(stage, &named(stage, selector)?, selector)?.0)
}

/// Mean USD of training.
pub(super) fn mean_cost(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    Ok(mean_of(stage, &named(stage, selector)?, selector)?.1)
}

/// Mean time of `against` over that of the kind.
pub(super) fn mean_speed_up(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    let own = mean_of(stage, &named(stage, selector)?, selector)?;
    Ok(mean_of(stage, &other(stage, selector)?, selector)?.0 / own.0)
}

/// Percent of the mean cost of `against` that the kind saves.
pub(super) fn mean_saving(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    let own = mean_of(stage, &named(stage, selector)?, selector)?;
    let other = mean_of(stage, &other(stage, selector)?, selector)?;
    Ok(100.0 * (1.0 - own.1 / other.1))
}

/// Workers that `runs` runs lose, the chief apart.
pub(super) fn lost_workers(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    let times: f64 = selector.number("runs")?;
    let all = runs(stage, &named(stage, selector)?, None)?;
    let each = mean(all.iter().map(|run| f64::from(run.lost)));
    Ok(each.unwrap_or_default() * times)
}

/// Percent of the runs that lose their chief, and end.
pub(super) fn ended_runs(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    let all = runs(stage, &named(stage, selector)?, None)?;
    let ended = mean(all.iter().map(|run| f64::from(u8::from(!run.ended_well))));
    Ok(100.0 * ended.unwrap_or_default())
}

/// Seconds and USD, as means over runs that each lose one worker, at the selector's `at_s` seconds.
fn after_losses(stage: &Stage, selector: &Selector) -> Result<(f64, f64), String> {
    let cell = named(stage, selector)?;
    let moments = selector
        .numbers("at_s")?
        .ok_or("the selector lacks `at_s`")?;
    let mut all = Vec::new();
    for at_s in moments {
        let at = SimTime::from_seconds(f64::from(at_s));
        all.extend(runs(stage, &cell, Some(at))?);
    }
    means(&all)
}

/// Mean seconds of runs that each lose one worker at a given moment.
pub(super) fn time_after_loss(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    Ok(after_losses(stage, selector)?.0)
}

/// Mean USD of runs that each lose one worker at a given moment.
pub(super) fn cost_after_loss(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    Ok(after_losses(stage, selector)?.1)
}

/// Workers at the knee of mean time and mean cost, of the selector's list of `workers`.
pub(super) fn knee_of_means(stage: &Stage, selector: &Selector) -> Result<f64, String> {
    let kind = selector.text("kind")?;
    let counts = selector
        .numbers("workers")?
        .ok_or("the selector lacks `workers`")?;
    let mut points = Vec::new();
    for &workers in &counts {
        let (time_s, cost_usd) = mean_of(stage, &cell(stage, kind, workers)?, selector)?;
        points.push(Some(Point { time_s, cost_usd }));
    }
    let best = objective::choose(Objective::Knee, |_, _| true, &points, &mut Vec::new());
    let workers = best.and_then(|index| counts.get(index));
    workers
        .map(|workers| f64::from(*workers))
        .ok_or_else(|| "there is no knee".to_owned())
}
