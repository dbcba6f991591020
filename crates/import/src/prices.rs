//! Turns price lists of others into a table for `price_table` or `spot_series`.

pub mod lists;
pub mod skypilot;

use std::collections::BTreeMap;
use std::io;

use super::csv_text::csv_text;
use super::report::Report;
use scavsim_data::cloud::vm_types::FIGURES;
use scavsim_data::cloud::{Date, Market};

/// VM type, region, zone, market; with the provider.
pub(super) type PriceKey = (String, String, String, String, Market);

/// Observed prices by key and day.
pub(super) type ObservedPrices = BTreeMap<PriceKey, BTreeMap<Date, f64>>;

#[derive(Debug, Clone)]
pub struct ImportedPrices {
    pub text: String,
    /// The VM types whose size is in the source, as a table of a price pack.
    pub vms: String,
    pub report: Report,
}

/// Sizes of VM types by name: provider, vCPUs, GiB and, if there are any, model and number of GPUs.
pub(super) type Sizes = BTreeMap<String, Size>;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Size {
    pub(super) provider: String,
    pub(super) vcpu: u64,
    pub(super) memory_gib: f64,
    pub(super) gpus: Option<(String, u64)>,
}

fn sizes_table(sizes: &Sizes, source: &str) -> io::Result<String> {
    let row = |(vm, size): (&String, &Size)| {
        let (gpu, gpus) = size.gpus.clone().unzip();
        [
            size.provider.clone(),
            vm.clone(),
            size.vcpu.to_string(),
            size.memory_gib.to_string(),
            gpu.unwrap_or_default(),
            gpus.map_or_else(String::new, |count| count.to_string()),
            String::new(),
            source.to_owned(),
        ]
    };
    csv_text(
        &format!("{},source", FIGURES.join(",")),
        sizes.iter().map(row),
    )
}

/// The table of observed prices on `days`: one row from the first to the last of consecutive days with one price.
fn table(
    seen: &ObservedPrices,
    days: &BTreeMap<String, Vec<Date>>,
    source: &str,
) -> io::Result<String> {
    let mut rows = Vec::new();
    for ((provider, vm, region, zone, market), prices) in seen {
        let neighbours = |a: &Date, b: &Date| {
            let all = days.get(provider).map_or(&[][..], Vec::as_slice);
            all.iter().position(|d| d == a).map(|at| at + 1) == all.iter().position(|d| d == b)
        };
        let mut runs: Vec<(Date, Date, f64)> = Vec::new();
        for (day, usd) in prices {
            match runs.last_mut() {
                Some((_, to, own)) if own == usd && neighbours(to, day) => *to = *day,
                _ => runs.push((*day, *day, *usd)),
            }
        }
        for (from, to, usd) in runs {
            let figures = [usd.to_string(), from.to_string(), to.to_string()];
            let names = [&**provider, vm, region, zone, market.name()].map(str::to_owned);
            rows.push([&names[..], &figures, &[source.to_owned()]].concat());
        }
    }
    let columns = "provider,vm,region,zone,market,usd_per_hour,valid_from,valid_to,source";
    csv_text(columns, rows)
}
