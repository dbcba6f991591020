//! The work of a job by another scenario: its configurations become the forms, each as fast as that scenario expects. Where the noise
//! of a training was measured, a form is as fast as its steps are worth at each point of the way.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::form::{FormTable, JobTable, StepTable};
use crate::forms::{Form, Speed};
use crate::job::Job;
use crate::policy::NamedRecipe;
use crate::policy::search_strategy::{Reconsideration, SearchStrategy, form_name};
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_data::usage::Usage;
use scavsim_experiment::scenario::Scenario;
use scavsim_experiment::{Plan, PlanError};
use scavsim_read::input::Spanned;
use scavsim_read::input::checked::{Delay, Machines, Positive, ShareOf};
use scavsim_search::search::ORACLE;

/// Parts of the way in which a form has one speed.
const PARTS: u32 = 10;

/// Why a scenario cannot be the work of a job.
#[derive(Debug, thiserror::Error)]
pub enum NoWork {
    #[error("it has several settings; `-s` or a file of its own gives one")]
    SeveralSettings,
    #[error("it has policies of its own")]
    HasPolicies,
    #[error("it has `[spot]`; here the market takes machines away")]
    HasSpot,
    #[error("it has several jobs: {0}; name one")]
    SeveralJobs(String),
    #[error("no configuration of it reaches its target")]
    NeverDone,
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// What a job is by another scenario.
#[derive(Debug, Clone)]
pub struct JobWork {
    work_h: f64,
    start_up_s: f64,
    /// Ascending in machines; each is faster somewhere than those before it on its VM type.
    forms: Vec<TimedForm>,
    /// Whether a form is another batch on the same machines, which a training changes without a pause.
    changes_batch: bool,
    /// All others that end; empty where nothing is searched.
    searched: Vec<TimedForm>,
    /// Strategies that search its configurations.
    pub strategies: Vec<NamedRecipe>,
    /// Hash of the scenario.
    pub hash: String,
}

#[derive(Debug, Clone)]
struct TimedForm {
    /// Number of the configuration.
    at: usize,
    name: String,
    machines: u32,
    /// `None` where all forms are on one type.
    vm: Option<String>,
    hours: f64,
    /// Speeds over their mean, by the share of the way from which they hold.
    speeds: Vec<(f64, f64)>,
}

impl TimedForm {
    /// Hours of the whole way at the speed of each part of it.
    fn part_hours(&self, parts: usize) -> impl Iterator<Item = f64> + '_ {
        let last = self.speeds.len() - 1;
        (0..parts).map(move |part| self.hours / self.speeds[part.min(last)].1)
    }

    /// Whether it is as fast as another one on the whole way.
    fn is_as_fast_as(&self, other: &TimedForm) -> bool {
        let parts = self.speeds.len().max(other.speeds.len());
        let mut pairs = self.part_hours(parts).zip(other.part_hours(parts));
        pairs.all(|(own, other)| own <= other)
    }

    /// Seconds of work per second, where all work takes `work_h` at speed 1.
    fn steps(&self, work_h: f64) -> impl Iterator<Item = (f64, f64)> + '_ {
        let mean = work_h / self.hours;
        self.speeds
            .iter()
            .map(move |&(from, speed)| (from, speed * mean))
    }
}

impl JobWork {
    /// The work, and `strategies` that search its configurations: each chooses once, and by a `reconsideration` also again.
    ///
    /// # Errors
    /// [`NoWork`]: why it can be none.
    pub fn of_scenario(
        scenario: &Scenario,
        strategies: &[String],
        reconsideration: Option<&Reconsideration>,
    ) -> Result<JobWork, NoWork> {
        let [setting] = &scenario.runs_in[..] else {
            return Err(NoWork::SeveralSettings);
        };
        if scenario.subject.lives().is_some() {
            return Err(NoWork::HasPolicies);
        }
        if setting.setup.spot.is_some() {
            return Err(NoWork::HasSpot);
        }
        let names = std::iter::once(ORACLE).chain(strategies.iter().map(String::as_str));
        let scenario = Scenario {
            strategies: names.map(str::to_owned).collect(),
            ..scenario.clone()
        };
        let plan = Arc::new(Plan::new(&scenario)?);
        if plan.arena_count() != 1 {
            let names = scenario.subject.names().join(", ");
            return Err(NoWork::SeveralJobs(names));
        }
        let problem = plan.arena(0).map_err(PlanError::clone)?;
        let start_up_s = scenario.start_up.seconds();
        let rented = problem.ground.facts().rented.unwrap_or_default();
        let mut usage = Usage::default();
        let mut all: Vec<TimedForm> = Vec::new();
        for (at, point) in problem.all_expected(0).enumerate() {
            let seconds = point.time_s - start_up_s;
            if !seconds.is_finite() {
                continue;
            }
            problem.ground.plan_usage(at, seconds, &mut usage);
            let first = usage.intervals.first();
            let vm = first.and_then(|own| rented.get(usize::from(own.vm)));
            let pace = problem.ground.pace(at);
            all.push(TimedForm {
                at,
                name: form_name(&problem.space.name(at)),
                machines: usage.intervals.iter().map(|own| own.vms).sum(),
                vm: Some(vm.map_or(String::new(), |vm| vm.name.to_string())),
                hours: seconds / SECONDS_PER_HOUR,
                speeds: pace.map_or_else(|| vec![(0.0, 1.0)], |pace| pace.speeds(PARTS)),
            });
        }
        let types: BTreeSet<_> = all.iter().map(|own| own.vm.clone()).collect();
        if types.len() < 2 {
            all.iter_mut().for_each(|own| own.vm = None);
        }
        let (forms, further) = split_off_dominated(all);
        let slowest_h = forms.iter().map(|own| own.hours).fold(0.0, f64::max);
        if forms.is_empty() {
            return Err(NoWork::NeverDone);
        }
        let has_noise = |own: &TimedForm| own.speeds.len() > 1;
        Ok(JobWork {
            work_h: slowest_h,
            start_up_s,
            searched: if strategies.is_empty() {
                Vec::new()
            } else {
                further
            },
            changes_batch: forms.iter().all(has_noise),
            forms,
            strategies: named_recipes(&plan, &scenario, strategies, reconsideration),
            hash: scenario.hash.clone(),
        })
    }

