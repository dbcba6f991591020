use std::sync::Arc;

use super::price::{Base, NoPrice, Rule, VmPrice};
use crate::cloud::Fleet;
use crate::usage::RentedVmType;
use scavsim_base::Declaration;

pub const RULE: Rule = Rule {
    declaration: Declaration {
        name: "per-vm",
        what: "Every VM costs the same.",
        formula: "`usd_per_vm_hour`",
        source: "the price that a paper states: Scavenger's",
        example: "pricing.define.mine = { usd_per_vm_hour = 0.134 }",
    },
    keys: "`usd_per_vm_hour`",
    read: |file| Some(Ok(Base::Vm(Arc::new(PerVm(file.usd_per_vm_hour?.get()))))),
};

/// USD per VM and hour, the same for every VM type.
#[derive(Debug)]
struct PerVm(f64);

impl VmPrice for PerVm {
    fn usd_per_hour(&self, _: RentedVmType<'_>, _: &Fleet<'_>) -> Result<f64, NoPrice> {
        Ok(self.0)
    }

    fn is_flat(&self) -> bool {
        true
    }
}
