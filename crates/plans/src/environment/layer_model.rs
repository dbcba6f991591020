//! The model that planners go through all plans on: the world without its luck, compute scaled by the profile, with what
//! losses of VMs and times without enough of them are expected to add. Plans that cannot be better than a known one, in time
//! or VM-hours, are passed over by a bound, the compute of their slowest stage.

use std::collections::HashMap;

use super::cut::PlanEnvironment;
use crate::terms::PlanWithTerms;
use crate::{Choices, Terms, outlook};
use scavsim_search::search::{Forecast, LayerModel};

impl LayerModel for Choices {
    /// The first plan on each VM type by itself; of a type that is only in mixes none.
    fn profiled(&self) -> Vec<usize> {
        let mut seen: Vec<&str> = Vec::new();
        let mut all = Vec::new();
        for (at, way) in self.ways.iter().enumerate() {
            if let [(vm, _)] = way.nodes[..] {
                let name = &*self.types[usize::from(vm)].name;
                if !seen.contains(&name) {
                    seen.push(name);
                    all.push(at);
                }
            }
        }
        all
    }

    fn forecast(&self, passes_s: &[(usize, f64)], forecast: &mut Forecast) {
        predict(self, None, passes_s, forecast);
    }
}

impl LayerModel for PlanEnvironment {
    fn profiled(&self) -> Vec<usize> {
        self.choices.profiled()
    }

    fn forecast(&self, passes_s: &[(usize, f64)], forecast: &mut Forecast) {
        predict(&self.choices, Some(&self.terms), passes_s, forecast);
    }
}

/// Plans on terms, where these are known: how VMs are lost, how long pauses are; not when.
fn predict(
    choices: &Choices,
    terms: Option<&Terms>,
    passes_s: &[(usize, f64)],
    forecast: &mut Forecast,
) {
    // Compute over that of the shipped profile, by VM type.
    let mut scales: HashMap<&str, f64> = HashMap::new();
    for &(at, pass_s) in passes_s {
        let expected_s = choices.pass_s(at);
        if expected_s > 0.0 {
            let vm = choices.ways[at].nodes[0].0;
            scales.insert(&choices.types[usize::from(vm)].name, pass_s / expected_s);
        }
    }
    let mut fronts: HashMap<u32, PlanFront> = HashMap::new();
    for (at, way) in choices.ways.iter().enumerate() {
        let slowest = |scale: f64, (vm, _): &(u16, u32)| {
            let name = &*choices.types[usize::from(*vm)].name;
            scale.max(scales.get(name).copied().unwrap_or(0.0))
        };
        let scale = match way.nodes.iter().fold(0.0, slowest) {
            0.0 => 1.0,
            scale => scale,
        };
        let steps = way.steps.ceil();
        let vms = way.vms();
        let front = fronts.entry(way.draft.offer).or_default();
        if front.beats(steps * way.compute_s * scale, vms) {
            continue;
        }
        let computing_s = way.step_s - way.communication_s;
        let step_s = scale * computing_s + way.communication_s;
        let work_s = steps * step_s;
        let time_s = terms.map_or(work_s, |terms| {
            let on = PlanWithTerms {
                choices,
                way,
                at,
                terms,
            };
            outlook::through_losses(on, work_s, step_s)
        });
        forecast.predict(at, time_s);
        front.add(time_s, vms);
    }
}

/// Plans on VMs of the same types and terms of which no other is faster on as few.
#[derive(Debug, Default)]
struct PlanFront(Vec<(f64, u32)>);

impl PlanFront {
    /// Whether one is as fast as this, on as few VMs, and takes fewer VM-hours.
    fn beats(&self, least_s: f64, vms: u32) -> bool {
        self.0
            .iter()
            .any(|(time_s, own)| *own <= vms && *time_s <= least_s)
    }

    fn add(&mut self, time_s: f64, vms: u32) {
        if !self.beats(time_s, vms) {
            self.0
                .retain(|(other_s, own)| *own < vms || *other_s < time_s);
            self.0.push((time_s, vms));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_slower_on_as_many_vms_is_passed_over_and_nothing_else() {
        let mut front = PlanFront::default();
        front.add(100.0, 4);
        front.add(60.0, 8);
        assert!(front.beats(100.0, 4) && front.beats(60.0, 9) && front.beats(120.0, 5));
        assert!(!front.beats(99.0, 4) && !front.beats(59.0, 16) && !front.beats(130.0, 2));
        // One that beats others takes their place.
        front.add(50.0, 4);
        assert_eq!(front.0, [(50.0, 4)]);
    }
}
