//! One case: search, run to the target, score against the oracle.

use std::borrow::Cow;

use super::arena::Arena;
use super::plan::{Case, Plan};
use super::record::{Record, Status};
use super::simulation::{Found, Run, Simulation};
use crate::job::Totals;
use crate::pricing::{Parts, Tariff, charges};
use crate::search::{CLAIRVOYANT, Forecast, Limits, Objective, Point, objective::choose};
use crate::testbed::Timeline;
use crate::training::log::Entry;
use crate::training::{Fidelity, Unfinished};
use crate::units::{SECONDS_PER_HOUR, SimTime};
use crate::usage::Usage;

/// Evaluates cases one after the other, keeping its memory, and what neighbours share, between
/// them.
pub struct Evaluator<'p> {
    plan: &'p Plan,
    simulation: Simulation<'p>,
    points: Vec<Option<Point>>,
    /// Search and policy that the points are of.
    priced: Option<(u64, usize)>,
    /// Search, and what is fastest by it if one alone is.
    fastest: Option<(u64, Option<usize>)>,
    front: Vec<(usize, Point)>,
    usage: Usage,
}

/// A case and all that happened in it.
pub struct Watched<'p> {
    /// Which.
    pub case: Case,
    /// Where.
    pub arena: &'p Arena,
    /// When it did what.
    pub line: Timeline,
    /// What happened until the target was reached, in the order of time.
    pub entries: Vec<Entry>,
}

/// Time and cost.
#[derive(Debug, Clone, Copy)]
struct Value {
    hours: f64,
    usd: f64,
}

/// What a finished case is scored from.
struct Outcome {
    choice: usize,
    total: Value,
    parts: Parts,
    gross: Value,
    search: Value,
    cold_start: Option<Value>,
    lost_vms: u32,
    totals: Option<Totals>,
    oracle: Value,
    reason: Reason,
}

/// Why a case has no result, or what is special about it: text, of which the usual is not allocated.
type Reason = Cow<'static, str>;

/// Why a case has no result.
const NOTHING_WITHIN_LIMITS: &str = "no configuration is expected to keep within the limits";
const PRICES_UNKNOWN: &str =
    "prices are known only after a run: the strategy has to decide by what it paid for";
const ORACLE_WITHOUT_CHOICE: &str = "no configuration keeps within the limits";
const NOT_FINITE: &str = "a figure of the result is not finite";
/// What is special about a result.
const IN_EVENTS_AT_TIMES: &str = "in some size the cluster had to be simulated in `event`";
const REACHED_WHILE_SEARCHING: &str = "target reached during the search";

impl<'p> Evaluator<'p> {
    /// An evaluator of cases of `plan`.
    pub fn new(plan: &'p Plan) -> Self {
        Evaluator {
            plan,
            simulation: Simulation::new(plan),
            points: Vec::new(),
            priced: None,
            fastest: None,
            front: Vec::new(),
            usage: Usage::default(),
        }
    }

