//! How many replicas it takes until net overheads are known as well as a scenario asks for.
//!
//! Replicas run in blocks until half the 95 % interval of every mean net overhead is at most what is wanted, or until the most
//! replicas are reached. After n replicas whose widest interval is w times too wide the next block ends at 1.1 n w², between
//! 1.25 n and 2 n: few looks at a mean leave its interval valid. Only sums are kept; the scenario then runs with that many
//! replicas, with the bytes of `replicas = N`, at twice the work.

use std::sync::atomic::AtomicU64;

use super::key_columns::KeyColumns;
use super::plan::Plan;
use super::plan_error::PlanError;
use super::run::{Conduct, RunEnding, gather};
use super::scenario::{Scenario, WantedPrecision};
use super::shard::Tasks;
use super::summary::Summary;
use super::tally::GroupSummary;
use scavsim_engine::Interrupt;
use scavsim_search::search::Objective;

/// Replicas from which an interval counts: fewer do not tell skewness.
pub const LEAST: u64 = 16;
/// Antithetic replicas from which an interval counts: mirrored luck leaves rarer, more skewed values and half the units.
pub const LEAST_ANTITHETIC: u64 = 60;
/// Growth of replicas from block to block: least and most.
const GROWTH: (f64, f64) = (1.25, 2.0);
/// Replicas over those expected to suffice.
const MARGIN: f64 = 1.1;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AchievedPrecision {
    pub replicas: u64,
    /// Half the widest interval, as a fraction; infinite where a net overhead has none.
    pub half_width: f64,
}

#[derive(Debug, thiserror::Error)]
pub enum NotReached {
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Threads cannot be started, or there are more groups than are kept.
    #[error(transparent)]
    Run(#[from] std::io::Error),
    #[error("interrupted")]
    Interrupted,
}

pub fn replicas(
    scenario: &Scenario,
    wanted: WantedPrecision,
    (jobs, interrupt): (usize, &Interrupt),
    progress: &AtomicU64,
) -> Result<AchievedPrecision, NotReached> {
    let planned = Plan::on_threads(jobs, scenario, interrupt);
    if interrupt.is_raised() {
        return Err(NotReached::Interrupted);
    }
    let mut plan = planned?;
    let conduct = Conduct::new(jobs, progress);
    let mut summary = Summary::by(KeyColumns::of_one_luck(), Tasks::from_plan(&plan));
    let most = wanted.most.max(1);
    let least = if scenario.antithetic {
        LEAST_ANTITHETIC
    } else {
        LEAST
    };
    let (mut done, mut next) = (0, even(scenario.replicas.max(least)).min(most));
    loop {
        plan.look_at(done..next);
        let tasks = Tasks::from_plan(&plan).behind(0);
        let finished = gather(&mut plan, tasks, conduct, &mut summary)?;
        if finished.ending != RunEnding::Complete {
            return Err(NotReached::Interrupted);
        }
        done = next;
        let widths = summary.tallied_by(KeyColumns::OBJECTIVE);
        let half_width = widths.fold(0.0, |widest: f64, (objective, tallied)| {
            widest.max(half_width(objective, &tallied))
        });
        if half_width <= wanted.half_width || done >= most {
            return Ok(AchievedPrecision {
                replicas: done,
                half_width,
            });
        }
        next = block_end(done, half_width / wanted.half_width).min(most);
    }
}

/// End of the next block, of whole pairs, after `done` replicas whose widest interval is `times` too wide.
fn block_end(done: u64, times: f64) -> u64 {
    let growth = (times * times * MARGIN).clamp(GROWTH.0, GROWTH.1);
    even((done as f64 * growth).ceil() as u64)
}

fn even(replicas: u64) -> u64 {
    replicas.next_multiple_of(2)
}

/// Half the interval of net overhead in time or cost, by the objective; for the knee, the wider.
pub fn half_width(objective: &str, tallied: &GroupSummary) -> f64 {
    let figures: &[&str] = match objective {
        of if of == Objective::Time.name() => &["overhead_net_time"],
        of if of == Objective::Cost.name() => &["overhead_net_cost"],
        _ => &["overhead_net_time", "overhead_net_cost"],
    };
    let means = figures.iter().filter_map(|figure| tallied.mean(figure));
    let halves = means.map(|mean| match mean.interval {
        Some(interval) => 0.5 * (interval.high - interval.low),
        None => f64::INFINITY,
    });
    halves.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_ends_where_the_interval_is_expected_to_be_narrow_enough() {
        assert_eq!(block_end(100, 1.2), 160);
        assert_eq!(block_end(100, 1.001), 126);
        assert_eq!(block_end(100, f64::INFINITY), 200);
        assert_eq!(block_end(16, 1.0), 20);
    }
}
