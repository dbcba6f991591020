//! Policies beside each other on the same markets: tables of a scenario file with `[policy]` → lives.
//!
//! - [`form`]: what these tables say; [`check`]: names, lengths and deadlines, with every mistake at once.
//! - [`run`]: a life; [`size`]: how much there is to run.
//! - [`overlap`]: how many lives are independent; [`paired_difference`](mod@paired_difference):
//!   what one policy costs more than another.

pub mod check;
pub mod checking;
pub mod form;
mod forms;
pub mod market;
pub mod overlap;
pub mod paired_difference;
pub mod run;
pub mod size;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use self::market::StudyMarket;
use self::overlap::Sample;
use crate::job::Job;
use crate::policy::Recipe;
use crate::world::World;
use crate::world::process::Process;

/// A policy by its name.
pub type NamedRecipe = (String, Arc<dyn Recipe>);

/// A study, checked.
#[derive(Debug, Clone)]
pub struct Study {
    /// Where all of it is.
    pub market: StudyMarket,
    /// Policies by name, in the order of tables.
    pub policies: Vec<NamedRecipe>,
    /// Of each job one for each world.
    pub settings: Vec<Setting>,
}

/// One job on one world, from several starts.
#[derive(Debug, Clone)]
pub struct Setting {
    /// What is done.
    pub job: Job,
    /// Where.
    pub world: World,
    /// Where lives begin, and what they meet.
    pub lives: AvailabilitySource,
    /// Ticks that a life may take.
    pub ticks: usize,
    /// What its lives are as a sample.
    pub sample: Sample,
}

/// What the lives of a setting meet.
#[derive(Debug, Clone)]
pub enum AvailabilitySource {
    /// The traces, from some ticks on.
    Traces(Vec<usize>),
    /// Availability drawn from a process per zone, so many times.
    Drawn(Vec<Process>, u64),
}

impl AvailabilitySource {
    /// How many lives each policy has.
    pub fn count(&self) -> usize {
        match self {
            AvailabilitySource::Traces(starts) => starts.len(),
            AvailabilitySource::Drawn(_, replicas) => *replicas as usize,
        }
    }
}

impl Study {
    /// Programs that its policies are, each with its name.
    pub fn programs(&self) -> Vec<String> {
        let named = |(name, own): &NamedRecipe| {
            let program = own.program()?;
            Some(format!("`{name}`: {program}"))
        };
        self.policies.iter().filter_map(named).collect()
    }

    /// Why nothing is expected of a policy any more: ten of its lives failed in the same way.
    pub fn hopeless(&self) -> Option<String> {
        self.policies.iter().find_map(|(name, recipe)| {
            let why = recipe.hopeless()?;
            Some(format!(
                "policy `{name}`: ten lives failed in the same way: {why}"
            ))
        })
    }

    /// Ends the wait for policies that are programs when the flag is raised.
    pub fn stop_by(&mut self, flag: Option<Arc<AtomicBool>>) {
        for (_, recipe) in &mut self.policies {
            if let Some(stopped) = recipe.stopped_by(flag.clone()) {
                *recipe = stopped;
            }
        }
    }

    /// Names of the worlds, by their zones.
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
            sample: Sample::of_lives(&lives, ticks),
            job,
            world: world.clone(),
            lives,
            ticks,
        }
    }

    /// Zones of the setting, and what it asks for, in words.
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
