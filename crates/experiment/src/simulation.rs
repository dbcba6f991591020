//! What neighbouring cases share: one search, and one run per configuration, for all prices.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::billed::{Outcome, Run};
use super::case::Case;
use super::memo::{Key, Memo};
use super::plan::Plan;
use super::runs::Runs;
use super::search_problem::SearchProblem;
use scavsim_base::rng::Purpose;
use scavsim_base::stats::median;
use scavsim_base::units::SimTime;
use scavsim_data::pricing::Tariff;
use scavsim_data::usage::Usage;
use scavsim_search::search::{Forecast, Prices, Strategy};
use scavsim_search::testbed::by_replica::ByReplica;
use scavsim_search::testbed::{Environment, JobTrial, Metered, Stop, TestbedExchange};
use scavsim_sim::training::log::Entry;
use scavsim_sim::training::{StalledJob, UnfinishedJob};

/// The simulations behind one (workload, strategy, replica), kept until another is asked for. Price and objective change a run
/// only by the choice, and a search only as far as its strategy depends on them.
pub struct Simulation<'p> {
    plan: &'p Plan,
    /// Runs without search of all threads; `None` where each is made here.
    memo: Option<&'p Memo>,
    /// Job of the last search problem, marked at the end of each search.
    site: Option<(usize, Box<dyn JobTrial + 'p>)>,
    /// The search at whose end the job is, until it goes on.
    at_end_of: Option<usize>,
    /// Search problem, strategy and replica of the searches.
    group: Option<(usize, usize, u64)>,
    /// Searches that differ in their other dependencies; the first `used` are valid: of this replica, or of others without luck.
    searches: Vec<MadeSearch>,
    used: usize,
    last: usize,
    count: u64,
    /// Searches in place of the cases' strategies.
    stand_in: Option<Arc<dyn Strategy>>,
    alone: ByReplica<Runs>,
    alone_in: Option<usize>,
    scratch: Vec<f64>,
}

#[derive(Default)]
struct MadeSearch {
    /// The policy and objective in its task.
    told: (Option<usize>, Option<usize>),
    /// Replica of the search, and whether its strategy drew anything at random.
    replica: u64,
    drew: bool,
    /// Searches before it.
    number: u64,
    forecast: Forecast,
    errors: Option<Errors>,
    found: SearchConclusion,
    completed: u64,
    /// Probes and duration on this machine's clock, where the plan asks.
    noted: Vec<TestbedExchange>,
    took: Duration,
    is_over: bool,
    touched: bool,
    after: Runs,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SearchConclusion {
    Forecast,
    /// Without an end, and why.
    Never(Cow<'static, str>),
}

impl Default for SearchConclusion {
    fn default() -> SearchConclusion {
        SearchConclusion::Never(Cow::Borrowed(NO_ARENA))
    }
}

/// |predicted − expected time| / expected time over the configurations that were predicted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Errors {
    pub mean: f64,
    pub median: f64,
    pub max: f64,
}

impl<'p> Simulation<'p> {
    #[doc(hidden)]
    pub fn new(plan: &'p Plan) -> Self {
        Simulation::with(plan, None)
    }

    /// Runs in `memo` are not simulated again.
    pub(super) fn with(plan: &'p Plan, memo: Option<&'p Memo>) -> Self {
        Simulation {
            plan,
            memo,
            site: None,
            at_end_of: None,
            group: None,
            searches: vec![MadeSearch::default()],
            used: 0,
            last: 0,
            count: 0,
            stand_in: None,
            alone: ByReplica::new(1),
            alone_in: None,
            scratch: Vec::new(),
        }
    }

    pub fn forecast(&self) -> &Forecast {
        &self.searches[self.last].forecast
    }

    /// Unique among the searches of this simulation.
    pub fn number(&self) -> u64 {
        self.searches[self.last].number
    }

    pub fn errors(&self) -> Option<Errors> {
        self.searches[self.last].errors
    }

    /// Notes events from the next search in this search problem on.
    pub(super) fn watch(&mut self, arena: usize, most: u64) {
        if let Some(site) = site(self.plan, &mut self.site, arena) {
            site.watch(most);
        }
    }

    pub(super) fn noted_until(&mut self, end: SimTime) -> Vec<Entry> {
        let site = self.site.as_mut();
        site.map_or(Vec::new(), |(_, site)| site.noted_until(end))
    }

