//! Markets as folders: `market.toml` and the tables `zones.csv`, `availability.csv`, `prices.csv`, `egress.csv`. A row of a table holds
//! for its zone from a second on.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use include_dir::{Dir, include_dir};
use serde::Deserialize;

use super::transfer_costs::TransferCosts;
use super::{World, Zone};
use crate::job::whole_ticks;
use scavsim_read::input::checked::{Count, Interval};
use scavsim_read::input::csv::{Row, Table};
use scavsim_read::input::foreign::harmless;
use scavsim_read::input::{
    Diagnostic, Diagnostics, Folder, Source, Spanned, did_you_mean, folder, toml,
};

static EMBEDDED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../data/markets");

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct MarketFile {
    name: Option<String>,
    source: Option<String>,
    licence: Option<String>,
    begins: Option<String>,
    tick_s: Option<Interval>,
    ticks: Option<Spanned<Count>>,
}

const MOST_TICKS: usize = 100_000_000;

#[derive(Debug, Clone)]
pub struct WrittenMarket {
    pub about: String,
    pub source: String,
    pub hash: String,
    pub world: World,
}

impl WrittenMarket {
    pub fn names() -> Vec<&'static str> {
        folder::names(&EMBEDDED)
    }

    /// The library's market called `name`, or that in the folder at this path, from `base`. Mistakes go to `diagnostics`, with `wrong` where
    /// there is none.
    pub fn open(
        name: &str,
        base: &Path,
        wrong: Diagnostic,
        d: &mut Diagnostics,
    ) -> Option<WrittenMarket> {
        let before = d.len();
        let market = if let Some(dir) = EMBEDDED.get_dir(name) {
            let root = "data/markets";
            WrittenMarket::read(&Folder::Embedded { root, dir }, d)
        } else if base.join(name).is_dir() {
            WrittenMarket::read(&Folder::Disk(base.join(name)), d)
        } else {
            let legal = WrittenMarket::names();
            d.push(wrong.with_help(did_you_mean(
                name,
                legal.iter().copied(),
                format!(
                    "allowed here: {}, or a folder with a market.toml",
                    legal.join(", ")
                ),
            )));
            None
        };
        market.filter(|_| d.len() == before)
    }

    /// Reads a folder; mistakes go to `diagnostics`.
    pub fn read(folder: &Folder, d: &mut Diagnostics) -> Option<WrittenMarket> {
        let source = folder.read("market.toml", d)?;
        let file: MarketFile = toml::read(&source, d)?;
        let mut needed = |there: bool, key: &str| {
            if !there && !toml::is_written(&source, key) {
                let title = format!("`{key}` is missing");
                d.error_at(&source, 0..0, title, "a market says it");
            }
        };
        needed(file.tick_s.is_some(), "tick_s");
        needed(file.ticks.is_some(), "ticks");
        let (tick_s, given) = (file.tick_s?.get(), file.ticks?);
        let ticks = given.get_ref().get() as usize;
        let listed = folder.read("zones.csv", d)?;
        let mut zones = zones(&listed, d)?;
        if ticks.saturating_mul(zones.len()) > MOST_TICKS {
            let title = format!("{ticks} ticks of {} zones are too many", zones.len());
            d.error_at(&source, given.span(), title, "at most 100,000,000 in all");
            return None;
        }
        let offers = folder.read("availability.csv", d);
        let prices = folder.read("prices.csv", d);
        let changes = Changes {
            zones: &zones,
            tick_s,
            ticks,
        };
        let egress = folder
            .has("egress.csv")
            .then(|| folder.read("egress.csv", d));
        let mut hasher = blake3::Hasher::new();
        for text in [
            &Some(source),
            &Some(listed),
            &offers,
            &prices,
            &egress.clone().flatten(),
        ] {
            hasher.update(text.as_ref().map_or(&[][..], |text| text.text.as_bytes()));
            hasher.update(&[0]);
        }
        let offered = offers.and_then(|source| {
            changes.read(&source, "machines", d, |row, d| {
                row.whole_number("machines", 0..=u64::from(u16::MAX), d)
                    .map(|n| n as f64)
            })
        });
        let prices = prices.and_then(|source| {
            changes.read(&source, "spot_usd_per_h", d, |row, d| {
                row.number("spot_usd_per_h", 1e-6..=1e6, d)
            })
        });
        for (zone, (offered, prices)) in zones.iter_mut().zip(offered?.into_iter().zip(prices?)) {
            zone.offered = offered.into_iter().map(|n| n as u16).collect();
            zone.spot_usd_per_h = prices;
        }
        let moving = match egress {
            Some(egress) => moving(&egress?, &zones, d)?,
            None => TransferCosts::free(zones.len()),
        };
        let words = [
            file.source,
            file.licence,
            file.begins.map(|at| format!("from {at}")),
        ];
        Some(WrittenMarket {
            about: harmless(&file.name.unwrap_or_default()).into_owned(),
            source: words.into_iter().flatten().collect::<Vec<_>>().join("; "),
            hash: hasher.finalize().to_hex().to_string(),
            world: World {
                tick_s,
                zones,
                moving,
            },
        })
    }
}