    /// The record of one case.
    pub fn evaluate(&mut self, case: Case) -> Record<'p> {
        let arena = match self.plan.arena(case.arena) {
            Ok(arena) => arena,
            Err(why) => {
                let mut record = self.empty_record(case, None);
                record.reason = why.into();
                return record;
            }
        };
        let oracle = arena.oracle[case.policy][case.objective];
        let mut record = self.empty_record(case, oracle.map(|index| (arena, index)));
        let Some(oracle) = oracle else {
            record.reason = ORACLE_WITHOUT_CHOICE.into();
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

    /// The predicted seconds per configuration of the case evaluated last.
    pub fn forecast(&self) -> &Forecast {
        self.simulation.forecast()
    }

    /// A case by itself, with all that happens in it and of single worker-steps the first `most`.
    ///
    /// # Errors
    /// Why it has no result.
    pub fn watch(mut self, case: Case, most: u64) -> Result<Watched<'p>, Cow<'p, str>> {
        let arena = self.plan.arena(case.arena)?;
        let oracle = arena.oracle[case.policy][case.objective].ok_or(ORACLE_WITHOUT_CHOICE)?;
        self.simulation.watch(case.arena, most);
        let (choice, _) = self.search(case, arena, oracle)?;
        // What is noted is of the last run.
        self.simulation.forget_runs();
        let run = self.simulation.run(case, choice);
        let line = run.map_err(|why| why.reason())?.line;
        Ok(Watched {
            case,
            arena,
            line,
            entries: self.simulation.noted_until(line.net_end),
        })
    }

    /// What the strategy finds, or the objective in its forecast, and what is special about that.
    fn search(
        &mut self,
        case: Case,
        arena: &'p Arena,
        oracle: usize,
    ) -> Result<(usize, Reason), Reason> {
        match self.simulation.search(case) {
            Found::Never(why) => Err(why.clone()),
            Found::Target(at) => Ok((*at, REACHED_WHILE_SEARCHING.into())),
            Found::Forecast if arena.contenders[case.strategy].strategy.is_none() => {
                let choice = match arena.contenders[case.strategy].name == CLAIRVOYANT {
                    true => (self.best_realised(case, arena)).ok_or(ORACLE_WITHOUT_CHOICE)?,
                    false => oracle,
                };
                Ok((choice, Reason::default()))
            }
            Found::Forecast => {
                let tariff = &arena.tariffs[case.policy];
                let is_decided = self.simulation.forecast().decided.is_some();
                let by_time = self.plan.objectives[case.objective] == Objective::Time;
                if !is_decided && !by_time && !arena.prices_are_known(tariff) {
                    return Err(PRICES_UNKNOWN.into());
                }
                let choice = self.choose(case, arena, tariff);
                Ok((choice.ok_or(NOTHING_WITHIN_LIMITS)?, Reason::default()))
            }
        }
    }

    /// The strategy and then the oracle in the same replica, billed.
    fn outcome(&mut self, case: Case, arena: &'p Arena, oracle: usize) -> Result<Outcome, Reason> {
        let never = |why: Unfinished| why.reason();
        let tariff = &arena.tariffs[case.policy];
        let (choice, reason) = self.search(case, arena, oracle)?;
        let run = self.simulation.run(case, choice).map_err(never)?;
        let mut outcome = bill(arena, tariff, run, &mut self.usage);
        outcome.reason = reason;
        // Without search the oracle's choice is the oracle's run, to the last bit.
        outcome.oracle = outcome.total;
        if choice != oracle || run.line.search_end > SimTime::ZERO {
            let alone = self.simulation.run_alone(case, oracle).map_err(never)?;
            outcome.oracle = value(tariff, alone.line.net_end, &alone.net);
        }
        Ok(outcome)
    }

    /// What the objective picks from how all configurations turn out in the replica, without search.
    fn best_realised(&mut self, case: Case, arena: &Arena) -> Option<usize> {
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
        choose(
            self.plan.objectives[case.objective],
            &self.plan.limits,
            &self.points,
            &mut self.front,
        )
    }

    /// What the objective picks from the forecast, at the prices that are known to everybody.
    fn choose(&mut self, case: Case, arena: &Arena, tariff: &Tariff) -> Option<usize> {
        let forecast = self.simulation.forecast();
        if let Some(decided) = forecast.decided {
            return Some(decided);
        }
        let free = self.plan.limits.max_cost_usd.is_none();
        if free && self.plan.objectives[case.objective] == Objective::Time {
            let key = self.simulation.number();
            if self.fastest.is_none_or(|(of, _)| of != key) {
                self.fastest = Some((key, fastest(&forecast.time_s, &self.plan.limits)));
            }
            // No price decides, but between equals.
            if let Some((_, Some(choice))) = self.fastest {
                return Some(choice);
            }
        }
        let key = (self.simulation.number(), case.policy);
        if self.priced != Some(key) {
            self.priced = Some(key);
            let usage = &mut self.usage;
            let known = arena.prices_are_known(tariff);
            let mut usd = |at: usize, time_s: f64| match known {
                true => {
                    arena.ground.plan_usage(at, time_s, usage);
                    tariff.bill_usd(usage)
                }
                // What only the run tells is no part of a choice.
                false => f64::INFINITY,
            };
            let point = |(at, time_s): (usize, &Option<f64>)| {
                time_s.map(|time_s| Point {
                    time_s,
                    cost_usd: usd(at, time_s),
                })
            };
            self.points.clear();
            self.points
                .extend(forecast.time_s.iter().enumerate().map(point));
        }
        choose(
            self.plan.objectives[case.objective],
            &self.plan.limits,
            &self.points,
            &mut self.front,
        )
    }

    fn score(
        &self,
        record: &mut Record<'p>,
        case: Case,
        arena: &'p Arena,
        oracle: usize,
        outcome: Outcome,
    ) {
        let expected = &arena.expected[case.policy];
        let (chosen, best) = (expected[outcome.choice], expected[oracle]);
        let (space, at) = (&arena.space, outcome.choice);
        let over = outcome.oracle;
        record.status = Status::Ok;
        record.reason = outcome.reason;
        record.chosen_vm = space.vm(at).map(|vm| &**vm);
        record.chosen_workers = space.workers(at);
        record.chosen_batch = space.batch(at);
        record.chosen_other = space.other(at);
        record.time_h = Some(outcome.total.hours);
        record.cost_usd = Some(outcome.total.usd);
        record.oracle_time_h = Some(over.hours);
        record.oracle_cost_usd = Some(over.usd);
        record.expected_time_h = Some(chosen.time_s / SECONDS_PER_HOUR);
        record.expected_cost_usd = Some(chosen.cost_usd);
        record.search_time_h = Some(outcome.search.hours);
        record.search_cost_usd = Some(outcome.search.usd);
        record.regret_time = Some(chosen.time_s / best.time_s - 1.0);
        record.regret_cost = Some(chosen.cost_usd / best.cost_usd - 1.0);
        record.search_share_time = Some(outcome.search.hours / over.hours);
        record.search_share_cost = Some(outcome.search.usd / over.usd);
        record.overhead_gross_time = Some(outcome.gross.hours / over.hours - 1.0);
        record.overhead_gross_cost = Some(outcome.gross.usd / over.usd - 1.0);
        record.overhead_net_time = Some(outcome.total.hours / over.hours - 1.0);
        record.overhead_net_cost = Some(outcome.total.usd / over.usd - 1.0);
        divide(record, &outcome.parts);
        let contender = &arena.contenders[case.strategy];
        if contender.strategy.is_some() {
            record.known_runs = Some(contender.taken.len() as f64);
            record.known_time_h = Some(contender.taken_h);
            record.known_cost_usd = contender.taken_usd[case.policy];
        }
        record.lost_vms = Some(f64::from(outcome.lost_vms));
        let (fidelity, why) = arena.ground.simulated_in(at, self.plan.terms.fidelity);
        record.fidelity = Some(fidelity);
        if let (Some(why), true) = (why, record.reason.is_empty()) {
            record.reason = why.into();
        }
        if let Some(totals) = &outcome.totals {
            record.staleness = Some(totals.staleness());
            record.dropped_gradients = Some(totals.dropped());
            record.wasted_compute = Some(totals.wasted());
            if totals.fell_back && why.is_none() {
                record.fidelity = Some(Fidelity::Event.name());
                if record.reason.is_empty() {
                    record.reason = IN_EVENTS_AT_TIMES.into();
                }
            }
        }
        if let Some(cold) = outcome.cold_start {
            record.cold_start_time_h = Some(cold.hours);
            record.cold_start_cost_usd = Some(cold.usd);
            record.overhead_published_time = Some(cold.hours / over.hours);
            record.overhead_published_cost = Some(cold.usd / over.usd);
        }
        record.break_even_jobs = break_even(
            self.plan.objectives[case.objective],
            outcome.search,
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

    fn empty_record(&self, case: Case, oracle: Option<(&'p Arena, usize)>) -> Record<'p> {
        let best = oracle.map(|(arena, index)| (&arena.space, index));
        Record {
            case: case.number,
            workload: self.plan.workload(case.arena),
            pricing: &self.plan.policies[case.policy].name,
            objective: self.plan.objectives[case.objective].name(),
            strategy: self.plan.strategy(case.strategy),
            replica: case.replica,
            oracle_vm: best.and_then(|(space, at)| space.vm(at)).map(|vm| &**vm),
            oracle_workers: best.and_then(|(space, at)| space.workers(at)),
            oracle_batch: best.and_then(|(space, at)| space.batch(at)),
            oracle_other: best.and_then(|(space, at)| space.other(at)),
            ..Record::default()
        }
    }
}

/// The configuration that is predicted to be faster than all others within the limits; `None` if there is not
/// one alone.
fn fastest(time_s: &[Option<f64>], limits: &Limits) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    let mut alone = false;
    for (index, time_s) in time_s.iter().enumerate() {
        let Some(time_s) = *time_s else { continue };
        if limits.max_time_s.is_some_and(|most| time_s > most) {
            continue;
        }
        match best {
            Some((_, least)) if time_s > least => {}
            Some((_, least)) if time_s == least => alone = false,
            _ => (best, alone) = (Some((index, time_s)), true),
        }
    }
    best.filter(|_| alone).map(|(index, _)| index)
}

/// Hours and USD of a whole job.
fn value(tariff: &Tariff, end: SimTime, usage: &Usage) -> Value {
    Value {
        hours: end.hours(),
        usd: tariff.bill_usd(usage),
    }
}

/// A run under one tariff; what is about the oracle is not filled in.
fn bill(arena: &Arena, tariff: &Tariff, run: &Run, scratch: &mut Usage) -> Outcome {
    let line = &run.line;
    let parts = tariff.parts(&run.net);
    let total = Value {
        hours: line.net_end.hours(),
        usd: parts.whole,
    };
    let cold_start = line.cold_start.map(|(index, seconds)| {
        arena.ground.plan_usage(index, seconds, scratch);
        Value {
            hours: seconds / SECONDS_PER_HOUR,
            usd: tariff.so_far_usd(scratch),
        }
    });
    Outcome {
        choice: line.choice,
        total,
        parts,
        gross: match line.gross_end == line.net_end {
            true => total,
            false => value(tariff, line.gross_end, &run.gross),
        },
        search: Value {
            hours: line.search_end.hours(),
            usd: match line.search_end {
                SimTime::ZERO => 0.0,
                _ => tariff.so_far_usd(&run.search),
            },
        },
        cold_start,
        lost_vms: line.lost_vms,
        totals: line.totals,
        oracle: total,
        reason: Reason::default(),
    }
}

/// The parts of the bill.
fn divide(record: &mut Record<'_>, parts: &Parts) {
    record.bill_useful_usd = Some(parts.useful);
    record.bill_search_usd = Some(parts.search);
    record.bill_waiting_usd = Some(parts.waiting);
    record.bill_lost_usd = Some(parts.lost);
    record.bill_restore_usd = Some(parts.restore);
    let charges = &parts.charges;
    record.bill_egress_usd = Some(charges::egress::CHARGE.of(charges));
    record.bill_storage_usd = Some(charges::storage::CHARGE.of(charges));
    let named = [&charges::egress::CHARGE, &charges::storage::CHARGE];
    record.bill_charges_usd = Some(charges::all_but(&named, charges));
}

/// Repetitions of the job after which the search has paid for itself against running the default
/// configuration: search over the expected saving per job, in hours for the objective `time`, in
/// USD for the others. `None` where nothing is saved.
fn break_even(objective: Objective, search: Value, chosen: Point, default: Point) -> Option<f64> {
    let (spent, saved) = match objective {
        Objective::Time => (
            search.hours,
            (default.time_s - chosen.time_s) / SECONDS_PER_HOUR,
        ),
        Objective::Cost | Objective::Knee => (search.usd, default.cost_usd - chosen.cost_usd),
    };
    (saved > 0.0).then(|| spent / saved)
}
