//! One case: search, run to the target, score against the oracle.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use super::billed::{Outcome, Run, bill, value};
use super::case::Case;
use super::memo::Memo;
use super::nearest::NO_CHOICE;
use super::plan::Plan;
use super::record::{GroupNumber, Record};
use super::record_axes::RecordAxes;
use super::score::{Charge, TimeAndCost, worst};
use super::search_problem::SearchProblem;
use super::simulation::{RunIndex, SearchConclusion, Simulation};
use super::subject::LifeReplay;
use scavsim_base::units::SimTime;
use scavsim_data::pricing::Tariff;
use scavsim_data::usage::Usage;
use scavsim_search::search::{
    CLAIRVOYANT, Forecast, Objective, Point, Strategy, Task,
    objective::{best_two, choose},
};
use scavsim_search::testbed::{TestbedExchange, Timeline};
use scavsim_sim::training::UnfinishedJob;
use scavsim_sim::training::log::Entry;

/// Evaluates cases one after the other; keeps its memory and what neighbours share.
pub struct Evaluator<'p> {
    pub(super) plan: &'p Plan,
    pub(super) simulation: Simulation<'p>,
    points: Vec<Option<Point>>,
    /// Search and policy of the points.
    priced: Option<(u64, usize)>,
    /// Search, and the fastest configuration by it if there is only one, with the next.
    fastest: Option<(u64, Option<[Option<usize>; 2]>)>,
    /// Second choice of the last search.
    pub(super) rival: Option<usize>,
    /// Choices that never reached the target, before the final one.
    pub(super) failed: Vec<usize>,
    /// Choices that were run, whatever came of them.
    pub(super) ran: Vec<usize>,
    front: Vec<(usize, Point)>,
    pub(super) usage: Usage,
    replay: Option<Box<dyn LifeReplay + 'p>>,
    /// Values of axes of the last case, and what they are of.
    axes: Option<(AxesKey<'p>, RecordAxes<'p>)>,
}

/// Search problem, policy and VM type.
type AxesKey<'p> = (usize, usize, Option<&'p str>);

pub struct TracedCase<'p> {
    pub case: Case,
    pub arena: &'p SearchProblem,
    pub line: Timeline,
    pub entries: Vec<Entry>,
}

/// Why a case has no result, or a note on it.
type Reason = Cow<'static, str>;

const NOTHING_WITHIN_LIMITS: &str = "no configuration is expected to keep within the limits";
const NOTHING_REACHES: &str = "nothing that the strategy would choose reaches the target";
const PRICES_UNKNOWN: &str =
    "prices are known only after a run: the strategy has to decide by what it paid for";
const NOT_FINITE: &str = "a figure of the result is not finite";

impl<'p> Evaluator<'p> {
    pub fn new(plan: &'p Plan) -> Self {
        Evaluator::with(plan, None)
    }

    /// Evaluates cases of `plan`; runs in `memo` are not made again.
    pub(super) fn with(plan: &'p Plan, memo: Option<&'p Memo>) -> Self {
        Evaluator {
            plan,
            simulation: Simulation::with(plan, memo),
            points: Vec::new(),
            priced: None,
            fastest: None,
            rival: None,
            failed: Vec::new(),
            ran: Vec::new(),
            front: Vec::new(),
            usage: Usage::default(),
            replay: (plan.lives())
                .map(|lives| lives.replay(&plan.policies, plan.terms.streams.seed)),
            axes: None,
        }
    }