    /// Searches with the strategy of `case`, unless that was the last search.
    pub fn search(&mut self, case: Case) -> &SearchConclusion {
        let Ok(arena) = self.plan.arena(case.arena) else {
            self.group = None;
            self.last = 0;
            self.searches[0] = MadeSearch::default();
            return &self.searches[0].found;
        };
        // Where runs have no luck, replicas differ only by what a strategy draws.
        let is_same_everywhere = !arena.ground.facts().has_luck;
        let group = (case.arena, case.strategy, case.replica);
        if self.group != Some(group) {
            let others = self.group.map(|(arena, strategy, _)| (arena, strategy));
            if !is_same_everywhere || others != Some((case.arena, case.strategy)) {
                self.used = 0;
            }
            self.group = Some(group);
            if self.alone_in != Some(case.arena) {
                self.alone_in = Some(case.arena);
                self.alone.forget(MOST_ALONE / arena.space.len().max(1));
            }
            let of = if is_same_everywhere { 0 } else { case.replica };
            self.alone.turn_to(of, Runs::forget);
        }
        let depends = match &self.stand_in {
            Some(strategy) => strategy.depends(),
            None => arena.contenders[case.strategy].depends(),
        };
        let told = (
            (depends.prices || self.plan.notes_probes).then_some(case.policy),
            depends.objective.then_some(case.objective),
        );
        let known = self.searches[..self.used].iter();
        let is_it = |search: &MadeSearch| {
            let is_here = search.replica == case.replica || is_same_everywhere && !search.drew;
            search.told == told && is_here
        };
        self.last = match known.enumerate().find(|(_, search)| is_it(search)) {
            Some((at, _)) => at,
            None => self.search_anew(case, arena, told),
        };
        &self.searches[self.last].found
    }

    fn search_anew(
        &mut self,
        case: Case,
        arena: &SearchProblem,
        told: (Option<usize>, Option<usize>),
    ) -> usize {
        if self.used == MOST_SEARCHES {
            self.used = 0;
        }
        let number = self.used;
        self.used += 1;
        if number == self.searches.len() {
            self.searches.push(MadeSearch::default());
        }
        let search = &mut self.searches[number];
        self.count += 1;
        self.at_end_of = None;
        (search.told, search.number) = (told, self.count);
        (search.replica, search.drew) = (case.replica, true);
        search.after.forget();
        let Some(site) = site(self.plan, &mut self.site, case.arena) else {
            search.found = SearchConclusion::default();
            return number;
        };
        site.restart(case.replica);
        search.forecast.reset(arena.space.len());
        let own = arena.contenders[case.strategy].strategy.as_deref();
        let asking = PendingSearch {
            plan: self.plan,
            arena,
            case,
            strategy: self.stand_in.as_deref().or(own),
        };
        let (ended, asked) = asking.ask(site, &mut search.forecast);
        search.is_over = ended.is_ok();
        search.drew = asked.drew;
        (search.completed, search.noted, search.took) = (asked.completed, asked.noted, asked.took);
        let decided = search.forecast.decided;
        search.found = match ended {
            Ok(()) if decided.is_some_and(|at| at >= arena.space.len()) => {
                SearchConclusion::Never(Cow::Owned(format!(
                    "the strategy chose configuration {} of {}: what is not in its space is a hole, \
                     which nobody can pick",
                    decided.unwrap_or_default(),
                    arena.space.len()
                )))
            }
            Ok(()) => match search.forecast.fault(arena.space.len()) {
                Some(fault) => SearchConclusion::Never(Cow::Owned(fault)),
                None => SearchConclusion::Forecast,
            },
            Err(stop) => SearchConclusion::Never(stop.reason()),
        };
        search.touched = site.current().is_some();
        site.mark(number);
        self.at_end_of = Some(number);
        search.errors = errors(&search.forecast, arena, &mut self.scratch);
        number
    }

    pub(super) fn forget_runs(&mut self) {
        self.alone.here_mut().forget();
    }

    /// Probes and duration of the last search, where the plan asks; none if it was stopped.
    pub fn noted(&self) -> (&[TestbedExchange], Duration) {
        let search = &self.searches[self.last];
        if search.is_over {
            (&search.noted, search.took)
        } else {
            (&[], Duration::ZERO)
        }
    }

    /// Questions and answers of the last search, where the plan asks, also if it was stopped.
    pub fn questions(&self) -> &[TestbedExchange] {
        &self.searches[self.last].noted
    }

    /// Replaces the strategies of cases by another, or by none.
    pub(super) fn stand_in(&mut self, strategy: Option<Arc<dyn Strategy>>) {
        self.stand_in = strategy;
        self.group = None;
    }

