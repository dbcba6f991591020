//! A search strategy as a policy: it probes configurations of the job on machines of the market, chooses one, and may choose again
//! while the job runs.
//!
//! A strategy is code that asks one question after the other, and here each answer takes ticks. So it is run from the start again
//! whenever an answer has come: what it asked before is answered from its readings, and the first new question is the next probe.

mod readings;

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use self::readings::{MarketPrices, Question, Readings};
use super::order::try_form;
use super::{Policy, Recipe};
use crate::policy_run::Market;
use crate::policy_run::events::{Event, LastLook};
use crate::policy_run::policy_view::PolicyView;
use scavsim_base::rng::Stream;
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_experiment::Plan;
use scavsim_read::input::checked::Positive;
use scavsim_search::search::{Forecast, Objective, Strategy, Task};
use scavsim_search::testbed::Stop;

/// When a strategy chooses again.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Reconsideration {
    /// Events after which it does; all when absent.
    pub on: Option<Vec<Occasion>>,
    /// Hours after which it does without an event.
    pub every_h: Option<Positive>,
}

/// An event after which a strategy chooses again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Occasion {
    /// Spot machines were lost.
    Preemption,
    /// A spot price changed.
    Price,
    /// The market refused machines.
    Capacity,
}

impl Reconsideration {
    /// Whether it is ever time to choose again.
    pub fn is_ever(&self) -> bool {
        self.every_h.is_some() || self.on.as_ref().is_none_or(|on| !on.is_empty())
    }

    fn names(&self, occasion: Occasion) -> bool {
        self.on.as_ref().is_none_or(|on| on.contains(&occasion))
    }
}

/// Times that the cheapest choice needs until which it is waited for.
const PATIENCE: f64 = 1.5;

/// A strategy for the configurations of a job.
#[derive(Clone)]
pub struct SearchStrategy {
    /// The scenario whose only search problem is the job's work.
    pub plan: Arc<Plan>,
    /// Number of the strategy among the contenders of that problem.
    pub contender: usize,
    /// `None` where it chooses once.
    pub reconsideration: Option<Reconsideration>,
    /// The program that it is, and where it is started, where it is one of a user.
    pub program: Option<String>,
}

impl fmt::Debug for SearchStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("SearchStrategy");
        shown.field("contender", &self.contender);
        shown.finish_non_exhaustive()
    }
}

impl Recipe for SearchStrategy {
    fn policy(&self) -> Box<dyn Policy> {
        self.seeded(0)
    }

    fn seeded(&self, seed: usize) -> Box<dyn Policy> {
        Box::new(SearchingPolicy {
            strategy: self.clone(),
            seed: seed as u64,
            readings: Readings::new(seed as u64),
            forms: Vec::new(),
            forecast: Forecast::default(),
            phase: Phase::Asking,
            look: LastLook::default(),
            last_choice_s: 0.0,
            is_refused: false,
            working: None,
        })
    }

    fn program(&self) -> Option<String> {
        self.program.clone()
    }
}

struct SearchingPolicy {
    strategy: SearchStrategy,
    seed: u64,
    readings: Readings,
    /// Form of each configuration; `None` where it never ends.
    forms: Vec<Option<usize>>,
    forecast: Forecast,
    phase: Phase,
    look: LastLook,
    /// Seconds of the life when it chose last.
    last_choice_s: f64,
    /// Whether the market refused its choice since then.
    is_refused: bool,
    /// Configuration whose machines worked at the last decision, and since when.
    working: Option<(usize, f64)>,
}

impl fmt::Debug for SearchingPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SearchingPolicy")
            .field("phase", &self.phase)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    /// The strategy is asked now.
    Asking,
    Probing(Probe),
    /// In a configuration until it is reconsidered.
    Running(usize),
}

#[derive(Debug, Clone, Copy)]
struct Probe {
    form: usize,
    lasts_s: f64,
    /// Second of the life at which it is over; `None` before it has machines.
    ends_s: Option<f64>,
}

