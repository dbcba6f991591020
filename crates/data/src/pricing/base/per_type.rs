use std::collections::BTreeMap;
use std::sync::Arc;

use super::price::{Base, NoPrice, Rule, VmPrice};
use crate::cloud::Fleet;
use crate::pricing::wrong_policy::WrongPolicy;
use crate::usage::RentedVmType;
use scavsim_base::Declaration;
use scavsim_read::input::checked::VmUsd;
use scavsim_read::input::did_you_mean;

pub const RULE: Rule = Rule {
    declaration: Declaration {
        name: "per-type",
        what: "Every VM type has the price that the policy states; spot VMs of a kind of cluster have one of their own, where it states that, too.",
        formula: "`usd_per_hour_of`, `spot_usd_per_hour_of`, by the VM type",
        source: "papers that state prices of their VMs",
        example: "pricing.define.mine = { usd_per_hour_of = { k80 = 0.723 }, spot_usd_per_hour_of = { k80 = 0.256 } }",
    },
    keys: "`usd_per_hour_of`",
    read: |file| match (&file.usd_per_hour_of, &file.spot_usd_per_hour_of) {
        (None, None) => None,
        (None, Some(_)) => Some(Err(WrongPolicy::GoesWith(
            "`spot_usd_per_hour_of`",
            "`usd_per_hour_of`",
        ))),
        (Some(usual), spot) => Some(Ok(Base::Vm(Arc::new(PerType {
            usual: usual.clone(),
            spot: spot.clone().unwrap_or_default(),
        })))),
    },
};

/// USD per hour by VM type; spot VMs of the scenario at their spot price where one is stated.
#[derive(Debug)]
struct PerType {
    usual: BTreeMap<String, VmUsd>,
    spot: BTreeMap<String, VmUsd>,
}

impl VmPrice for PerType {
    fn usd_per_hour(&self, rented: RentedVmType<'_>, fleet: &Fleet<'_>) -> Result<f64, NoPrice> {
        let RentedVmType { vm, on_spot } = rented;
        let (key, table) = if on_spot == Some(true) && !self.spot.is_empty() {
            ("spot_usd_per_hour_of", &self.spot)
        } else {
            ("usd_per_hour_of", &self.usual)
        };
        let names = [Some(vm), Some(fleet.table(vm)), fleet.like(vm)];
        let usd = names.into_iter().flatten().find_map(|name| table.get(name));
        let usd = usd.map(|usd| usd.get());
        usd.ok_or_else(|| NoPrice {
            what: format!("`{key}` has no price of `{vm}`"),
            help: did_you_mean(
                vm,
                table.keys().map(String::as_str),
                format!("add `{vm}` to it"),
            ),
        })
    }
}
