//! Every configuration of a workload: expected time and cost, scatter of single runs, how often they miss a limit, and whether
//! another is both faster and cheaper. Expectations and runs are those of `expectation.rs`.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::expectation::Runner;
use super::plan::Plan;
use super::plan_error::PlanError;
use super::scenario::Scenario;
use super::search_problem::SearchProblem;
use scavsim_base::stats::Share;
use scavsim_data::cloud::Market;
use scavsim_data::pricing::{Policy, Tariff};
use scavsim_data::workload::Spread;
use scavsim_engine::Interrupt;
use scavsim_search::search::objective::{ParetoFront, best_two};
use scavsim_search::search::{Limits, Objective, Point};
use scavsim_search::testbed::PlanMetrics;
use scavsim_sim::cluster::World;

/// Ends of the shown interval of runs.
pub const ENDS: [f64; 2] = [0.05, 0.95];
/// Configurations that meet a replica one after the other before it is forgotten.
const CHUNK: usize = 64;

/// The configurations of one workload in one setting under one policy, the best first.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Empty where no key holds several values.
    pub setting: String,
    pub workload: String,
    pub pricing: String,
    pub objective: Objective,
    pub limits: Limits,
    pub rows: Vec<Ranked>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// VM shape or kind of cluster.
    pub vm: Option<String>,
    pub workers: Option<u32>,
    pub batch: Option<u32>,
    pub other: Option<String>,
    pub held: Vec<RankedVms>,
    pub expected: Point,
    /// Seconds that 5 % and 95 % of runs stay below, if the workload's figures are right.
    pub time_s: [f64; 2],
    /// USD that 5 % and 95 % of runs stay below.
    pub cost_usd: [f64; 2],
    /// How far off the workload's figures may be.
    pub spread: Spread,
    /// Runs behind these; 1 where nothing varies.
    pub runs: u64,
    pub miss: Option<Share>,
    /// Expected USD of one of many equal jobs, by formula.
    pub job_cost_usd: Option<f64>,
    pub plan: Option<PlanMetrics>,
    /// Measured, interpolated or extrapolated.
    pub provenance: &'static str,
    pub is_allowed: bool,
    /// Whether no allowed configuration is as good in one and better in the other.
    pub is_on_front: bool,
    pub best_for: Vec<Objective>,
}

impl Ranked {
    /// 90 % interval of seconds, over runs and over how far off the workload may be.
    pub fn time_interval_s(&self) -> [f64; 2] {
        self.spread.widened(self.expected.time_s, self.time_s)
    }

