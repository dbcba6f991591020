//! The CSV of gpuhunt's catalogue: a row per offer, a file per provider.

use super::collected::CollectedPrices;
use super::list_kind::ListKind;
use super::price_list::{PriceList, has_columns};
use crate::prices::Size;
use scavsim_data::cloud::Market;
use scavsim_read::input::Diagnostics;
use scavsim_read::input::csv::{Row, Table};

pub(super) const KIND: ListKind = ListKind {
    name: "gpuhunt's catalogue",
    mark: "CSV with `instance_name`, `location`, `price`",
    is_it: |text| has_columns(text, &["instance_name", "location", "price"]),
    read,
};

fn read(list: &PriceList<'_>, diagnostics: &mut Diagnostics) -> Option<CollectedPrices> {
    let table = Table::read_any(list.source, diagnostics)?;
    let says_provider = table.columns().any(|column| column == "provider");
    let clouds = &list.options.clouds;
    let stated = if says_provider {
        Some("")
    } else {
        list.only_value("cloud", clouds, diagnostics)
    };
    let (day, stated) = (list.day(None, diagnostics)?, stated?);
    let mut found = CollectedPrices::default();
    for row in table.rows() {
        let usd = row.number("price", 0.0..=1e6, diagnostics);
        let market = market(&row, diagnostics);
        let names = [
            row.text("instance_name", diagnostics),
            row.text("location", diagnostics),
        ];
        let (Some(usd), Some(market), [Some(vm), Some(location)]) = (usd, market, names) else {
            continue;
        };
        let provider = row.optional_text("provider").unwrap_or(stated);
        if says_provider && !clouds.is_empty() && !clouds.iter().any(|own| own == provider) {
            found.drop("other clouds");
            continue;
        }
        let (region, zone) = place(provider, location);
        if !list.takes_region(region) {
            found.drop("other regions");
            continue;
        }
        if let Some(size) = size(&row, provider) {
            found.sizes.entry(vm.to_owned()).or_insert(size);
        }
        let names = [provider, vm, region, zone];
        found.push(names, market, day, usd);
    }
    Some(found)
}

fn market(row: &Row<'_>, diagnostics: &mut Diagnostics) -> Option<Market> {
    match row.optional_text("spot").unwrap_or_default() {
        "True" | "true" => Some(Market::Spot),
        "False" | "false" | "" => Some(Market::OnDemand),
        other => {
            let title = format!("`spot`: expected True or False, found `{other}`");
            row.report("spot", title, "neither", diagnostics);
            None
        }
    }
}

/// Region and zone of a location: on GCP it is a zone.
fn place<'t>(provider: &str, location: &'t str) -> (&'t str, &'t str) {
    match location.rsplit_once('-') {
        Some((region, zone)) if provider == "gcp" && zone.len() == 1 => (region, location),
        _ => (location, ""),
    }
}

fn size(row: &Row<'_>, provider: &str) -> Option<Size> {
    let number = |column| row.optional_text(column)?.parse::<f64>().ok();
    let whole = |column| {
        number(column)
            .filter(|n| *n >= 1.0 && n.fract() == 0.0)
            .map(|n| n as u64)
    };
    let gpus = match row.optional_text("gpu_name") {
        None => None,
        Some(name) => Some((name.to_owned(), whole("gpu_count")?)),
    };
    Some(Size {
        provider: provider.to_owned(),
        vcpu: whole("cpu")?,
        memory_gib: number("memory").filter(|gib| *gib >= 0.1)?,
        gpus,
    })
}
