//! The lives of a setting: all policies meet the same.

use super::{AvailabilitySource, Setting, Study};
use crate::clairvoyant::{Optimum, optimum, watch_optimum};
use crate::policy::Policy;
use crate::policy_run::outcome::Outcome;
use crate::policy_run::timeline::Timeline;
use crate::policy_run::{live, watch};
use crate::world::{Window, World, Zone};
use scavsim_base::rng::{Purpose, StrategyKey, Streams};
use scavsim_data::pricing::{Policy as Pricing, Tariff};

/// Bound of seeds, so that every language reads them exactly.
const SEEDS: usize = 1 << 31;

/// Outcomes of all policies and the clairvoyant from one start.
#[derive(Debug, Clone)]
pub struct StartOutcomes {
    /// Second of the start in the traces, or number of the draw.
    pub start: f64,
    pub outcomes: Vec<Outcome>,
    /// The clairvoyant's; `None` where the work cannot be done in time.
    pub optimum: Option<Optimum>,
    /// What each pricing policy bills by; `None` where that is the market's price and nothing else.
    pub tariffs: Vec<Option<Tariff>>,
}

impl Study {
    /// Runs all policies and the clairvoyant in a life of a setting, if it exists.
    pub fn live(
        &self,
        setting: usize,
        life: usize,
        pricings: &[Pricing],
        seed: u64,
    ) -> Option<StartOutcomes> {
        let setting = self.settings.get(setting)?;
        setting.in_life(life, seed, |window, start| {
            let lives = (0..self.policies.len()).map(|policy| {
                let mut policy = self.policy_in_life(policy, window, start, seed);
                live(window, &setting.job, &mut *policy)
            });
            StartOutcomes {
                start,
                outcomes: lives.collect(),
                optimum: optimum(window, &setting.job),
                tariffs: (pricings.iter())
                    .map(|own| (!own.is_plain_market()).then(|| window.tariff(own)))
                    .collect(),
            }
        })
    }

    /// Timeline of a policy in a life, if it exists; after the last policy, of the clairvoyant.
    pub fn watch(
        &self,
        setting: usize,
        life: usize,
        policy: usize,
        seed: u64,
    ) -> Option<(Outcome, Timeline)> {
        let setting = self.settings.get(setting)?;
        let watched = setting.in_life(life, seed, |window, start| {
            if policy >= self.policies.len() {
                return watch_optimum(window, &setting.job);
            }
            let mut policy = self.policy_in_life(policy, window, start, seed);
            Some(watch(window, &setting.job, &mut *policy))
        });
        watched.flatten()
    }

    /// A policy by number, with its seed for the life from this start; one that knows what comes gets the window.
    pub fn policy_in_life(
        &self,
        policy: usize,
        window: Window<'_>,
        start: f64,
        seed: u64,
    ) -> Box<dyn Policy> {
        let (name, recipe) = &self.policies[policy];
        recipe.knowing(window).unwrap_or_else(|| {
            let purpose = Purpose::Strategy(StrategyKey::from_name(name));
            let mut stream = Streams::new(seed).stream(start as u64, purpose);
            recipe.seeded(stream.below(SEEDS))
        })
    }
}

impl Setting {
    /// Calls `f` with the window of a life and its start: second in the traces, or number of the draw. `None` without such a life.
    pub fn in_life<T>(
        &self,
        life: usize,
        seed: u64,
        meet: impl FnOnce(Window<'_>, f64) -> T,
    ) -> Option<T> {
        match &self.lives {
            AvailabilitySource::Traces(starts) => {
                let start = *starts.get(life)?;
                let window = self.world.window(start, self.ticks)?;
                Some(meet(window, start as f64 * self.world.tick_s))
            }
            AvailabilitySource::Drawn(processes, replicas) => {
                let replica = u64::try_from(life).ok().filter(|one| one < replicas)?;
                let streams = Streams::new(seed);
                let zones = self.world.zones.iter().zip(processes);
                let zones = zones.map(|(zone, process)| {
                    // Prices go on from a start that the replica draws, and begin anew where they end.
                    let prices = zone.spot_usd_per_h.iter().cycle();
                    let shift = life * 7919 % zone.spot_usd_per_h.len();
                    Zone {
                        name: zone.name.clone(),
                        region: zone.region.clone(),
                        vm: zone.vm.clone(),
                        on_demand_usd_per_h: zone.on_demand_usd_per_h,
                        offered: process.draw(&streams, &zone.name, replica, self.ticks),
                        spot_usd_per_h: prices.skip(shift).take(self.ticks).copied().collect(),
                    }
                });
                let world = World {
                    tick_s: self.world.tick_s,
                    zones: zones.collect(),
                    moving: self.world.moving.clone(),
                };
                let window = world.window(0, self.ticks)?;
                Some(meet(window, replica as f64))
            }
        }
    }
}