/// A configuration in a zone, with what it is expected to come to from now on.
#[derive(Debug, Clone, Copy)]
struct PlacedChoice {
    configuration: usize,
    form: usize,
    zone: usize,
    seconds: f64,
    usd: f64,
}

impl Policy for SearchingPolicy {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        if self.forms.is_empty() {
            self.forms = self.forms_of_configurations(view);
        }
        self.note_work(view);
        let is_again = self.reconsiders(view);
        loop {
            match self.phase {
                Phase::Asking => match self.ask(view) {
                    Ok(phase) => self.phase = phase,
                    Err(why) => return view.fail(&why.reason()),
                },
                Phase::Probing(probe) => {
                    let Some(probe) = self.probed(probe, view) else {
                        self.phase = Phase::Asking;
                        continue;
                    };
                    self.phase = Phase::Probing(probe);
                    return;
                }
                Phase::Running(_) if is_again && self.last_choice_s < view.elapsed_s() => {
                    self.read_run(view);
                    self.phase = Phase::Asking;
                }
                Phase::Running(choice) => return self.stay(choice, view),
            }
        }
    }
}

impl SearchingPolicy {
    fn forms_of_configurations(&self, view: &PolicyView<'_, '_>) -> Vec<Option<usize>> {
        let space = match self.strategy.plan.arena(0) {
            Ok(problem) => &problem.space,
            Err(_) => return Vec::new(),
        };
        let named = |at: usize| {
            let name = form_name(&space.name(at));
            (0..view.searched_forms()).find(|&form| view.form_name(form) == name)
        };
        (0..space.len()).map(named).collect()
    }

    /// Remembers since when the machines of which configuration work.
    fn note_work(&mut self, view: &PolicyView<'_, '_>) {
        let form = view
            .running_form()
            .filter(|_| view.start_up_left_s() == 0.0);
        let running = form.and_then(|form| self.forms.iter().position(|own| *own == Some(form)));
        let now_s = view.elapsed_s();
        self.working = running.map(|at| match self.working {
            Some((before, since_s)) if before == at => (at, since_s),
            _ => (at, now_s),
        });
    }

    fn reconsiders(&mut self, view: &PolicyView<'_, '_>) -> bool {
        let Some(rule) = &self.strategy.reconsideration else {
            return false;
        };
        let happened = |event: &Event| match event {
            Event::Lost(_) => rule.names(Occasion::Preemption),
            Event::Price(_) => rule.names(Occasion::Price),
            _ => false,
        };
        let has_happened = view.events(&mut self.look).iter().any(happened);
        let waited_h = (view.elapsed_s() - self.last_choice_s) / SECONDS_PER_HOUR;
        let is_due = rule.every_h.is_some_and(|every| waited_h >= every.get());
        let is_refused = self.is_refused && rule.names(Occasion::Capacity);
        has_happened || is_due || is_refused
    }

    /// Asks the strategy for the next probe or its choice.
    fn ask(&mut self, view: &mut PolicyView<'_, '_>) -> Result<Phase, Stop> {
        let plan = Arc::clone(&self.strategy.plan);
        let problem = plan.arena(0).map_err(|why| failed(&why.to_string()))?;
        let strategy = problem.contenders[self.strategy.contender]
            .strategy
            .as_deref();
        let strategy =
            strategy.ok_or_else(|| failed("a contender that knows the truth is no strategy"))?;
        let prices = MarketPrices::new(view, &self.forms);
        let mut task = problem.task();
        let left = view.left_s() / view.work_s();
        let left_s = view.deadline_s() - view.elapsed_s() - view.changeover_s();
        task.limits.max_time_s = (left_s > 0.0 && left > 0.0).then(|| left_s / left);
        match self.search(strategy, task, &prices)? {
            None => self.choose(view),
            Some(question) => {
                let form = self.forms[question.configuration].ok_or_else(|| {
                    let name = problem.space.name(question.configuration);
                    failed(&format!(
                        "the strategy asks for `{name}`, which never reaches the target"
                    ))
                })?;
                let price = prices.usd_per_h(question.configuration);
                let price = price.ok_or_else(|| failed("no zone has the machines of a probe"))?;
                let lasts_s = self
                    .readings
                    .answer(question, problem, &plan.terms, price)?;
                let probe = Probe {
                    form,
                    lasts_s,
                    ends_s: None,
                };
                Ok(Phase::Probing(probe))
            }
        }
    }

