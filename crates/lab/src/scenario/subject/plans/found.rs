//! Nodes that a scenario rents, and the GPUs in them.

use std::sync::Arc;

use scavsim_sim::parallel::NodeKind;
use scavsim_sim::parallel::law::GpuNode;
use scavsim_sim::parallel::law::kernels::Device;
use scavsim_sim::plans::Offer;

#[derive(Debug, Default)]
pub(super) struct FoundNodes {
    pub(super) kinds: Vec<NodeKind>,
    pub(super) offers: Vec<Offer>,
    /// Names of the zones, where any is said.
    pub(super) zones: Vec<Arc<str>>,
    /// GPUs of the kinds by their data sheets.
    pub(super) sheets: Vec<Arc<str>>,
    /// What the law knows of the nodes, one for each GPU as kinds call it; none with a profile.
    pub(super) nodes: Vec<GpuNode>,
}

#[derive(Debug, Clone)]
pub(super) struct KnownGpu {
    pub(super) name: Arc<str>,
    /// GiB, where a data sheet says so.
    pub(super) memory_gib: Option<f64>,
    /// The GPU for the law of layers; none with a profile.
    pub(super) device: Option<Device>,
    /// Bytes per second to others of its node.
    pub(super) link_bytes_per_s: f64,
}
