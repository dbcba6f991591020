//! The form in which a policy is written as data, not yet checked for consistency. The keys of charges are in [`charges`].

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::charges;
use super::price_day::PriceDay;
use super::spot_series_key::SpotSeriesKey;
use crate::cloud::{Date, Market, PriceTable};
use scavsim_read::input::checked::{Fraction, NonNegative, PositiveUsd, Probability, Usd, VmUsd};

#[derive(Debug, Clone, Default)]
pub struct Tables {
    pub prices: Option<Arc<PriceTable>>,
    pub series: Option<Arc<PriceTable>>,
}

/// A pricing policy as data. Exactly one base price must be given.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, remote = "Self")]
#[schemars(transform = charges::keys::add_to_schema)]
pub struct PolicyFile {
    /// One line for people.
    pub description: String,
    /// Whether its dollars are a unit of which only ratios count: it is not compared with other policies.
    pub only_ratios: bool,
    /// Whether its base price is one of spot VMs though it is none of a `catalogue`: it is marked where no VM is taken away.
    pub is_spot_price: bool,
    /// Base price: USD per VM and hour.
    pub usd_per_vm_hour: Option<VmUsd>,
    /// Base price: USD per hour of each VM type, by its name.
    pub usd_per_hour_of: Option<BTreeMap<String, VmUsd>>,
    /// Base price of VMs that a kind of cluster rents as spot VMs: USD per hour of each VM type, by its name; with
    /// `usd_per_hour_of`.
    pub spot_usd_per_hour_of: Option<BTreeMap<String, VmUsd>>,
    /// Base price: USD per sample of global batch and hour, whatever the worker count.
    pub usd_per_sample_hour: Option<PositiveUsd>,
    /// Base price: USD per vCPU of the VM type and hour.
    pub usd_per_vcpu_hour: Option<Usd>,
    /// Base price: USD per GiB of the VM type and hour.
    pub usd_per_gib_hour: Option<Usd>,
    /// Base price: USD per GPU of the VM type and hour.
    pub usd_per_gpu_hour: Option<Usd>,
    /// Base price: the listed price of the VM type in this market.
    pub catalogue: Option<Market>,
    /// Base price: what the market of a scenario with `[policy]` asks, spot and on demand.
    pub market_price: bool,
    /// Whether the VMs that a kind of cluster rents as spot VMs are charged at their listed spot price and all others at that in
    /// `catalogue`.
    pub as_rented: bool,
    /// Provider of the listed price.
    pub provider: Option<String>,
    /// Region of the listed price; without `provider`, of the provider of each VM type.
    pub region: Option<String>,
    /// Regions of the listed prices by provider, for VM types of several.
    pub regions: Option<BTreeMap<String, String>>,
    /// Days of the listed prices by provider, with `regions`, in place of `date`: no price list is of the same day as another.
    pub dates: Option<BTreeMap<String, Date>>,
    /// Zone of the listed price, where prices of one's own differ by zone.
    pub zone: Option<String>,
    /// Day of the listed price, or `newest`: the last day of which the price of each VM type is known. Where spot prices come
    /// from a table, a job begins with it.
    pub date: Option<PriceDay>,
    /// Table of one's own with the listed prices, a CSV; the path starts at the folder of this file.
    pub price_table: Option<String>,
    /// The tables that are named, once they are read.
    #[serde(skip)]
    #[schemars(skip)]
    pub tables: Tables,
    /// VM type whose price is charged in place of that of the workers' own.
    pub priced_as: Option<String>,
    /// Spot price over base price; only the price, revocation is not simulated.
    pub spot_ratio: Option<Fraction>,
    /// Spot price over base price in steps: hours since the job began, ratio from then on; or a table of one's own with dated
    /// spot prices of each VM type.
    pub spot_series: Option<SpotSeriesKey>,
    /// Whether a spot VM that the provider takes away in its first hour costs nothing, as on AWS.
    pub free_first_hour_if_revoked: bool,
    /// Whether the billing unit in which the provider takes a spot VM away costs nothing, as on AWS by the hour.
    pub free_started_unit_if_revoked: bool,
    /// Fraction off the base price for a commitment of one or three years.
    pub commitment_discount: Option<Probability>,
    /// Fractions of the base price in equal parts of a month of 730 hours, by level of concurrency.
    #[schemars(length(min = 1))]
    pub sustained_use: Option<Vec<Fraction>>,
    /// Billing unit in seconds, started units counting whole; exact time when absent.
    pub granularity_s: Option<NonNegative>,
    /// Least billed seconds per VM.
    pub minimum_s: Option<NonNegative>,
    /// Parameter servers that are billed beside the workers, for the whole job.
    pub billed_parameter_servers: u32,
    /// VM type of the parameter servers; that of the workers when absent.
    pub parameter_server_vm: Option<String>,
    /// What is charged beside VMs, by the keys of the charges.
    #[serde(flatten, skip_deserializing)]
    #[schemars(skip)]
    pub charges: charges::Keys,
}

// The derived implementations are called where the keys of charges are taken out or put back.
impl<'de> Deserialize<'de> for PolicyFile {
    fn deserialize<D: Deserializer<'de>>(inner: D) -> Result<Self, D::Error> {
        let mut found = charges::Keys::default();
        let found_beside = charges::keys::ChargeKeysDeserializer {
            inner,
            found: &mut found,
        };
        let mut file = PolicyFile::deserialize(found_beside)?;
        file.charges = found;
        Ok(file)
    }
}

impl Serialize for PolicyFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        PolicyFile::serialize(self, serializer)
    }
}
