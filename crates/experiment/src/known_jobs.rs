//! Earlier runs of other jobs, as far as strategies know them: some drawn at random, or what their own searches of the jobs before saw.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::case::Case;
use scavsim_base::rng::{Purpose, Stream, Streams, WorkloadKey};
use scavsim_data::space::Space;
use scavsim_search::search::Past;
use scavsim_search::testbed::history::RunPrice;
use scavsim_search::testbed::{History, PastRun};

/// Which runs of other jobs strategies know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KnownJobs {
    /// All that are stored.
    #[default]
    All,
    /// This many of them, drawn at random: the same for all strategies and replicas.
    Runs(u64),
    /// Jobs arrive one after the other, in an order drawn per replica, and a strategy knows what its own searches of those before saw.
    Fleet,
}

/// `most` of the stored runs of other jobs on some configurations.
pub(super) fn drawn(
    (own, stored): (&History, &[History]),
    space: &Space,
    most: u64,
    streams: &Streams,
) -> Vec<History> {
    let here: HashSet<_> = (0..space.len()).map(|at| place(space, at)).collect();
    let others: HashSet<&str> = Past::new(own, stored).other_names().collect();
    let is_other = |history: &&History| others.contains(&*history.workload);
    let mut stored: Vec<History> = stored.iter().filter(is_other).cloned().collect();
    let all = (0..).zip(&stored).flat_map(|(job, history)| {
        let runs = (0..).zip(&history.runs);
        let is_here = |(_, run): &(usize, &PastRun)| here.contains(&place_of(run));
        runs.filter(is_here).map(move |(run, _)| (job, run))
    });
    let mut all: Vec<(usize, usize)> = all.collect();
    let of = WorkloadKey::from_name(&own.workload);
    shuffle(&mut all, &mut streams.stream(0, Purpose::KnownRuns(of)));
    all.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    let kept: HashSet<(usize, usize)> = all.into_iter().collect();
    for (job, history) in stored.iter_mut().enumerate() {
        let mut run = 0..;
        history
            .runs
            .retain(|_| run.next().is_some_and(|run| kept.contains(&(job, run))));
    }
    stored.retain(|history| !history.runs.is_empty());
    stored
}

type SpaceKey<'s> = (Option<&'s str>, Option<u32>, Option<u32>, Option<&'s str>);

fn place(space: &Space, at: usize) -> SpaceKey<'_> {
    let vm = space.vm(at).map(|vm| &**vm);
    (vm, space.workers(at), space.batch(at), space.other(at))
}

fn place_of(run: &PastRun) -> SpaceKey<'_> {
    (
        run.vm.as_deref(),
        run.workers,
        run.batch,
        run.other.as_deref(),
    )
}

pub(super) fn shuffle<T>(all: &mut [T], stream: &mut Stream) {
    for last in (1..all.len()).rev() {
        all.swap(last, stream.below(last + 1));
    }
}

/// A run that a search or the job after it saw.
#[derive(Debug, Clone, Copy)]
pub(super) struct SeenRun {
    pub(super) configuration: usize,
    pub(super) seconds: f64,
    pub(super) usd: f64,
    pub(super) has_reached: bool,
}

impl SeenRun {
    /// A run as histories have it, with its number in its job.
    pub(super) fn past_run(&self, space: &Space, number: usize) -> PastRun {
        let (vm, workers, batch, other) = place(space, self.configuration);
        let mut run = PastRun::default();
        run.vm = vm.map(Arc::from);
        (run.workers, run.batch) = (workers, batch);
        run.other = other.map(Arc::from);
        run.time_s = self.has_reached.then_some(self.seconds);
        run.has_failed = !self.has_reached;
        run.price = RunPrice {
            number,
            ran_on: run.vm.clone(),
            is_whole: self.has_reached,
            seconds: self.seconds,
            usd: Some(self.usd),
        };
        run
    }
}

/// Runs that the searches of a fleet saw, by search problem, strategy, policy, objective and replica.
#[derive(Debug, Default)]
pub(super) struct FleetRuns(Mutex<HashMap<FleetKey, Arc<[SeenRun]>>>);

type FleetKey = (usize, usize, usize, usize, u64);

fn key(case: &Case) -> FleetKey {
    (
        case.arena,
        case.strategy,
        case.policy,
        case.objective,
        case.replica,
    )
}

impl FleetRuns {
    pub(super) fn get(&self, case: &Case) -> Option<Arc<[SeenRun]>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&key(case)).cloned()
    }

    pub(super) fn keep(&self, case: &Case, runs: Arc<[SeenRun]>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(key(case), runs);
    }
}
