//! Configurations that are gambles, as what was measured speaks against them or says nothing of their kind.

use super::decision::Decision;
use super::measurement_summary::{NoGain, no_gain};
use scavsim_data::configuration::Configuration;
use scavsim_data::workload::Workload;

/// Least chance to be better with which a machine is taken that was not measured, before what is no gamble.
const OF_UNSEEN: f64 = 0.9;
/// Likewise of more VMs than were measured where more of them did not help. The least mean regret by time in results/ladders.md
/// among 0.6, 0.7, 0.8 and 0.9.
const OF_FURTHER: f64 = 0.7;

/// What the measurements of a workload make a gamble.
pub struct Gambles {
    pub(super) no_gain: Vec<NoGain>,
}

impl Gambles {
    pub fn new(workload: &Workload) -> Gambles {
        Gambles {
            no_gain: no_gain(workload),
        }
    }

    /// Whether a configuration has more VMs than were measured where more of them did not help.
    fn is_further(&self, c: &Configuration) -> bool {
        self.no_gain.iter().any(|known| known.is_further(c))
    }

    /// What is allowed, the best in expectation first; but what is first is no gamble, unless that is likely enough to be better.
    /// Other gambles that are expected to be better follow it, to be measured before they are rented, except for more VMs where
    /// more did not help: those are left out.
    pub fn surest_first(
        &self,
        decision: &Decision<'_>,
        configurations: &[Configuration],
        is_unseen: impl Fn(&Configuration) -> bool,
    ) -> Vec<usize> {
        let mut ranked = decision.ranked();
        let least_chance = |at: usize| {
            let c = &configurations[at];
            match is_unseen(c) {
                true => OF_UNSEEN,
                false if self.is_further(c) => OF_FURTHER,
                false => 0.0,
            }
        };
        if let Some(place) = ranked.iter().position(|at| least_chance(*at) == 0.0)
            && decision.chance_better(ranked[0], ranked[place]) < least_chance(ranked[0])
        {
            ranked[..=place].rotate_right(1);
        }
        let value = |at: usize| decision.value(&decision.mean(at));
        if let Some(first) = ranked.first().copied() {
            ranked.retain(|at| {
                let is_further = self.is_further(&configurations[*at]);
                *at == first || !is_further || value(*at) >= value(first)
            });
        }
        ranked
    }
}
