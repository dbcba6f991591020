//! Configurations that are searched together, with all contenders.

use std::any::Any;
use std::collections::HashMap;
use std::sync::OnceLock;

use super::beaten::Question;
use super::effort::Effort;
use super::expectation::{self, Expectations, Precision, expect};
use super::known_jobs::{self, KnownJobs};
use super::misses::{Misses, Spread};
use super::nearest;
use super::plan_error::PlanError;
use super::scenario::Scenario;
use super::subject::{PreparedSearch, SearchPreparation};
use scavsim_base::rng::StrategyKey;
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_data::cloud::{Fleet, Machine};
use scavsim_data::configuration::Shape;
use scavsim_data::pricing::{Policy, RentedVmType, Tariff};
use scavsim_data::space::Space;
use scavsim_data::usage::Usage;
use scavsim_engine::Parallelism;
use scavsim_search::search::{
    ALL_KNOWING, DEFAULT, Depends, Limits, Objective, Past, Point, Strategy, Task, UsedPastRun,
    WorkloadFacts,
    objective::{ParetoFront, choose},
    registry,
};
use scavsim_search::testbed::{Environment, Terms};
use scavsim_sim::cluster::World;

/// A workload that was measured: there is no simulated world of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` was measured, not simulated")]
pub struct NotSimulated(pub String);

pub struct SearchProblem {
    pub workload: String,
    pub ground: Box<dyn Environment>,
    pub space: Space,
    /// What is known of the workload before a search.
    pub figures: WorkloadFacts,
    pub machines: Vec<Option<Machine>>,
    pub limits: Limits,
    pub repeats: u64,
    pub contenders: Vec<Contender>,
    /// Configuration that break-even is counted against.
    pub default: usize,
    pub tariffs: Vec<Tariff>,
    /// Expected seconds of training per configuration, without search, start-up and losses: what strategies predict. `None` where
    /// the target is never reached.
    pub expected_time_s: Vec<Option<f64>>,
    /// Points of [`expected`](Self::expected); rough where `valued` has a place.
    points: Vec<Vec<Point>>,
    /// Configurations that few runs told to be beaten, by number, with their points per policy once these were asked for.
    valued: HashMap<usize, OnceLock<Vec<Point>>>,
    terms: Terms,
    pub(super) effort: Effort,
    /// Configurations that keep to the limits, per policy.
    pub allowed: Vec<Vec<bool>>,
    /// Scatter of runs, where a share of them may miss the limits.
    pub spread: Option<Spread>,
    /// Per configuration that may be chosen, where expectations are means over runs.
    pub precision: Vec<Option<Precision>>,
    /// Best configuration by expectation per policy and objective; `None` where the limits leave nothing.
    pub oracle: Vec<Vec<Option<usize>>>,
    pub no_choice: Vec<Option<String>>,
    /// Front of expectations within the limits, per policy.
    pub fronts: Vec<Option<ParetoFront>>,
}

pub struct Contender {
    pub name: String,
    pub key: StrategyKey,
    /// `None` for contenders that know the truth.
    pub strategy: Option<Box<dyn Strategy>>,
    pub taken: Vec<UsedPastRun>,
    pub taken_h: f64,
    /// USD per policy; `None` where one of the runs has no price.
    pub taken_usd: Vec<Option<f64>>,
}

impl Contender {
    pub fn depends(&self) -> Depends {
        (self.strategy.as_ref()).map_or(Depends::NOTHING, |strategy| strategy.depends())
    }
}

/// Configurations that a thread takes at once, where each is quick.
const AT_ONCE: usize = 256;

/// The machines of all configurations.
fn machines(hands: Parallelism, space: &Space, fleet: &Fleet<'_>) -> Vec<Option<Machine>> {
    // Often all have the same VMs.
    let first = (!space.is_empty()).then(|| machine(space, 0, fleet));
    hands.each(space.len(), AT_ONCE, |at| match &first {
        Some(first) if space.vm(at) == space.vm(0) => *first,
        _ => machine(space, at, fleet),
    })
}

