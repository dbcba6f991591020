//! Azure's retail prices: pages of JSON with `Items`, from <https://prices.azure.com/api/retail/prices>.

use serde::Deserialize;

use super::collected::CollectedPrices;
use super::list_kind::ListKind;
use super::price_list::{PriceList, is_json};
use scavsim_data::cloud::Market;
use scavsim_read::input::{Diagnostic, Diagnostics, json};

pub(super) const KIND: ListKind = ListKind {
    name: "Azure's retail prices",
    mark: "JSON with `Items` of `armSkuName`",
    is_it: |text| is_json(text) && text.contains("\"armSkuName\""),
    read,
};

/// Hours of a year and of three, over which a reservation's price is spread.
const TERMS: [(&str, Market, f64); 2] = [
    ("1 Year", Market::Commitment1y, 8760.0),
    ("3 Years", Market::Commitment3y, 3.0 * 8760.0),
];

#[derive(Deserialize)]
#[serde(untagged)]
enum RetailPages {
    Page {
        #[serde(rename = "Items")]
        items: Vec<serde_json::Value>,
    },
    Items(Vec<serde_json::Value>),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    currency_code: String,
    retail_price: f64,
    arm_region_name: String,
    arm_sku_name: String,
    product_name: String,
    sku_name: String,
    #[serde(rename = "type")]
    terms: String,
    reservation_term: Option<String>,
    unit_of_measure: String,
}

fn read(list: &PriceList<'_>, diagnostics: &mut Diagnostics) -> Option<CollectedPrices> {
    let answer = json::read(list.source, "this JSON breaks", diagnostics)?;
    let (RetailPages::Page { items } | RetailPages::Items(items)) = answer;
    let day = list.day(None, diagnostics)?;
    let mut found = CollectedPrices::default();
    for (at, item) in items.into_iter().enumerate() {
        let item: Item = match serde_json::from_value(item) {
            Ok(item) => item,
            Err(why) => {
                let title = format!("{}: entry {} of `Items`: {why}", list.source.name, at + 1);
                diagnostics.push(Diagnostic::general(title));
                continue;
            }
        };
        if item.currency_code != "USD" {
            let title = format!("{}: prices in {}", list.source.name, item.currency_code);
            diagnostics.push(Diagnostic::general(title).with_help("ask for `currencyCode=USD`"));
            return None;
        }
        let (market, hours) = match terms(&item) {
            Ok(terms) => terms,
            Err(why) => {
                found.drop(why);
                continue;
            }
        };
        if !list.takes_region(&item.arm_region_name) {
            found.drop("other regions");
            continue;
        }
        let names = ["azure", &item.arm_sku_name, &item.arm_region_name, ""];
        found.push(names, market, day, item.retail_price / hours);
    }
    Some(found)
}

/// The market of an item, and the hours of its price; or why it is dropped.
fn terms(item: &Item) -> Result<(Market, f64), &'static str> {
    let has = |word: &str| item.product_name.contains(word) || item.sku_name.contains(word);
    if item.arm_sku_name.is_empty() || !item.product_name.starts_with("Virtual Machines") {
        return Err("no virtual machines");
    }
    if has("Windows") || has("CloudServices") || has("Cloud Services") {
        return Err("Windows and cloud services");
    }
    if item.unit_of_measure != "1 Hour" {
        return Err("not by the hour");
    }
    match (&*item.terms, item.reservation_term.as_deref()) {
        ("Reservation", Some(term)) => {
            let known = TERMS.iter().find(|(name, ..)| *name == term);
            known
                .map(|(_, market, hours)| (*market, *hours))
                .ok_or("other terms")
        }
        ("Consumption", None) if has("Low Priority") => Err("low priority"),
        ("Consumption", None) if has("Spot") => Ok((Market::Spot, 1.0)),
        ("Consumption", None) => Ok((Market::OnDemand, 1.0)),
        _ => Err("other terms"),
    }
}
