//! The form in which a policy is written as data.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::base::{self, Base};
use super::spot_series::Step;
use super::{BilledTime, Policy, job_charges, parameter_servers, reductions};
use crate::checked::{Fraction, NonNegative, Positive, Probability};
use crate::cloud::{Date, Market};

/// A pricing policy as data. Exactly one base price must be given.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyFile {
    /// One line for people.
    pub description: String,
    /// Base price: USD per VM and hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd_per_vm_hour: Option<Positive>,
    /// Base price: USD per hour of each VM type, by its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd_per_hour_of: Option<BTreeMap<String, Positive>>,
    /// The same for the VMs that a kind of cluster rents as spot VMs; with `usd_per_hour_of`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spot_usd_per_hour_of: Option<BTreeMap<String, Positive>>,
    /// Base price: USD per sample of global batch and hour, whatever the worker count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd_per_sample_hour: Option<Positive>,
    /// Base price: USD per vCPU of the VM type and hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd_per_vcpu_hour: Option<NonNegative>,
    /// Base price: USD per GiB of the VM type and hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd_per_gib_hour: Option<NonNegative>,
    /// Base price: USD per GPU of the VM type and hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd_per_gpu_hour: Option<NonNegative>,
    /// Base price: the listed price of the VM type in this market.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalogue: Option<Market>,
    /// Whether the VMs that a kind of cluster rents as spot VMs are charged at their listed spot price and all others at that in
    /// `catalogue`.
    pub as_rented: bool,
    /// Provider of the listed price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Region of the listed price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Regions of the listed prices by provider, for VM types of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regions: Option<BTreeMap<String, String>>,
    /// Day of the listed price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<Date>,
    /// VM type whose price is charged in place of that of the workers' own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priced_as: Option<String>,
    /// Spot price over base price; only the price, revocation is not simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spot_ratio: Option<Fraction>,
    /// Spot price over base price in steps: hours since the job began, ratio from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub spot_series: Option<Vec<Step>>,
    /// Whether a spot VM that the provider takes away in its first hour costs nothing, as on AWS.
    pub free_first_hour_if_revoked: bool,
    /// Fraction off the base price for a commitment of one or three years.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commitment_discount: Option<Probability>,
    /// Fractions of the base price in equal parts of a month of 730 hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub sustained_use: Option<Vec<Fraction>>,
    /// Billing unit in seconds, started units counting whole; exact time when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub granularity_s: Option<NonNegative>,
    /// Least billed seconds per VM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum_s: Option<NonNegative>,
    /// Parameter servers that are billed beside the workers, for the whole job.
    pub billed_parameter_servers: u32,
    /// Their VM type; that of the workers when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter_server_vm: Option<String>,
    /// GiB that leave the cloud per job; with `usd_per_egress_gib`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub egress_gib: Option<NonNegative>,
    /// USD per GiB that leaves the cloud.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd_per_egress_gib: Option<NonNegative>,
    /// GiB that are kept while the job lasts; with `usd_per_storage_gib_month`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_gib: Option<NonNegative>,
    /// USD per GiB kept for a month of 730 hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd_per_storage_gib_month: Option<NonNegative>,
}

