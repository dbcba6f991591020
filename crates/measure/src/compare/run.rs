//! Cases of all scenarios, parts and runs → tallies.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rayon::prelude::*;

use super::blocks::Places;
use super::curve::{CurveStep, Regrets, regrets};
use super::tally::{CaseMetrics, Entry};
use super::{Block, Comparison, ComparisonQuestion, CompetitionUnit, PriorKnowledge, parts};
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_engine::Interrupt;
use scavsim_experiment::{Case, Evaluator, Plan, PlanError, Record};
use scavsim_scenario::Scenario;
use scavsim_search::search::{ALL_KNOWING, Depends, Objective, Point};
use scavsim_search::testbed::{TestbedExchange, TestbedRequest};

/// Number of cases that are evaluated before their results are added.
const AT_ONCE: u64 = 4096;

#[derive(Debug, Clone, Copy)]
pub struct ComparisonOptions<'a> {
    pub jobs: usize,
    pub interrupt: &'a Interrupt,
    pub progress: &'a AtomicU64,
}

#[derive(Debug, thiserror::Error)]
pub enum NoComparison {
    #[error("interrupted")]
    Interrupted,
    #[error(transparent)]
    NoPlan(#[from] PlanError),
    #[error(transparent)]
    NoThreads(#[from] std::io::Error),
    #[error(transparent)]
    NotWritten(std::io::Error),
    #[error("{0}")]
    Unlike(String),
}

const OBJECTIVES: [Objective; 3] = [Objective::Cost, Objective::Time, Objective::Knee];

pub fn cases(scenarios: &[Scenario], question: &ComparisonQuestion) -> u64 {
    let asked = |scenario: &Scenario| -> u64 {
        let of_runs = |&repeats: &u64| competing(scenario, repeats).cases();
        question.repeats.iter().map(of_runs).sum()
    };
    scenarios.iter().map(asked).sum::<u64>() * u64::from(question.parts.max(1))
}

/// Compares the strategies of `scenarios`, which must all have the same ones.
pub fn compare(
    scenarios: &[Scenario],
    question: &ComparisonQuestion,
    effort: ComparisonOptions<'_>,
) -> Result<Comparison, NoComparison> {
    compare_noting(scenarios, question, effort, &mut |_| Ok(()))
}

/// Like [`compare`], and passes on every case: by scenario, half and number of runs, then in the order of a run.
pub fn compare_noting(
    scenarios: &[Scenario],
    question: &ComparisonQuestion,
    effort: ComparisonOptions<'_>,
    note: &mut dyn FnMut(&NotedCase<'_>) -> std::io::Result<()>,
) -> Result<Comparison, NoComparison> {
    let strategies = same_strategies(scenarios)?;
    let pool = effort.interrupt.pool(effort.jobs)?;
    let against = (question.against.as_deref())
        .map(|name| place_of(name, &strategies))
        .transpose()?;
    let mut blocks = blocks(scenarios, question, &strategies, against);
    let mut counted = vec![StrategyCounts::default(); strategies.len()];
    for scenario in scenarios {
        let parts: Range<u32> = match question.parts {
            0 => 0..1,
            parts => 1..parts + 1,
        };
        for part in parts {
            let scenario = match part {
                0 => scenario.clone(),
                part => parts::half(scenario, part),
            };
            for &repeats in &question.repeats {
                let scenario = competing(&scenario, repeats);
                let mut plan = pool.install(|| Plan::heeding(&scenario, effort.interrupt))?;
                plan.notes_probes = true;
                let places = Places::open(&mut blocks, &plan, part, repeats);
                let mut of_plan = OfPlan {
                    plan: &mut plan,
                    repeats,
                    places,
                    blocks: &mut blocks,
                    counted: &mut counted,
                };
                of_plan.evaluate(effort, &pool, note)?;
            }
        }
    }
    let replicas = scenarios.iter().map(|s| s.replicas).max().unwrap_or(1);
    Ok(Comparison {
        blocks,
        replicas,
        told: (strategies.iter().zip(&counted))
            .map(|(name, counted)| PriorKnowledge {
                strategy: name.clone(),
                depends: counted.depends,
                known_runs: counted.known_runs / f64::from(counted.cases.max(1)),
            })
            .collect(),
        took: (strategies.into_iter().zip(&counted))
            .map(|(name, counted)| (name, counted.took / counted.cases.max(1)))
            .collect(),
    })
}

/// Whether a strategy knows the truth, and so does not compete.
fn knows_all(name: &str) -> bool {
    ALL_KNOWING.iter().any(|known| known.name == name)
}

/// The scenario without all-knowing strategies, for this number of runs, with its settings for that number or for its first.
pub(crate) fn competing(scenario: &Scenario, repeats: u64) -> Scenario {
    let mut scenario = scenario.clone();
    scenario.strategies.retain(|name| !knows_all(name));
    let stated: Vec<u64> = scenario.runs_in.iter().filter_map(|s| s.repeats).collect();
    if let Some(&first) = stated.first() {
        let kept = if stated.contains(&repeats) {
            repeats
        } else {
            first
        };
        (scenario.runs_in).retain(|setting| setting.repeats == Some(kept));
    }
    for setting in &mut scenario.runs_in {
        setting.repeats = Some(repeats);
    }
    scenario
}

/// The strategies of all scenarios, except all-knowing ones.
fn same_strategies(scenarios: &[Scenario]) -> Result<Vec<String>, NoComparison> {
    let of = |scenario: &Scenario| -> Vec<String> {
        let all = scenario.strategies.iter();
        all.filter(|name| !knows_all(name)).cloned().collect()
    };
    let first = scenarios.first().map_or(Vec::new(), of);
    for scenario in scenarios {
        let own = of(scenario);
        let lacks = first.iter().find(|name| !own.contains(name));
        if let Some(name) = lacks.or_else(|| own.iter().find(|name| !first.contains(name))) {
            return Err(NoComparison::Unlike(format!(
                "`{}` and `{}` do not name the same strategies: `{name}` is in one of them",
                scenarios[0].name, scenario.name
            )));
        }
    }
    if first.is_empty() {
        Err(NoComparison::Unlike(
            "no strategy is named that searches".to_owned(),
        ))
    } else {
        Ok(first)
    }
}

fn place_of(name: &str, strategies: &[String]) -> Result<usize, NoComparison> {
    let place = strategies.iter().position(|other| other == name);
    place.ok_or_else(|| {
        NoComparison::Unlike(format!(
            "no strategy `{name}` is compared, which the others could be held against: there are {}",
            strategies.join(", ")
        ))
    })
}

fn blocks(
    scenarios: &[Scenario],
    question: &ComparisonQuestion,
    strategies: &[String],
    against: Option<usize>,
) -> Vec<Block> {
    let is_asked =
        |objective: &&Objective| scenarios.iter().any(|s| s.objectives.contains(objective));
    let objectives = OBJECTIVES.iter().filter(is_asked);
    objectives
        .flat_map(|&objective| {
            question
                .repeats
                .iter()
                .map(move |&repeats| (objective, repeats))
        })
        .map(|(objective, repeats)| Block {
            objective,
            repeats,
            units: Vec::new(),
            entries: (strategies.iter())
                .map(|name| Entry::new(name, 0))
                .collect(),
            against,
        })
        .collect()
}

/// Adds the cases of one plan to the blocks.
struct OfPlan<'a> {
    plan: &'a mut Plan,
    repeats: u64,
    places: Places,
    blocks: &'a mut [Block],
    counted: &'a mut [StrategyCounts],
}

#[derive(Debug, Clone, Copy, Default)]
struct StrategyCounts {
    cases: u32,
    took: Duration,
    known_runs: f64,
    depends: Depends,
}

#[derive(Debug, Clone, Copy)]
pub struct NotedCase<'a> {
    pub unit: &'a CompetitionUnit,
    pub objective: Objective,
    pub repeats: u64,
    pub strategy: &'a str,
    pub replica: u64,
    pub seen: &'a CaseMetrics,
}

struct JudgedCase {
    case: Case,
    seen: CaseMetrics,
    regrets: Regrets,
    took: Duration,
    /// Earlier runs that its strategy used, and its other knowledge.
    known_runs: f64,
    depends: Depends,
}

impl OfPlan<'_> {
    fn evaluate(
        &mut self,
        effort: ComparisonOptions<'_>,
        pool: &rayon::ThreadPool,
        note: &mut dyn FnMut(&NotedCase<'_>) -> std::io::Result<()>,
    ) -> Result<(), NoComparison> {
        let all = self.plan.cases();
        let mut from = 0;
        while from < all {
            let plan = &*self.plan;
            let to = (from + AT_ONCE).min(all);
            let results: Option<Vec<JudgedCase>> = pool.install(|| {
                (0..(to - from) as usize)
                    .into_par_iter()
                    .with_min_len(plan.cases_per_simulation() as usize)
                    .map_init(
                        || Evaluator::new(plan),
                        |evaluator, place| {
                            let case = plan.case(from + place as u64);
                            let result = judge_case(plan, evaluator, case);
                            (!effort.interrupt.is_raised()).then_some(result)
                        },
                    )
                    .collect()
            });
            for result in results.ok_or(NoComparison::Interrupted)? {
                self.add_case(&result, note)
                    .map_err(NoComparison::NotWritten)?;
            }
            effort.progress.fetch_add(to - from, Ordering::Relaxed);
            // Earlier search problems are not needed again.
            let arena = self.plan.case(from).arena;
            self.plan.forget_before(arena);
            from = to;
        }
        Ok(())
    }

    fn add_case(
        &mut self,
        result: &JudgedCase,
        note: &mut dyn FnMut(&NotedCase<'_>) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        let case = result.case;
        let objective = self.plan.objectives[case.objective];
        let Some((place, unit)) = self.places.block_and_unit(self.blocks, self.plan, case) else {
            return Ok(());
        };
        let entry = &mut self.blocks[place].entries[case.strategy];
        entry.add(unit, &result.seen);
        entry.curve.add(&result.regrets);
        let counted = &mut self.counted[case.strategy];
        counted.took += result.took;
        counted.cases += 1;
        counted.known_runs += result.known_runs;
        counted.depends = result.depends;
        let block = &self.blocks[place];
        note(&NotedCase {
            unit: &block.units[unit],
            objective,
            repeats: self.repeats,
            strategy: &block.entries[case.strategy].strategy,
            replica: case.replica,
            seen: &result.seen,
        })
    }
}

fn metrics(plan: &Plan, case: Case, record: &Record<'_>) -> CaseMetrics {
    let arena = plan.arena(case.arena).ok();
    let front = arena.and_then(|arena| arena.fronts[case.policy].as_ref());
    CaseMetrics::from_record(record, plan.objectives[case.objective], front)
}

/// The result of the last evaluated case, charged if it failed.
pub(crate) fn judged(
    plan: &Plan,
    evaluator: &mut Evaluator<'_>,
    case: Case,
    record: &Record<'_>,
) -> CaseMetrics {
    let mut seen = metrics(plan, case, record);
    if seen.net.is_none() {
        seen.fail(record, evaluator.charge(case));
    }
    seen
}

fn judge_case(plan: &Plan, evaluator: &mut Evaluator<'_>, case: Case) -> JudgedCase {
    let objective = plan.objectives[case.objective];
    let record = evaluator.evaluate(case);
    let found = metrics(plan, case, &record).regret;
    let seen = judged(plan, evaluator, case, &record);
    let per_run = match objective {
        Objective::Time => record.oracle_time_h.map(|hours| hours * SECONDS_PER_HOUR),
        _ => record.oracle_cost_usd,
    };
    let contender = plan
        .arena(case.arena)
        .ok()
        .map(|arena| &arena.contenders[case.strategy]);
    let (noted, took) = evaluator.noted();
    let steps = steps(plan, case, noted, per_run);
    JudgedCase {
        case,
        seen,
        regrets: regrets(&steps, found),
        took,
        known_runs: record.known_runs.unwrap_or_default(),
        depends: contender.map_or(Depends::NOTHING, |contender| contender.depends()),
    }
}

/// The probes of a search, relative to the oracle's run.
fn steps(
    plan: &Plan,
    case: Case,
    noted: &[TestbedExchange],
    per_run: Option<f64>,
) -> Vec<CurveStep> {
    let (Ok(arena), Some(per_run)) = (plan.arena(case.arena), per_run) else {
        return Vec::new();
    };
    let objective = plan.objectives[case.objective];
    let by_time = objective == Objective::Time;
    let expected = |at| arena.expected(case.policy, at);
    let best = arena.oracle[case.policy][case.objective].map(expected);
    let regret = |point: &Point| match objective {
        Objective::Time => Some(point.time_s / best?.time_s - 1.0),
        Objective::Cost => Some(point.cost_usd / best?.cost_usd - 1.0),
        Objective::Knee => Some(1.0 - arena.fronts[case.policy]?.knee_depth(point)?),
    };
    let mut before = 0.0;
    (noted.iter())
        .filter(|noted| matches!(noted.asked, TestbedRequest::Probe(_)))
        .map(|probe| {
            let spent = if by_time { probe.seconds } else { probe.usd };
            let came_to = spent - before;
            before = spent;
            let regret = regret(&expected(probe.configuration));
            CurveStep {
                spent: spent / per_run,
                found: regret.filter(|_| probe.reached).map(|r| (came_to, r)),
            }
        })
        .collect()
}
