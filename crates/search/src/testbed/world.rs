//! A simulated world as the truth of a search problem: what is expected of its configurations, and what they cost.

use super::simulated::SimulatedCluster;
use super::{Environment, Facts, JobTrial, Terms};
use scavsim_base::rng::Streams;
use scavsim_base::units::SimTime;
use scavsim_data::pricing::Tariff;
use scavsim_data::usage::Usage;
use scavsim_data::workload::{Pace, Spread};
use scavsim_sim::cluster::World;
use scavsim_sim::cluster::random_effects::{RandomEffectLaws, RandomEffects};
use scavsim_sim::job::Outlook;
use scavsim_sim::training::Fidelity;
use scavsim_sim::training::variation::Variation;

/// Most runs behind an expectation that has no closed form, or a share of misses.
const MOST_EXPECTATION_RUNS: u64 = 20_000;
/// Most worker-steps behind an expectation in `event`, in as many runs as [`EXPECTATION_EVENT_RUNS`] allows.
const EXPECTATION_WORKER_STEPS: f64 = 2e7;
const EXPECTATION_EVENT_RUNS: std::ops::RangeInclusive<u64> = 8..=200;

impl Environment for World {
    fn facts(&self) -> Facts<'_> {
        Facts::rents(&self.vms)
    }

    fn expected_time_s(&self, configuration: usize) -> Option<f64> {
        let known = self.truths.brief(configuration);
        let of_truth = || {
            let epoch_cv = self.variation.epoch_cv;
            self.truths[configuration].expected_time_s(epoch_cv)
        };
        Some(known.map_or_else(of_truth, |(brief, _)| brief.expected_time_s))
    }

    fn pace(&self, configuration: usize) -> Option<&Pace> {
        self.truths[configuration].pace.as_ref()
    }

    fn expects_by_runs(&self) -> bool {
        self.runs_are_training() || self.truths.may_change()
    }

    /// No VM is lost, and no formula tells what machines make of a step.
    fn runs_are_training(&self) -> bool {
        let truths = &self.truths;
        self.variation.vm_sigma > 0.0 && !truths.may_change() && !truths.are_told_by_formula()
    }

    fn may_lose(&self, configuration: usize) -> bool {
        self.truths[configuration].cluster.spot.is_some()
    }

    fn most_expectation_runs(&self, configuration: usize) -> u64 {
        let truth = &self.truths[configuration];
        // A pace that was measured is that of machines without luck.
        let by_luck = self.variation.vm_sigma > 0.0;
        let in_events = by_luck && truth.cluster.whole.pace.stationary().is_measured();
        if !in_events && truth.cluster.settle(Fidelity::Fast).0 == Fidelity::Fast {
            return MOST_EXPECTATION_RUNS;
        }
        let worker_steps = truth.steps_to_target * f64::from(truth.configuration.workers);
        let runs = EXPECTATION_WORKER_STEPS / worker_steps.max(1.0);
        (runs as u64).clamp(
            *EXPECTATION_EVENT_RUNS.start(),
            *EXPECTATION_EVENT_RUNS.end(),
        )
    }

    fn may_fail(&self) -> bool {
        false
    }

    fn is_constant(&self, configuration: usize) -> bool {
        // Only a search reads the noise.
        let seen = Variation {
            noise_cv: 0.0,
            noise_curve: false,
            ..self.variation.clone()
        };
        seen == Variation::default() && self.truths[configuration].cluster.is_static
    }

    fn is_quick(&self, configuration: usize, fidelity: Fidelity) -> bool {
        let cluster = &self.truths[configuration].cluster;
        cluster.is_static && cluster.settle(fidelity).0 == Fidelity::Fast
    }

    fn hopeless_s(&self, configuration: usize) -> Option<f64> {
        let truth = &self.truths[configuration];
        let laws = RandomEffectLaws::from_variation(&Variation::default());
        let luck = RandomEffects::draw(truth, &laws, &Streams::new(0), 0);
        Outlook::hopeless(&truth.cluster, &luck, luck.steps_to_target, SimTime::ZERO)
    }

    fn plan_usage(&self, configuration: usize, seconds: f64, usage: &mut Usage) {
        if let Some((brief, vm)) = self.truths.brief(configuration) {
            usage.set_whole(std::iter::once((vm, brief.vms)), brief.batch, seconds);
            return;
        }
        let truth = &self.truths[configuration];
        usage.set_whole(truth.vm_counts(), truth.configuration.batch, seconds);
    }

    fn plan_usd(&self, configuration: usize, seconds: f64, tariff: &Tariff, _: &mut Usage) -> f64 {
        if let Some((brief, vm)) = self.truths.brief(configuration) {
            let held = std::iter::once((vm, brief.vms));
            return tariff.run_usd(held, brief.batch, seconds);
        }
        let truth = &self.truths[configuration];
        tariff.run_usd(truth.vm_counts(), truth.configuration.batch, seconds)
    }

    fn provenance(&self, configuration: usize) -> &'static str {
        self.truths[configuration].provenance.name()
    }

    fn prediction_spread(&self, configuration: usize) -> Spread {
        self.truths[configuration].spread
    }

    fn pace_error(&self, configuration: usize) -> Option<f64> {
        let whole = &self.truths[configuration].cluster.whole;
        whole.pace.stationary().error()
    }

    fn simulated_in(
        &self,
        configuration: usize,
        fidelity: Fidelity,
    ) -> (&'static str, Option<&str>) {
        let (fidelity, why) = self.truths[configuration].cluster.settle(fidelity);
        (fidelity.name(), why)
    }

    fn open<'g>(&'g self, terms: &Terms) -> Box<dyn JobTrial + 'g> {
        Box::new(SimulatedCluster::new(self, terms))
    }
}
