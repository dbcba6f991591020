//! The law of a layer: the cost of the layers of an architecture on a GPU without a profile. Returns a layer profile and
//! links, like a profiler. FLOPs, bytes, passes over memory and all-reduces are counted; the constants are in [`constants`],
//! with their uncertainty.

pub mod bytes;
pub mod constants;
mod counts;
pub mod fit;
pub mod kernels;
pub mod layer;
pub mod run;
pub mod shape;
#[cfg(test)]
pub(crate) mod tests;
mod tuning;

use std::sync::Arc;

use crate::architecture::Architecture;
use crate::links::{Links, UniformLink};
use crate::profile::{LayerProfile, MadeProfile, Times, Weights};
use crate::runtime::Runtime;
use crate::{ReplicaSharing, Scope};
use bytes::BytesOf;
use constants::{Constant, Constants};
use kernels::{Device, Kernels};
use layer::LayerSeconds;
use shape::Shape;

#[derive(Debug, Clone, PartialEq)]
pub struct GpuNode {
    pub gpu: Arc<str>,
    pub device: Device,
    pub gpus: u32,
    /// Bytes per second from a GPU to others of its node, one way.
    pub link_bytes_per_s: f64,
    /// Bytes per second from a node to others; `None` if there is no other.
    pub network_bytes_per_s: Option<f64>,
}

/// Gbit/s of a node's network per GPU above which each has an adapter of its own.
const OWN_ADAPTER_BYTES_PER_S: f64 = 12.5e9;

/// The inputs of the times of an architecture's layers.
#[derive(Debug, Clone, Copy)]
pub struct LayerLaw<'a> {
    pub model: &'a Architecture,
    pub sequence: u32,
    pub sharing: ReplicaSharing,
    pub runtime: &'a Runtime,
    pub constants: &'a Constants,
}

impl LayerLaw<'_> {
    /// Seconds of a ring over `gpus` GPUs of a node in which each passes `bytes` on twice: to reduce, and to gather;
    /// including the coding of compressed messages.
    fn all_reduce_s(&self, node: &GpuNode, gpus: u32, bytes: f64) -> f64 {
        if gpus < 2 {
            return 0.0;
        }
        let own = f64::from(gpus);
        let (sent, coding_s) = self.runtime.coded(bytes);
        let bandwidth = node.link_bytes_per_s * self.constants.value_of(Constant::Link);
        let link_s = self.constants.value_of(Constant::LinkS);
        2.0 * (own - 1.0) / own * sent / bandwidth + link_s + coding_s
    }

    /// Seconds of every layer, embedding first and head last, on one of `tensor` GPUs.
    pub fn seconds(&self, node: &GpuNode, tensor: u32, micro_batch: u32) -> Vec<LayerSeconds> {
        let kernels = Kernels::new(node.device, self.constants);
        let tokens = f64::from(self.sequence) / f64::from(self.sharing.context);
        let values = f64::from(micro_batch) * tokens * f64::from(self.model.hidden);
        let shape = Shape {
            micro_batch: f64::from(micro_batch),
            sequence: f64::from(self.sequence),
            tensor,
            sharing: self.sharing,
            all_reduce_s: self.all_reduce_s(node, tensor, values * node.device.value_bytes),
        };
        let (model, method) = (self.model, self.runtime.training);
        self.layers(
            layer::embedding(model, method, &kernels, shape),
            |number| layer::block(model, number, self.runtime, &kernels, shape),
            layer::head(model, method, &kernels, shape),
        )
    }

    /// A value of every layer; blocks with experts share one, as do those without, and trained ones.
    fn layers<T: Copy>(&self, embedding: T, block: impl Fn(u32) -> T, head: T) -> Vec<T> {
        let experts = self.model.experts.as_ref();
        let dense = experts.map_or(0, |experts| experts.dense_layers);
        let trains = |number| self.runtime.training.trains_block(number);
        let mut known: [Option<T>; 4] = [None; 4];
        let mut all = Vec::with_capacity(self.model.layers as usize + 2);
        all.push(embedding);
        all.extend((0..self.model.layers).map(|number| {
            let kind = usize::from(number >= dense) + 2 * usize::from(trains(number));
            *known[kind].get_or_insert_with(|| block(number))
        }));
        all.push(head);
        all
    }

    fn weights(&self, tensor: u32, value_bytes: f64, input_bytes: f64) -> Weights {
        let of = BytesOf {
            sequence: f64::from(self.sequence),
            tensor,
            sharing: self.sharing,
            value_bytes,
            input_bytes,
        };
        let (model, method) = (self.model, self.runtime.training);
        let layers = self.layers(
            bytes::embedding(model, method, of),
            |number| bytes::block(model, number, self.runtime, of),
            bytes::head(model, method, of),
        );
        Weights::made(tensor, &layers)
    }

    pub fn profile(
        &self,
        nodes: &[GpuNode],
        tensors: &[u32],
        micro_batches: &[u32],
    ) -> LayerProfile {
        let first = nodes.first().map(|node| node.device);
        let value_bytes = first.map_or(2.0, |device| device.value_bytes);
        let casts = first.is_some_and(|device| device.casts());
        let input_bytes = if casts { 1.0 } else { value_bytes };
        let gpus = nodes.iter().map(|node| {
            let pairs = (tensors.iter())
                .filter(|tensor| **tensor <= node.gpus)
                .flat_map(|tensor| micro_batches.iter().map(move |micro| (*tensor, *micro)));
            let times = pairs.map(|(tensor, micro)| {
                Times::made(tensor, micro, &self.seconds(node, tensor, micro))
            });
            (Arc::clone(&node.gpu), times.collect())
        });
        LayerProfile::made(
            MadeProfile {
                name: Arc::clone(&self.model.name),
                model: self.model.model.clone(),
                source: self.model.source.clone(),
                layers: self.model.layers + 2,
                sequence: self.sequence,
                hidden: self.model.hidden,
                bytes_per_value: value_bytes,
                parameters: self.runtime.training.trained_parameters(self.model),
            },
            gpus.collect(),
            tensors
                .iter()
                .map(|tensor| self.weights(*tensor, value_bytes, input_bytes))
                .collect(),
        )
    }

    pub fn links(&self, nodes: &[GpuNode]) -> Links {
        let c = self.constants;
        let mut rows = Vec::new();
        for node in nodes {
            let mut add = |scope, gpus, bytes_per_s, latency_s| {
                rows.push(UniformLink {
                    scope,
                    gpu: Arc::clone(&node.gpu),
                    gpus,
                    gb_per_s: bytes_per_s * 1e-9,
                    latency_s,
                });
            };
            let inside = node.link_bytes_per_s * c.value_of(Constant::Link);
            add(Scope::InNode, 1, inside, c.value_of(Constant::LinkS));
            let Some(network) = node.network_bytes_per_s else {
                continue;
            };
            let network = network * c.value_of(Constant::Network);
            // If each GPU has an adapter, few GPUs use few of them.
            let own = f64::from(node.gpus) * OWN_ADAPTER_BYTES_PER_S <= network;
            for gpus in 1..=node.gpus {
                let share = if own {
                    f64::from(gpus) / f64::from(node.gpus)
                } else {
                    1.0
                };
                for scope in [Scope::BetweenNodes, Scope::BetweenZones] {
                    add(scope, gpus, network * share, c.value_of(Constant::NetworkS));
                }
            }
        }
        Links::uniform(rows)
    }
}
