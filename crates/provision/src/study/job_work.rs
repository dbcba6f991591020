//! The work of a job by another scenario: its configurations become the forms, each as fast as that scenario expects.

use std::collections::BTreeMap;

use toml::Spanned;

use super::form::{FormTable, JobTable};
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_data::usage::Usage;
use scavsim_experiment::Plan;
use scavsim_experiment::scenario::Scenario;
use scavsim_read::input::checked::{Delay, Machines, Positive};
use scavsim_search::search::ORACLE;

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
    /// Why it can be none, in words.
    pub fn of_scenario(scenario: &Scenario) -> Result<JobWork, String> {
        let [setting] = &scenario.runs_in[..] else {
            return Err("it has several settings; `-s` or a file of its own gives one".to_owned());
        };
        if scenario.subject.lives().is_some() {
            return Err("it has policies of its own".to_owned());
        }
        if setting.setup.spot.is_some() {
            return Err("it has `[spot]`; here the market takes machines away".to_owned());
        }
        let scenario = Scenario {
            strategies: vec![ORACLE.to_owned()],
            ..scenario.clone()
        };
        let plan = Plan::new(&scenario).map_err(|why| why.to_string())?;
        if plan.arena_count() != 1 {
            let names = scenario.subject.names().join(", ");
            return Err(format!("it has several jobs: {names}; name one"));
        }
        let problem = plan.arena(0).map_err(ToString::to_string)?;
        let start_up_s = scenario.start_up.seconds();
        let rented = problem.ground.facts().rented.unwrap_or_default();
        let mut fastest: BTreeMap<(String, u32), (f64, usize)> = BTreeMap::new();
        let mut usage = Usage::default();
        for (at, point) in problem.expected[0].iter().enumerate() {
            let seconds = point.time_s - start_up_s;
            problem.ground.plan_usage(at, seconds, &mut usage);
            let machines: u32 = usage.intervals.iter().map(|own| own.vms).sum();
            let vm = usage
                .intervals
                .first()
                .and_then(|own| rented.get(usize::from(own.vm)));
            let vm = vm.map_or(String::new(), |vm| vm.name.to_string());
            if !seconds.is_finite() || machines == 0 {
                continue;
            }
            let best = fastest.entry((vm, machines)).or_insert((seconds, at));
            if seconds < best.0 {
                *best = (seconds, at);
            }
        }
        let has_types = fastest
            .keys()
            .any(|(vm, _)| *vm != fastest.keys().next().expect("one is there").0);
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
            return Err("no configuration of it reaches its target".to_owned());
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
