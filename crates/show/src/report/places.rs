//! The VMs behind names of configurations, for tables.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::identity::Identity;
use scavsim_base::text::Page;
use scavsim_data::configuration::Shape;
use scavsim_experiment::scenario::{Scenario, ScenarioWarnings};

/// VM types and kinds of clusters of a run, and remarks on its prices.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Places {
    /// VM shapes of each kind's workers; if there are several, each with its number of workers.
    kinds: BTreeMap<String, Vec<(String, Option<u32>)>>,
    /// Keys and values that distinguish pricing policies made of one table.
    swept: BTreeMap<String, Vec<(String, f64)>>,
    pub remarks: ScenarioWarnings,
}

const KINDS: &str = "kinds";
const SWEPT: &str = "swept_policies";
const UNASKED: &str = "remarks";
const AVERAGED: &str = "averaged";
const NEVER_LOST: &str = "policies_never_lost";
const ONLY_RATIOS: &str = "policies_of_ratios";
const PRICE_DAYS: &str = "price_days";
const PRICE_PACK: &str = "price_pack";

/// Mark after the name of a policy with a spot price for VMs that are never lost.
const MARK: &str = "†";

impl Places {
    pub fn from_scenario(scenario: &Scenario) -> Places {
        // All settings share one set of kinds.
        let kinds = scenario
            .runs_in
            .iter()
            .take(1)
            .flat_map(|setting| &setting.setup.kinds);
        let kinds = kinds.map(|(name, kind)| {
            let shapes = kind.workers.iter();
            let shapes = shapes.map(|(shape, workers)| (shape.to_string(), *workers));
            (name.to_string(), shapes.collect())
        });
        let swept = scenario.policies.iter().filter(|own| !own.swept.is_empty());
        Places {
            kinds: kinds.collect(),
            swept: swept
                .map(|own| (own.name.clone(), own.swept.clone()))
                .collect(),
            remarks: scenario.remarks.clone(),
        }
    }

    pub fn from_identity(identity: &Identity) -> Places {
        let of = |key| identity.get(key).cloned().unwrap_or_default();
        let texts = |key| serde_json::from_value(of(key)).unwrap_or_default();
        Places {
            kinds: serde_json::from_value(of(KINDS)).unwrap_or_default(),
            swept: serde_json::from_value(of(SWEPT)).unwrap_or_default(),
            remarks: ScenarioWarnings {
                unasked: texts(UNASKED),
                averaged: identity
                    .get(AVERAGED)
                    .and_then(Value::as_str)
                    .map(str::to_owned),
                never_lost: texts(NEVER_LOST),
                only_ratios: texts(ONLY_RATIOS),
                price_days: identity
                    .get(PRICE_DAYS)
                    .and_then(Value::as_str)
                    .map(str::to_owned),
                price_pack: None,
            },
        }
    }

    /// The entries of a manifest; empty if there is nothing to choose.
    pub fn entries(&self) -> Vec<(String, Value)> {
        let mut entries = Vec::new();
        if !self.kinds.is_empty() {
            entries.push((KINDS.to_owned(), json!(self.kinds)));
        }
        if !self.swept.is_empty() {
            entries.push((SWEPT.to_owned(), json!(self.swept)));
        }
        for (key, all) in [
            (UNASKED, &self.remarks.unasked),
            (NEVER_LOST, &self.remarks.never_lost),
            (ONLY_RATIOS, &self.remarks.only_ratios),
        ] {
            if !all.is_empty() {
                entries.push((key.to_owned(), json!(all)));
            }
        }
        let averaged = self.remarks.averaged.iter();
        entries.extend(averaged.map(|said| (AVERAGED.to_owned(), json!(said))));
        let days = self.remarks.price_days.iter();
        entries.extend(days.map(|said| (PRICE_DAYS.to_owned(), json!(said))));
        let pack = self.remarks.price_pack.iter();
        entries.extend(pack.map(|pack| (PRICE_PACK.to_owned(), json!(pack))));
        entries
    }

    /// A policy as shown in tables: with a mark if its spot price is for VMs that are never lost.
    pub fn policy(&self, name: &str) -> String {
        if self.is_marked(name) {
            format!("{name}{MARK}")
        } else {
            name.to_owned()
        }
    }

