//! Everything that cases share, computed once; the order of cases.

mod simulation_notices;
mod told;

use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::OnceLock;

use super::case::Case;
use super::known_jobs::{FleetRuns, KnownJobs};
use super::plan_error::PlanError;
use super::record::Record;
use super::record_axes::RecordAxes;
use super::scenario::Scenario;
use super::search_problem::SearchProblem;
use super::subject::{Lives, Search, SearchPreparation, Subject};
use super::swept_axes::SweptAxes;
use scavsim_base::rng::Streams;
use scavsim_data::pricing::Policy;
use scavsim_engine::{Interrupt, Parallelism};
use scavsim_search::search::{Limits, Objective, Past, Strategy, Task};
use scavsim_search::testbed::Terms;
use scavsim_sim::training::barrier_waits::BarrierWaits;
use simulation_notices::SimulationNotices;

/// A scenario, ready to run.
///
/// Search problems are made when a case first asks for one, and can be forgotten again: a scenario of ten
/// thousand clusters never holds them all.
pub struct Plan {
    source: Scenario,
    searches: Vec<Search>,
    /// Names of the searched workloads or jobs.
    names: Vec<String>,
    /// Waits for the slowest worker by setting, and for each setting the first with the same waits.
    waits: Vec<OnceLock<BarrierWaits>>,
    waits_of: Vec<usize>,
    /// All searches in the first setting, then all in the next.
    arenas: Vec<OnceLock<ProblemResult>>,
    axes: SweptAxes,

    pub scenario: String,
    /// Random streams, fidelity and start-up of all its jobs.
    pub terms: Terms,
    pub policies: Vec<Policy>,
    pub objectives: Vec<Objective>,
    pub replicas: u64,
    first_replica: u64,
    pub limits: Limits,
    pub notes_probes: bool,
    pub(super) noticed: SimulationNotices,
    pub(super) fleet_runs: FleetRuns,
}

type ProblemResult = Result<Box<SearchProblem>, PlanError>;

/// Search problems made at once, so that an error comes before the run.
const EAGER: usize = 16;
/// Configurations beyond which a search problem takes long to make.
const MANY: usize = 1000;

impl Plan {
    /// Computes what the cases of `scenario` share.
    ///
    /// # Errors
    /// [`PlanError`]; none after the scenario's own check.
    pub fn new(scenario: &Scenario) -> Result<Plan, PlanError> {
        Plan::heeding(scenario, &Interrupt::NEVER)
    }

    /// Computes what cases share on `jobs` threads, with the same result for any number; `interrupt` stops this and the cases.
    pub fn on_threads(
        jobs: usize,
        scenario: &Scenario,
        interrupt: &Interrupt,
    ) -> Result<Plan, PlanError> {
        match interrupt.pool(jobs) {
            Ok(pool) if jobs > 1 => pool.install(|| Plan::heeding(scenario, interrupt)),
            _ => interrupt.during(|| Plan::heeding(scenario, interrupt)),
        }
    }

    /// Computes what cases share on the current thread pool, or in place when there is none.
    pub fn heeding(scenario: &Scenario, interrupt: &Interrupt) -> Result<Plan, PlanError> {
        let searches = scenario.subject.searches();
        let names = scenario.subject.names();
        let settings = &scenario.runs_in;
        let waits_of = settings.iter().map(|own| {
            let first = settings.iter().position(|s| s.variation == own.variation);
            first.unwrap_or_default()
        });
        let arenas = searches.len() * settings.len();
        let mut plan = Plan {
            arenas: (0..arenas).map(|_| OnceLock::new()).collect(),
            searches,
            names: names.into_iter().map(str::to_owned).collect(),
            waits: settings.iter().map(|_| OnceLock::new()).collect(),
            waits_of: waits_of.collect(),
            axes: SweptAxes::of_scenario(scenario),
            scenario: scenario.name.clone(),
            terms: Terms {
                streams: Streams::new(scenario.seed).antithetic(scenario.antithetic),
                fidelity: scenario.fidelity,
                start_up: scenario.start_up,
                interrupt: interrupt.clone(),
            },
            policies: scenario.policies.clone(),
            objectives: scenario.objectives.clone(),
            replicas: scenario.replicas,
            first_replica: 0,
            limits: scenario.limits,
            notes_probes: (scenario.runs_in.iter()).any(|own| own.known_jobs == KnownJobs::Fleet),
            noticed: SimulationNotices::default(),
            fleet_runs: FleetRuns::default(),
            source: scenario.clone(),
        };
        if plan.lives().is_some() {
            plan.source.subject_mut().heed(interrupt);
            return Ok(plan);
        }
        for program in plan.source.settings.own.values_mut() {
            program.interrupt = interrupt.clone();
        }
        let hands = Parallelism::of_current_thread();
        let eager = hands.each(arenas.min(EAGER), 1, |index| {
            (!interrupt.is_raised()).then(|| plan.make(index, hands))
        });
        for (index, made) in eager.into_iter().enumerate() {
            if let Some(made) = made {
                // Nobody else has the plan yet.
                let _ = plan.arenas[index].set(Ok(Box::new(made?)));
            }
        }
        Ok(plan)
    }