impl SearchProblem {
    pub(super) fn new(
        scenario: &Scenario,
        terms: &Terms,
        prepared: PreparedSearch<'_>,
        SearchPreparation { setting, hands, .. }: SearchPreparation<'_>,
    ) -> Result<SearchProblem, PlanError> {
        let PreparedSearch {
            known,
            ground,
            fleet,
        } = prepared;
        let tariffs = (scenario.policies.iter())
            .map(|policy| {
                let tariff = ground.tariff(policy, &fleet);
                tariff.map_err(|why| PlanError::NoPrice(policy.name.clone(), why))
            })
            .collect::<Result<Vec<Tariff>, _>>()?;
        let (count, limits) = (known.space.len(), &scenario.limits);
        let misses = Misses::count(hands, &*ground, count, terms, limits, &tariffs);
        let question = Question {
            objectives: &scenario.objectives,
            limits,
            allowed: misses.as_ref().map(|misses| &*misses.allowed),
            tariffs: &tariffs,
            effort: scenario.effort,
        };
        let expectations = if ground.expects_by_runs() {
            expect(hands, &*ground, count, terms, question)
        } else {
            closed_form(hands, &*ground, count, terms, &tariffs)
        };
        let to_choose = (expectations.to_choose.as_ref()).unwrap_or(&expectations.points);
        let allowed = match &misses {
            Some(misses) => misses.allowed.clone(),
            None => (to_choose.iter())
                .map(|points| points.iter().map(|p| limits.allow(p)).collect())
                .collect(),
        };
        let mut arena = SearchProblem {
            workload: known.workload.to_owned(),
            ground,
            machines: machines(hands, &known.space, &fleet),
            space: known.space.into_owned(),
            figures: known.figures,
            limits: *limits,
            repeats: setting.repeats.unwrap_or(1),
            contenders: Vec::new(),
            default: 0,
            tariffs,
            expected_time_s: Vec::new(),
            oracle: oracles(scenario, &allowed, to_choose),
            no_choice: Vec::new(),
            fronts: fronts(&allowed, &expectations.points),
            allowed,
            spread: misses.map(|misses| misses.into_spread(&expectations.points)),
            points: expectations.points,
            valued: unvalued(&expectations.precision),
            terms: terms.clone(),
            effort: scenario.effort,
            precision: expectations.precision,
        };
        arena.expected_time_s = arena.training_times_s(terms.start_up.seconds());
        // What limits were held against.
        let chosen_by = expectations.to_choose.as_ref();
        let held = (chosen_by.filter(|_| arena.spread.is_none())).unwrap_or(&arena.points);
        arena.no_choice = (held.iter().enumerate())
            .map(|(policy, points)| arena.no_choice(policy, points))
            .collect();
        arena.default = scenario.settings.fixed.index(&arena.task())?;
        let stored = match setting.known_jobs {
            KnownJobs::Runs(most) => {
                let own = (&known.own, &*known.stored);
                known_jobs::drawn(own, &arena.space, most, &terms.streams).into()
            }
            KnownJobs::All | KnownJobs::Fleet => known.stored,
        };
        let bills = PastBills::new(&scenario.policies, &fleet);
        let may_know_less = setting.known_jobs != KnownJobs::All;
        let past = || Past::new(&known.own, &stored);
        arena.contenders = arena.contenders(scenario, (hands, may_know_less), past, bills)?;
        Ok(arena)
    }

