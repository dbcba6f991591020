//! On which terms a job on a parallel plan runs.

use std::sync::Arc;

use crate::{Choices, Failures, FeasiblePlan, ReactionTerms};
use scavsim_base::rng::Stream;
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};
use scavsim_data::cloud::delays::CheckpointWrite;
use scavsim_sim::cluster::checkpoint::{Policy, between_losses_h};
use scavsim_sim::cluster::{Pause, RecoveryTerms, Spot};
use scavsim_sim::training::Variation;

#[derive(Debug, Clone, Default)]
pub struct Terms {
    pub spot: Option<Arc<Spot>>,
    /// Whether the trace by which they are lost is also how many GPUs there are.
    pub is_capacity: bool,
    /// From the first request of VMs until they run, where `spot` does not say.
    pub start_up: Pause,
    pub variation: Variation,
    /// GB of state per second that go to the storage of checkpoints and come from it; `None`: no time, or what `spot` says.
    pub checkpoint_gb_per_s: Option<f64>,
    /// How long each GPU takes to write its part of the state, and to load it, where nothing else tells.
    pub write_by_part: Option<CheckpointWrite>,
    pub failures: Option<Arc<Failures>>,
    pub reacting: ReactionTerms,
}

impl Terms {
    pub fn spot_of(&self, way: &FeasiblePlan) -> Option<&Spot> {
        self.spot.as_deref().filter(|_| way.on_spot)
    }

    pub fn start_up_of(&self, way: &FeasiblePlan) -> Pause {
        let on_spot = self.spot_of(way).and_then(|spot| spot.start_up);
        on_spot.unwrap_or(self.start_up)
    }

    /// Whether VMs of a plan may be lost or fail.
    pub fn has_losses(&self, way: &FeasiblePlan) -> bool {
        self.spot_of(way).is_some() || self.failures.is_some()
    }

    /// Seconds that the state of a plan takes to the storage or back, by its size.
    pub(crate) fn state_s(&self, way: &FeasiblePlan) -> Option<f64> {
        let of_part = |write: CheckpointWrite| {
            write.mean_s(way.state_bytes / 1e6 / f64::from(way.draft.gpus()))
        };
        let of_whole = |gb_per_s| way.state_bytes / 1e9 / gb_per_s;
        (self.checkpoint_gb_per_s.map(of_whole)).or(self.write_by_part.map(of_part))
    }

    /// How long a checkpoint takes to write; `stream` is asked for only where that varies.
    pub fn write(&self, way: &FeasiblePlan, stream: impl FnOnce() -> Stream) -> SimTime {
        match self.state_s(way) {
            Some(seconds) => SimTime::from_seconds(seconds),
            None => (self.upkeep(way)).map_or(SimTime::ZERO, |upkeep| upkeep.write.draw(stream)),
        }
    }

    pub(crate) fn mean_write_s(&self, way: &FeasiblePlan) -> f64 {
        let by_upkeep = || self.upkeep(way).map(|upkeep| upkeep.write.mean_s());
        self.state_s(way).or_else(by_upkeep).unwrap_or(0.0)
    }

    /// How long all take to go on from a checkpoint: from storage, or from what the nodes beside those that went keep.
    pub fn restart(
        &self,
        way: &FeasiblePlan,
        from_storage: bool,
        stream: impl FnOnce() -> Stream,
    ) -> SimTime {
        let warm = self.warm_restart(way);
        let link = self.reacting.costs.link_gb_per_s * 1e9;
        let state_s = if from_storage {
            self.state_s(way).unwrap_or(0.0)
        } else if link > 0.0 {
            way.state_bytes / f64::from(way.vms()) / link
        } else {
            0.0
        };
        let state = SimTime::from_seconds(state_s);
        state + warm.map_or(SimTime::ZERO, |pause| pause.draw(stream))
    }

    pub(crate) fn mean_restart_s(&self, way: &FeasiblePlan) -> f64 {
        let warm = self.warm_restart(way);
        self.state_s(way).unwrap_or(0.0) + warm.map_or(0.0, |pause| pause.mean_s())
    }

    /// Whether a run of the plan has any luck but that of its steps.
    pub fn has_luck(&self, way: &FeasiblePlan) -> bool {
        let fixed = |pause: &Pause| matches!(pause, Pause::Fixed(_));
        self.has_losses(way) || !fixed(&self.start_up_of(way))
    }

    pub fn steps_vary(&self) -> bool {
        let v = &self.variation;
        let spreads = [v.step_cv, v.placement_sigma, v.vm_sigma, v.epoch_cv];
        spreads.iter().any(|spread| *spread > 0.0) || v.drift.is_some() || v.straggler.is_some()
    }
}

#[derive(Debug, Clone, Copy)]
pub struct PlanWithTerms<'a> {
    pub choices: &'a Choices,
    pub way: &'a FeasiblePlan,
    pub at: usize,
    pub terms: &'a Terms,
}

impl<'a> PlanWithTerms<'a> {
    pub(crate) fn spot(&self) -> Option<&'a Spot> {
        self.terms.spot_of(self.way)
    }

    pub fn vms_of(&self, vm: u16) -> u32 {
        let found = self.way.nodes.iter().find(|(known, _)| *known == vm);
        found.map_or(0, |(_, count)| *count)
    }
}

impl Terms {
    /// What keeps a job on a plan going; `None` where nothing is ever lost.
    pub fn upkeep(&self, way: &FeasiblePlan) -> Option<&RecoveryTerms> {
        let of_fleet = self.failures.as_deref().map(|failures| &failures.upkeep);
        self.spot_of(way).map(|spot| &spot.recovery).or(of_fleet)
    }

    fn warm_restart(&self, way: &FeasiblePlan) -> Option<Pause> {
        self.upkeep(way)?.restart
    }

    /// Mean hours between losses and failures that stop a plan.
    pub fn between_losses_h(&self, way: &FeasiblePlan, gpus: u32) -> f64 {
        let by_market = self
            .spot_of(way)
            .map_or(0.0, |spot| 1.0 / between_losses_h(spot, way.vms()));
        let by_failure = (self.failures.as_ref()).map_or(0.0, |failures| {
            let vms = way.vms();
            // Of nodes of unlike sizes, the mean.
            f64::from(vms) * failures.of_node_h(gpus / vms.max(1))
        });
        1.0 / (by_market + by_failure)
    }

    pub fn checkpoints(&self, way: &FeasiblePlan, gpus: u32) -> Policy {
        let Some(upkeep) = self.upkeep(way) else {
            return Policy::None;
        };
        let write_h = self.mean_write_s(way) / SECONDS_PER_HOUR;
        let mean_h = || self.between_losses_h(way, gpus);
        // Plans have no ages that would decide.
        (upkeep.checkpoints.at_rate(write_h, mean_h)).unwrap_or(Policy::None)
    }
}
