//! The lives of a setting: all policies meet the same.

use std::ops::Range;

use rayon::prelude::*;

use super::{AvailabilitySource, Setting, Study};
use crate::clairvoyant::{Optimum, optimum};
use crate::policy::{Policy, Recipe};
use crate::policy_run::live;
use crate::policy_run::outcome::Outcome;
use crate::world::{Window, World, Zone};
use scavsim_base::rng::{Purpose, StrategyKey, Streams};

/// Seeds of lives are below, so that every language reads them exactly.
const SEEDS: usize = 1 << 31;

/// What all policies came to from one start, and what the clairvoyant did.
#[derive(Debug, Clone)]
pub struct StartOutcomes {
    /// Second of the start in the traces, or the number of the draw.
    pub start: f64,
    /// By policy.
    pub outcomes: Vec<Outcome>,
    /// The least cost for whoever knows what comes; `None` where there is no way to be done in time.
    pub optimum: Option<Optimum>,
}

/// Runs some of a setting's lives on all threads of the pool that it is called in; results are in the order of lives.
/// [`AvailabilitySource::blocks`] has all of them.
pub fn run(study: &Study, setting: &Setting, lives: Range<usize>) -> Vec<StartOutcomes> {
    let met = |life: usize| {
        in_life(study, setting, life, |window, start| {
            meet(study, setting, window, start, |_| true)
        })
    };
    lives.into_par_iter().filter_map(met).collect()
}

/// Runs one of all lives of a study to see how long it takes, without the programs of users. Ticks of the life under all
/// policies, and the clairvoyant; 0 where there is no such life.
pub fn rehearse_life(study: &Study, number: usize) -> usize {
    let mut life = number;
    for setting in &study.settings {
        let count = setting.lives.count();
        if life < count {
            in_life(study, setting, life, |window, start| {
                let shipped = |recipe: &dyn Recipe| recipe.program().is_none();
                meet(study, setting, window, start, shipped)
            });
            return setting.ticks * (study.policies.len() + 1);
        }
        life -= count;
    }
    0
}

/// What comes of the window of a setting's life, and of its start: its second in the traces, or the number of the draw. `None`
/// where there is no such life.
pub fn in_life<T>(
    study: &Study,
    setting: &Setting,
    life: usize,
    meet: impl FnOnce(Window<'_>, f64) -> T,
) -> Option<T> {
    match &setting.lives {
        AvailabilitySource::Traces(starts) => {
            let start = *starts.get(life)?;
            let window = setting.world.window(start, setting.ticks)?;
            Some(meet(window, start as f64 * setting.world.tick_s))
        }
        AvailabilitySource::Drawn(processes, replicas) => {
            let replica = u64::try_from(life).ok().filter(|one| one < replicas)?;
            let streams = Streams::new(study.seed);
            let zones = setting.world.zones.iter().zip(processes);
            let zones = zones.map(|(zone, process)| {
                // Prices go on from a start that the replica draws, and begin anew where they end.
                let prices = zone.spot_usd_per_h.iter().cycle();
                let shift = life * 7919 % zone.spot_usd_per_h.len();
                Zone {
                    name: zone.name.clone(),
                    region: zone.region.clone(),
                    vm: zone.vm.clone(),
                    on_demand_usd_per_h: zone.on_demand_usd_per_h,
                    offered: process.draw(&streams, &zone.name, replica, setting.ticks),
                    spot_usd_per_h: prices.skip(shift).take(setting.ticks).copied().collect(),
                }
            });
            let world = World {
                tick_s: setting.world.tick_s,
                zones: zones.collect(),
                moving: setting.world.moving.clone(),
            };
            let window = world.window(0, setting.ticks)?;
            Some(meet(window, replica as f64))
        }
    }
}

impl Study {
    /// A policy by its number, with the seed that it has in the life from this start; one that is told what comes gets the window.
    pub fn policy_in_life(&self, policy: usize, window: Window<'_>, start: f64) -> Box<dyn Policy> {
        let (name, recipe) = &self.policies[policy];
        recipe.knowing(window).unwrap_or_else(|| {
            let purpose = Purpose::Strategy(StrategyKey::from_name(name));
            let mut stream = Streams::new(self.seed).stream(start as u64, purpose);
            recipe.seeded(stream.below(SEEDS))
        })
    }
}

/// What the policies of some recipes come to.
fn meet(
    study: &Study,
    setting: &Setting,
    window: Window<'_>,
    start: f64,
    is_run: impl Fn(&dyn Recipe) -> bool,
) -> StartOutcomes {
    let run = (0..study.policies.len()).filter(|&policy| is_run(&*study.policies[policy].1));
    let lives = run.map(|policy| {
        let mut policy = study.policy_in_life(policy, window, start);
        live(window, &setting.job, &mut *policy)
    });
    StartOutcomes {
        start,
        outcomes: lives.collect(),
        optimum: optimum(window, &setting.job),
    }
}