    /// All strategies, ready; those for which too few runs are known, where there `may_know_less`, run the default.
    fn contenders<'k>(
        &self,
        scenario: &Scenario,
        (hands, may_know_less): (Parallelism, bool),
        past: impl Fn() -> Past<'k> + Sync,
        mut bills: PastBills<'_>,
    ) -> Result<Vec<Contender>, PlanError> {
        let ready = hands.each(scenario.strategies.len(), 1, |at| {
            let mut past = past();
            let strategy = match self.strategy(scenario, &scenario.strategies[at], &mut past) {
                Err(_) if may_know_less => self.strategy(scenario, DEFAULT, &mut past)?,
                strategy => strategy?,
            };
            Ok::<_, PlanError>((strategy, past.into_taken()))
        });
        let mut contenders = Vec::with_capacity(ready.len());
        for (name, ready) in scenario.strategies.iter().zip(ready) {
            let (strategy, taken) = ready?;
            contenders.push(Contender {
                name: name.clone(),
                key: StrategyKey::from_name(registry::base(name)),
                strategy,
                taken_h: taken.iter().fold(0.0, |s, t| s + t.price.seconds) / SECONDS_PER_HOUR,
                taken_usd: bills.usd_per_policy(&taken),
                taken,
            });
        }
        Ok(contenders)
    }

    /// Expected time and cost of a configuration, from the request of VMs, without search.
    pub fn expected(&self, policy: usize, at: usize) -> Point {
        let value =
            || expectation::value(&*self.ground, at, &self.terms, &self.tariffs, self.effort);
        match self.valued.get(&at) {
            Some(points) => points.get_or_init(value)[policy],
            None => self.points[policy][at],
        }
    }

    /// Expected time and cost of every configuration.
    pub fn all_expected(&self, policy: usize) -> impl Iterator<Item = Point> + '_ {
        (0..self.space.len()).map(move |at| self.expected(policy, at))
    }

    /// Expected seconds of training per configuration, without the start.
    fn training_times_s(&self, start_up_s: f64) -> Vec<Option<f64>> {
        let is_training = self.ground.runs_are_training();
        let time_s = |at: usize| {
            if is_training {
                Some(self.points.first()?[at].time_s - start_up_s)
            } else {
                self.ground.expected_time_s(at)
            }
        };
        (0..self.space.len()).map(time_s).collect()
    }

    /// The strategy called `name`; `None` of those that know the truth.
    fn strategy(
        &self,
        scenario: &Scenario,
        name: &str,
        past: &mut Past<'_>,
    ) -> Result<Option<Box<dyn Strategy>>, PlanError> {
        match scenario.registry.recipe(name, &scenario.settings) {
            Some(recipe) => Ok(Some(recipe.build(&self.task(), past)?)),
            None if ALL_KNOWING.iter().any(|known| known.name == name) => Ok(None),
            None => Err(PlanError::UnknownStrategy(name.to_owned())),
        }
    }

    pub fn world(&self) -> Result<&World, NotSimulated> {
        let ground: &dyn Any = &*self.ground;
        let world = ground.downcast_ref();
        world.ok_or_else(|| NotSimulated(self.workload.clone()))
    }

    /// Whether the price per time of a configuration is known before a run.
    pub fn prices_are_known(&self, tariff: &Tariff) -> bool {
        !tariff.is_as_stated() || self.ground.facts().price_is_known
    }

    /// The task, for strategies that depend on nothing else.
    pub fn task(&self) -> Task<'_> {
        let mut task = self.figures.task(&self.workload, &self.space);
        task.limits = self.limits;
        task.repeats = self.repeats;
        task.machines = &self.machines;
        let facts = self.ground.facts();
        task.looks_cost_a_run = facts.looks_cost_a_run;
        (task.fidelities, task.goal) = (facts.fidelities, facts.goal);
        task.layer_model = self.ground.layer_model();
        if let Some(spread) = &self.spread {
            task.margins.time = &spread.time;
        }
        task
    }

    /// The task under a policy, for strategies that depend on prices.
    pub fn task_at(&self, policy: usize) -> Task<'_> {
        let mut task = self.task();
        if let Some(spread) = &self.spread {
            task.margins.cost = &spread.cost[policy];
        }
        task
    }

    fn no_choice(&self, policy: usize, points: &[Point]) -> Option<String> {
        let has_none = self.oracle[policy].iter().any(Option::is_none);
        has_none.then(|| {
            let margins = self.task_at(policy).margins;
            let needs_s = |at| self.ground.hopeless_s(at);
            nearest::sentence(&self.space, &self.limits, points, margins, needs_s)
        })
    }
}

