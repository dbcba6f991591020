//! What neighbouring cases share: one search, and one run per configuration, for all prices.

use super::plan::{Arena, Case, Plan};
use crate::rng::Purpose;
use crate::search::Forecast;
use crate::stats::median;
use crate::testbed::simulated::Timeline;
use crate::testbed::{SimulatedCluster, Stop};
use crate::training::log::Entry;
use crate::training::{Stalled, Unfinished};
use crate::units::SimTime;
use crate::usage::Usage;

/// The simulations behind one (workload, strategy, replica), kept until another is asked for.
///
/// Neither a price nor an objective changes what a search sees, nor a run to the target other than
/// by the choice: cases that differ only in these find everything here.
pub struct Simulation<'p> {
    plan: &'p Plan,
    /// The cluster of the arena of the last search, marked at the end of the search.
    cluster: Option<(usize, SimulatedCluster<'p>)>,
    /// Workload, strategy and replica of the search.
    searched: Option<(usize, usize, u64)>,
    /// Workload and replica of the runs without search.
    alone_in: Option<(usize, u64)>,
    forecast: Forecast,
    errors: Option<Errors>,
    scratch: Vec<f64>,
    found: Found,
    /// Whether the search took VMs.
    touched: bool,
    after: Runs,
    alone: Runs,
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Found {
    /// With a forecast, from which an objective chooses.
    Forecast,
    /// At the target, in this configuration.
    Target(usize),
    /// Without an end.
    Never(Unfinished),
}

/// |predicted − expected time| / expected time over the configurations that were predicted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Errors {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub median: f64,
    /// Maximum.
    pub max: f64,
}

/// A run to the target and what it used, before any price.
#[derive(Debug, Clone)]
pub struct Run {
    /// When it did what.
    pub line: Timeline,
    /// Used until the target, search steps counting as progress.
    pub net: Usage,
    /// Used until the target if search steps earn nothing.
    pub gross: Usage,
    /// Used until the choice began to train.
    pub search: Usage,
}

/// Runs to the target from one state; memory is kept when they are forgotten.
#[derive(Default)]
struct Runs {
    all: Vec<Run>,
    used: usize,
}

impl Runs {
    fn forget(&mut self) {
        self.used = 0;
    }

    fn find(&self, choice: usize) -> Option<usize> {
        (self.all[..self.used].iter()).position(|run| run.line.choice == choice)
    }

    /// Where the run was kept.
    fn keep(&mut self, line: Timeline, cluster: &SimulatedCluster<'_>) -> usize {
        if self.used == self.all.len() {
            let none = Usage::default;
            self.all.push(Run {
                line,
                net: none(),
                gross: none(),
                search: none(),
            });
        }
        let run = &mut self.all[self.used];
        run.line = line;
        cluster.usage_until(line.net_end, &mut run.net);
        if line.gross_end != line.net_end {
            cluster.usage_until(line.gross_end, &mut run.gross);
        }
        if line.search_end > SimTime::ZERO {
            cluster.usage_until(line.search_end, &mut run.search);
        }
        self.used += 1;
        self.used - 1
    }
}

impl<'p> Simulation<'p> {
    /// Nothing simulated yet.
    pub fn new(plan: &'p Plan) -> Self {
        Simulation {
            plan,
            cluster: None,
            searched: None,
            alone_in: None,
            forecast: Forecast::default(),
            errors: None,
            scratch: Vec::new(),
            found: Found::Never(NO_ARENA),
            touched: false,
            after: Runs::default(),
            alone: Runs::default(),
        }
    }

    /// The predicted seconds per configuration of the last search.
    pub fn forecast(&self) -> &Forecast {
        &self.forecast
    }

    /// How far these are off; `None` without a prediction.
    pub fn errors(&self) -> Option<Errors> {
        self.errors
    }

    /// Notes what happens from the next search in this arena on.
    pub(super) fn watch(&mut self, arena: usize, most: u64) {
        if let Some(cluster) = cluster(self.plan, &mut self.cluster, arena) {
            cluster.watch(most);
        }
    }

    /// What was noted of the last run, which ended at `end`.
    pub(super) fn noted_until(&mut self, end: SimTime) -> Vec<Entry> {
        let cluster = self.cluster.as_mut();
        cluster.map_or(Vec::new(), |(_, cluster)| cluster.noted_until(end))
    }

