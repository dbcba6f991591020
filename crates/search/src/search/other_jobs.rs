//! Earlier runs of other jobs on the configurations of a task: what each took where.

use std::collections::HashMap;

use super::{Offer, Past, Task, UnusableStrategy, objective::Point, trials};
use crate::testbed::{History, PastRun};
use scavsim_data::space::Space;

/// Another job, as far as it was run on the configurations of a task.
#[derive(Debug, Clone)]
pub(super) struct OtherJob {
    pub(super) name: String,
    /// What it runs: jobs of one program count as one.
    pub(super) program: String,
    /// What its runs came to, per configuration; `None` where there was none.
    pub(super) runs: Vec<Option<OtherRun>>,
}

/// What all runs of another job on a configuration came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum OtherRun {
    /// The target, after so many seconds, those of runs that failed before it included.
    Reached(f64),
    /// Nothing, after so many seconds of a run in the mean.
    Failed(f64),
}

impl OtherRun {
    pub(super) fn time_s(self) -> Option<f64> {
        match self {
            OtherRun::Reached(time_s) => Some(time_s),
            OtherRun::Failed(_) => None,
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct OtherJobs {
    pub(super) jobs: Vec<OtherJob>,
}

impl OtherJobs {
    /// Takes all runs of other jobs on the configurations of the task; there may be none.
    pub(super) fn take_from_past(task: &Task<'_>, past: &mut Past<'_>) -> OtherJobs {
        let places = places(task.space);
        let names: Vec<&str> = past.other_names().collect();
        let mut jobs = Vec::new();
        for name in names {
            let is_here = |offer: &Offer<'_>| {
                places.contains_key(&(offer.vm, offer.workers, offer.batch, offer.other))
            };
            let Some(history) = past.take_stored(name, is_here) else {
                continue;
            };
            jobs.extend(OtherJob::new(&history, &places, task.space.len()));
        }
        OtherJobs { jobs }
    }

    /// Takes them for a strategy that is nothing without them.
    pub(super) fn take_some(
        task: &Task<'_>,
        past: &mut Past<'_>,
    ) -> Result<OtherJobs, UnusableStrategy> {
        let others = OtherJobs::take_from_past(task, past);
        if others.jobs.is_empty() {
            return Err(UnusableStrategy(format!(
                "no other job than `{}` was run on its configurations",
                task.workload
            )));
        }
        Ok(others)
    }

    pub(super) fn programs(&self) -> impl Iterator<Item = &str> {
        let jobs = self.jobs.iter().enumerate();
        let is_first = |(place, job): &(usize, &OtherJob)| {
            let mut before = self.jobs[..*place].iter();
            before.all(|other| other.program != job.program)
        };
        jobs.filter(is_first).map(|(_, job)| &*job.program)
    }

    /// Places of at most so many jobs, from all over the list.
    pub(super) fn some_jobs(&self, most: usize) -> Vec<usize> {
        let all = self.jobs.len();
        if all <= most {
            return (0..all).collect();
        }
        (0..most).map(|number| number * all / most).collect()
    }

    /// Per program the mean over its jobs of what each says, by its place; without those of which none says anything.
    pub(super) fn means(&self, says: impl Fn(usize, &OtherJob) -> Option<f64>) -> Vec<f64> {
        let mean = |program: &str| {
            let jobs = self.jobs.iter().enumerate();
            let said = jobs.filter(|(_, job)| job.program == program);
            let said = said.filter_map(|(place, job)| says(place, job));
            let (sum, count) =
                said.fold((0.0, 0.0), |(sum, count), said| (sum + said, count + 1.0));
            (count > 0.0).then_some(sum / count)
        };
        self.programs().filter_map(mean).collect()
    }
}

impl OtherJob {
    fn new(history: &History, places: &HashMap<Key<'_>, usize>, count: usize) -> Option<OtherJob> {
        // Seconds of all its runs on each configuration, how many they were, and how many reached the target.
        let mut all = vec![(0.0, 0_u32, 0_u32); count];
        for run in &history.runs {
            let Some(&at) = places.get(&key(run)) else {
                continue;
            };
            // What was only looked at tells nothing of the whole.
            let seconds = run.time_s.or(run.has_failed.then_some(run.price.seconds));
            let Some(seconds) = seconds.filter(|s| *s > 0.0 && s.is_finite()) else {
                continue;
            };
            let (sum, runs, reached) = &mut all[at];
            *sum += seconds;
            *runs += 1;
            *reached += u32::from(run.time_s.is_some());
        }
        let run = |(sum, runs, reached): (f64, u32, u32)| match (runs, reached) {
            (0, _) => None,
            (_, 0) => Some(OtherRun::Failed(sum / f64::from(runs))),
            _ => Some(OtherRun::Reached(sum / f64::from(reached))),
        };
        let runs: Vec<Option<OtherRun>> = all.into_iter().map(run).collect();
        let reaches = |run: &Option<OtherRun>| run.is_some_and(|run| run.time_s().is_some());
        runs.iter().any(reaches).then(|| OtherJob {
            name: history.workload.clone(),
            program: (history.program.as_ref()).map_or(history.workload.clone(), String::clone),
            runs,
        })
    }

    /// Logarithms of the seconds to the target. A failed run counts as the job's longest: where it fails, it takes long at
    /// best.
    pub(super) fn logs(&self) -> Vec<Option<f64>> {
        let seconds = |run: &OtherRun| {
            let (OtherRun::Reached(seconds) | OtherRun::Failed(seconds)) = run;
            *seconds
        };
        let longest = self.runs.iter().flatten().map(seconds).fold(0.0, f64::max);
        let log = |run: &Option<OtherRun>| Some(libm::log((*run)?.time_s().unwrap_or(longest)));
        self.runs.iter().map(log).collect()
    }

    /// What a run to the target comes to in the objective, over the least that one does, per configuration: where it failed, what
    /// was lost and the median run. `None` where it was not run, or its price is not known.
    pub(super) fn ratios(&self, task: &Task<'_>) -> Vec<Option<f64>> {
        let value = |at: usize, seconds: f64| {
            let point: Point = trials::point(task, at, seconds);
            let value = trials::value(task.objective, &point);
            (value > 0.0 && value.is_finite()).then_some(value)
        };
        let reached = |(at, run): (usize, &Option<OtherRun>)| value(at, (*run)?.time_s()?);
        let mut sorted: Vec<f64> = self.runs.iter().enumerate().filter_map(reached).collect();
        sorted.sort_by(f64::total_cmp);
        let Some(&least) = sorted.first() else {
            return vec![None; self.runs.len()];
        };
        let median = sorted[sorted.len() / 2];
        (self.runs.iter().enumerate())
            .map(|(at, run)| match (*run)? {
                OtherRun::Reached(seconds) => Some(value(at, seconds)? / least),
                OtherRun::Failed(seconds) => Some((value(at, seconds)? + median) / least),
            })
            .collect()
    }
}

/// What tells a configuration from others.
type Key<'a> = (Option<&'a str>, Option<u32>, Option<u32>, Option<&'a str>);

fn key(run: &PastRun) -> Key<'_> {
    (
        run.vm.as_deref(),
        run.workers,
        run.batch,
        run.other.as_deref(),
    )
}

fn places(space: &Space) -> HashMap<Key<'_>, usize> {
    let key = |at: usize| {
        let vm = space.vm(at).map(|vm| &**vm);
        (vm, space.workers(at), space.batch(at), space.other(at))
    };
    (0..space.len()).map(|at| (key(at), at)).collect()
}
