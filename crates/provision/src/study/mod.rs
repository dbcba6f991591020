//! Policies on the same markets: tables of a scenario file with `[policy]` → lives. [`overlap`] counts independent lives,
//! [`paired_difference`](mod@paired_difference) compares costs.

pub mod check;
pub mod checking;
pub mod form;
mod forms;
pub mod job_work;
pub mod market;
pub mod overlap;
pub mod paired_difference;
pub mod run;
pub mod size;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use self::job_work::JobWork;
use self::market::StudyMarket;
use self::overlap::Sample;
use crate::job::Job;
pub use crate::policy::NamedRecipe;
use crate::world::World;
use crate::world::process::Process;

/// A study, checked.
#[derive(Debug, Clone)]
pub struct Study {
    pub market: StudyMarket,
    /// In the order of tables.
    pub policies: Vec<NamedRecipe>,
    /// One for each job and world.
    pub settings: Vec<Setting>,
}

/// One job on one world, from several starts.
#[derive(Debug, Clone)]
pub struct Setting {
    pub job: Job,
    pub world: World,
    pub lives: AvailabilitySource,
    pub ticks: usize,
    pub sample: Sample,
}

#[derive(Debug, Clone)]
pub enum AvailabilitySource {
    /// The traces, from some ticks on.
    Traces(Vec<usize>),
    /// Availability drawn from a process per zone, and the number of draws.
    Drawn(Vec<Process>, u64),
}

impl AvailabilitySource {
    pub fn count(&self) -> usize {
        match self {
            AvailabilitySource::Traces(starts) => starts.len(),
            AvailabilitySource::Drawn(_, replicas) => *replicas as usize,
        }
    }
}

impl Study {
    /// Policies that are programs, with their names.
    pub fn programs(&self) -> Vec<String> {
        let named = |(name, own): &NamedRecipe| {
            let program = own.program()?;
            Some(format!("`{name}`: {program}"))
        };
        self.policies.iter().filter_map(named).collect()
    }

    /// Ends the wait for programs when the flag is raised.
    pub fn stop_by(&mut self, flag: Option<Arc<AtomicBool>>) {
        for (_, recipe) in &mut self.policies {
            if let Some(stopped) = recipe.stopped_by(flag.clone()) {
                *recipe = stopped;
            }
        }
    }

    /// Adds the strategies that search the configurations of its work, with these.
    pub fn search(&mut self, work: &JobWork) {
        for setting in &mut self.settings {
            work.add_searched(&mut setting.job);
        }
        let new = (work.strategies.iter())
            .filter(|(name, _)| self.policies.iter().all(|(known, _)| known != name));
        let new: Vec<NamedRecipe> = new.cloned().collect();
        self.policies.extend(new);
    }

    /// World names, by their zones.
    pub fn world_names(&self) -> Vec<String> {
        self.market.worlds.iter().map(World::zone_names).collect()
    }

    /// Most lives of a policy in a setting.
    pub fn lives(&self) -> u64 {
        let counts = self.settings.iter().map(|one| one.lives.count() as u64);
        counts.max().unwrap_or(0)
    }
}

impl Setting {
    fn new(job: Job, world: &World, lives: AvailabilitySource, ticks: usize) -> Setting {
        Setting {
            sample: match &lives {
                AvailabilitySource::Traces(starts) => Sample::of_starts(starts, ticks),
                AvailabilitySource::Drawn(..) => Sample::of_draws(lives.count()),
            },
            job,
            world: world.clone(),
            lives,
            ticks,
        }
    }

    /// Zones and terms of the setting in words.
    pub fn description(&self) -> String {
        let job = &self.job;
        let forms: Vec<&str> = job.forms.iter().map(|form| form.name.as_str()).collect();
        let forms = match forms.len() {
            0 | 1 => String::new(),
            _ => format!(", as {}", forms.join(", ")),
        };
        format!(
            "{:.1} h of work in {:.1} h, changeover {:.0} s, in {}{forms}",
            job.work_s / 3600.0,
            job.deadline_s / 3600.0,
            job.changeover_s,
            self.world.zone_names(),
        )
    }
}