    pub fn evaluate(&mut self, case: Case) -> Record<'p> {
        if self.is_in_fleet(&case) {
            self.evaluate_in_fleet(case)
        } else {
            self.evaluate_alone(case)
        }
    }

    pub(super) fn evaluate_alone(&mut self, case: Case) -> Record<'p> {
        let mut record = self.empty_record(case);
        match &mut self.replay {
            Some(replay) => replay.fill(&case, &mut record),
            None => self.fill(&mut record, case),
        }
        let vm = record.chosen_vm.or(record.oracle_vm);
        let of = (case.arena, case.policy, vm.or_else(|| self.only_vm(case)));
        if self.axes.is_none_or(|(known, _)| known != of) {
            self.axes = Some((of, self.plan.axes(&case, of.2)));
        }
        record.axes = self.axes.map(|(_, axes)| axes).unwrap_or_default();
        record
    }

    /// Fills an empty record where it stands: it is too large to be handed on.
    fn fill(&mut self, record: &mut Record<'p>, case: Case) {
        self.ran.clear();
        let arena = match self.plan.arena(case.arena) {
            Ok(arena) => arena,
            Err(why) => {
                record.reason = why.to_string().into();
                return;
            }
        };
        let Some(oracle) = arena.oracle[case.policy][case.objective] else {
            let why = arena.no_choice[case.policy].as_deref();
            record.reason = why.unwrap_or(NO_CHOICE).into();
            return;
        };
        name_oracle(record, arena, oracle);
        match self.outcome(case, arena, oracle) {
            Ok(outcome) => {
                self.score(record, case, arena, oracle, &outcome);
                if !record.is_finite() {
                    *record = self.empty_record(case);
                    name_oracle(record, arena, oracle);
                    record.reason = NOT_FINITE.into();
                }
            }
            Err(reason) => record.reason = reason,
        }
    }

    /// What the case evaluated last is charged if its result does not work: what it spent, and all its runs by the worst
    /// configuration within the limits. `None` where none is, or where the oracle's run has no price.
    pub fn charge(&mut self, case: Case) -> Option<Charge> {
        let arena = self.plan.arena(case.arena).ok()?;
        let oracle = arena.oracle[case.policy][case.objective]?;
        let objective = self.plan.objectives[case.objective];
        let tariff = &arena.tariffs[case.policy];
        let spent_until = (self.simulation).spent(case, &self.ran, &mut self.usage);
        let spent = TimeAndCost {
            hours: spent_until.hours(),
            usd: match spent_until {
                SimTime::ZERO => 0.0,
                _ => tariff.so_far_usd(&self.usage),
            },
        };
        let expected = |at| arena.expected(case.policy, at);
        let one_run = match self.simulation.run_alone(case, oracle) {
            Ok(alone) => value(tariff, alone.line.net_end, &alone.net),
            Err(_) => TimeAndCost::from_point(expected(oracle)),
        };
        let within = (arena
            .all_expected(case.policy)
            .zip(&arena.allowed[case.policy]))
        .filter_map(|(point, is_allowed)| is_allowed.then_some(point));
        let worst = worst(objective, within)?;
        let runs = self.plan.repeats(case.arena).unwrap_or(1) as f64;
        Charge::new(objective, spent, worst, expected(oracle), runs, one_run)
    }

    /// The predicted seconds per configuration of the case evaluated last.
    pub fn forecast(&self) -> &Forecast {
        self.simulation.forecast()
    }

    /// Probes and duration of the last search, where the plan asks for them.
    pub fn noted(&self) -> (&[TestbedExchange], Duration) {
        self.simulation.noted()
    }

    /// Predicted seconds per configuration in a search problem and a replica, under the first policy and for the first objective.
    pub fn predicted(&mut self, arena: usize, strategy: usize, replica: u64) -> &[Option<f64>] {
        self.evaluate(Case {
            number: 0,
            arena,
            policy: 0,
            objective: 0,
            strategy,
            replica,
        });
        &self.forecast().time_s
    }

    /// Evaluates a case alone and notes what happens in it, with at most `most` single worker-steps.
    pub fn watch(mut self, case: Case, most: u64) -> Result<TracedCase<'p>, Cow<'p, str>> {
        let arena = (self.plan.arena(case.arena)).map_err(|why| why.to_string())?;
        let oracle = arena.oracle[case.policy][case.objective].ok_or_else(|| {
            let why = arena.no_choice[case.policy].as_deref();
            Cow::Borrowed(why.unwrap_or(NO_CHOICE))
        })?;
        self.simulation.watch(case.arena, most);
        let choice = self.search(case, arena, oracle)?;
        // What is noted is of the last run.
        self.simulation.forget_runs();
        let run = self.simulation.run(case, choice);
        let line = run.map_err(|why| why.reason())?.line;
        Ok(TracedCase {
            case,
            arena,
            line,
            entries: self.simulation.noted_until(line.net_end),
        })
    }

    /// The record of a case in which `strategy` searches in place of the case's own.
    pub fn evaluate_as(&mut self, case: Case, strategy: Arc<dyn Strategy>) -> Record<'p> {
        self.simulation.stand_in(Some(strategy));
        let record = self.evaluate(case);
        self.simulation.stand_in(None);
        record
    }

    /// Questions and answers of the last search, where the plan asks for them.
    pub fn questions(&self) -> &[TestbedExchange] {
        self.simulation.questions()
    }

    /// Choices of the last case that were run, whatever came of them.
    pub fn ran(&self) -> &[usize] {
        &self.ran
    }

    /// When the search of the last case ended, and then each run of a choice, in seconds, with USD until then.
    pub fn ends(&mut self, case: Case) -> Vec<(f64, f64)> {
        let Ok(arena) = self.plan.arena(case.arena) else {
            return Vec::new();
        };
        let tariff = &arena.tariffs[case.policy];
        (0..=self.ran.len())
            .map(|runs| {
                let end = (self.simulation).spent(case, &self.ran[..runs], &mut self.usage);
                (end.seconds(), tariff.so_far_usd(&self.usage))
            })
            .collect()
    }

    fn search(
        &mut self,
        case: Case,
        arena: &'p SearchProblem,
        oracle: usize,
    ) -> Result<usize, Reason> {
        self.rival = None;
        match self.simulation.search(case) {
            SearchConclusion::Never(why) => Err(why.clone()),
            SearchConclusion::Forecast if arena.contenders[case.strategy].strategy.is_none() => {
                if arena.contenders[case.strategy].name == CLAIRVOYANT {
                    (self.best_realised(case, arena)).ok_or_else(|| NO_CHOICE.into())
                } else {
                    Ok(oracle)
                }
            }
            SearchConclusion::Forecast => {
                let tariff = &arena.tariffs[case.policy];
                let is_decided = self.simulation.forecast().decided.is_some();
                let by_time = self.plan.objectives[case.objective] == Objective::Time;
                if !is_decided && !by_time && !arena.prices_are_known(tariff) {
                    return Err(PRICES_UNKNOWN.into());
                }
                let choice = self.choose(case, arena, tariff);
                Ok(choice.ok_or(NOTHING_WITHIN_LIMITS)?)
            }
        }
    }

    /// The strategy and then the oracle in the same replica, billed.
    fn outcome(
        &mut self,
        case: Case,
        arena: &'p SearchProblem,
        oracle: usize,
    ) -> Result<Outcome, Reason> {
        let never = |why: UnfinishedJob| why.reason();
        let tariff = &arena.tariffs[case.policy];
        self.failed.clear();
        self.ran.clear();
        let mut choice = self.search(case, arena, oracle)?;
        // The oracle is right in expectation, and not asked again.
        let is_asked_again = arena.contenders[case.strategy].strategy.is_some();
        let settled = loop {
            self.ran.push(choice);
            match self.simulation.settle(case, &self.failed, choice) {
                Err(UnfinishedJob::Unreached { .. }) if is_asked_again => {
                    self.failed.push(choice);
                    choice = (self.instead(case, arena, tariff)).ok_or(NOTHING_REACHES)?;
                }
                settled => break settled.map_err(never)?,
            }
        };
        let usage = &mut self.usage;
        let mut billed = |run: &Run| bill(arena, tariff, run, usage);
        let mut outcome = (self.simulation).billed(settled, case.policy, &mut billed);
        // Without search the oracle's choice is the oracle's run, to the last bit.
        if choice != oracle || outcome.search.hours > 0.0 {
            let alone = (self.simulation.settle_alone(case, oracle)).map_err(never)?;
            let alone = (self.simulation).billed(RunIndex::Alone(alone), case.policy, billed);
            outcome.oracle = alone.total;
        }
        if self.plan.limits.are_any() || self.plan.repeats(case.arena).is_some() {
            outcome.alone = if outcome.search.hours > 0.0 {
                (self.simulation.run_alone(case, choice).ok())
                    .map(|alone| value(tariff, alone.line.net_end, &alone.net))
            } else {
                Some(outcome.total)
            };
        }
        Ok(outcome)
    }

    /// The objective's pick from what all configurations come to in this replica, without search.
    fn best_realised(&mut self, case: Case, arena: &SearchProblem) -> Option<usize> {
        let tariff = &arena.tariffs[case.policy];
        self.priced = None;
        self.points.clear();
        for at in 0..arena.space.len() {
            let run = self.simulation.run_alone(case, at).ok();
            self.points.push(run.map(|run| Point {
                time_s: run.line.net_end.seconds(),
                cost_usd: tariff.bill_usd(&run.net),
            }));
        }
        // Nothing is left to chance.
        let limits = &self.plan.limits;
        choose(
            self.plan.objectives[case.objective],
            |_, point| limits.allow(point),
            &self.points,
            &mut self.front,
        )
    }

    /// The objective's pick from the forecast at known prices, unless the strategy has decided; notes the second best.
    fn choose(&mut self, case: Case, arena: &SearchProblem, tariff: &Tariff) -> Option<usize> {
        let decided = self.simulation.forecast().decided;
        let by_time = self.plan.objectives[case.objective] == Objective::Time;
        if decided.is_some() && !by_time && !arena.prices_are_known(tariff) {
            return decided;
        }
        let two = self.choose_two(case, arena, tariff);
        let choice = decided.or(two[0]);
        self.rival = two.into_iter().flatten().find(|at| Some(*at) != choice);
        choice
    }

    /// The next choice after those that failed.
    fn instead(&mut self, case: Case, arena: &SearchProblem, tariff: &Tariff) -> Option<usize> {
        let mut named = self.simulation.forecast().instead.iter().copied();
        if let Some(at) = named.find(|at| !self.failed.contains(at)) {
            return Some(at);
        }
        self.price(case, arena, tariff);
        let (task, failed) = (arena.task_at(case.policy), &self.failed);
        choose(
            self.plan.objectives[case.objective],
            |at, point| !failed.contains(&at) && task.is_within(at, point),
            &self.points,
            &mut self.front,
        )
    }

    fn choose_two(
        &mut self,
        case: Case,
        arena: &SearchProblem,
        tariff: &Tariff,
    ) -> [Option<usize>; 2] {
        let forecast = self.simulation.forecast();
        let free = self.plan.limits.max_cost_usd.is_none();
        if free && self.plan.objectives[case.objective] == Objective::Time {
            let key = self.simulation.number();
            if self.fastest.is_none_or(|(of, _)| of != key) {
                let task = arena.task();
                self.fastest = Some((key, fastest(&forecast.time_s, &task)));
            }
            // No price decides, but between equals.
            if let Some((_, Some(two))) = self.fastest {
                return two;
            }
        }
        self.price(case, arena, tariff);
        let task = arena.task_at(case.policy);
        best_two(
            self.plan.objectives[case.objective],
            |at, point| task.is_within(at, point),
            &self.points,
            &mut self.front,
        )
    }

    fn price(&mut self, case: Case, arena: &SearchProblem, tariff: &Tariff) {
        let key = (self.simulation.number(), case.policy);
        if self.priced == Some(key) {
            return;
        }
        self.priced = Some(key);
        let usage = &mut self.usage;
        let known = arena.prices_are_known(tariff);
        let mut usd = |at: usize, time_s: f64| {
            if !known {
                // What only the run tells is no part of a choice.
                return f64::INFINITY;
            }
            arena.ground.plan_usd(at, time_s, tariff, usage)
        };
        let point = |(at, time_s): (usize, &Option<f64>)| {
            time_s.map(|time_s| Point {
                time_s,
                cost_usd: usd(at, time_s),
            })
        };
        let forecast = self.simulation.forecast();
        self.points.clear();
        self.points
            .extend(forecast.time_s.iter().enumerate().map(point));
    }

    /// The VM type of a search within one type.
    fn only_vm(&self, case: Case) -> Option<&'p str> {
        let is_of_one = self.plan.subject().is_across_vms();
        let arena = is_of_one.then(|| self.plan.arena(case.arena).ok())??;
        arena.space.vm(0).map(|vm| &**vm)
    }

    fn empty_record(&self, case: Case) -> Record<'p> {
        let unkept = (self.plan.limits.are_any()).then_some(0.0);
        Record {
            case: case.number,
            workload: self.plan.workload(case.arena),
            pricing: &self.plan.policies[case.policy].name,
            objective: self.plan.objectives[case.objective].name(),
            strategy: self.plan.strategy(case.strategy),
            replica: case.replica,
            group: GroupNumber(self.plan.group(&case)),
            setting: self.plan.setting(case.arena),
            right: Some(0.0),
            kept_choice: unkept,
            kept_gross: unkept,
            kept_net: unkept,
            ..Record::default()
        }
    }
}

