//! Searches of jobs that arrive one after the other: each knows what its strategy saw of the jobs before.

use std::sync::Arc;

use super::case::Case;
use super::evaluate::Evaluator;
use super::known_jobs::{KnownJobs, SeenRun, shuffle};
use super::plan::Plan;
use super::record::{Record, Status};
use super::search_problem::SearchProblem;
use scavsim_base::rng::Purpose;
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_search::search::{DEFAULT, Past, UsedPastRun};
use scavsim_search::testbed::{History, Target};

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
        let runs = space.map(|space| runs.map(|(at, run)| run.past_run(space, at)).collect());
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
