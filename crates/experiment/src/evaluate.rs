//! One case: search, run to the target, score against the oracle.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use super::billed::{Outcome, Run, bill, divide, value};
use super::case::Case;
use super::memo::Memo;
use super::nearest::NO_CHOICE;
use super::plan::Plan;
use super::record::{GroupNumber, Record, Status};
use super::score::{
    Charge, RepeatedJob, TimeAndCost, beyond_one, is_worth, keep, over_one, repay, worst,
};
use super::search_problem::SearchProblem;
use super::simulation::{RunIndex, SearchConclusion, Simulation};
use super::subject::LifeReplay;
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};
use scavsim_data::pricing::Tariff;
use scavsim_data::usage::Usage;
use scavsim_search::search::{
    CLAIRVOYANT, Forecast, Objective, Point, Strategy, Task,
    objective::{best_two, choose},
};
use scavsim_search::testbed::{TestbedExchange, Timeline};
use scavsim_sim::training::log::Entry;
use scavsim_sim::training::sync::Invalid;
use scavsim_sim::training::{Fidelity, UnfinishedJob};

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
    rival: Option<usize>,
    /// Choices that never reached the target, before the one that stands.
    failed: Vec<usize>,
    /// Choices that were run, whatever came of them.
    pub(super) ran: Vec<usize>,
    front: Vec<(usize, Point)>,
    pub(super) usage: Usage,
    replay: Option<Box<dyn LifeReplay + 'p>>,
}

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
const IN_EVENTS_AT_TIMES: &str = "in some size the cluster had to be simulated in `event`";
const REACHED_WHILE_SEARCHING: &str = "target reached during the search";

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
        }
    }

    pub fn evaluate(&mut self, case: Case) -> Record<'p> {
        if self.replay.is_some() {
            let mut record = self.empty_record(case, None);
            if let Some(replay) = &mut self.replay {
                replay.fill(&case, &mut record);
            }
            return record;
        }
        self.ran.clear();
        let arena = match self.plan.arena(case.arena) {
            Ok(arena) => arena,
            Err(why) => {
                let mut record = self.empty_record(case, None);
                record.reason = why.to_string().into();
                return record;
            }
        };
        let oracle = arena.oracle[case.policy][case.objective];
        let mut record = self.empty_record(case, oracle.map(|index| (arena, index)));
        let Some(oracle) = oracle else {
            let why = arena.no_choice[case.policy].as_deref();
            record.reason = why.unwrap_or(NO_CHOICE).into();
            return record;
        };
        match self.outcome(case, arena, oracle) {
            Ok(outcome) => {
                self.score(&mut record, case, arena, oracle, outcome);
                if !record.is_finite() {
                    record = self.empty_record(case, Some((arena, oracle)));
                    record.reason = NOT_FINITE.into();
                }
            }
            Err(reason) => record.reason = reason,
        }
        record
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
        let expected = &arena.expected[case.policy];
        let one_run = match self.simulation.run_alone(case, oracle) {
            Ok(alone) => value(tariff, alone.line.net_end, &alone.net),
            Err(_) => TimeAndCost::from_point(expected[oracle]),
        };
        let within = (expected.iter().zip(&arena.allowed[case.policy]))
            .filter_map(|(point, is_allowed)| is_allowed.then_some(*point));
        let worst = worst(objective, within)?;
        let runs = self.plan.repeats(case.arena).unwrap_or(1) as f64;
        Charge::new(objective, spent, worst, expected[oracle], runs, one_run)
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

    fn score(
        &self,
        record: &mut Record<'p>,
        case: Case,
        arena: &'p SearchProblem,
        oracle: usize,
        outcome: Outcome,
    ) {
        let expected = &arena.expected[case.policy];
        let (chosen, best) = (expected[outcome.choice], expected[oracle]);
        let (at, over) = (outcome.choice, outcome.oracle);
        record.status = Status::Ok;
        score_choice(record, arena, &outcome, chosen);
        record.axes = self.plan.axes(&case, record.chosen_vm);
        score_search(record, &outcome);
        let objective = self.plan.objectives[case.objective];
        let front = arena.fronts[case.policy].as_ref();
        let is_allowed = arena.allowed[case.policy][at];
        let is_right = at == oracle || is_worth(objective, is_allowed, front, chosen, best);
        record.right = Some(f64::from(is_right));
        // Beyond the limits there is more to have than the front offers.
        if objective == Objective::Knee && is_allowed {
            record.knee_depth = front.and_then(|front| front.depth_over_knee(&chosen));
        }
        if outcome.search.hours > 0.0 {
            // Without a search there is no luck in a choice.
            self.score_rival(record, case, arena);
        }
        // A case that breaks a limit is not compared with one that keeps it.
        let kept = keep(
            record,
            &arena.limits,
            outcome.alone,
            outcome.gross,
            outcome.total,
        );
        if kept.choice && is_allowed {
            record.regret_time = beyond_one(chosen.time_s, best.time_s);
            record.regret_cost = beyond_one(chosen.cost_usd, best.cost_usd);
        }
        let beyond = |total: TimeAndCost| {
            let time = beyond_one(total.hours, over.hours);
            (time, beyond_one(total.usd, over.usd))
        };
        if kept.gross {
            (record.overhead_gross_time, record.overhead_gross_cost) = beyond(outcome.gross);
        }
        if kept.net {
            (record.overhead_net_time, record.overhead_net_cost) = beyond(outcome.total);
        }
        if arena.ground.may_fail() {
            record.failed_choices = Some(self.failed.len() as f64);
        }
        if let Some(runs) = self.plan.repeats(case.arena) {
            let jobs = RepeatedJob {
                runs,
                completed: self.simulation.completed(),
                oracle: over,
                search: outcome.search,
                gross: outcome.gross,
                net: outcome.total,
                alone: outcome.alone,
            };
            jobs.note(record, kept.gross, kept.net);
        }
        divide(record, &outcome.parts);
        let contender = &arena.contenders[case.strategy];
        if contender.strategy.is_some() {
            record.known_runs = Some(contender.taken.len() as f64);
            record.known_time_h = Some(contender.taken_h);
            record.known_cost_usd = contender.taken_usd[case.policy];
        }
        record.lost_vms = Some(f64::from(outcome.lost_vms));
        self.score_simulation(record, arena, &outcome);
        let spent = outcome.search.hours > 0.0 || !contender.taken.is_empty();
        repay(
            record,
            objective,
            outcome.search,
            spent,
            chosen,
            expected[arena.default],
        );
        record.provenance = Some(arena.ground.provenance(at));

        if let Some(errors) = self.simulation.errors() {
            record.error_mean = Some(errors.mean);
            record.error_median = Some(errors.median);
            record.error_max = Some(errors.max);
        }
    }

    /// What would have been chosen if the choice had not been there.
    fn score_rival(&self, record: &mut Record<'p>, case: Case, arena: &SearchProblem) {
        let rival = self.rival.map(|at| (at, arena.expected[case.policy][at]));
        let is_finite = |point: &Point| point.time_s.is_finite() && point.cost_usd.is_finite();
        if let Some((at, rival)) = rival.filter(|(_, point)| is_finite(point)) {
            record.rival_time_h = Some(rival.time_s / SECONDS_PER_HOUR);
            record.rival_cost_usd = Some(rival.cost_usd);
            let objective = self.plan.objectives[case.objective];
            if objective == Objective::Knee && arena.allowed[case.policy][at] {
                let front = arena.fronts[case.policy].as_ref();
                record.rival_knee_depth = front.and_then(|front| front.depth_over_knee(&rival));
            }
        }
    }

    /// In which fidelity the run was simulated, and what its protocol did.
    fn score_simulation(
        &self,
        record: &mut Record<'p>,
        arena: &'p SearchProblem,
        outcome: &Outcome,
    ) {
        let at = outcome.choice;
        let (fidelity, why) = arena.ground.simulated_in(at, self.plan.terms.fidelity);
        record.fidelity = Some(fidelity);
        if let (Some(why), true) = (why, record.reason.is_empty()) {
            record.reason = why.into();
        }
        let Some(totals) = &outcome.totals else {
            return;
        };
        record.staleness = Some(totals.staleness());
        record.dropped_gradients = Some(totals.dropped());
        record.wasted_compute = Some(totals.wasted());
        if totals.fell_back && why.is_none() {
            record.fidelity = Some(Fidelity::Event.name());
            if record.reason.is_empty() {
                record.reason = if totals.left_mean {
                    Invalid::LeftMean.to_string().into()
                } else {
                    IN_EVENTS_AT_TIMES.into()
                };
            }
        }
        let pace_error = arena.ground.pace_error(at);
        self.plan.noticed.measured(pace_error, totals.left_mean);
    }

    /// The VM type of a search within one type.
    fn only_vm(&self, case: Case) -> Option<&'p str> {
        let is_of_one = self.plan.subject().is_across_vms();
        let arena = is_of_one.then(|| self.plan.arena(case.arena).ok())??;
        arena.space.vm(0).map(|vm| &**vm)
    }

    pub(super) fn empty_record(
        &self,
        case: Case,
        oracle: Option<(&'p SearchProblem, usize)>,
    ) -> Record<'p> {
        let best = oracle.map(|(arena, index)| (&arena.space, index));
        let best_vm = best.and_then(|(space, at)| space.vm(at)).map(|vm| &**vm);
        let axes = self
            .plan
            .axes(&case, best_vm.or_else(|| self.only_vm(case)));
        let unkept = (self.plan.limits.are_any()).then_some(0.0);
        Record {
            case: case.number,
            workload: self.plan.workload(case.arena),
            pricing: &self.plan.policies[case.policy].name,
            objective: self.plan.objectives[case.objective].name(),
            strategy: self.plan.strategy(case.strategy),
            replica: case.replica,
            antithetic: self.plan.is_antithetic(),
            group: GroupNumber(self.plan.group(&case)),
            setting: self.plan.setting(case.arena),
            right: Some(0.0),
            kept_choice: unkept,
            kept_gross: unkept,
            kept_net: unkept,
            axes,
            oracle_vm: best_vm,
            oracle_workers: best.and_then(|(space, at)| space.workers(at)),
            oracle_batch: best.and_then(|(space, at)| space.batch(at)),
            oracle_other: best.and_then(|(space, at)| space.other(at)),
            ..Record::default()
        }
    }
}