    /// 90 % interval of USD; a bill goes with the time.
    pub fn cost_interval_usd(&self) -> [f64; 2] {
        self.spread.widened(self.expected.cost_usd, self.cost_usd)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankedVms {
    pub vm: String,
    pub vms: u32,
    pub market: Option<Market>,
}

#[derive(Debug, Clone, Copy)]
pub struct RankingOptions<'a> {
    pub runs: u64,
    pub jobs: usize,
    pub interrupt: &'a Interrupt,
    pub progress: &'a AtomicU64,
}

#[derive(Debug, thiserror::Error)]
pub enum NoRanking {
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error("cannot start threads: {0}")]
    Threads(#[from] std::io::Error),
    #[error("interrupted")]
    Interrupted,
}

/// Ranks configurations per workload and policy, by the scenario's first objective.
pub fn rank(scenario: &Scenario, effort: RankingOptions<'_>) -> Result<Vec<Ranking>, NoRanking> {
    let oracle = Scenario {
        strategies: vec!["oracle".to_owned()],
        ..scenario.clone()
    };
    let stopped = || effort.interrupt.is_raised();
    let mut plan = match Plan::on_threads(effort.jobs, &oracle, effort.interrupt) {
        // What was cut off may be wrong in any way.
        _ if stopped() => return Err(NoRanking::Interrupted),
        plan => plan?,
    };
    let pool = effort.interrupt.pool(effort.jobs)?;
    let mut rankings: Vec<Ranking> = Vec::new();
    let mut begin = 0;
    for at in 0..plan.arena_count() {
        let place = |at: usize| (plan.setting(at), plan.workload(at));
        let is_last = at + 1 == plan.arena_count() || place(at + 1) != place(at);
        let arena = plan.arena(at).map_err(PlanError::clone)?;
        let scatter = pool.install(|| scatter(&plan, arena, effort));
        if stopped() {
            return Err(NoRanking::Interrupted);
        }
        if at == begin {
            rankings.extend(plan.policies.iter().map(|policy| Ranking {
                setting: plan.setting(at).to_owned(),
                workload: arena.workload.clone(),
                pricing: policy.name.clone(),
                objective: plan.objectives[0],
                limits: plan.limits,
                rows: Vec::new(),
            }));
        }
        let first = rankings.len() - plan.policies.len();
        for (index, ranking) in rankings[first..].iter_mut().enumerate() {
            let rows = scatter.iter().enumerate();
            let rows = rows.map(|(at, runs)| row(&plan, arena, index, at, runs));
            ranking.rows.extend(rows);
            if is_last {
                // Those of several search problems have no oracle in common.
                let one = (begin == at).then(|| &arena.oracle[index][..]);
                ranking.sort(&plan.objectives, one);
            }
        }
        if is_last {
            begin = at + 1;
        }
        plan.forget_before(at);
    }
    Ok(rankings)
}

struct ConfigurationRuns {
    /// Seconds, then USD per policy: both ends.
    ends: Vec<[f64; 2]>,
    /// Runs that miss a limit, per policy.
    missed: Vec<Share>,
    count: u64,
}

fn scatter(
    plan: &Plan,
    arena: &SearchProblem,
    effort: RankingOptions<'_>,
) -> Vec<ConfigurationRuns> {
    let all: Vec<usize> = (0..arena.space.len()).collect();
    // Rows ask for points one after the other.
    all.par_iter().for_each(|at| {
        let _ = arena.expected(0, *at);
    });
    let runner =
        || Runner::new(&*arena.ground, &plan.terms, &arena.tariffs, arena.effort).valuing();
    all.par_chunks(CHUNK)
        .map_init(runner, |runner, chunk| {
            let runs = run_chunk(runner, plan, arena, chunk, effort.runs);
            let done = chunk.len() as u64;
            effort.progress.fetch_add(done, Ordering::Relaxed);
            runs
        })
        .flatten_iter()
        .collect()
}

fn run_chunk(
    runner: &mut Runner<'_>,
    plan: &Plan,
    arena: &SearchProblem,
    chunk: &[usize],
    runs: u64,
) -> Vec<ConfigurationRuns> {
    let most = |at: usize| {
        if arena.ground.is_constant(at) {
            1
        } else {
            runs.min(arena.ground.most_expectation_runs(at)).max(1)
        }
    };
    let most: Vec<u64> = chunk.iter().map(|at| most(*at)).collect();
    let quantities = arena.tariffs.len() + 1;
    let mut values = vec![vec![Vec::new(); quantities]; chunk.len()];
    let mut missed = vec![vec![Share::default(); arena.tariffs.len()]; chunk.len()];
    let mut losses = vec![0; chunk.len()];
    for number in 0..runs {
        for (place, at) in chunk.iter().enumerate() {
            let is_done = number >= most[place] || arena.effort.is_spent(number, losses[place]);
            if is_done || runner.is_stopped() {
                continue;
            }
            let (run, lost) = runner.run_values(*at, number);
            losses[place] += lost;
            for (all, value) in values[place].iter_mut().zip(run.0) {
                all.push(*value);
            }
            for (missed, misses) in missed[place].iter_mut().zip(run.misses(&plan.limits)) {
                missed.add(misses);
            }
        }
    }
    (values.into_iter().zip(missed))
        .map(|(mut values, missed)| ConfigurationRuns {
            count: values[0].len() as u64,
            ends: values.iter_mut().map(|all| ends(all)).collect(),
            missed,
        })
        .collect()
}

/// The values at both ends of the interval, by nearest rank.
fn ends(values: &mut [f64]) -> [f64; 2] {
    values.sort_unstable_by(f64::total_cmp);
    ENDS.map(|share| {
        // The relief keeps a whole number that came out a rounding error too high.
        let rank = (share * values.len() as f64 - 1e-9).ceil() as usize;
        let found = values.get(rank.saturating_sub(1));
        found.copied().unwrap_or(f64::INFINITY)
    })
}

fn row(
    plan: &Plan,
    arena: &SearchProblem,
    policy: usize,
    at: usize,
    runs: &ConfigurationRuns,
) -> Ranked {
    let expected = arena.expected(policy, at);
    let is_reached = expected.time_s.is_finite() && expected.cost_usd.is_finite();
    Ranked {
        vm: arena.space.vm(at).map(|vm| vm.to_string()),
        workers: arena.space.workers(at),
        batch: arena.space.batch(at),
        other: arena.space.other(at).map(str::to_owned),
        held: vms_of_configuration(arena, &plan.policies[policy], &arena.tariffs[policy], at),
        expected,
        time_s: runs.ends[0],
        cost_usd: runs.ends[policy + 1],
        spread: arena.ground.prediction_spread(at),
        runs: runs.count,
        miss: plan.limits.are_any().then_some(runs.missed[policy]),
        job_cost_usd: arena.ground.job_cost_usd(at, &arena.tariffs[policy]),
        plan: arena.ground.plan_metrics(at),
        provenance: arena.ground.provenance(at),
        is_allowed: is_reached && arena.allowed[policy][at],
        is_on_front: false,
        best_for: Vec::new(),
    }
}

fn vms_of_configuration(
    arena: &SearchProblem,
    policy: &Policy,
    tariff: &Tariff,
    at: usize,
) -> Vec<RankedVms> {
    let usual = if tariff.is_as_stated() {
        None
    } else {
        policy.market()
    };
    match arena.world() {
        Ok(world) => held_in(world, usual, at),
        Err(_) => (arena.ground.held_vms(at).into_iter())
            .map(|(rented, vms)| RankedVms {
                vm: rented.name.to_string(),
                vms,
                market: match rented.on_spot {
                    Some(true) => Some(Market::Spot),
                    Some(false) => Some(Market::OnDemand),
                    None => usual,
                },
            })
            .collect(),
    }
}

fn held_in(world: &World, usual: Option<Market>, at: usize) -> Vec<RankedVms> {
    let mut all: Vec<RankedVms> = Vec::new();
    for group in &world.truths[at].cluster.groups {
        let rented = &world.vms[usize::from(group.vm)];
        let market = match (group.on_spot, rented.on_spot) {
            (true, _) => Some(Market::Spot),
            (false, Some(_)) => Some(Market::OnDemand),
            (false, None) => usual,
        };
        let same = |held: &&mut RankedVms| held.vm == *rented.name && held.market == market;
        match all.iter_mut().find(same) {
            Some(held) => held.vms += group.vms,
            None => all.push(RankedVms {
                vm: rented.name.to_string(),
                vms: group.vms,
                market,
            }),
        }
    }
    all
}

impl Ranked {
    /// Effective training time ratio of a plan: steps without luck over expected time; `None` unless it alone trains.
    pub fn effective(&self) -> Option<f64> {
        let plan = self.plan.as_ref()?;
        let share = plan.calm_s / self.expected.time_s;
        (share < 1.001).then_some(share)
    }