fn machine(space: &Space, at: usize, fleet: &Fleet<'_>) -> Option<Machine> {
    fleet.machine(Shape::parse(space.vm(at)?).ok()?.vm_type)
}

fn unvalued(precision: &[Option<Precision>]) -> HashMap<usize, OnceLock<Vec<Point>>> {
    let all = (0..).zip(precision).filter(|(_, known)| known.is_none());
    all.map(|(at, _)| (at, OnceLock::new())).collect()
}

/// Expected time and cost by formula.
fn closed_form(
    hands: Parallelism,
    ground: &dyn Environment,
    configurations: usize,
    terms: &Terms,
    tariffs: &[Tariff],
) -> Expectations {
    let blocks = configurations.div_ceil(AT_ONCE);
    let points: Vec<Vec<Point>> = (tariffs.iter())
        .map(|tariff| {
            let of_block = |block: usize| -> Vec<Point> {
                let mut usage = Usage::default();
                let first = block * AT_ONCE;
                let all = first..configurations.min(first + AT_ONCE);
                all.map(|at| ground.expectation(at, terms, tariff, &mut usage))
                    .collect()
            };
            hands.each(blocks, 1, of_block).concat()
        })
        .collect();
    Expectations {
        to_choose: None,
        points,
        precision: Vec::new(),
    }
}

fn oracles(
    scenario: &Scenario,
    allowed: &[Vec<bool>],
    expected: &[Vec<Point>],
) -> Vec<Vec<Option<usize>>> {
    let mut scratch = Vec::new();
    let mut best = |policy: usize, objective: Objective| {
        // What never comes to its end is nobody's choice.
        let ends = |point: &Point| point.time_s.is_finite().then_some(*point);
        let points: Vec<Option<Point>> = expected[policy].iter().map(ends).collect();
        choose(
            objective,
            |at, _| allowed[policy][at],
            &points,
            &mut scratch,
        )
    };
    (0..expected.len())
        .map(|policy| {
            let each = scenario.objectives.iter();
            each.map(|&objective| best(policy, objective)).collect()
        })
        .collect()
}

fn fronts(allowed: &[Vec<bool>], expected: &[Vec<Point>]) -> Vec<Option<ParetoFront>> {
    let mut scratch = Vec::new();
    (allowed.iter().zip(expected))
        .map(|(allowed, points)| {
            ParetoFront::from_points(|at, _| allowed[at], points, &mut scratch)
        })
        .collect()
}

struct PastBills<'a> {
    policies: &'a [Policy],
    fleet: &'a Fleet<'a>,
    tariffs: HashMap<String, Vec<Option<Tariff>>>,
}

impl<'a> PastBills<'a> {
    fn new(policies: &'a [Policy], fleet: &'a Fleet<'a>) -> Self {
        PastBills {
            policies,
            fleet,
            tariffs: HashMap::new(),
        }
    }

    fn usd_per_policy(&mut self, taken: &[UsedPastRun]) -> Vec<Option<f64>> {
        let mut sums = vec![Some(0.0); self.policies.len()];
        for run in taken {
            for (policy, sum) in sums.iter_mut().enumerate() {
                let usd = run.price.usd.or_else(|| self.usd(run, policy));
                *sum = sum.zip(usd).map(|(sum, usd)| sum + usd);
            }
        }
        sums
    }

    fn usd(&mut self, run: &UsedPastRun, policy: usize) -> Option<f64> {
        let shape = Shape::parse(run.price.ran_on.as_deref()?).ok()?;
        let vms = shape.vms(run.workers?)?;
        if !self.tariffs.contains_key(shape.vm_type) {
            let rented = [RentedVmType::as_priced(shape.vm_type)];
            let each = (self.policies.iter())
                .map(|policy| policy.tariff(&rented, self.fleet).ok())
                .collect();
            self.tariffs.insert(shape.vm_type.to_owned(), each);
        }
        let tariff = self.tariffs[shape.vm_type][policy].as_ref()?;
        let held = std::iter::once((0, vms));
        let batch = run.batch.unwrap_or(0);
        Some(tariff.run_usd(held, batch, run.price.seconds))
    }
}