/// The choice, and what is expected of it.
fn score_choice<'p>(
    record: &mut Record<'p>,
    arena: &'p SearchProblem,
    outcome: &Outcome,
    chosen: Point,
) {
    let (space, at) = (&arena.space, outcome.choice);
    record.chosen_vm = space.vm(at).map(|vm| &**vm);
    record.chosen_workers = space.workers(at);
    record.chosen_batch = space.batch(at);
    record.chosen_other = space.other(at);
    record.time_h = Some(outcome.total.hours);
    record.cost_usd = Some(outcome.total.usd);
    record.oracle_time_h = Some(outcome.oracle.hours);
    record.oracle_cost_usd = Some(outcome.oracle.usd);
    record.expected_time_h = Some(chosen.time_s / SECONDS_PER_HOUR);
    record.expected_cost_usd = Some(chosen.cost_usd);
    record.expected_log_sd = arena.ground.prediction_spread(at).time();
    if let Some(figures) = arena.ground.plan_metrics(at) {
        record.peak_gib = Some(figures.peak_gib);
        record.bubble = Some(figures.bubble);
        record.communication = figures.communication;
        record.tokens_per_s = Some(figures.tokens_per_s);
        record.mfu = figures.mfu;
        record.effective = outcome.effective;
        record.usd_per_1e9_tokens = figures.usd_per_1e9_tokens(chosen.cost_usd);
    }
}

/// What the search took, and its cold start.
fn score_search(record: &mut Record<'_>, outcome: &Outcome) {
    let (search, over) = (outcome.search, outcome.oracle);
    record.reached_in_search = Some(f64::from(u8::from(outcome.reached_in_search)));
    if outcome.reached_in_search {
        record.reason = REACHED_WHILE_SEARCHING.into();
    }
    record.search_time_h = Some(search.hours);
    record.search_cost_usd = Some(search.usd);
    record.search_share_time = over_one(search.hours, over.hours);
    record.search_share_cost = over_one(search.usd, over.usd);
    if let Some(cold) = outcome.cold_start {
        record.cold_start_time_h = Some(cold.hours);
        record.cold_start_cost_usd = Some(cold.usd);
        record.overhead_published_time = over_one(cold.hours, over.hours);
        record.overhead_published_cost = over_one(cold.usd, over.usd);
    }
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
