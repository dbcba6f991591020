//! What tables must know to say where a configuration is: which VMs stand behind its name.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::manifest::Identity;
use crate::configuration::Shape;
use crate::scenario::{Scenario, Together};

/// VM types and kinds of clusters of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// Whether there was more than one VM shape to choose from.
    pub several: bool,
    /// VM shapes of each kind's workers; of several, each with its number of workers.
    kinds: BTreeMap<String, Vec<(String, Option<u32>)>>,
}

/// Keys of the manifest.
const SEVERAL: &str = "several_vm_types";
const KINDS: &str = "kinds";

impl Places {
    /// Those of a scenario.
    pub fn of(scenario: &Scenario) -> Places {
        let mut all = scenario.workloads.iter().flat_map(|(_, own)| own);
        let first = all.next();
        let kinds = scenario.setup.kinds.iter().map(|(name, kind)| {
            let shapes = kind.workers.iter();
            let shapes = shapes.map(|(shape, workers)| (shape.to_string(), *workers));
            (name.to_string(), shapes.collect())
        });
        Places {
            // Where each is searched by itself, none is chosen.
            several: scenario.search == Together::All
                && all.any(|c| Some(&c.vm) != first.map(|c| &c.vm)),
            kinds: kinds.collect(),
        }
    }

    /// Those that a manifest names.
    pub fn from_identity(identity: &Identity) -> Places {
        let kinds = identity.get(KINDS).cloned().unwrap_or_default();
        Places {
            several: identity.get(SEVERAL) == Some(&Value::Bool(true)),
            kinds: serde_json::from_value(kinds).unwrap_or_default(),
        }
    }

    /// What a manifest says of them; nothing where there is nothing to choose.
    pub fn entries(&self) -> Vec<(String, Value)> {
        let mut entries = Vec::new();
        if self.several {
            entries.push((SEVERAL.to_owned(), json!(true)));
        }
        if !self.kinds.is_empty() {
            entries.push((KINDS.to_owned(), json!(self.kinds)));
        }
        entries
    }

    /// VMs of `workers` workers on `vm`, a VM shape or the name of a kind; `None` where that is not known.
    pub fn vms(&self, vm: &str, workers: u32) -> Option<u32> {
        let vms = |shape: &str, workers| Shape::parse(shape).ok()?.vms(workers);
        match self.kinds.get(vm) {
            None => vms(vm, workers),
            Some(shapes) => (shapes.iter())
                .map(|(shape, own)| vms(shape, own.unwrap_or(workers)))
                .sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vms_of_a_kind_are_those_of_its_shapes_and_a_manifest_keeps_them() {
        let shapes = |all: &[(&str, Option<u32>)]| -> Vec<(String, Option<u32>)> {
            all.iter().map(|(s, w)| ((*s).to_owned(), *w)).collect()
        };
        let places = Places {
            several: true,
            kinds: [
                ("four".to_owned(), shapes(&[("g4dn.12xlarge/4", None)])),
                (
                    "mixed".to_owned(),
                    shapes(&[("a", Some(3)), ("b/2", Some(4))]),
                ),
            ]
            .into(),
        };
        assert_eq!(places.vms("four", 4), Some(1));
        assert_eq!(places.vms("four", 8), Some(2));
        assert_eq!(places.vms("mixed", 7), Some(5));
        assert_eq!(places.vms("g4dn.12xlarge/4", 8), Some(2));
        assert_eq!(places.vms("a/1-2", 7), None);
        let identity: Identity = places.entries().into_iter().collect();
        assert_eq!(Places::from_identity(&identity), places);
        assert_eq!(Places::from_identity(&Identity::new()), Places::default());
    }
}