    /// Whether replicas 2r and 2r + 1 share their luck, the second mirrored.
    pub(super) fn is_antithetic(&self) -> bool {
        self.source.antithetic
    }

    /// Limits cases to these replicas, which begin with a pair; case numbers count within them.
    pub fn look_at(&mut self, replicas: Range<u64>) {
        self.first_replica = replicas.start;
        self.replicas = replicas.end.saturating_sub(replicas.start);
    }

    /// Makes search problems of these tasks that take long, on the current thread pool. Others are made by the thread whose case
    /// first needs one, while other threads wait for it.
    pub fn prepare(&self, tasks: &[Range<u64>]) {
        let touched = tasks.iter().flat_map(|cases| {
            let last = cases.end.max(cases.start + 1) - 1;
            self.case(cases.start).arena..=self.case(last).arena
        });
        let mut missing: Vec<usize> = touched
            .filter(|index| !self.is_made(*index) && self.takes_long(*index))
            .collect();
        missing.sort_unstable();
        missing.dedup();
        let hands = Parallelism::of_current_thread();
        if hands == Parallelism::One || self.lives().is_some() {
            return;
        }
        hands.map(&mut missing, |_, index| {
            if !self.terms.interrupt.is_raised() {
                let made = self.make(*index, hands).map(Box::new);
                // It is not made inside of its cell: whoever waits there must be waiting for one thread alone.
                let _ = self.arenas[*index].set(made);
            }
        });
    }

    /// Whether a search problem takes so long to make that threads should share the work.
    fn takes_long(&self, index: usize) -> bool {
        let (setting, search) = self.place(index);
        let setup = &self.source.runs_in[setting].setup;
        let is_live = setup.spot.is_some() || setup.elastic.is_some() || !setup.kinds.is_empty();
        let count = self.searches[search].configurations.len();
        is_live || self.limits.max_miss.is_some() || count >= MANY
    }

    pub fn arena_count(&self) -> usize {
        self.arenas.len()
    }

    fn place(&self, arena: usize) -> (usize, usize) {
        let searches = self.searches.len().max(1);
        (arena / searches, arena % searches)
    }

    /// Setting of a search problem; empty where no key holds several values.
    pub fn setting(&self, arena: usize) -> &str {
        &self.source.runs_in[self.place(arena).0].name
    }

