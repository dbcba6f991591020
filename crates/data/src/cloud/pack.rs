//! A price pack: a folder of a user's own with `prices.csv`, as `scavsim import prices` writes it, and perhaps `vms.csv`. It
//! adds to the shipped tables and changes nothing in them: see [`Catalogue::with`](super::Catalogue::with).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::Date;
use super::price_table::{OfPlace, PriceTable};
use super::prices::{Market, Price};
use super::vm_types::{self, FIGURES, VmType};
use scavsim_read::input::csv::Table;
use scavsim_read::input::{Diagnostic, Diagnostics, Source};

pub const PRICES: &str = "prices.csv";
/// Name of the table of VM types in a pack, which it may lack.
pub const VMS: &str = "vms.csv";

#[derive(Debug, Clone, PartialEq)]
pub struct Pack {
    pub name: String,
    /// BLAKE3 hash of its tables.
    pub hash: String,
    /// The last day of which it has a price.
    pub day: Date,
    pub types: Vec<VmType>,
    pub prices: Vec<Price>,
    pub notes: Vec<String>,
}

impl Default for Pack {
    fn default() -> Self {
        Pack {
            name: String::new(),
            hash: String::new(),
            day: Date::FIRST,
            types: Vec::new(),
            prices: Vec::new(),
            notes: Vec::new(),
        }
    }
}

impl Pack {
    pub fn read(folder: &Path, diagnostics: &mut Diagnostics) -> Option<Pack> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let prices = Source::read(&folder.join(PRICES), diagnostics)?;
        let types = folder.join(VMS);
        let types = if types.exists() {
            Some(Source::read(&types, diagnostics)?)
        } else {
            None
        };
        Pack::from_tables(&name, &prices, types.as_ref(), diagnostics)
    }

    pub fn from_tables(
        name: &str,
        prices: &Arc<Source>,
        types: Option<&Arc<Source>>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Pack> {
        let before = diagnostics.len();
        let table = PriceTable::read(prices, diagnostics);
        let own_types = types.map_or_else(Vec::new, |source| vm_types_of(source, diagnostics));
        let rows = table.map(|table| table.of_places()).unwrap_or_default();
        placed(&rows, prices, diagnostics);
        if diagnostics.len() > before {
            return None;
        }
        let (prices_of_pack, mut notes) = one_per_region(&rows);
        notes.extend(dearer_spot(&prices_of_pack));
        let mut hasher = blake3::Hasher::new();
        hasher.update(prices.text.as_bytes());
        hasher.update(types.map_or(&b""[..], |source| source.text.as_bytes()));
        let Some(day) = prices_of_pack.iter().map(|price| price.valid_to).max() else {
            let title = format!("{} has no prices", prices.name);
            diagnostics.push(Diagnostic::general(title));
            return None;
        };
        Some(Pack {
            name: name.to_owned(),
            hash: hasher.finalize().to_hex().to_string(),
            day,
            types: own_types,
            prices: prices_of_pack,
            notes,
        })
    }
}

fn vm_types_of(source: &Arc<Source>, d: &mut Diagnostics) -> Vec<VmType> {
    let columns = [&FIGURES[..], &["source"]].concat();
    let table = Table::read(source, &columns, &[], d);
    let mut types: Vec<VmType> = Vec::new();
    let mut names = BTreeSet::new();
    for row in table.iter().flat_map(Table::rows) {
        let Some(vm_type) = vm_types::vm_type(&row, d) else {
            continue;
        };
        if !names.insert(vm_type.vm.clone()) {
            let title = format!("two VM types are called `{}`", vm_type.vm);
            row.report("vm", title, "named before", d);
        }
        types.push(vm_type);
    }
    types
}

/// Every price of a pack says who asks it and where.
fn placed(rows: &[OfPlace], source: &Arc<Source>, diagnostics: &mut Diagnostics) {
    for (column, of) in [
        ("provider", (|row| &row.provider) as fn(&OfPlace) -> &String),
        ("region", |row| &row.region),
    ] {
        let lacking = rows.iter().filter(|row| of(row).is_empty());
        for row in lacking {
            let title = format!("`{column}`: the price of `{}` does not say it", row.vm);
            let label = "a pack has prices of many places";
            diagnostics.error_at(source, row.line.clone(), title, label);
        }
    }
}

/// The median over the zones of each region, which prices of a catalogue do not tell apart.
fn one_per_region(rows: &[OfPlace]) -> (Vec<Price>, Vec<String>) {
    type PriceKey<'r> = (&'r str, &'r str, &'r str, Market, Date, Date);
    let mut all: BTreeMap<PriceKey<'_>, Vec<(f64, &str)>> = BTreeMap::new();
    for row in rows {
        // Without a last day it is known on its first.
        let to = row.to.unwrap_or(row.from);
        let key = (
            &*row.provider,
            &*row.vm,
            &*row.region,
            row.market,
            row.from,
            to,
        );
        all.entry(key)
            .or_default()
            .push((row.usd_per_hour, &row.source));
    }
    let over_zones = all.values().filter(|own| own.len() > 1).count();
    let mut prices: Vec<Price> = Vec::with_capacity(all.len());
    for ((provider, vm, region, market, from, to), mut own) in all {
        own.sort_by(|a, b| a.0.total_cmp(&b.0));
        let middle = own.len() / 2;
        let usd_per_hour = if own.len() % 2 == 1 {
            own[middle].0
        } else {
            (own[middle - 1].0 + own[middle].0) / 2.0
        };
        // Zones may have the same price over other days: the first says it.
        let overlaps = prices.last().is_some_and(|before| {
            before.key() == (provider, vm, region, market) && from <= before.valid_to
        });
        if !overlaps {
            prices.push(Price {
                provider: provider.into(),
                vm: vm.into(),
                region: region.into(),
                market,
                usd_per_hour,
                valid_from: from,
                valid_to: to,
                source_keys: own[0].1.into(),
            });
        }
    }
    let note =
        (over_zones > 0).then(|| format!("medians over the zones of a region: {over_zones}"));
    (prices, note.into_iter().collect())
}

/// Spot prices that are above on demand of their day.
fn dearer_spot(prices: &[Price]) -> Option<String> {
    let usual = |spot: &Price| {
        let same = |p: &&Price| {
            (&p.provider, &p.vm, &p.region) == (&spot.provider, &spot.vm, &spot.region)
                && p.market == Market::OnDemand
                && p.holds_on(spot.valid_from)
        };
        let from = prices.partition_point(|p| {
            (&p.provider, &p.vm, &p.region) < (&spot.provider, &spot.vm, &spot.region)
        });
        prices[from..]
            .iter()
            .take_while(|p| p.vm == spot.vm)
            .find(same)
    };
    let above: Vec<&Price> = (prices.iter())
        .filter(|p| p.market == Market::Spot)
        .filter(|spot| usual(spot).is_some_and(|usual| spot.usd_per_hour > usual.usd_per_hour))
        .collect();
    let first = above.first()?;
    Some(format!(
        "spot prices above on demand: {}, that of {} in {} among them",
        above.len(),
        first.vm,
        first.region
    ))
}
