//! Earlier runs of other jobs, as far as strategies know them: some drawn at random, or what their own searches of the jobs before saw.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::case::Case;
use super::evaluate::Evaluator;
use super::plan::Plan;
use super::record::{Record, Status};
use super::search_problem::SearchProblem;
use scavsim_base::rng::{Purpose, Stream, Streams, WorkloadKey};
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_data::space::Space;
use scavsim_search::search::{DEFAULT, Past, UsedPastRun};
use scavsim_search::testbed::history::RunPrice;
use scavsim_search::testbed::{History, PastRun, Target};

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

type Place<'s> = (Option<&'s str>, Option<u32>, Option<u32>, Option<&'s str>);

fn place(space: &Space, at: usize) -> Place<'_> {
    let vm = space.vm(at).map(|vm| &**vm);
    (vm, space.workers(at), space.batch(at), space.other(at))
}

fn place_of(run: &PastRun) -> Place<'_> {
    (
        run.vm.as_deref(),
        run.workers,
        run.batch,
        run.other.as_deref(),
    )
}

fn shuffle<T>(all: &mut [T], stream: &mut Stream) {
    for last in (1..all.len()).rev() {
        all.swap(last, stream.below(last + 1));
    }
}

/// A run that a search or the job after it saw.
#[derive(Debug, Clone, Copy)]
struct SeenRun {
    configuration: usize,
    seconds: f64,
    usd: f64,
    has_reached: bool,
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
    fn get(&self, case: &Case) -> Option<Arc<[SeenRun]>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&key(case)).cloned()
    }

    fn keep(&self, case: &Case, runs: Arc<[SeenRun]>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(key(case), runs);
    }
}

impl Plan {
    /// Search problems whose jobs arrived before that of a case.
    fn arrived_before(&self, case: &Case) -> Vec<usize> {
        let (first, jobs) = self.neighbours(case.arena);
        let mut order: Vec<usize> = (first..first + jobs).collect();
        let streams = &self.terms.streams;
        shuffle(
            &mut order,
            &mut streams.stream(case.replica, Purpose::Arrivals),
        );
        order
            .into_iter()
            .take_while(|arena| *arena != case.arena)
            .collect()
    }

    /// A run as histories have it, with its number in its job.
    fn past_run(space: &Space, number: usize, seen: &SeenRun) -> PastRun {
        let (vm, workers, batch, other) = place(space, seen.configuration);
        let mut run = PastRun::default();
        run.vm = vm.map(Arc::from);
        (run.workers, run.batch) = (workers, batch);
        run.other = other.map(Arc::from);
        run.time_s = seen.has_reached.then_some(seen.seconds);
        run.has_failed = !seen.has_reached;
        run.price = RunPrice {
            number,
            ran_on: run.vm.clone(),
            is_whole: seen.has_reached,
            seconds: seen.seconds,
            usd: Some(seen.usd),
        };
        run
    }
}

impl<'p> Evaluator<'p> {
    /// Whether the strategy of a case knows the runs of a fleet.
    pub(super) fn is_in_fleet(&self, case: &Case) -> bool {
        let plan = self.plan;
        let knows = |arena: &SearchProblem| {
            let of = &arena.contenders[case.strategy];
            of.strategy.is_some() && !of.taken.is_empty()
        };
        plan.known_jobs(case.arena) == KnownJobs::Fleet && plan.arena(case.arena).is_ok_and(knows)
    }

    /// The record of a case whose strategy knows what its searches of the jobs before saw. Until that suffices for it, it runs the
    /// default configuration.
    pub(super) fn evaluate_in_fleet(&mut self, case: Case) -> Record<'p> {
        let (histories, own) = (
            self.fleet_histories(&case),
            self.history_of(case.arena, &[]),
        );
        let Ok(arena) = self.plan.arena(case.arena) else {
            return self.evaluate_alone(case);
        };
        let mut past = Past::new(&own, &histories);
        let name = self.plan.strategy(case.strategy);
        let built = self.plan.built(name, &arena.task(), &mut past);
        let built = built.or_else(|| self.plan.built(DEFAULT, &arena.task(), &mut past));
        let Some(strategy) = built else {
            return self.evaluate_alone(case);
        };
        self.simulation.stand_in(Some(Arc::from(strategy)));
        let mut record = self.evaluate_alone(case);
        self.simulation.stand_in(None);
        if record.status == Status::Ok {
            let taken = past.into_taken();
            let sum = |of: fn(&UsedPastRun) -> f64| taken.iter().map(of).sum::<f64>();
            record.known_runs = Some(taken.len() as f64);
            record.known_time_h = Some(sum(|run| run.price.seconds) / SECONDS_PER_HOUR);
            record.known_cost_usd = Some(sum(|run| run.price.usd.unwrap_or(0.0)));
        }
        let runs = self.seen_runs(case);
        self.plan.fleet_runs.keep(&case, runs);
        record
    }

    fn fleet_histories(&mut self, case: &Case) -> Vec<History> {
        let before = self.plan.arrived_before(case);
        let each = before.into_iter().map(|arena| {
            let earlier = Case { arena, ..*case };
            let seen = self.plan.fleet_runs.get(&earlier).unwrap_or_else(|| {
                self.evaluate_in_fleet(earlier);
                self.plan.fleet_runs.get(&earlier).unwrap_or_default()
            });
            self.history_of(arena, &seen)
        });
        each.collect()
    }

    fn history_of(&self, arena: usize, seen: &[SeenRun]) -> History {
        let space = self.plan.arena(arena).map(|arena| &arena.space);
        let runs = seen.iter().enumerate();
        let runs = space.map(|space| {
            runs.map(|(at, run)| Plan::past_run(space, at, run))
                .collect()
        });
        History {
            workload: self.plan.workload(arena).to_owned(),
            program: Some(self.plan.program(arena).to_owned()),
            parameters: None,
            runs: runs.unwrap_or_default(),
        }
    }

    /// What the search evaluated last saw of whole runs, and the runs of its choices.
    fn seen_runs(&mut self, case: Case) -> Arc<[SeenRun]> {
        let probed = self.questions().iter().filter_map(|asked| {
            let (seconds, has_reached) = match asked.seen.target {
                Target::Reached(seconds) => (seconds, true),
                Target::Failed(seconds) => (seconds, false),
                _ => return None,
            };
            Some(SeenRun {
                configuration: asked.configuration,
                seconds,
                usd: asked.usd - asked.before_usd,
                has_reached,
            })
        });
        let mut runs: Vec<SeenRun> = probed.collect();
        let chosen = self.ran().to_vec();
        let ends = self.ends(case);
        let spans = ends.iter().zip(ends.iter().skip(1));
        // What the search ran to the target is not run again.
        let known = runs.clone();
        let is_known = |at: usize| {
            let mut reached = known.iter().filter(|run| run.has_reached);
            reached.any(|run| run.configuration == at)
        };
        for (at, (configuration, (from, to))) in chosen.iter().zip(spans).enumerate() {
            if !is_known(*configuration) {
                runs.push(SeenRun {
                    configuration: *configuration,
                    seconds: to.0 - from.0,
                    usd: to.1 - from.1,
                    // All but the last failed.
                    has_reached: at + 1 == chosen.len(),
                });
            }
        }
        runs.into()
    }
}