fn name_oracle<'p>(record: &mut Record<'p>, arena: &'p SearchProblem, at: usize) {
    let space = &arena.space;
    record.oracle_vm = space.vm(at).map(|vm| &**vm);
    record.oracle_workers = space.workers(at);
    record.oracle_batch = space.batch(at);
    record.oracle_other = space.other(at);
}

/// The configuration that is predicted to be faster than all others within the limits, and the fastest of
/// those; `None` if there is not one alone.
fn fastest(time_s: &[Option<f64>], task: &Task<'_>) -> Option<[Option<usize>; 2]> {
    let mut two: [Option<(usize, f64)>; 2] = [None; 2];
    let is_less = |time_s: f64, than: Option<(usize, f64)>| than.is_none_or(|(_, t)| time_s < t);
    for (index, time_s) in time_s.iter().enumerate() {
        let Some(time_s) = *time_s else { continue };
        // No cost is limited.
        if !task.keeps(index, time_s, None) {
            continue;
        }
        if is_less(time_s, two[0]) {
            two = [Some((index, time_s)), two[0]];
        } else if is_less(time_s, two[1]) {
            two[1] = Some((index, time_s));
        }
    }
    let [first, second] = two;
    let alone = first?.1 < second.map_or(f64::INFINITY, |(_, time_s)| time_s);
    alone.then(|| two.map(|one| one.map(|(index, _)| index)))
}