    /// The name of a policy without the keys and values that distinguish it from others of its table, and these.
    pub fn swept<'n>(&'n self, name: &'n str) -> (String, &'n [(String, f64)]) {
        let swept = self.swept.get(name).map_or(&[][..], |own| own);
        let base = (swept.iter()).fold(name.to_owned(), |base, (key, value)| {
            base.replacen(&format!(" {key} {value}"), "", 1)
        });
        (base, swept)
    }

    /// Whether a spot price of a policy is for VMs that are never lost.
    pub fn is_marked(&self, policy: &str) -> bool {
        self.remarks.never_lost.iter().any(|own| own == policy)
    }

    /// The notes below all tables: the mark, if it occurs, and other remarks.
    pub fn below(&self, page: &Page) -> String {
        let marked = !self.remarks.never_lost.is_empty();
        let mark = marked.then(|| page.legend([(MARK, ScenarioWarnings::NEVER_LOST)]));
        let sentences = (self.remarks.unasked.iter())
            .chain(&self.remarks.averaged)
            .chain(&self.remarks.price_days);
        let sentences = sentences.map(|one| page.prose(one, 2));
        mark.into_iter().chain(sentences).collect()
    }

    /// The VMs of `workers` workers on `vm`, a VM shape or a kind: `4 g4dn.12xlarge/4`, followed by the kind in brackets.
    pub fn vms_label(&self, vm: &str, workers: Option<u32>) -> String {
        if self.kinds.contains_key(vm) {
            format!("{} ({vm})", self.shapes(vm, workers))
        } else {
            self.shapes(vm, workers)
        }
    }

    /// The VMs of `workers` workers on `vm`, without the kind.
    pub fn shapes(&self, vm: &str, workers: Option<u32>) -> String {
        let vms = |shape: &str, workers| Shape::parse(shape).ok()?.vms(workers);
        let of_shape = |shape: &str, workers: Option<u32>| match workers
            .and_then(|workers| vms(shape, workers))
        {
            Some(vms) => format!("{vms} {shape}"),
            None => shape.to_owned(),
        };
        match self.kinds.get(vm) {
            None => of_shape(vm, workers),
            Some(shapes) => {
                let each = shapes
                    .iter()
                    .map(|(shape, own)| of_shape(shape, own.or(workers)));
                each.collect::<Vec<_>>().join(" + ")
            }
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
        let four = shapes(&[("g4dn.12xlarge/4", None)]);
        let mixed = shapes(&[("a", Some(3)), ("b/2", Some(4))]);
        let places = Places {
            kinds: [("four".to_owned(), four), ("mixed".to_owned(), mixed)].into(),
            swept: [("own usd 0.5".to_owned(), vec![("usd".to_owned(), 0.5)])].into(),
            remarks: ScenarioWarnings {
                unasked: vec!["mind".to_owned()],
                averaged: Some("all".to_owned()),
                never_lost: vec!["spot".to_owned()],
                only_ratios: vec!["unit".to_owned()],
                price_days: Some("of today".to_owned()),
                price_pack: None,
            },
        };
        assert_eq!(places.policy("spot"), "spot†");
        assert_eq!(places.policy("list"), "list");
        assert_eq!(places.swept("own usd 0.5").0, "own");
        assert_eq!(places.swept("list"), ("list".to_owned(), &[][..]));
        for (kind, workers, label) in [
            ("a/1-2", Some(7), "a/1-2"),
            ("four", Some(8), "2 g4dn.12xlarge/4 (four)"),
            ("mixed", Some(7), "3 a + 2 b/2 (mixed)"),
            ("e2-standard-4", Some(3), "3 e2-standard-4"),
            ("e2-standard-4", None, "e2-standard-4"),
        ] {
            assert_eq!(places.vms_label(kind, workers), label);
        }
        let identity: Identity = places.entries().into_iter().collect();
        assert_eq!(Places::from_identity(&identity), places);
        assert_eq!(Places::from_identity(&Identity::new()), Places::default());
    }
}