    /// Usage and end of the last search with these runs to the target after it, finished or not.
    pub fn spent(&mut self, case: Case, ran: &[usize], usage: &mut Usage) -> SimTime {
        usage.clear();
        let Some(site) = site(self.plan, &mut self.site, case.arena) else {
            return SimTime::ZERO;
        };
        if self.at_end_of.take() != Some(self.last) {
            site.back_to(self.last);
        }
        for at in ran {
            let _ = site.run_to_target(*at);
        }
        let now = site.now();
        site.usage_until(now, usage);
        now
    }

    /// Runs to the target in the last search.
    pub fn completed(&self) -> u64 {
        self.searches[self.last].completed
    }

    /// Makes the run of `choice` to the target after the last search and `failed` choices, unless it was made.
    pub fn settle(
        &mut self,
        case: Case,
        failed: &[usize],
        choice: usize,
    ) -> Result<RunIndex, UnfinishedJob> {
        let number = self.last;
        if !self.searches[number].touched && failed.is_empty() {
            return self.settle_alone(case, choice).map(RunIndex::Alone);
        }
        let after = &mut self.searches[number].after;
        let at = match after.find(failed, choice) {
            Some(at) => at,
            None => {
                let site = site(self.plan, &mut self.site, case.arena).ok_or(STALLED)?;
                if self.at_end_of.take() != Some(number) {
                    site.back_to(number);
                }
                for at in failed {
                    // They fail again, as they did before.
                    let _ = site.run_to_target(*at);
                }
                let line = site.run_to_target(choice)?;
                after.keep(failed, line, site)
            }
        };
        Ok(RunIndex::After(at))
    }

    pub fn settled(&self, which: RunIndex) -> &Run {
        match which {
            RunIndex::Alone(at) => &self.alone.current().all[at],
            RunIndex::After(at) => &self.searches[self.last].after.all[at],
        }
    }

    /// A run after the last search under a policy, by `bill` unless that was asked just before.
    pub(super) fn billed(
        &mut self,
        which: RunIndex,
        policy: usize,
        bill: impl FnOnce(&Run) -> Outcome,
    ) -> Outcome {
        let (runs, at) = match which {
            RunIndex::Alone(at) => (self.alone.here_mut(), at),
            RunIndex::After(at) => (&mut self.searches[self.last].after, at),
        };
        runs.billed(at, policy, bill)
    }

    /// Runs `choice` to the target after the last search.
    pub fn run(&mut self, case: Case, choice: usize) -> Result<&Run, UnfinishedJob> {
        let which = self.settle(case, &[], choice)?;
        Ok(self.settled(which))
    }

    /// Runs `choice` to the target in the replica of the last search, without search.
    pub fn run_alone(&mut self, case: Case, choice: usize) -> Result<&Run, UnfinishedJob> {
        let at = self.settle_alone(case, choice)?;
        Ok(&self.alone.current().all[at])
    }

    pub(super) fn settle_alone(
        &mut self,
        case: Case,
        choice: usize,
    ) -> Result<usize, UnfinishedJob> {
        if let Some(at) = self.alone.current().find(&[], choice) {
            return Ok(at);
        }
        let Some((memo, key)) = self.memo_of(case, choice) else {
            return self.run_anew(case, choice);
        };
        if let Some(ran) = memo.get(&key) {
            return ran.map(|run| self.alone.here_mut().copy(&run));
        }
        let ran = self.run_anew(case, choice);
        // What was cut off is not what it would have come to.
        if !self.plan.terms.interrupt.is_raised() {
            memo.keep(
                key,
                ran.map(|at| Arc::new(self.alone.current().all[at].clone())),
            );
        }
        ran
    }

    /// The memo and key of a run without search, if the run takes longer than a look.
    fn memo_of(&self, case: Case, choice: usize) -> Option<(&'p Memo, Key)> {
        let memo = self.memo?;
        let ground = &self.plan.arena(case.arena).ok()?.ground;
        let is_quick = ground.is_quick(choice, self.plan.terms.fidelity);
        (!is_quick).then_some((memo, (case.arena, case.replica, choice)))
    }

