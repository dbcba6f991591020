//! A job on parallel plans as a testbed: a plan is held, trained for a while, and left for another.

mod cut;
mod layer_model;
mod on_plans;

pub use cut::PlanEnvironment;

use crate::Choices;
use scavsim_base::units::SimTime;
use scavsim_data::usage::{RentedVm, Usage};
use scavsim_data::workload::Spread;
use scavsim_search::search::{LayerModel, WorkloadFacts};
use scavsim_search::testbed::{Environment, Facts, JobTrial, PlanMetrics, Terms};
use scavsim_sim::training::Fidelity;

/// Most runs that tell what is expected.
const MOST_EXPECTATION_RUNS: u64 = 4_000;

/// Steps of a probe, where the strategy's settings do not say.
const PROBE_STEPS: u64 = 10;

/// What is known of a model that is cut over GPUs before a search: an epoch is all that it trains on with a small batch.
pub fn workload_facts(plans: &Choices) -> WorkloadFacts {
    WorkloadFacts {
        samples_per_epoch: Some(plans.target.sequences),
        stated_epochs: Some(1.0),
        noise_scale: plans.target.noise_scale,
        parameters: Some(plans.forms[0].profile.parameters as f64),
        probe_steps: PROBE_STEPS,
        ..WorkloadFacts::default()
    }
}

impl Environment for PlanEnvironment {
    fn facts(&self) -> Facts<'_> {
        Facts::rents(&self.choices.types)
    }

    fn plan_metrics(&self, configuration: usize) -> Option<PlanMetrics> {
        Some(self.choices.figures(configuration))
    }

    fn layer_model(&self) -> Option<&dyn LayerModel> {
        Some(self)
    }

    fn expected_time_s(&self, configuration: usize) -> Option<f64> {
        let way = &self.choices.ways[configuration];
        let seconds = way.calm_s() * self.step_spread(configuration).expected;
        (seconds.is_finite() && seconds < SimTime::LAST.seconds()).then_some(seconds)
    }

    fn expects_by_runs(&self) -> bool {
        (self.choices.ways.iter()).any(|way| self.terms.has_luck(way))
    }

    fn may_lose(&self, configuration: usize) -> bool {
        self.terms.has_losses(&self.choices.ways[configuration])
    }

    fn most_expectation_runs(&self, configuration: usize) -> u64 {
        let way = &self.choices.ways[configuration];
        if self.terms.has_luck(way) || self.terms.steps_vary() {
            MOST_EXPECTATION_RUNS
        } else {
            1
        }
    }

    fn plan_usage(&self, configuration: usize, seconds: f64, usage: &mut Usage) {
        let way = &self.choices.ways[configuration];
        usage.set_whole(way.nodes.iter().copied(), way.draft.batch, seconds);
    }

    fn provenance(&self, configuration: usize) -> &'static str {
        if self.choices.is_interpolated(configuration) {
            "interpolated"
        } else {
            "modelled"
        }
    }

    fn prediction_spread(&self, configuration: usize) -> Spread {
        Spread {
            step: self.choices.log_sd(configuration),
            epochs: None,
        }
    }

    fn held_vms(&self, configuration: usize) -> Vec<(RentedVm, u32)> {
        let nodes = self.choices.ways[configuration].nodes.iter();
        let rented = |vm: u16| self.choices.types[usize::from(vm)].clone();
        nodes.map(|(vm, vms)| (rented(*vm), *vms)).collect()
    }

    fn simulated_in(&self, _: usize, fidelity: Fidelity) -> (&'static str, Option<&str>) {
        (fidelity.name(), None)
    }

    fn open<'g>(&'g self, terms: &Terms) -> Box<dyn JobTrial + 'g> {
        Box::new(on_plans::open(self, terms))
    }
}

#[cfg(test)]
mod tests;
