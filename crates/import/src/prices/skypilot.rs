//! The catalogue of SkyPilot in `~/.sky/catalogs/vN`: `CLOUD/vms.csv`, a row per VM type and zone. Columns are read by name,
//! because their order differs. On GCP a host and its accelerators have separate rows and one bill: they are joined if both
//! are in a zone.

mod copies;
mod hosts;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use copies::SkypilotOptions;
use hosts::{HostPriceRow, HostWithAccelerators};

use super::{ImportedPrices, ObservedPrices, Size, Sizes, sizes_table, table};
use crate::report::Report;
use scavsim_data::cloud::Date;
use scavsim_data::cloud::prices::LEAST_USD;
use scavsim_read::input::csv::{Row, Table};
use scavsim_read::input::name::not_a_name;
use scavsim_read::input::{Diagnostic, Diagnostics, Source};

const SOURCE: &str = "SkyPilot catalogue (Apache-2.0)";

pub fn read(
    options: &SkypilotOptions,
    diagnostics: &mut Diagnostics,
) -> std::io::Result<Option<ImportedPrices>> {
    let attach: Vec<HostWithAccelerators> = (options.attach.iter())
        .filter_map(|text| hosts::joined(text, diagnostics))
        .collect();
    let copies = copies::copies(options, diagnostics);
    let mut report = Report::default();
    let (mut seen, mut days) = (ObservedPrices::new(), BTreeMap::<String, Vec<Date>>::new());
    let mut sizes = Sizes::new();
    for (cloud, day, path) in copies {
        let Some(source) = Source::read(&path, diagnostics) else {
            continue;
        };
        let before = diagnostics.len();
        let Some(table) = Table::read_any(&source, diagnostics) else {
            continue;
        };
        take_sizes(&table, &cloud, &mut sizes);
        let offered = offered(&table, &source, &cloud, options, &mut report, diagnostics);
        if diagnostics.len() > before {
            continue;
        }
        days.entry(cloud.clone()).or_default().push(day);
        hosts::collect_prices(&cloud, day, offered, &attach, &mut seen, &mut report);
    }
    days.values_mut().for_each(|days| days.sort_unstable());
    if !diagnostics.is_empty() {
        return Ok(None);
    }
    hosts::missing_joins(&attach, &seen, diagnostics);
    if seen.is_empty() {
        let title = "no price is left of these catalogues";
        let help = "look at --cloud and --region, and at what the report of a wider import drops";
        diagnostics.push(Diagnostic::general(title).with_help(help));
    }
    if !diagnostics.is_empty() {
        return Ok(None);
    }
    let types: BTreeSet<(&str, &str)> = seen.keys().map(|k| (&*k.0, &*k.1)).collect();
    let days: BTreeMap<String, Vec<Date>> = days;
    let all_days: BTreeSet<Date> = days.values().flatten().copied().collect();
    let text: Vec<String> = all_days.iter().map(Date::to_string).collect();
    report.note(format!(
        "{} VM types, prices of {}",
        types.len(),
        text.join(", ")
    ));
    Ok(Some(ImportedPrices {
        text: table(&seen, &days, SOURCE)?,
        vms: sizes_table(&sizes, SOURCE)?,
        report,
    }))
}

/// The sizes of VM types in a table; a fraction of a GPU, or of a vCPU, is left out.
fn take_sizes(table: &Table, cloud: &str, sizes: &mut Sizes) {
    let whole = |number: f64| (number >= 1.0 && number.fract() == 0.0).then_some(number as u64);
    // Invalid numbers are reported by the reader of prices.
    let number = |row: &Row<'_>, column| row.optional_text(column)?.parse::<f64>().ok();
    for row in table.rows() {
        let size = || {
            let gpus = match row.optional_text("AcceleratorName") {
                None => None,
                Some(name) => Some((
                    name.to_owned(),
                    whole(number(&row, "AcceleratorCount").unwrap_or(1.0))?,
                )),
            };
            Some(Size {
                provider: cloud.to_owned(),
                vcpu: whole(number(&row, "vCPUs")?)?,
                memory_gib: number(&row, "MemoryGiB").filter(|gib| *gib >= 0.1)?,
                gpus,
            })
        };
        let Some(vm) = row.optional_text("InstanceType") else {
            continue;
        };
        if not_a_name(vm).is_none()
            && !sizes.contains_key(vm)
            && let Some(size) = size()
        {
            sizes.insert(vm.to_owned(), size);
        }
    }
}