    pub fn usd_per_1e9_tokens(&self) -> Option<f64> {
        let plan = self.plan.as_ref()?;
        plan.usd_per_1e9_tokens(self.expected.cost_usd)
    }
}

impl Ranking {
    /// Keeps the first of all rows on VMs of the same types and terms.
    pub fn keep_best_of_each_vm(&mut self) {
        let mut known: Vec<Vec<(String, Option<Market>)>> = Vec::new();
        self.rows.retain(|row| {
            let own: Vec<_> = row
                .held
                .iter()
                .map(|held| (held.vm.clone(), held.market))
                .collect();
            let is_new = !known.contains(&own);
            if is_new {
                known.push(own);
            }
            is_new
        });
    }

    /// Marks the front and the best, and sorts rows, allowed ones first.
    fn sort(&mut self, objectives: &[Objective], oracle: Option<&[Option<usize>]>) {
        let points: Vec<Point> = self.rows.iter().map(|row| row.expected).collect();
        let allowed: Vec<bool> = self.rows.iter().map(|row| row.is_allowed).collect();
        for (row, on_front) in self.rows.iter_mut().zip(front(&points, &allowed)) {
            row.is_on_front = on_front;
        }
        let mut scratch = Vec::new();
        let known: Vec<Option<Point>> = points.iter().copied().map(Some).collect();
        for (index, objective) in objectives.iter().enumerate() {
            let best = match oracle {
                Some(oracle) => oracle[index],
                None => best_two(*objective, |at, _| allowed[at], &known, &mut scratch)[0],
            };
            if let Some(best) = best {
                self.rows[best].best_for.push(*objective);
            }
        }
        let knee = ParetoFront::from_points(|at, _| allowed[at], &points, &mut scratch);
        let objective = self.objective;
        let value = |row: &Ranked| match objective {
            Objective::Time => row.expected.time_s,
            Objective::Cost => row.expected.cost_usd,
            Objective::Knee => {
                let depth = knee.and_then(|front| front.knee_depth(&row.expected));
                depth.map_or(f64::INFINITY, |depth| -depth)
            }
        };
        self.rows.sort_by(|a, b| {
            let is_best = |row: &Ranked| row.best_for.contains(&objective);
            (b.is_allowed.cmp(&a.is_allowed))
                .then(is_best(b).cmp(&is_best(a)))
                .then(value(a).total_cmp(&value(b)))
                .then(a.expected.time_s.total_cmp(&b.expected.time_s))
                .then(a.expected.cost_usd.total_cmp(&b.expected.cost_usd))
        });
    }

