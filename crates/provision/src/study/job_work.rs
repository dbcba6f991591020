//! The work of a job by another scenario: its configurations become the forms, each as fast as that scenario expects.

use std::collections::{BTreeMap, BTreeSet};

use toml::Spanned;

use super::form::{FormTable, JobTable};
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_data::usage::Usage;
use scavsim_experiment::scenario::Scenario;
use scavsim_experiment::{Plan, PlanError};
use scavsim_read::input::checked::{Delay, Machines, Positive};
use scavsim_search::search::ORACLE;

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
    /// Ascending in machines; each is faster than those before it on its VM type.
    forms: Vec<TimedForm>,
    /// Hash of the scenario.
    pub hash: String,
}

#[derive(Debug, Clone)]
struct TimedForm {
    name: String,
    machines: u32,
    /// `None` where all forms are on one type.
    vm: Option<String>,
    hours: f64,
}

impl JobWork {
    /// # Errors
    /// [`NoWork`]: why it can be none.
    pub fn of_scenario(scenario: &Scenario) -> Result<JobWork, NoWork> {
        let [setting] = &scenario.runs_in[..] else {
            return Err(NoWork::SeveralSettings);
        };
        if scenario.subject.lives().is_some() {
            return Err(NoWork::HasPolicies);
        }
        if setting.setup.spot.is_some() {
            return Err(NoWork::HasSpot);
        }
        let scenario = Scenario {
            strategies: vec![ORACLE.to_owned()],
            ..scenario.clone()
        };
        let plan = Plan::new(&scenario)?;
        if plan.arena_count() != 1 {
            let names = scenario.subject.names().join(", ");
            return Err(NoWork::SeveralJobs(names));
        }
        let problem = plan.arena(0).map_err(PlanError::clone)?;
        let start_up_s = scenario.start_up.seconds();
        let rented = problem.ground.facts().rented.unwrap_or_default();
        let mut fastest: BTreeMap<(String, u32), (f64, usize)> = BTreeMap::new();
        let mut usage = Usage::default();
        for (at, point) in problem.expected[0].iter().enumerate() {
            let seconds = point.time_s - start_up_s;
            if !seconds.is_finite() {
                continue;
            }
            problem.ground.plan_usage(at, seconds, &mut usage);
            let machines: u32 = usage.intervals.iter().map(|own| own.vms).sum();
            let vm = usage
                .intervals
                .first()
                .and_then(|own| rented.get(usize::from(own.vm)));
            let vm = vm.map_or(String::new(), |vm| vm.name.to_string());
            let best = fastest.entry((vm, machines)).or_insert((seconds, at));
            if seconds < best.0 {
                *best = (seconds, at);
            }
        }
        let types: BTreeSet<&String> = fastest.keys().map(|(vm, _)| vm).collect();
        let has_types = types.len() > 1;
        let mut forms: Vec<TimedForm> = Vec::new();
        for ((vm, machines), (seconds, at)) in fastest {
            let vm = has_types.then_some(vm);
            let hours = seconds / SECONDS_PER_HOUR;
            // More machines that are no faster are of no use.
            if !forms.iter().any(|own| own.vm == vm && own.hours <= hours) {
                let name = problem.space.name(at);
                forms.push(TimedForm {
                    name: name.replace([',', '"'], ""),
                    machines,
                    vm,
                    hours,
                });
            }
        }
        let slowest_h = forms.iter().map(|own| own.hours).fold(0.0, f64::max);
        if forms.is_empty() {
            return Err(NoWork::NeverDone);
        }
        Ok(JobWork {
            work_h: slowest_h,
            start_up_s,
            forms,
            hash: scenario.hash.clone(),
        })
    }

    /// A job with this work. First comes the form of the fewest machine-hours that keeps the deadline without losses: policies that
    /// know of no forms take it.
    pub fn fill(&self, job: &Spanned<JobTable>) -> Spanned<JobTable> {
        let (mut table, at) = (job.get_ref().clone(), job.span());
        let place = table.work.as_ref().map_or(at.clone(), Spanned::span);
        if table.changeover_s.is_none() {
            table.changeover_s = Delay::new(self.start_up_s);
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
            let table = FormTable {
                name: Some(Spanned::new(place.clone(), form.name.clone())),
                machines: Machines::new(form.machines).map(|own| Spanned::new(place.clone(), own)),
                vm: form.vm.clone().map(|vm| Spanned::new(place.clone(), vm)),
                speed: Positive::new(self.work_h / form.hours),
                steps: None,
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
