//! Spot prices of AWS by zone, from `aws ec2 describe-spot-price-history`. If a day has several, the last one is used.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::collected::CollectedPrices;
use super::list_kind::ListKind;
use super::price_list::{PriceList, is_json};
use scavsim_data::cloud::{Date, Market};
use scavsim_read::input::{Diagnostic, Diagnostics, json};

pub(super) const KIND: ListKind = ListKind {
    name: "the spot price history of AWS",
    mark: "JSON with `SpotPriceHistory`",
    is_it: |text| is_json(text) && text.contains("\"SpotPriceHistory\""),
    read,
};

#[derive(Deserialize)]
struct SpotPriceHistory {
    #[serde(rename = "SpotPriceHistory")]
    history: Vec<SpotPriceEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct SpotPriceEntry {
    availability_zone: String,
    instance_type: String,
    product_description: String,
    spot_price: String,
    timestamp: String,
}

fn read(list: &PriceList<'_>, diagnostics: &mut Diagnostics) -> Option<CollectedPrices> {
    let answer: SpotPriceHistory = json::read(list.source, "this answer breaks", diagnostics)?;
    let mut found = CollectedPrices::default();
    let mut last: BTreeMap<_, (&str, f64)> = BTreeMap::new();
    for (at, entry) in answer.history.iter().enumerate() {
        let day = entry.timestamp.get(..10).and_then(Date::parse);
        let (Ok(usd), Some(day)) = (entry.spot_price.parse::<f64>(), day) else {
            let title = format!(
                "{}: entry {}: a price `{}` of `{}`",
                list.source.name,
                at + 1,
                entry.spot_price,
                entry.timestamp
            );
            let help = "expected a number, and a time like 2026-11-26T14:02:31+00:00";
            diagnostics.push(Diagnostic::general(title).with_help(help));
            continue;
        };
        if !entry.product_description.starts_with("Linux/UNIX") {
            found.drop("not Linux");
            continue;
        }
        let zone = entry.availability_zone.as_str();
        let region = zone.trim_end_matches(|c: char| c.is_ascii_lowercase());
        if !list.takes_region(region) {
            found.drop("other regions");
            continue;
        }
        let key = (&*entry.instance_type, region, zone, day);
        let own = (&*entry.timestamp, usd);
        match last.get_mut(&key) {
            None => {
                last.insert(key, own);
            }
            Some(known) => {
                found.drop("others of the same day");
                if known.0 < own.0 {
                    *known = own;
                }
            }
        }
    }
    for ((vm, region, zone, day), (_, usd)) in last {
        let names = ["aws", vm, region, zone];
        found.push(names, Market::Spot, day, usd);
    }
    Some(found)
}