    /// Adds to a job the configurations that only searches take.
    pub fn add_searched(&self, job: &mut Job) {
        job.searched = (self.searched.iter())
            .filter_map(|own| {
                Some(Form {
                    name: own.name.clone(),
                    machines: u16::try_from(own.machines).ok()?,
                    vm: own.vm.clone(),
                    speed: Speed::of_steps(own.steps(self.work_h).collect())?,
                })
            })
            .collect();
    }

    /// A job with this work. First comes the form of the fewest machine-hours that keeps the deadline without losses: policies that
    /// know of no forms take it.
    pub fn fill(&self, job: &Spanned<JobTable>) -> Spanned<JobTable> {
        let (mut table, at) = (job.get_ref().clone(), job.span());
        let place = table.work.as_ref().map_or(at.clone(), Spanned::span);
        if table.changeover_s.is_none() {
            table.changeover_s = Delay::new(self.start_up_s);
        }
        if self.changes_batch && table.reconfigure_s.is_none() {
            table.reconfigure_s = Delay::new(0.0);
        }
        let changeover_h = table.changeover_s.map_or(0.0, Delay::get) / SECONDS_PER_HOUR;
        let deadline_h =
            (table.deadline_h.as_ref()).map_or(f64::INFINITY, |own| own.get_ref().get());
        let mut forms: Vec<&TimedForm> = self.forms.iter().collect();
        let hours = |own: &TimedForm| f64::from(own.machines) * own.hours;
        let keeps = |own: &TimedForm| own.hours + changeover_h <= deadline_h;
        let first = (forms.iter().enumerate())
            .filter(|(_, own)| keeps(own))
            .min_by(|a, b| hours(a.1).total_cmp(&hours(b.1)));
        if let Some((place, _)) = first {
            forms[..=place].rotate_right(1);
        }
        let spanned = |form: &&TimedForm| {
            let step = |(from, speed)| {
                let from = ShareOf::new(from);
                let speed = Positive::new(speed);
                Spanned::new(place.clone(), StepTable { from, speed })
            };
            let steps: Vec<_> = form.steps(self.work_h).map(step).collect();
            let table = FormTable {
                name: Some(Spanned::new(place.clone(), form.name.clone())),
                machines: Machines::new(form.machines).map(|own| Spanned::new(place.clone(), own)),
                vm: form.vm.clone().map(|vm| Spanned::new(place.clone(), vm)),
                speed: None,
                steps: Some(Spanned::new(place.clone(), steps)),
            };
            Spanned::new(place.clone(), table)
        };
        table.form = Some(Spanned::new(
            place.clone(),
            forms.iter().map(spanned).collect(),
        ));
        table.work_h = Positive::new(self.work_h);
        Spanned::new(at, table)
    }
}

/// Forms of which no one with at most as many machines of its type is as fast on the whole way, ascending in machines; and the rest.
fn split_off_dominated(mut all: Vec<TimedForm>) -> (Vec<TimedForm>, Vec<TimedForm>) {
    all.sort_by(|a, b| {
        let machines = a.vm.cmp(&b.vm).then(a.machines.cmp(&b.machines));
        machines.then(a.hours.total_cmp(&b.hours))
    });
    let (mut forms, mut further): (Vec<TimedForm>, Vec<TimedForm>) = (Vec::new(), Vec::new());
    for own in all {
        let is_of_no_use = (forms.iter()).any(|form| form.vm == own.vm && form.is_as_fast_as(&own));
        if is_of_no_use {
            &mut further
        } else {
            &mut forms
        }
        .push(own);
    }
    further.sort_by_key(|own| own.at);
    (forms, further)
}

fn named_recipes(
    plan: &Arc<Plan>,
    scenario: &Scenario,
    strategies: &[String],
    reconsideration: Option<&Reconsideration>,
) -> Vec<NamedRecipe> {
    let mut named: Vec<NamedRecipe> = Vec::new();
    for (place, name) in strategies.iter().enumerate() {
        let program = scenario.settings.own.get(name);
        let once = SearchStrategy {
            plan: Arc::clone(plan),
            // The oracle is the first.
            contender: place + 1,
            reconsideration: None,
            program: program.map(|own| own.program().to_string()),
        };
        let again = reconsideration.map(|rule| SearchStrategy {
            reconsideration: Some(rule.clone()),
            ..once.clone()
        });
        named.push((name.clone(), Arc::new(once)));
        named.extend(again.map(|own| (format!("{name}-again"), Arc::new(own) as _)));
    }
    named
}

/// A key that says what the other scenario says.
pub fn excluded(job: &JobTable) -> Option<&'static str> {
    let given = [
        (job.work_h.is_some(), "job.work_h"),
        (job.machines.is_some(), "job.machines"),
        (job.form.is_some(), "job.form"),
    ];
    given
        .iter()
        .find(|(is_given, _)| *is_given)
        .map(|(_, key)| *key)
}
