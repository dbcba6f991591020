//! `scavsim list prices`: known prices of VM types, by region and market.

use serde_json::json;

use super::list_vms::{OLD, VmFilter, old};
use scavsim_base::text::{Column, Sheet};
use scavsim_data::cloud::{Catalogue, Price};
use scavsim_read::input::Diagnostics;

/// The prices of the VM types that pass a filter, in its region if it names one.
pub(super) fn list<'c>(
    catalogue: &'c Catalogue,
    filter: &VmFilter,
) -> Result<Sheet<'c, &'c Price>, Diagnostics> {
    let wanted = filter.wanted(catalogue)?;
    let rows = (wanted.types.into_iter())
        .flat_map(|t| catalogue.prices_of(&t.provider, &t.vm))
        .filter(|price| wanted.region.is_none_or(|region| region == &*price.region));
    let columns = [
        Column::text("provider", |p: &&Price| json!(&*p.provider)),
        Column::text("vm", |p: &&Price| json!(&*p.vm)),
        Column::text("region", |p: &&Price| json!(&*p.region)),
        Column::text("market", |p: &&Price| json!(p.market.name())),
        Column::number("usd_per_hour", |p: &&Price| {
            // A millionth of a dollar is precise enough.
            json!((p.usd_per_hour * 1e6).round() / 1e6)
        }),
        Column::text("from", |p: &&Price| json!(p.valid_from)),
        Column::text("to", |p: &&Price| json!(p.valid_to)),
        Column::text(OLD, |p: &&Price| json!(old(catalogue, p))),
        Column::text("source", |p: &&Price| json!(&*p.source_keys)).long(),
    ];
    Ok(Sheet::new(rows, columns))
}
