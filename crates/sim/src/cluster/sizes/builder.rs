use crate::cluster::setup::Setup;
use crate::training::barrier_waits::BarrierWaits;
use crate::training::variation::Variation;
use scavsim_data::workload::{OutsideHull, Reach, Workload};

pub const MOST_SIZES: usize = 4096;

pub struct Builder<'a> {
    pub workload: &'a Workload,
    /// How far beyond its measurements it may be asked.
    pub reach: &'a Reach,
    pub variation: &'a Variation,
    /// The slowest of K workers, for worker counts known before.
    pub waits: &'a BarrierWaits,
    pub setup: &'a Setup,
}

/// What a workload does not know of a configuration's cluster.
#[derive(Debug, Clone)]
pub enum UnknownCluster {
    Itself(OutsideHull),
    /// A size that it may come to.
    Size(OutsideHull),
    /// Parameter servers take longer than the step that is to hold their service.
    Service {
        step_s: f64,
        service_s: f64,
    },
    /// The cluster has more than [`MOST_SIZES`] sizes.
    TooManySizes,
}
