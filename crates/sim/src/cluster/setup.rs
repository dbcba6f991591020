//! How the clusters of a scenario live, and its kinds of clusters, before any configuration is known.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::batching::Batching;
use super::terms::{Elastic, Spot};
use crate::training::sync::Protocol;
use scavsim_base::units::SimTime;
use scavsim_data::configuration::{Configuration, Shape};
use scavsim_data::usage::RentedVmType;
use scavsim_data::workload::{Reach, Staleness};

/// What holds for all configurations of a scenario, and its kinds of clusters. By default a synchronous job on VMs that stay.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// How workers come together, where their kind does not say; and on single workloads.
    pub protocol: Protocol,
    pub protocol_of: BTreeMap<Arc<str>, Protocol>,
    pub spot: Option<Arc<Spot>>,
    pub elastic: Option<Arc<Elastic>>,
    pub staleness: Option<Staleness>,
    /// Whether a cluster keeps its global batch when its size changes, or its local one; by the protocol when `None`.
    pub keeps_batch: Option<bool>,
    pub kinds: BTreeMap<Arc<str>, Arc<Kind>>,
}

/// A kind of cluster: what a configuration's VMs are besides their number.
#[derive(Debug, Clone)]
pub struct Kind {
    /// VM shapes of the workers. Of several, each with its number of workers.
    pub workers: Vec<(Arc<str>, Option<u32>)>,
    pub on_spot: bool,
    /// The terms of its spot VMs, where they differ from those of the scenario.
    pub spot: Option<Arc<Spot>>,
    /// Number of the law of their lives among those of the scenario, from 1: its own is the first.
    pub market: u16,
    /// Whether the first worker is on demand all the same.
    pub chief_on_demand: bool,
    pub servers: Option<Servers>,
    pub protocol: Option<Protocol>,
    pub protocol_of: BTreeMap<Arc<str>, Protocol>,
    /// How the batches of unlike workers are set, where all wait for the slowest.
    pub batching: Option<Batching>,
    /// Shares of the cores of its workers, where these change; the first from the start of the job.
    pub levels: Vec<AvailabilityLevel>,
}

/// What is available of each worker from a moment on.
#[derive(Debug, Clone, PartialEq)]
pub struct AvailabilityLevel {
    pub from: SimTime,
    /// Share of its cores, for each shape of the kind's workers.
    pub shares: Vec<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Servers {
    pub vm: Arc<str>,
    pub vms: u32,
    pub on_spot: bool,
}

impl Kind {
    pub fn has_spot(&self) -> bool {
        self.on_spot || self.servers.as_ref().is_some_and(|s| s.on_spot)
    }

    /// Worker count of the kind where that is fixed.
    pub fn fixed_workers(&self) -> Option<u32> {
        self.workers.iter().map(|(_, workers)| *workers).sum()
    }
}

impl Setup {
    /// Samples of an update of all workers of `configuration`, when `workers` of them are left or there.
    pub fn samples(&self, configuration: &Configuration, protocol: Protocol, workers: u32) -> f64 {
        if self.keeps_batch.unwrap_or(protocol.has_barrier()) {
            f64::from(configuration.batch)
        } else {
            configuration.local_batch() * f64::from(workers)
        }
    }

    /// The protocol of `workload` on `shape`: that of the kind of cluster for the workload, or for all; else the scenario's.
    pub fn protocol_on(&self, workload: &str, shape: &str) -> Protocol {
        let kind = self.kinds.get(shape);
        let of_kind = kind.and_then(|k| (k.protocol_of.get(workload).copied()).or(k.protocol));
        of_kind
            .unwrap_or_else(|| (self.protocol_of.get(workload).copied()).unwrap_or(self.protocol))
    }

    /// Whether `shape` is more than a synchronous job on VMs that stay.
    pub fn is_live(&self, shape: &str) -> bool {
        self.protocol != Protocol::Bsp
            || !self.protocol_of.is_empty()
            || self.spot.is_some()
            || self.elastic.is_some()
            || self.kinds.contains_key(shape)
    }

    /// The part of `reach` that `configurations` need, with the stand-ins among the workers of their kinds.
    pub fn reach(&self, reach: &Reach, configurations: &[Configuration]) -> Reach {
        let mut part = reach.only(configurations);
        let kinds = (configurations.chunk_by(|a, b| a.vm == b.vm))
            .filter_map(|same| self.kinds.get(&same[0].vm));
        for (shape, _) in kinds.flat_map(|kind| &kind.workers) {
            let vm_type = Shape::parse(shape).map_or(&**shape, |s| s.vm_type);
            if let Some((name, stand_in)) = reach.stand_ins.get_key_value(vm_type) {
                (part.stand_ins).insert(Arc::clone(name), stand_in.clone());
            }
        }
        part
    }
}

impl Kind {
    /// VM types and the terms they are rented on, whatever the number of workers.
    pub fn rented(&self) -> impl Iterator<Item = RentedVmType<'_>> {
        let type_of =
            |shape: &str| -> usize { Shape::parse(shape).map_or(shape.len(), |s| s.vm_type.len()) };
        let workers = (self.workers.iter()).map(move |(shape, _)| RentedVmType {
            vm: &shape[..type_of(shape)],
            on_spot: Some(self.on_spot),
        });
        let chief = self.workers.first().filter(|_| self.chief_on_demand);
        let chief = chief.map(move |(shape, _)| RentedVmType {
            vm: &shape[..type_of(shape)],
            on_spot: Some(false),
        });
        let servers = self.servers.as_ref().map(|servers| RentedVmType {
            vm: &servers.vm,
            on_spot: Some(servers.on_spot),
        });
        workers.chain(chief).chain(servers)
    }
}