/// The rows of a table with a price; dropped rows are counted.
fn offered(
    table: &Table,
    source: &Arc<Source>,
    cloud: &str,
    options: &SkypilotOptions,
    report: &mut Report,
    diagnostics: &mut Diagnostics,
) -> Vec<HostPriceRow> {
    let missing: Vec<&str> = ["InstanceType", "Price", "Region"]
        .into_iter()
        .filter(|name| table.columns().all(|column| column != *name))
        .collect();
    if !missing.is_empty() {
        let title = format!("{} has no column {}", source.name, missing.join(", "));
        let help = "a table of SkyPilot's catalogue has InstanceType, AcceleratorName, AcceleratorCount, Price, SpotPrice, Region, AvailabilityZone";
        diagnostics.push(Diagnostic::general(title).with_help(help));
        return Vec::new();
    }
    let (mut read, mut elsewhere, mut free, mut unpriced) = (0, 0, 0, 0);
    let (mut nameless, mut no_cheaper) = (0, 0);
    let mut all = Vec::new();
    for row in table.rows() {
        read += 1;
        for column in ["InstanceType", "AcceleratorName"] {
            if row.optional_text(column).is_some() {
                row.text(column, diagnostics);
            }
        }
        // Checks names by the rule of the table's readers.
        for column in ["Region", "AvailabilityZone"] {
            if row.optional_text(column).is_some() {
                row.name(column, diagnostics);
            }
        }
        let vm = row.optional_text("InstanceType");
        if let Some(why) = vm.and_then(not_a_name) {
            let title = format!("`{}` is no name of a VM type", vm.unwrap_or_default());
            row.report("InstanceType", title, why, diagnostics);
        }
        let region = row.optional_text("Region").unwrap_or_default().to_owned();
        if !options.regions.is_empty() && !options.regions.contains(&region) {
            elsewhere += 1;
            continue;
        }
        let usd = usd(&row, "Price", diagnostics);
        let spot_usd = usd_of_spot(&row, diagnostics);
        match usd {
            None => unpriced += 1,
            Some(usd) if usd < LEAST_USD => free += 1,
            Some(usd) => {
                let vm = row.optional_text("InstanceType").map(str::to_owned);
                let accelerator = accelerator(&row, diagnostics);
                if vm.is_none() && accelerator.is_none() {
                    nameless += 1;
                    continue;
                }
                no_cheaper += usize::from(spot_usd.is_some_and(|spot| spot >= usd));
                all.push(HostPriceRow {
                    vm,
                    accelerator,
                    region,
                    zone: row
                        .optional_text("AvailabilityZone")
                        .unwrap_or_default()
                        .to_owned(),
                    usd,
                    spot_usd,
                });
            }
        }
    }
    let dropped = [
        ("other regions", elsewhere),
        ("no price", unpriced),
        ("a price of 0", free),
        ("neither VM type nor accelerator", nameless),
    ];
    report.rows(format!("{cloud}, {}", source.name), read, &dropped);
    if no_cheaper > 0 {
        report.note(format!(
            "{cloud}: {no_cheaper} spot prices are not below on demand"
        ));
    }
    all
}

/// A price of at least 0; `None` if the cell is empty. Host and accelerator are added, so that each has half of the maximum.
fn usd(row: &Row<'_>, column: &str, diagnostics: &mut Diagnostics) -> Option<f64> {
    row.optional_number(column, 0.0..=5e5, diagnostics)
}

/// A spot price; 0, or less than a table of prices accepts, means none.
fn usd_of_spot(row: &Row<'_>, diagnostics: &mut Diagnostics) -> Option<f64> {
    usd(row, "SpotPrice", diagnostics).filter(|usd| *usd >= LEAST_USD)
}

fn accelerator(row: &Row<'_>, diagnostics: &mut Diagnostics) -> Option<(String, f64)> {
    let name = row.optional_text("AcceleratorName")?;
    let count = row.optional_number("AcceleratorCount", 0.0..=1e6, diagnostics);
    Some((name.to_owned(), count.unwrap_or(1.0)))
}