    /// Runs the strategy on what was read so far: its first new question, or `None` where its forecast is complete.
    fn search(
        &mut self,
        strategy: &dyn Strategy,
        task: Task<'_>,
        prices: &MarketPrices,
    ) -> Result<Option<Question>, Stop> {
        let count = task.space.len();
        let depends = strategy.depends();
        let task = task.restricted_to(depends, Objective::Cost, prices);
        self.forecast.reset(count);
        let mut stream = Stream::seeded(self.seed);
        let mut testbed = self.readings.testbed(count, depends.prices);
        let ended = strategy.search(&task, &mut testbed, &mut stream, &mut self.forecast);
        match (testbed.question, ended) {
            (Some(question), _) => Ok(Some(question)),
            (None, Err(why)) => Err(why),
            (None, Ok(())) => match self.forecast.fault(count) {
                Some(fault) => Err(failed(&fault)),
                None => Ok(None),
            },
        }
    }

    /// Takes the best that the market has, by the forecast.
    fn choose(&mut self, view: &mut PolicyView<'_, '_>) -> Result<Phase, Stop> {
        let offers = self.offers(view);
        let first = offers
            .first()
            .ok_or_else(|| failed("nothing that it would choose ends"))?;
        let mut choice = first.configuration;
        if self.strategy.reconsideration.is_some() {
            let until_s = view.deadline_s() - view.elapsed_s();
            // There is time to wait for the machines of the first, which cost less.
            let waits = until_s >= PATIENCE * first.seconds;
            let takes = |offer: &&PlacedChoice| {
                let goes_on = view.has(Market::Spot.in_zone(offer.zone), offer.form);
                let is_sought = !waits || offer.usd <= first.usd;
                goes_on || is_sought && view.try_spot_as(offer.zone, offer.form)
            };
            if let Some(taken) = offers.iter().find(takes) {
                choice = taken.configuration;
            }
        }
        self.last_choice_s = view.elapsed_s();
        self.is_refused = false;
        Ok(Phase::Running(choice))
    }

    /// What the forecast expects of each configuration in each zone, the cheapest first; those that miss the deadline last, the fastest
    /// first.
    fn offers(&self, view: &PolicyView<'_, '_>) -> Vec<PlacedChoice> {
        let left = view.left_s() / view.work_s();
        let scale = self.measured_over_forecast(view);
        let has_times = self.forecast.time_s.iter().any(Option::is_some);
        let decided = self.forecast.decided.iter().chain(&self.forecast.instead);
        let times: Vec<(usize, f64)> = if has_times && self.forecast.decided.is_none() {
            (self.forecast.time_s.iter().enumerate())
                .filter_map(|(at, time_s)| Some((at, scale * (*time_s)?)))
                .collect()
        } else {
            // A decision says no times: its order counts.
            decided.map(|&at| (at, 0.0)).collect()
        };
        let mut offers = Vec::new();
        for (configuration, time_s) in times {
            let Some(form) = self.forms[configuration] else {
                continue;
            };
            for zone in (0..view.zones()).filter(|&zone| view.is_served(zone, form)) {
                let goes_on = view.has(Market::Spot.in_zone(zone), form);
                let start_s = if goes_on {
                    view.start_up_left_s()
                } else {
                    view.changeover_s()
                };
                let seconds = start_s + left * time_s;
                let usd_per_h = view.spot_usd_per_h_as(zone, form);
                let moved_usd = if goes_on { 0.0 } else { view.egress_usd(zone) };
                offers.push(PlacedChoice {
                    configuration,
                    form,
                    zone,
                    seconds,
                    usd: moved_usd + usd_per_h * seconds / SECONDS_PER_HOUR,
                });
            }
        }
        if has_times && self.forecast.decided.is_none() {
            let until_s = view.deadline_s() - view.elapsed_s();
            offers.sort_by(|a, b| match (a.seconds > until_s, b.seconds > until_s) {
                (false, false) => a.usd.total_cmp(&b.usd),
                (true, true) => a.seconds.total_cmp(&b.seconds),
                (a_is_late, b_is_late) => a_is_late.cmp(&b_is_late),
            });
        }
        offers
    }

