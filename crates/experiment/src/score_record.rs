//! What came of a case, as figures of its record: the choice, the search, and both against the oracle.

use super::billed::{Outcome, divide};
use super::case::Case;
use super::evaluate::Evaluator;
use super::record::{Record, Status};
use super::score::{RepeatedJob, TimeAndCost, beyond_one, is_worth, keep, over_one, repay};
use super::search_problem::SearchProblem;
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_search::search::{Objective, Point};
use scavsim_sim::training::Fidelity;
use scavsim_sim::training::sync::Invalid;

const IN_EVENTS_AT_TIMES: &str = "in some size the cluster had to be simulated in `event`";
const REACHED_WHILE_SEARCHING: &str = "target reached during the search";

impl<'p> Evaluator<'p> {
    pub(super) fn score(
        &self,
        record: &mut Record<'p>,
        case: Case,
        arena: &'p SearchProblem,
        oracle: usize,
        outcome: &Outcome,
    ) {
        let expected = |at| arena.expected(case.policy, at);
        let (chosen, best) = (expected(outcome.choice), expected(oracle));
        let (at, over) = (outcome.choice, outcome.oracle);
        record.status = Status::Ok;
        score_choice(record, arena, outcome, chosen);
        score_search(record, outcome);
        let objective = self.plan.objectives[case.objective];
        let front = arena.fronts[case.policy].as_ref();
        let is_allowed = arena.allowed[case.policy][at];
        let is_right = at == oracle || is_worth(objective, is_allowed, front, chosen, best);
        record.right = Some(f64::from(is_right));
        // Beyond the limits there is more to have than the front offers.
        if objective == Objective::Knee && is_allowed {
            record.knee_depth = front.and_then(|front| front.knee_depth(&chosen));
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
        self.score_simulation(record, arena, outcome);
        let spent = outcome.search.hours > 0.0 || !contender.taken.is_empty();
        repay(
            record,
            objective,
            outcome.search,
            spent,
            chosen,
            expected(arena.default),
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
        let rival = self.rival.map(|at| (at, arena.expected(case.policy, at)));
        let is_finite = |point: &Point| point.time_s.is_finite() && point.cost_usd.is_finite();
        if let Some((at, rival)) = rival.filter(|(_, point)| is_finite(point)) {
            record.rival_time_h = Some(rival.time_s / SECONDS_PER_HOUR);
            record.rival_cost_usd = Some(rival.cost_usd);
            let objective = self.plan.objectives[case.objective];
            if objective == Objective::Knee && arena.allowed[case.policy][at] {
                let front = arena.fronts[case.policy].as_ref();
                record.rival_knee_depth = front.and_then(|front| front.knee_depth(&rival));
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
