//! Gambles: configurations without measurements, or that measurements suggest are no better.

use super::decision::Decision;
use super::measurement_summary::NoGain;
use scavsim_data::configuration::Configuration;

/// Minimum probability of being better for an unmeasured machine to come first.
const OF_UNSEEN: f64 = 0.9;
/// Minimum probability for more VMs than were measured, if more of them did not help; from results/ladders.md.
const OF_FURTHER: f64 = 0.7;
/// Minimum probability for a batch whose epochs are assumed.
const OF_ASSUMED: f64 = 0.7;

/// Allowed configurations, the best in expectation first; a gamble comes first only if it is likely enough to be better.
/// Other promising gambles follow, to be measured before they are rented. More VMs where more did not help are left out
/// instead. `only_batch` is the only one with known epochs, if there is a single one.
pub fn surest_first(
    decision: &Decision<'_>,
    configurations: &[Configuration],
    no_gain: &[NoGain],
    only_batch: Option<u32>,
    is_unseen: impl Fn(&Configuration) -> bool,
) -> Vec<usize> {
    let is_further = |at: usize| {
        no_gain
            .iter()
            .any(|own| own.is_further(&configurations[at]))
    };
    let least_chance = |at: usize| match is_unseen(&configurations[at]) {
        true => OF_UNSEEN,
        false if is_further(at) => OF_FURTHER,
        false if only_batch.is_some_and(|only| configurations[at].batch != only) => OF_ASSUMED,
        false => 0.0,
    };
    let mut ranked = decision.ranked();
    let sound = ranked.iter().position(|at| least_chance(*at) == 0.0);
    if let Some(place) = sound
        && decision.chance_better(ranked[0], ranked[place]) < least_chance(ranked[0])
    {
        ranked[..=place].rotate_right(1);
    }
    let value = |at: usize| decision.value(&decision.mean(at));
    if let Some(first) = ranked.first().copied() {
        ranked.retain(|at| *at == first || !is_further(*at) || value(*at) >= value(first));
    }
    ranked
}