    /// How many times longer than forecast the run takes, by its progress; 1 before it has worked for a tick.
    fn measured_over_forecast(&self, view: &PolicyView<'_, '_>) -> f64 {
        let Some((at, since_s)) = self.working else {
            return 1.0;
        };
        let (Some(form), Some(forecast_s)) = (self.forms[at], self.forecast.time_s[at]) else {
            return 1.0;
        };
        if view.elapsed_s() - since_s >= view.tick_s() {
            view.work_s() / view.speed(form) / forecast_s
        } else {
            1.0
        }
    }

    /// Adds what the run has measured of its own steps.
    fn read_run(&mut self, view: &PolicyView<'_, '_>) {
        let Some((at, since_s)) = self.working else {
            return;
        };
        let worked_s = (view.elapsed_s() - since_s).min(view.tick_s());
        if let (true, Ok(problem)) = (worked_s > 0.0, self.strategy.plan.arena(0)) {
            self.readings
                .read_run(at, worked_s, problem, &self.strategy.plan.terms);
        }
    }

    /// A probe that goes on, with machines if there are any; `None` once it is over.
    fn probed(&self, probe: Probe, view: &mut PolicyView<'_, '_>) -> Option<Probe> {
        let has_machines = view.running_form() == Some(probe.form);
        let now_s = view.elapsed_s();
        match probe.ends_s {
            Some(ends_s) if has_machines && now_s >= ends_s => None,
            Some(_) if has_machines => Some(probe),
            _ => {
                if !has_machines && !try_form(view, probe.form) {
                    go_on_demand(view, probe.form);
                }
                let ends_s = (view.running_form() == Some(probe.form))
                    .then(|| now_s + view.start_up_left_s() + probe.lasts_s);
                match ends_s {
                    Some(ends_s) if ends_s <= now_s => None,
                    ends_s => Some(Probe { ends_s, ..probe }),
                }
            }
        }
    }

    /// Keeps or seeks spot machines of a choice.
    fn stay(&mut self, choice: usize, view: &mut PolicyView<'_, '_>) {
        let Some(form) = self.forms[choice] else {
            return view.fail("its choice never reaches the target");
        };
        let is_there = view.running_form() == Some(form)
            && (view.running()).is_some_and(|place| place.market == Market::Spot);
        if is_there || try_form(view, form) {
            return;
        }
        self.is_refused = true;
        if (view.running()).is_some_and(|place| place.market == Market::OnDemand) {
            view.stop();
        }
    }
}

/// Takes machines of a form where they cost least on demand.
fn go_on_demand(view: &mut PolicyView<'_, '_>, form: usize) {
    let zones = (0..view.zones()).filter(|&zone| view.is_served(zone, form));
    let price = |zone: usize| view.on_demand_usd_per_h_as(zone, form);
    if let Some(zone) = zones.min_by(|&a, &b| price(a).total_cmp(&price(b))) {
        view.go_on_demand_as(zone, form);
    }
}

/// Name of the form that a configuration is.
pub fn form_name(configuration: &str) -> String {
    configuration.replace([',', '"'], "")
}

fn failed(why: &str) -> Stop {
    Stop::Failed(why.to_owned())
}
