//! How far beyond its measurements a workload may be asked: VM types and configurations that were not measured.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::configuration::{Configuration, Shape};

/// A VM type that was not measured and stands in for one that was.
#[derive(Debug, Clone, PartialEq)]
pub struct SubstituteVm {
    pub vm: Arc<str>,
    pub like: Arc<str>,
    /// Compute time of the VM type over that of the measured type.
    pub compute_scale: f64,
    /// Communication time of the VM type over that of the measured type.
    pub network_scale: f64,
    /// Communication time between workers on one VM over that of the measured type; as between VMs when `None`.
    pub link_scale: Option<f64>,
    /// n: its cores, or its FLOPS, where the law of the measured type goes by them; those of that type when `None`.
    pub size: Option<f64>,
    /// κ: samples beyond which its throughput falls; likewise.
    pub knee: Option<f64>,
    /// Whether it is the measured type itself, in a kind of cluster.
    pub is_same: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reach {
    /// Whether laws may answer outside the measured hull.
    pub extrapolate: bool,
    pub stand_ins: BTreeMap<Arc<str>, SubstituteVm>,
}

impl Reach {
    /// The configuration to look up for `asked`, and the scales if its VM type stands in.
    pub fn measured<'c>(
        &self,
        asked: &'c Configuration,
    ) -> (Cow<'c, Configuration>, Option<&SubstituteVm>) {
        if self.stand_ins.is_empty() {
            return (Cow::Borrowed(asked), None);
        }
        let Ok(shape) = Shape::parse(&asked.vm) else {
            return (Cow::Borrowed(asked), None);
        };
        match self.stand_in(shape.vm_type) {
            None => (Cow::Borrowed(asked), None),
            Some(stand_in) => {
                let measured = Configuration {
                    vm: shape.on(&stand_in.like).into(),
                    ..*asked
                };
                (Cow::Owned(measured), Some(stand_in))
            }
        }
    }

    /// The part of it that `configurations` need.
    pub fn only(&self, configurations: &[Configuration]) -> Reach {
        let stand_ins = (configurations.chunk_by(|a, b| a.vm == b.vm))
            .filter_map(|same| Shape::parse(&same[0].vm).ok())
            .filter_map(|shape| self.stand_ins.get_key_value(shape.vm_type))
            .map(|(name, stand_in)| (Arc::clone(name), stand_in.clone()))
            .collect();
        Reach {
            extrapolate: self.extrapolate,
            stand_ins,
        }
    }

    pub fn stand_in(&self, vm_type: &str) -> Option<&SubstituteVm> {
        self.stand_ins.get(vm_type)
    }
}
