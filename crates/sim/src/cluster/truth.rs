use scavsim_base::rng::{ConfigurationKey, WorkloadKey};
use scavsim_data::configuration::Configuration;
use scavsim_data::workload::{Pace, Provenance, Spread, Workload};

use super::Cluster;
use super::sizes::BuiltCluster;
use super::whole_steps::expected_steps;

/// The truth about one configuration: what an oracle knows.
#[derive(Debug, Clone)]
pub struct Truth {
    pub configuration: Configuration,
    pub key: ConfigurationKey,
    pub cluster: Cluster,
    /// Steps to the target without luck, n = e·D/B; not rounded.
    pub steps_to_target: f64,
    /// Expected seconds of a step, over all variation.
    pub expected_step_s: f64,
    pub pace: Option<Pace>,
    /// Normalised SGD noise γ/K at the target, where it is known.
    pub noise_normalised: Option<f64>,
    pub provenance: Provenance,
    pub spread: Spread,
}

impl Truth {
    pub(super) fn new(
        workload: &Workload,
        configuration: &Configuration,
        built: BuiltCluster,
    ) -> Truth {
        let BuiltCluster {
            cluster, replay, ..
        } = built;
        let steps = workload.steps_to_target(replay.epochs, configuration.batch);
        Truth {
            key: WorkloadKey::from_name(&workload.name).configuration(configuration.identity()),
            steps_to_target: steps * built.steps_factor,
            expected_step_s: cluster.whole.step_s,
            pace: replay.pace,
            noise_normalised: replay.noise_normalised,
            provenance: built.provenance,
            spread: replay.spread,
            configuration: configuration.clone(),
            cluster,
        }
    }

    /// VM types and how many of each it holds, parameter servers of its own included.
    pub fn vm_counts(&self) -> impl Iterator<Item = (u16, u32)> + Clone + '_ {
        self.cluster.vm_counts()
    }

    /// Expected seconds from the start to the target, without search, where training takes longer or shorter by `epoch_cv`.
    pub fn expected_time_s(&self, epoch_cv: f64) -> f64 {
        let of_update = self.cluster.whole.per_update;
        expected_steps(self.steps_to_target, epoch_cv, of_update) * self.expected_step_s
    }

    /// The share of all steps behind when the share `progress` of the way is done.
    pub fn steps_at(&self, progress: f64) -> f64 {
        (self.pace.as_ref()).map_or(progress, |pace| pace.steps_at(progress))
    }

    /// The progress after `steps` of all steps more than at `progress`.
    pub fn progress_after(&self, progress: f64, steps: f64) -> f64 {
        match &self.pace {
            None => progress + steps,
            Some(pace) => pace.progress_at(pace.steps_at(progress) + steps),
        }
    }
}