    /// Searches with the strategy of `case`, unless that was the last search.
    pub fn search(&mut self, case: Case) -> Found {
        let key = (case.arena, case.strategy, case.replica);
        if self.searched == Some(key) {
            return self.found;
        }
        self.searched = Some(key);
        self.after.forget();
        if self.alone_in != Some((case.arena, case.replica)) {
            self.alone_in = Some((case.arena, case.replica));
            self.alone.forget();
        }
        let (Ok(arena), Some(cluster)) = (
            self.plan.arena(case.arena),
            cluster(self.plan, &mut self.cluster, case.arena),
        ) else {
            self.found = Found::Never(NO_ARENA);
            return self.found;
        };
        let contender = &arena.contenders[case.strategy];
        cluster.restart(case.replica);
        self.forecast.reset(arena.configurations.len());
        let ended = match &contender.strategy {
            None => Ok(()),
            Some(strategy) => {
                let streams = &self.plan.streams;
                let mut stream =
                    streams.stream(Purpose::Strategy, case.replica, contender.identity);
                strategy.search(cluster, &mut stream, &mut self.forecast)
            }
        };
        self.found = match (ended, cluster.current()) {
            (Ok(()), _) => Found::Forecast,
            (Err(Stop::TargetReached), Some(at)) => Found::Target(at),
            (Err(Stop::Unfinished(why)), _) => Found::Never(why),
            (Err(Stop::TargetReached), None) => Found::Never(NO_ARENA),
        };
        self.touched = cluster.current().is_some();
        cluster.mark();
        self.judge_forecast(arena);
        self.found
    }

    /// The run of `choice` to the target, after the last search.
    ///
    /// # Errors
    /// [`Unfinished`] when the job does not come to its end.
    pub fn run(&mut self, case: Case, choice: usize) -> Result<&Run, Unfinished> {
        if !self.touched {
            return self.run_alone(case, choice);
        }
        let at = match self.after.find(choice) {
            Some(at) => at,
            None => {
                let cluster = cluster(self.plan, &mut self.cluster, case.arena).ok_or(NO_ARENA)?;
                cluster.back_to_mark();
                let line = cluster.run_to_target(choice)?;
                self.after.keep(line, cluster)
            }
        };
        Ok(&self.after.all[at])
    }

    /// The run of `choice` to the target in the replica of the last search, without any search.
    ///
    /// # Errors
    /// [`Unfinished`] when the job does not come to its end.
    pub fn run_alone(&mut self, case: Case, choice: usize) -> Result<&Run, Unfinished> {
        let at = match self.alone.find(choice) {
            Some(at) => at,
            None => {
                let cluster = cluster(self.plan, &mut self.cluster, case.arena).ok_or(NO_ARENA)?;
                cluster.restart(case.replica);
                let line = cluster.run_to_target(choice)?;
                self.alone.keep(line, cluster)
            }
        };
        Ok(&self.alone.all[at])
    }

    fn judge_forecast(&mut self, arena: &Arena) {
        let errors = &mut self.scratch;
        errors.clear();
        errors.extend(
            (self.forecast.time_s.iter())
                .zip(&arena.world.truths)
                .filter_map(|(time_s, truth)| {
                    Some(((*time_s)? / truth.expected_time_s() - 1.0).abs())
                }),
        );
        let sum: f64 = errors.iter().sum();
        let mean = sum / errors.len() as f64;
        self.errors = median(errors)
            .zip(errors.last()) // sorted by the median
            .map(|(median, &max)| Errors { mean, median, max });
    }
}

/// For a run without an arena, which nobody asks for after a search without one.
const NO_ARENA: Unfinished = Unfinished::Stalled(Stalled { at: SimTime::ZERO });

/// The cluster of an arena, made when it is another than the last; `None` without an arena.
fn cluster<'c, 'p>(
    plan: &'p Plan,
    held: &'c mut Option<(usize, SimulatedCluster<'p>)>,
    arena: usize,
) -> Option<&'c mut SimulatedCluster<'p>> {
    if held.as_ref().is_none_or(|(of, _)| *of != arena) {
        let world = &plan.arena(arena).ok()?.world;
        let made = SimulatedCluster::new(world, plan.streams, plan.fidelity, plan.start_up);
        *held = Some((arena, made));
    }
    held.as_mut().map(|(_, cluster)| cluster)
}
