//! A price per vCPU, per GiB and per GPU, as GCP prices its VM types within a family.

use std::sync::Arc;

use super::price::{Base, NoPrice, Rule, VmPrice};
use crate::cloud::{Fleet, vm_types};
use crate::pricing::wrong_policy::WrongPolicy;
use crate::usage::RentedVmType;
use scavsim_base::Declaration;
use scavsim_read::input::checked::Usd;

pub const RULE: Rule = Rule {
    declaration: Declaration {
        name: "per-resource",
        what: "A VM costs by its size, from `data/clouds/vms.csv` or its table of `[vm]`; GPUs alone, or beside the two others.",
        formula: "`usd_per_vcpu_hour` × vCPU + `usd_per_gib_hour` × GiB + `usd_per_gpu_hour` × GPU",
        source: "GCP, which prices so within a family",
        example: "pricing.define.mine = { usd_per_vcpu_hour = 0.0316, usd_per_gib_hour = 0.0042 }",
    },
    keys: "`usd_per_vcpu_hour` with `usd_per_gib_hour`, `usd_per_gpu_hour`",
    read: |file| {
        let gpu = file.usd_per_gpu_hour;
        let (vcpu, gib) = match (file.usd_per_vcpu_hour, file.usd_per_gib_hour) {
            (None, None) if gpu.is_none() => return None,
            (None, None) => (0.0, 0.0),
            (Some(vcpu), Some(gib)) => (vcpu.get(), gib.get()),
            _ => {
                let keys = "`usd_per_vcpu_hour` and `usd_per_gib_hour`";
                return Some(Err(WrongPolicy::GoTogether(keys.to_owned())));
            }
        };
        let rule = PerResource {
            usd_per_vcpu_hour: vcpu,
            usd_per_gib_hour: gib,
            usd_per_gpu_hour: gpu.map_or(0.0, Usd::get),
        };
        Some(match rule {
            _ if vcpu + gib + rule.usd_per_gpu_hour > 0.0 => Ok(Base::Vm(Arc::new(rule))),
            _ => Err(WrongPolicy::AllFree),
        })
    },
};

/// USD per hour = a·vCPU + b·GiB + c·GPU of the VM type.
#[derive(Debug)]
struct PerResource {
    usd_per_vcpu_hour: f64,
    usd_per_gib_hour: f64,
    usd_per_gpu_hour: f64,
}

impl VmPrice for PerResource {
    fn usd_per_hour(&self, rented: RentedVmType<'_>, fleet: &Fleet<'_>) -> Result<f64, NoPrice> {
        let vm = rented.vm;
        let (own, listed) = (fleet.own(vm), fleet.described(vm));
        if own.is_none() && listed.is_none() {
            return Err(NoPrice {
                what: format!("VM type `{vm}` is not in {}", vm_types::FILE),
                help: fleet.catalogue.unknown_vm(vm, None),
            });
        }
        // What the scenario says comes first; what costs nothing need not be known.
        let part = |key: &str, usd: f64, stated: Option<f64>, listed: Option<f64>| {
            if usd == 0.0 {
                return Ok(0.0);
            }
            let size = stated.or(listed).ok_or_else(|| NoPrice {
                what: format!("the `{key}` of VM type `{vm}` is not known"),
                help: format!("give `{key}` in its table of `[vm]`"),
            })?;
            Ok(size * usd)
        };
        let usd = part(
            "vcpu",
            self.usd_per_vcpu_hour,
            own.and_then(|o| o.vcpu),
            listed.map(|l| l.vcpu as f64),
        )? + part(
            "memory_gib",
            self.usd_per_gib_hour,
            own.and_then(|o| o.memory_gib),
            listed.map(|l| l.memory_gib),
        )? + part(
            "gpus",
            self.usd_per_gpu_hour,
            own.and_then(|o| o.gpus).map(f64::from),
            listed.map(|l| l.gpu_count() as f64),
        )?;
        if usd > 0.0 {
            return Ok(usd);
        }
        Err(NoPrice {
            what: format!("VM type `{vm}` has no GPU, and nothing else is charged for"),
            help: "`scavsim list vms --gpu` shows VM types with GPUs".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::{Date, Market, Offer};

    /// GCP adds vCPU and GiB; two prices per family give all its VM types.
    #[test]
    fn two_prices_per_family_give_the_list_prices_of_its_vm_types() {
        let fleet = Fleet::listed();
        let catalogue = fleet.catalogue;
        let date = Date::parse("2026-07-30").expect("a day");
        for (family, market, vcpu, gib, count) in [
            ("e2", Market::OnDemand, 0.021812, 0.002924, 14),
            ("n1", Market::OnDemand, 0.031611, 0.004237, 22),
            ("n2", Market::OnDemand, 0.031611, 0.004237, 29),
            ("c3", Market::OnDemand, 0.034650, 0.003938, 18),
            ("e2", Market::Spot, 0.013090, 0.001754, 14),
            ("n1", Market::Spot, 0.011150, 0.001494, 22),
            ("n2", Market::Spot, 0.014990, 0.002010, 29),
            ("c3", Market::Spot, 0.008490, 0.000965, 18),
        ] {
            let rule = PerResource {
                usd_per_vcpu_hour: vcpu,
                usd_per_gib_hour: gib,
                usd_per_gpu_hour: 0.0,
            };
            let offer = Offer {
                provider: "gcp".into(),
                region: "us-central1".into(),
                market,
                date,
            };
            let of_family = |vm: &str| vm.split('-').next() == Some(family);
            let all = catalogue.types.iter().map(|t| &*t.vm);
            let vms: Vec<&str> = all.filter(|vm| of_family(vm)).collect();
            assert_eq!(vms.len(), count, "{family}");
            for vm in vms {
                let usd = rule.usd_per_hour(RentedVmType::as_priced(vm), &fleet);
                let listed = catalogue.usd_per_hour(vm, &offer).expect("a price");
                crate::tests::close(usd.expect("a known size"), listed, 1e-4);
            }
        }
    }
}