fn zones(source: &Arc<Source>, d: &mut Diagnostics) -> Option<Vec<Zone>> {
    let table = Table::read(
        source,
        &["zone", "region", "on_demand_usd_per_h"],
        &["vm"],
        d,
    )?;
    let mut zones: Vec<Zone> = Vec::new();
    for row in table.rows() {
        let (name, region) = (row.name("zone", d), row.name("region", d));
        let price = row.number("on_demand_usd_per_h", 1e-6..=1e6, d);
        let vm = row.optional_text("vm").and_then(|_| row.name("vm", d));
        if name.is_some_and(|name| zones.iter().any(|zone| zone.name == name)) {
            row.named_before("zone", d);
        }
        if let (Some(name), Some(region), Some(on_demand_usd_per_h)) = (name, region, price) {
            zones.push(Zone {
                name: name.to_owned(),
                region: region.to_owned(),
                vm: vm.map(str::to_owned),
                on_demand_usd_per_h,
                offered: Vec::new(),
                spot_usd_per_h: Vec::new(),
            });
        }
    }
    (!zones.is_empty()).then_some(zones)
}

/// Tables of what holds from a second on.
struct Changes<'z> {
    zones: &'z [Zone],
    tick_s: f64,
    ticks: usize,
}

impl Changes<'_> {
    fn read(
        &self,
        source: &Arc<Source>,
        column: &str,
        d: &mut Diagnostics,
        value: impl Fn(&Row<'_>, &mut Diagnostics) -> Option<f64>,
    ) -> Option<Vec<Vec<f64>>> {
        let table = Table::read(source, &["zone", "second", column], &[], d)?;
        let places: BTreeMap<&str, usize> = (self.zones.iter().enumerate())
            .map(|(at, zone)| (zone.name.as_str(), at))
            .collect();
        let mut values: Vec<Vec<f64>> = vec![Vec::new(); self.zones.len()];
        let ends_s = self.tick_s * self.ticks as f64;
        for row in table.rows() {
            let zone = row.name("zone", d);
            let second = row.number("second", 0.0..ends_s, d);
            let value = value(&row, d);
            let (Some(zone), Some(second), Some(value)) = (zone, second, value) else {
                continue;
            };
            let Some(&at) = places.get(zone) else {
                let title = format!("unknown zone `{zone}`");
                let help = format!("zones.csv has {}", listed(self.zones));
                let wrong =
                    Diagnostic::at_span(source, row.span("zone"), title, "not in zones.csv");
                d.push(wrong.with_help(help));
                continue;
            };
            let tick = whole_ticks(second / self.tick_s, f64::floor);
            let of_zone = &mut values[at];
            if tick < of_zone.len() || (of_zone.is_empty() && tick > 0) {
                let (title, label) = if of_zone.is_empty() {
                    (
                        format!("zone `{zone}` does not begin at second 0"),
                        "its first row",
                    )
                } else {
                    (
                        format!("zone `{zone}` goes back in time"),
                        "not after the row before",
                    )
                };
                d.error_at(source, row.span("second"), title, label);
                continue;
            }
            // What held before holds until now; `tick` itself holds the new value, at least.
            let before = of_zone.last().copied().unwrap_or(value);
            of_zone.resize(tick, before);
            of_zone.push(value);
        }
        for (zone, of_zone) in self.zones.iter().zip(&mut values) {
            match of_zone.last().copied() {
                Some(last) => of_zone.resize(self.ticks, last),
                None => {
                    let title = format!("{}: zone `{}` has no row", source.name, zone.name);
                    d.push(Diagnostic::general(title));
                }
            }
        }
        Some(values)
    }
}

fn listed(zones: &[Zone]) -> String {
    let names: Vec<&str> = zones.iter().map(|zone| zone.name.as_str()).collect();
    names.join(", ")
}

fn moving(source: &Arc<Source>, zones: &[Zone], d: &mut Diagnostics) -> Option<TransferCosts> {
    let table = Table::read(source, &["from", "to", "usd_per_gb"], &["s_per_gb"], d)?;
    let mut pairs: BTreeMap<(&str, &str), (f64, f64)> = BTreeMap::new();
    for row in table.rows() {
        let (from, to) = (row.name("from", d), row.name("to", d));
        let usd = row.number("usd_per_gb", 0.0..=1e3, d);
        let seconds = row.optional_number("s_per_gb", 0.0..=1e6, d).unwrap_or(0.0);
        for (region, column) in [(from, "from"), (to, "to")] {
            if let Some(region) = region
                && !zones.iter().any(|zone| zone.region == region)
            {
                let title = format!("no zone is in region `{region}`");
                d.error_at(source, row.span(column), title, "not in zones.csv");
            }
        }
        if let (Some(from), Some(to), Some(usd)) = (from, to, usd) {
            pairs.insert((from, to), (usd, seconds));
        }
    }
    for from in zones {
        for to in zones.iter().filter(|to| to.region != from.region) {
            let pair = (from.region.as_str(), to.region.as_str());
            pairs.entry(pair).or_insert_with(|| {
                let title = format!("{}: nothing from `{}` to `{}`", source.name, pair.0, pair.1);
                d.push(Diagnostic::general(title));
                (0.0, 0.0)
            });
        }
    }
    Some(TransferCosts::by(zones.len(), |from, to| {
        let pair = (zones[from].region.as_str(), zones[to].region.as_str());
        pairs.get(&pair).copied().unwrap_or_default()
    }))
}
