//! From a configuration of a workload to its cluster.

pub mod builder;
mod frame;
mod size;

pub use builder::{Builder, MOST_SIZES, UnknownCluster};
use frame::{Frame, Vms};
use size::SizeConditions;

use super::checkpoint::Policy;
use super::checkpoint::choice::policy;
use super::groups::{Cluster, Size, vms_at};
use super::terms::OnLoss;
use scavsim_data::configuration::Configuration;
use scavsim_data::usage::RentedVms;
use scavsim_data::workload::{OutsideHull, Provenance, Replay};

pub struct BuiltCluster {
    pub cluster: Cluster,
    /// What the workload says about the configuration, on the VMs of the first group.
    pub replay: Replay,
    /// Factor on the steps to the target: what staleness costs.
    pub steps_factor: f64,
    pub provenance: Provenance,
}

impl Builder<'_> {
    /// Builds the cluster of `configuration` and adds its VM types to `vms`; [`OutsideHull`] for the first unknown size.
    pub fn build(
        &self,
        configuration: &Configuration,
        vms: &mut RentedVms,
    ) -> Result<BuiltCluster, OutsideHull> {
        let frame = self.frame(configuration, vms);
        let protocol = frame.protocol;
        let (whole, replay) = self.size(
            configuration,
            &frame,
            frame.all_vms(),
            &mut SizeConditions::first(),
        )?;
        let valid = protocol.check_fast(&whole.size.stepping, u64::MAX);
        let nominal = whole.steps * whole.factor;
        let mut cluster = Cluster {
            protocol,
            is_static: !self.setup.is_live(&configuration.vm),
            groups: frame.groups.clone(),
            spot: frame.spot.clone(),
            elastic: self.setup.elastic.clone(),
            policy: Policy::None,
            restart_s: self.workload.constants.restore_s.value,
            not_in_fast: valid.err().map(|why| why.to_string()),
            whole: whole.size,
            sizes: Vec::new(),
            usual: 0,
            levels: (frame.kind.as_ref()).map_or_else(Vec::new, |k| {
                k.levels.iter().map(|level| level.from).collect()
            }),
            stride: 1,
        };
        if cluster.changes_size() || !cluster.levels.is_empty() {
            cluster.usual = cluster.place(|group| cluster.groups[group].vms);
            if cluster.changes_size() {
                cluster.stride = frame.count_of_sizes().unwrap_or(0);
            }
            cluster.sizes = self.sizes(configuration, &frame, &cluster, nominal)?;
        }
        cluster.policy = policy(&cluster, nominal * cluster.whole.step_s);
        Ok(BuiltCluster {
            cluster,
            replay,
            steps_factor: whole.factor,
            provenance: whole.provenance,
        })
    }

    /// The step process at every size and level but the usual one, over `nominal` steps; empty where there are too many.
    fn sizes(
        &self,
        configuration: &Configuration,
        frame: &Frame,
        cluster: &Cluster,
        nominal: f64,
    ) -> Result<Vec<Option<Size>>, OutsideHull> {
        let count = cluster.stride;
        let mut sizes = vec![None; count * frame.levels()];
        for place in 0..count {
            let vms = if place == cluster.usual {
                Some(frame.all_vms())
            } else {
                self.possible(frame, place)
            };
            let Some(vms) = vms else { continue };
            let mut at = SizeConditions::first();
            for level in 0..frame.levels() {
                // The first of the usual size is the configuration itself; what follows begins with its batches.
                if place == cluster.usual && frame.levels() == 1 {
                    continue;
                }
                at.level = level;
                let (made, _) = self.size(configuration, frame, vms, &mut at)?;
                if place != cluster.usual || level > 0 {
                    sizes[level * count + place] = Some(made.relative_to(nominal));
                }
            }
        }
        Ok(sizes)
    }

    /// Sizes that the cluster of `configuration` may have, besides its own; `None` where there are too many.
    pub fn count_of_sizes(&self, configuration: &Configuration) -> Option<usize> {
        let frame = self.frame(configuration, &mut RentedVms::default());
        if self.changes_size() {
            frame.count_of_sizes()
        } else {
            Some(0)
        }
    }

    /// What keeps [`build`](Self::build) from building the cluster: found by the same steps, without slow ones that cannot
    /// fail.
    pub fn missing(&self, configuration: &Configuration) -> Option<UnknownCluster> {
        let frame = self.frame(configuration, &mut RentedVms::default());
        let kind = self.setup.kinds.get(&configuration.vm);
        let is_balanced = kind.is_some_and(|k| k.batching.is_some());
        let known = |vms: Vms| {
            if is_balanced {
                (0..frame.levels())
                    .try_fold(SizeConditions::first(), |mut at, level| {
                        at.level = level;
                        self.size(configuration, &frame, vms, &mut at).map(|_| at)
                    })
                    .map(drop)
            } else {
                self.found(configuration, &frame, vms, 0).map(drop)
            }
        };
        if let Err(outside) = known(frame.all_vms()) {
            return Some(UnknownCluster::Itself(outside));
        }
        let too_short = |vms: Vms| self.without_compute(configuration, &frame, vms);
        if let Some(missing) = too_short(frame.all_vms()) {
            return Some(missing);
        }
        let loses = (frame.spot.as_ref()).is_some_and(|s| s.on_loss != OnLoss::Wait);
        if !loses && self.setup.elastic.is_none() {
            return None;
        }
        let Some(count) = frame.count_of_sizes() else {
            return Some(UnknownCluster::TooManySizes);
        };
        let mut sizes = (0..count).filter_map(|place| self.possible(&frame, place));
        sizes.find_map(|vms| {
            known(vms)
                .err()
                .map(UnknownCluster::Size)
                .or_else(|| too_short(vms))
        })
    }

    /// VMs of each group at a place of the sizes, if the cluster may come to it and train.
    fn possible(&self, frame: &Frame, place: usize) -> Option<Vms> {
        let vms = vms_at(&frame.groups, place);
        let all = frame.groups.iter().zip(vms).filter(|(g, _)| !g.is_server);
        let workers: u32 = all.clone().map(|(g, vms)| g.workers * vms).sum();
        let is_reached = match (&frame.spot, &self.setup.elastic) {
            (Some(spot), _) => workers >= spot.fewest_workers.max(1),
            // Nobody is lost: only the first group changes, between the two sizes that the price asks for.
            (None, Some(elastic)) => all.enumerate().all(|(index, (g, vms))| match index {
                0 => vms >= elastic.fewest_vms.min(g.vms),
                _ => vms == g.vms,
            }),
            (None, None) => false,
        };
        (is_reached && frame.protocol.check(workers).is_ok()).then_some(vms)
    }

    fn changes_size(&self) -> bool {
        let spot = self.setup.spot.as_ref();
        spot.is_some_and(|s| s.on_loss != OnLoss::Wait) || self.setup.elastic.is_some()
    }
}