    fn run_anew(&mut self, case: Case, choice: usize) -> Result<usize, UnfinishedJob> {
        let site = site(self.plan, &mut self.site, case.arena).ok_or(STALLED)?;
        self.at_end_of = None;
        site.restart(case.replica);
        let line = site.run_to_target(choice)?;
        Ok(self.alone.here_mut().keep(&[], line, site))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunIndex {
    /// Without search.
    Alone(usize),
    After(usize),
}

/// What a search leaves besides its forecast.
#[derive(Default)]
struct SearchDetails {
    /// Whether anything was drawn at random.
    drew: bool,
    completed: u64,
    noted: Vec<TestbedExchange>,
    took: Duration,
}

struct PendingSearch<'a> {
    plan: &'a Plan,
    arena: &'a SearchProblem,
    case: Case,
    /// `None` for contenders that know the truth.
    strategy: Option<&'a dyn Strategy>,
}

impl PendingSearch<'_> {
    /// Lets the strategy search on a task with no more than it depends on.
    fn ask(
        self,
        site: &mut dyn JobTrial,
        forecast: &mut Forecast,
    ) -> (Result<(), Stop>, SearchDetails) {
        let PendingSearch {
            plan, arena, case, ..
        } = self;
        let Some(strategy) = self.strategy else {
            return (Ok(()), SearchDetails::default());
        };
        let streams = &plan.terms.streams;
        let key = arena.contenders[case.strategy].key;
        let mut stream = streams.stream(case.replica, Purpose::Strategy(key));
        let untouched = stream.clone();
        let depends = strategy.depends();
        let tariff = &arena.tariffs[case.policy];
        let prices = PriceList::new(&*arena.ground, tariff);
        let task = if depends.prices {
            arena.task_at(case.policy)
        } else {
            arena.task()
        };
        let task = task.restricted_to(depends, plan.objectives[case.objective], &prices);
        let mut testbed = Metered::new(site, arena.space.len(), depends.prices.then_some(tariff));
        let start = plan.notes_probes.then(|| {
            testbed.note(tariff);
            Instant::now()
        });
        let ended = strategy.search(&task, &mut testbed, &mut stream, forecast);
        let asked = SearchDetails {
            drew: ended.is_err() || stream != untouched,
            took: start.map_or(Duration::ZERO, |start| start.elapsed()),
            completed: testbed.completed,
            noted: testbed.into_noted(),
        };
        (ended, asked)
    }
}

/// What configurations cost under one policy, as known before any run.
struct PriceList<'a> {
    ground: &'a dyn Environment,
    tariff: &'a Tariff,
    usage: RefCell<Usage>,
}

impl<'a> PriceList<'a> {
    fn new(ground: &'a dyn Environment, tariff: &'a Tariff) -> Self {
        PriceList {
            ground,
            tariff,
            usage: RefCell::default(),
        }
    }
}

impl Prices for PriceList<'_> {
    fn run_usd(&self, configuration: usize, seconds: f64) -> Option<f64> {
        if self.tariff.is_as_stated() && !self.ground.facts().price_is_known {
            return None;
        }
        let usage = &mut *self.usage.borrow_mut();
        Some((self.ground).plan_usd(configuration, seconds, self.tariff, usage))
    }
}

fn errors(forecast: &Forecast, arena: &SearchProblem, scratch: &mut Vec<f64>) -> Option<Errors> {
    scratch.clear();
    scratch.extend(
        (forecast.time_s.iter())
            .zip(&arena.expected_time_s)
            .filter_map(|(time_s, expected_s)| Some(((*time_s)? / (*expected_s)? - 1.0).abs())),
    );
    let sum: f64 = scratch.iter().sum();
    let mean = sum / scratch.len() as f64;
    median(scratch)
        .zip(scratch.last()) // sorted by the median
        .map(|(median, &max)| Errors { mean, median, max })
}

/// Most runs without search that are kept, about 1 kB each.
const MOST_ALONE: usize = 4_096;

/// Searches kept at once: more than there are objectives.
const MOST_SEARCHES: usize = 8;

/// Placeholder for a run without a search problem.
const STALLED: UnfinishedJob = UnfinishedJob::Stalled(StalledJob { at: SimTime::ZERO });
const NO_ARENA: &str = "the simulated job stalled";

/// The job of a search problem, made anew when it changes; `None` without a search problem.
fn site<'c, 'p>(
    plan: &'p Plan,
    held: &'c mut Option<(usize, Box<dyn JobTrial + 'p>)>,
    arena: usize,
) -> Option<&'c mut (dyn JobTrial + 'p)> {
    if held.as_ref().is_none_or(|(of, _)| *of != arena) {
        *held = Some((arena, plan.arena(arena).ok()?.ground.open(&plan.terms)));
    }
    held.as_mut().map(|(_, site)| &mut **site)
}
