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
    pub(super) zones: Vec<Arc<str>>,
    pub(super) sheets: Vec<Arc<str>>,
    /// The law's view of the nodes, one per GPU as kinds name it; none with a profile.
    pub(super) nodes: Vec<GpuNode>,
}

#[derive(Debug, Clone)]
pub(super) struct KnownGpu {
    pub(super) name: Arc<str>,
    /// GiB of the data sheet, if known.
    pub(super) memory_gib: Option<f64>,
    /// The GPU for the law of layers; none with a profile.
    pub(super) device: Option<Device>,
    /// Bytes per second to other GPUs of the node.
    pub(super) link_bytes_per_s: f64,
}
