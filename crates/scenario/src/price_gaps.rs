//! Policies and VM types without a listed price are left out: the rest can still be compared.

use std::collections::BTreeSet;

use super::prices::Rentals;
use scavsim_data::pricing::{Policy, RentedVmType};
use scavsim_experiment::scenario::ScenarioWarnings;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PriceGaps {
    /// Policies under which no VM type has a price.
    pub(super) policies: BTreeSet<String>,
    /// VM types without a price under one of the other policies.
    pub(super) vms: BTreeSet<String>,
    /// What is left out and why, a sentence each.
    pub(super) sentences: Vec<String>,
}

impl PriceGaps {
    /// Finds the gaps; none if there are other mistakes in prices, or if nothing would be left.
    pub(super) fn find(policies: &[Policy], rentals: &Rentals<'_>) -> PriceGaps {
        let fleet = &rentals.fleet;
        let mut gaps = PriceGaps::default();
        let (mut of_policies, mut of_vms) = (None, None);
        for policy in policies {
            if policy.tariff(&rentals.all, fleet).is_ok() {
                continue;
            }
            let lacks = |vm: &&RentedVmType<'_>| policy.tariff(&[**vm], fleet).is_err();
            let missing: Vec<&RentedVmType<'_>> = rentals.all.iter().filter(lacks).collect();
            if missing.is_empty() || !missing.iter().all(|vm| policy.is_gap(**vm, fleet)) {
                return PriceGaps::default();
            }
            let why = (policy.tariff(&[*missing[0]], fleet).err())
                .map(|why| format!("`{}`: {why}", policy.name));
            if missing.len() == rentals.all.len() {
                of_policies = of_policies.or(why);
                gaps.policies.insert(policy.name.clone());
            } else {
                of_vms = of_vms.or(why);
                (gaps.vms).extend(missing.into_iter().map(|vm| vm.vm.to_owned()));
            }
        }
        let is_left = |vm: &RentedVmType<'_>| !gaps.vms.contains(vm.vm);
        if gaps.policies.len() == policies.len() || !rentals.all.iter().any(is_left) {
            return PriceGaps::default();
        }
        for (what, names, why) in [
            ("pricing policies", &gaps.policies, of_policies),
            ("VM types", &gaps.vms, of_vms),
        ] {
            if let Some(why) = why {
                let names = names.iter().map(|name| format!("`{name}`")).collect();
                let names = ScenarioWarnings::list(names);
                let sentence = format!("{what} without a price are left out: {names} ({why})");
                gaps.sentences.push(sentence);
            }
        }
        gaps
    }
}