    /// Values of a case's axes; those of the VM type are those of `vm`.
    pub(super) fn axes(&self, case: &Case, vm: Option<&str>) -> RecordAxes<'_> {
        let setting = self.place(case.arena).0;
        self.axes.values(setting, case.policy, vm)
    }

    pub fn repeats(&self, arena: usize) -> Option<u64> {
        self.source.runs_in[self.place(arena).0].repeats
    }

    pub(super) fn known_jobs(&self, arena: usize) -> KnownJobs {
        self.source.runs_in[self.place(arena).0].known_jobs
    }

    /// The first search problem in the setting of one, and how many there are in it.
    pub(super) fn neighbours(&self, arena: usize) -> (usize, usize) {
        let searches = self.searches.len();
        (self.place(arena).0 * searches, searches)
    }

    /// The strategy called `name`, ready for a task; `None` where it cannot be used.
    pub(super) fn built(
        &self,
        name: &str,
        task: &Task<'_>,
        past: &mut Past<'_>,
    ) -> Option<Box<dyn Strategy>> {
        let recipe = self.source.registry.recipe(name, &self.source.settings)?;
        recipe.build(task, past).ok()
    }

    pub fn arena(&self, index: usize) -> Result<&SearchProblem, &PlanError> {
        let made =
            self.arenas[index].get_or_init(|| self.make(index, Parallelism::One).map(Box::new));
        made.as_deref()
    }

    pub fn is_made(&self, index: usize) -> bool {
        self.arenas[index].get().is_some()
    }

    pub fn made(&self) -> usize {
        self.arenas
            .iter()
            .filter(|cell| cell.get().is_some())
            .count()
    }

    pub fn arenas(&self) -> impl Iterator<Item = &SearchProblem> {
        (0..self.arenas.len()).filter_map(|index| self.arena(index).ok())
    }

    /// Forgets search problems before `first` if there are too many, on the current thread pool.
    pub fn forget_before(&mut self, first: usize) {
        // Jobs of a fleet need those before.
        let is_fleet = |arena| self.known_jobs(arena) == KnownJobs::Fleet;
        if self.arenas.len() > EAGER && !(0..first).any(is_fleet) {
            // Cases come in the order of search problems: those made lie close before `first`.
            let behind = self.arenas[..first].iter_mut().rev();
            let mut made: Vec<Option<ProblemResult>> =
                behind.map_while(|cell| Some(Some(cell.take()?))).collect();
            Parallelism::of_current_thread().map(&mut made, |_, made| drop(made.take()));
        }
    }

    pub fn workload(&self, arena: usize) -> &str {
        &self.names[self.searches[self.place(arena).1].choice]
    }

    /// Program of a search problem's job: the job itself, unless there are several of one program.
    pub fn program(&self, arena: usize) -> &str {
        let choice = self.searches[self.place(arena).1].choice;
        let named = self.source.subject.program(choice);
        named.unwrap_or(&self.names[choice])
    }

    fn make(&self, index: usize, hands: Parallelism) -> Result<SearchProblem, PlanError> {
        let (setting, search) = self.place(index);
        let preparing = SearchPreparation {
            setting: &self.source.runs_in[setting],
            waits: &self.waits[self.waits_of[setting]],
            hands,
        };
        let prepared = (self.source.subject).prepared(&self.searches[search], preparing)?;
        SearchProblem::new(&self.source, &self.terms, prepared, preparing)
    }

    pub fn cases(&self) -> u64 {
        let apart = self.arenas.len() * self.contenders() / self.together();
        apart as u64 * self.replicas * self.cases_per_simulation()
    }

    /// Consecutive cases that share a simulation: they differ in policy and objective alone.
    pub fn cases_per_simulation(&self) -> u64 {
        (self.policies.len() * self.objectives.len() * self.together()) as u64
    }

    /// Strategies whose cases share a simulation: policies meet the same market together.
    fn together(&self) -> usize {
        if self.lives().is_some() {
            self.contenders()
        } else {
            1
        }
    }

    pub fn subject(&self) -> &dyn Subject {
        &*self.source.subject
    }

    pub fn lives(&self) -> Option<&dyn Lives> {
        self.source.subject.lives()
    }

    pub fn strategy(&self, index: usize) -> &str {
        &self.source.strategies[index]
    }

    fn contenders(&self) -> usize {
        self.source.strategies.len()
    }

    /// Whether a stored record belongs to the case with its number.
    pub fn owns(&self, record: &Record<'_>) -> bool {
        if record.case >= self.cases() {
            return false;
        }
        let case = self.case(record.case);
        record.setting == self.setting(case.arena)
            && record.workload == self.workload(case.arena)
            && record.pricing == self.policies[case.policy].name
            && record.objective == self.objectives[case.objective].name()
            && record.strategy == self.strategy(case.strategy)
            && record.replica == case.replica
    }

    /// Number shared exactly by cases with the same setting, workload, pricing, objective and strategy.
    pub(super) fn group(&self, case: &Case) -> Option<NonZeroU64> {
        let (setting, search) = self.place(case.arena);
        let choice = self.searches[search].choice;
        let digits = [
            (choice, self.names.len()),
            (case.policy, self.policies.len()),
            (case.objective, self.objectives.len()),
            (case.strategy, self.contenders()),
        ];
        let number = (digits.into_iter()).fold(setting as u64, |number, (digit, base)| {
            number * base as u64 + digit as u64
        });
        NonZeroU64::new(number + 1)
    }

    /// The case with this `number`, computed, never stored.
    pub fn case(&self, number: u64) -> Case {
        let mut rest = number;
        let mut digit = |base: u64| {
            let digit = rest % base;
            rest /= base;
            digit
        };
        let objective = digit(self.objectives.len() as u64) as usize;
        let policy = digit(self.policies.len() as u64) as usize;
        let together = digit(self.together() as u64) as usize;
        let replica = self.first_replica + digit(self.replicas);
        let apart = digit((self.contenders() / self.together()) as u64) as usize;
        Case {
            number,
            arena: digit(self.arenas.len() as u64) as usize,
            policy,
            objective,
            strategy: apart + together,
            replica,
        }
    }
}