    pub fn on_front(&self) -> usize {
        self.rows.iter().filter(|row| row.is_on_front).count()
    }
}

/// Which allowed points are on the Pareto front of time and cost.
pub fn front(points: &[Point], allowed: &[bool]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..points.len()).filter(|at| allowed[*at]).collect();
    order.sort_by(|a, b| {
        let (a, b) = (&points[*a], &points[*b]);
        (a.time_s.total_cmp(&b.time_s)).then(a.cost_usd.total_cmp(&b.cost_usd))
    });
    let mut is_on_front = vec![false; points.len()];
    let mut cheapest = f64::INFINITY;
    for same in order.chunk_by(|a, b| points[*a].time_s == points[*b].time_s) {
        let least = points[same[0]].cost_usd;
        if least < cheapest {
            let equal = |at: &&usize| points[**at].cost_usd == least;
            (same.iter().take_while(equal)).for_each(|at| is_on_front[*at] = true);
            cheapest = least;
        }
    }
    is_on_front
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ends_are_those_of_nearest_rank() {
        let mut hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(ends(&mut hundred), [5.0, 95.0]);
        assert_eq!(ends(&mut [3.0, 1.0]), [1.0, 3.0]);
        assert_eq!(ends(&mut [7.0]), [7.0, 7.0]);
        // One of ten runs that never ends is beyond 90 %, and so at 95 %.
        let mut ten: Vec<f64> = (1..10).map(f64::from).collect();
        ten.push(f64::INFINITY);
        assert_eq!(ends(&mut ten), [1.0, f64::INFINITY]);
    }

    proptest! {
        #[test]
        fn the_front_is_what_nothing_dominates(
            raw in prop::collection::vec((1u32..12, 1u32..12, prop::bool::weighted(0.8)), 1..30),
        ) {
            let points: Vec<Point> = (raw.iter())
                .map(|&(t, c, _)| Point { time_s: f64::from(t), cost_usd: f64::from(c) })
                .collect();
            let allowed: Vec<bool> = raw.iter().map(|r| r.2).collect();
            let seen = front(&points, &allowed);
            for (at, point) in points.iter().enumerate() {
                let dominates = |other: &Point| {
                    other.time_s <= point.time_s && other.cost_usd <= point.cost_usd && other != point
                };
                let mut others = points.iter().zip(&allowed);
                let dominated = others.any(|(other, allowed)| *allowed && dominates(other));
                prop_assert_eq!(seen[at], allowed[at] && !dominated);
            }
        }
    }
}