impl PolicyFile {
    /// The policy called `name`.
    ///
    /// # Errors
    /// A sentence about keys that are missing or do not go together.
    pub fn policy(&self, name: &str) -> Result<Policy, String> {
        let base = base::read(self)?;
        let billed_time = BilledTime {
            granularity_s: self.granularity_s.map_or(0.0, NonNegative::get),
            minimum_s: self.minimum_s.map_or(0.0, NonNegative::get),
        };
        let market = match &base {
            Base::Vm(price) if price.is_flat() && self.priced_as.is_some() => {
                return Err("`priced_as` needs a price that depends on the VM type".to_owned());
            }
            Base::Vm(price) => price.market(),
            Base::Sample(_) if billed_time != BilledTime::default() => {
                return Err("`granularity_s` and `minimum_s` need a price per VM".to_owned());
            }
            Base::Sample(_) if self.priced_as.is_some() || self.sustained_use.is_some() => {
                return Err("`priced_as` and `sustained_use` need a price per VM".to_owned());
            }
            Base::Sample(_) if self.spot_series.is_some() || self.free_first_hour_if_revoked => {
                return Err(
                    "`spot_series` and `free_first_hour_if_revoked` need a price per VM".to_owned(),
                );
            }
            Base::Sample(_) => Market::OnDemand,
        };
        Ok(Policy {
            name: name.to_owned(),
            description: self.description.clone(),
            priced_as: self.priced_as.clone(),
            reductions: reductions::read(self, market)?,
            billed_time,
            parameter_servers: parameter_servers::read(self, &base)?,
            charges: job_charges::read(self)?,
            base,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let file: PolicyFile = toml::from_str(text).expect("legal keys and values");
        match file.policy("p") {
            Ok(policy) => panic!("{text}: {policy:?}"),
            Err(why) => why,
        }
    }

    #[test]
    fn a_policy_has_exactly_one_base_price() {
        let listed =
            "catalogue = \"spot\"\nprovider = \"gcp\"\nregion = \"r\"\ndate = \"2026-07-30\"";
        let bases = [
            "usd_per_vm_hour = 1",
            "usd_per_sample_hour = 1",
            "usd_per_vcpu_hour = 1\nusd_per_gib_hour = 0",
            listed,
        ];
        assert!(refused("").starts_with("there is no price: give `usd_per_vm_hour`, or"));
        for (index, base) in bases.iter().enumerate() {
            let file: PolicyFile = toml::from_str(base).expect("it is legal");
            assert!(file.policy("one").is_ok(), "{base}");
            for other in &bases[..index] {
                assert!(refused(&format!("{base}\n{other}")).starts_with("give only one of"));
            }
        }
    }

    #[test]
    fn keys_that_do_not_go_together_are_refused() {
        let listed =
            "catalogue = \"spot\"\nprovider = \"gcp\"\nregion = \"r\"\ndate = \"2026-07-30\"\n";
        for (keys, expected) in [
            ("usd_per_vcpu_hour = 1", "go together"),
            ("usd_per_gib_hour = 1\nusd_per_gpu_hour = 1", "go together"),
            ("usd_per_gpu_hour = 0", "all 0"),
            ("usd_per_vm_hour = 1\nspot_series = []", "is empty"),
            ("usd_per_vm_hour = 1\nspot_series = [[1, 0.3]]", "at hour 0"),
            (
                "usd_per_vm_hour = 1\nspot_series = [[0, 0.3]]\nsustained_use = [1]",
                "exclude each other",
            ),
            (
                "usd_per_vm_hour = 1\nspot_series = [[0, 0.3]]\nspot_ratio = 0.3",
                "exclude each other",
            ),
            (
                "usd_per_sample_hour = 1\nspot_series = [[0, 0.3]]",
                "price per VM",
            ),
            (
                "usd_per_vm_hour = 1\nfree_first_hour_if_revoked = true",
                "needs a spot price",
            ),
            (
                &listed
                    .replace("spot", "commitment-3y")
                    .replace("date", "commitment_discount = 0.4\ndate"),
                "a commitment price and `commitment_discount` exclude",
            ),
            ("usd_per_vcpu_hour = 0\nusd_per_gib_hour = 0", "all 0"),
            ("catalogue = \"spot\"", "go together"),
            ("region = \"us-central1\"", "go together"),
            ("regions = { aws = \"us-east-1\" }", "go together"),
            (
                &listed.replace("provider", "regions = { aws = \"us-east-1\" }\nprovider"),
                "`regions` takes the place of",
            ),
            (
                "catalogue = \"spot\"\ndate = \"2026-07-30\"\nregions = { azur = \"eastus\" }",
                "`azur` is not one of the providers aws, azure, gcp",
            ),
            (
                "catalogue = \"spot\"\ndate = \"2026-07-30\"\nregions = {}",
                "go together",
            ),
            (
                "usd_per_vm_hour = 1\npriced_as = \"m4.xlarge\"",
                "depends on the VM type",
            ),
            ("usd_per_sample_hour = 1\nminimum_s = 60", "price per VM"),
            (
                "usd_per_sample_hour = 1\nsustained_use = [1]",
                "price per VM",
            ),
            (
                "usd_per_sample_hour = 1\nbilled_parameter_servers = 1",
                "price per VM",
            ),
            ("usd_per_vm_hour = 1\nsustained_use = []", "is empty"),
            (
                "usd_per_vm_hour = 1\nsustained_use = [1]\nspot_ratio = 0.3",
                "exclude each other",
            ),
            (
                "usd_per_vm_hour = 1\ncommitment_discount = 0.4\nspot_ratio = 0.3",
                "exclude",
            ),
            (
                &format!("{listed}commitment_discount = 0.4"),
                "a spot price and `commitment",
            ),
            (
                "usd_per_vm_hour = 1\nparameter_server_vm = \"m4.xlarge\"",
                "goes with",
            ),
            (
                "usd_per_vm_hour = 1\nparameter_server_vm = \"v\"\nbilled_parameter_servers = 1",
                "depends on the VM type",
            ),
            (
                "usd_per_vm_hour = 1\negress_gib = 5",
                "`egress_gib` and `usd_per_egress_gib` go together",
            ),
            (
                "usd_per_vm_hour = 1\nusd_per_storage_gib_month = 0.04",
                "`storage_gib` and `usd_per_storage_gib_month` go together",
            ),
        ] {
            let why = refused(keys);
            assert!(why.contains(expected), "{keys}: {why}");
        }
    }
}
