//! So much per vCPU and so much per GiB, as GCP prices its VM types within a family.

use std::sync::Arc;

use super::{Base, NoPrice, Rule, VmPrice};
use crate::cloud::{Catalogue, vm_types};

/// `usd_per_vcpu_hour` and `usd_per_gib_hour`
pub const RULE: Rule = Rule {
    keys: "`usd_per_vcpu_hour` with `usd_per_gib_hour`",
    read: |file| match (file.usd_per_vcpu_hour, file.usd_per_gib_hour) {
        (None, None) => None,
        (Some(vcpu), Some(gib)) if vcpu.get() + gib.get() == 0.0 => Some(Err(
            "`usd_per_vcpu_hour` and `usd_per_gib_hour` are both 0".to_owned(),
        )),
        (Some(vcpu), Some(gib)) => Some(Ok(Base::Vm(Arc::new(PerResource {
            usd_per_vcpu_hour: vcpu.get(),
            usd_per_gib_hour: gib.get(),
        })))),
        _ => Some(Err(
            "`usd_per_vcpu_hour` and `usd_per_gib_hour` go together".to_owned(),
        )),
    },
};

/// USD per hour = a·vCPU + b·GiB of the VM type.
#[derive(Debug)]
struct PerResource {
    usd_per_vcpu_hour: f64,
    usd_per_gib_hour: f64,
}

impl VmPrice for PerResource {
    fn usd_per_hour(&self, vm: &str, catalogue: &Catalogue) -> Result<f64, NoPrice> {
        let Some(size) = catalogue.vm_type(vm) else {
            let known: Vec<&str> = catalogue.types.iter().map(|t| t.vm.as_str()).collect();
            return Err(NoPrice {
                what: format!("VM type `{vm}` is not in {}", vm_types::FILE),
                help: format!("known there: {}", known.join(", ")),
            });
        };
        Ok(size.vcpu as f64 * self.usd_per_vcpu_hour + size.memory_gib * self.usd_per_gib_hour)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::{Date, Market, Offer};

    /// GCP adds vCPU and GiB; two prices per family give all its VM types.
    #[test]
    fn two_prices_per_family_give_the_list_prices_of_its_vm_types() {
        let catalogue = Catalogue::embedded().0;
        let offer = |market| Offer {
            provider: "gcp".into(),
            region: "us-central1".into(),
            market,
            date: Date::parse("2026-07-30").expect("a day"),
        };
        for (market, vcpu, gib, vms) in [
            (
                Market::OnDemand,
                0.021812,
                0.002924,
                &[
                    "e2-standard-2",
                    "e2-standard-4",
                    "e2-standard-8",
                    "e2-highmem-4",
                ][..],
            ),
            (
                Market::OnDemand,
                0.031611,
                0.004237,
                &["n1-standard-4", "n2-standard-8"],
            ),
            (Market::OnDemand, 0.034650, 0.003938, &["c3-standard-4"]),
            (
                Market::Spot,
                0.013090,
                0.001754,
                &["e2-standard-4", "e2-highmem-4"],
            ),
        ] {
            let rule = PerResource {
                usd_per_vcpu_hour: vcpu,
                usd_per_gib_hour: gib,
            };
            for vm in vms {
                let usd = rule.usd_per_hour(vm, &catalogue).expect("a known size");
                let listed = catalogue.usd_per_hour(vm, &offer(market)).expect("a price");
                assert!(
                    (usd / listed - 1.0).abs() < 1e-4,
                    "{vm}: {usd} against {listed}"
                );
            }
        }
    }
}
