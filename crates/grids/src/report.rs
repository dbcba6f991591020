//! A grid in numbers, for people.

use super::{Job, Outcome, Run};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub runs: usize,
    pub configurations: usize,
    /// Combinations that were not run.
    pub holes: u64,
    pub failed: usize,
    /// Runs that ended without the target.
    pub unreached: usize,
}

impl Counts {
    pub fn from_job(job: &Job) -> Counts {
        let ended = |outcome| job.runs.iter().filter(|run| run.outcome == outcome).count();
        Counts {
            runs: job.runs.len(),
            configurations: job.space.len(),
            holes: job.holes(),
            failed: ended(Outcome::Failed),
            unreached: ended(Outcome::Unreached),
        }
    }

    pub fn of_all<'j>(jobs: impl IntoIterator<Item = &'j Job>) -> Counts {
        let each = jobs.into_iter().map(Counts::from_job);
        each.fold(Counts::default(), |sum, job| Counts {
            runs: sum.runs + job.runs,
            configurations: sum.configurations + job.configurations,
            holes: sum.holes.saturating_add(job.holes),
            failed: sum.failed + job.failed,
            unreached: sum.unreached + job.unreached,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Best {
    pub configuration: usize,
    pub time_s: f64,
    /// USD to the target, where the grid has a rule of costs.
    pub usd: Option<f64>,
}

/// USD of every run that reached the target, or its seconds where the grid has no rule of costs.
pub fn figures(job: &Job) -> impl Iterator<Item = (Best, f64)> {
    let reached = |(configuration, repeat, run): (usize, usize, &Run)| {
        let time_s = run.time_to_target_s()?;
        let usd = job.cost_usd(configuration, repeat, time_s);
        let best = Best {
            configuration,
            time_s,
            usd,
        };
        Some((best, usd.unwrap_or(time_s)))
    };
    job.all_runs().filter_map(reached)
}

/// The cheapest run to the target, or the fastest without a rule of costs; the first of several.
pub fn best(job: &Job) -> Option<Best> {
    (figures(job).min_by(|a, b| a.1.total_cmp(&b.1))).map(|(best, _)| best)
}
