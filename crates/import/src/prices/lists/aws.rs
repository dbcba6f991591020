//! The price list of AWS for EC2, as bulk JSON or CSV: Linux on shared machines, on demand and standard reservations without
//! upfront payment.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::collected::CollectedPrices;
use super::list_kind::ListKind;
use super::price_list::{PriceList, header, is_json};
use scavsim_data::cloud::{Date, Market};
use scavsim_read::input::csv::{Row, Table};
use scavsim_read::input::{Diagnostic, Diagnostics, Source, json};

pub(super) const JSON: ListKind = ListKind {
    name: "the price list of AWS",
    mark: "JSON with `products` and `terms`",
    is_it: |text| is_json(text) && text.contains("\"products\"") && text.contains("\"terms\""),
    read: read_json,
};

pub(super) const CSV: ListKind = ListKind {
    name: "the price list of AWS as CSV",
    mark: "five lines from `FormatVersion` before the columns",
    is_it: |text| {
        header(text)
            .trim_start_matches('"')
            .starts_with("FormatVersion")
    },
    read: read_csv,
};

/// Lines before the header of the CSV.
const PREAMBLE: usize = 5;

/// Names of attributes in JSON and CSV, and their values for usual machines.
const USUAL: [(&str, &str, &str); 4] = [
    ("operatingSystem", "Operating System", "Linux"),
    ("tenancy", "Tenancy", "Shared"),
    ("preInstalledSw", "Pre Installed S/W", "NA"),
    ("capacitystatus", "CapacityStatus", "Used"),
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfferFile {
    publication_date: String,
    products: BTreeMap<String, Product>,
    terms: BTreeMap<String, BTreeMap<String, BTreeMap<String, Term>>>,
}

#[derive(Deserialize)]
struct Product {
    #[serde(default)]
    attributes: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Term {
    price_dimensions: BTreeMap<String, Dimension>,
    #[serde(default)]
    term_attributes: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Dimension {
    unit: String,
    price_per_unit: BTreeMap<String, String>,
}

/// Terms of a price, as in both formats.
struct TermWords<'a> {
    kind: &'a str,
    lease: &'a str,
    class: &'a str,
    payment: &'a str,
    unit: &'a str,
}

impl TermWords<'_> {
    fn market(&self) -> Option<Market> {
        let is_usual = self.class == "standard" && self.payment == "No Upfront";
        match (self.kind, self.lease) {
            _ if self.unit != "Hrs" => None,
            ("OnDemand", _) => Some(Market::OnDemand),
            ("Reserved", "1yr" | "1 yr") if is_usual => Some(Market::Commitment1y),
            ("Reserved", "3yr" | "3 yr") if is_usual => Some(Market::Commitment3y),
            _ => None,
        }
    }
}

fn push(
    found: &mut CollectedPrices,
    list: &PriceList<'_>,
    (vm, region, day): (&str, &str, Date),
    words: &TermWords<'_>,
    usd: f64,
) {
    let Some(market) = words.market() else {
        return found.drop("other terms");
    };
    if !list.takes_region(region) {
        return found.drop("other regions");
    }
    let names = ["aws", vm, region, ""];
    found.push(names, market, day, usd);
}

fn read_json(list: &PriceList<'_>, diagnostics: &mut Diagnostics) -> Option<CollectedPrices> {
    let file: OfferFile = json::read(list.source, "this offer file breaks", diagnostics)?;
    let day = list.day(Some(&file.publication_date), diagnostics)?;
    let mut found = CollectedPrices::default();
    let all = file.terms.iter();
    let all = all.flat_map(|(kind, skus)| skus.iter().map(move |(sku, terms)| (kind, sku, terms)));
    for (kind, sku, term) in all.flat_map(|(k, s, terms)| terms.values().map(move |t| (k, s, t))) {
        let of = |name: &str| {
            let own = file.products.get(sku)?.attributes.get(name)?;
            Some(own.as_str())
        };
        let is_usual = USUAL.iter().all(|(name, _, usual)| of(name) == Some(usual));
        let (Some(vm), Some(region), true) = (of("instanceType"), of("regionCode"), is_usual)
        else {
            found.drop("no usual Linux machine");
            continue;
        };
        let said = |name: &str| term.term_attributes.get(name).map_or("", String::as_str);
        for (code, dimension) in &term.price_dimensions {
            let Some(text) = dimension.price_per_unit.get("USD") else {
                found.drop("no price in USD");
                continue;
            };
            let Ok(usd) = text.parse() else {
                let title = format!(
                    "{}: the price `{code}`: `{text}` is no number",
                    list.source.name
                );
                diagnostics.push(Diagnostic::general(title));
                continue;
            };
            let words = TermWords {
                kind,
                lease: said("LeaseContractLength"),
                class: said("OfferingClass"),
                payment: said("PurchaseOption"),
                unit: &dimension.unit,
            };
            push(&mut found, list, (vm, region, day), &words, usd);
        }
    }
    Some(found)
}

fn read_csv(list: &PriceList<'_>, diagnostics: &mut Diagnostics) -> Option<CollectedPrices> {
    let stated = list.source.text.lines().take(PREAMBLE).find_map(|line| {
        let (name, value) = line.split_once(',')?;
        (name.trim_matches('"') == "Publication Date").then(|| value.trim_matches('"').to_owned())
    });
    // The lines before the header become comments, so that later lines keep their numbers.
    let lines = list.source.text.split_inclusive('\n').enumerate();
    let text: String = lines
        .flat_map(|(at, line)| [if at < PREAMBLE { "#" } else { "" }, line])
        .collect();
    let source: Arc<Source> = Source::new(list.source.name.clone(), text);
    let table = Table::read_any(&source, diagnostics)?;
    let needed = [
        "TermType",
        "Unit",
        "PricePerUnit",
        "Currency",
        "Instance Type",
        "Region Code",
    ];
    let lacking = needed
        .iter()
        .find(|name| !table.columns().any(|own| own == **name));
    if let Some(lacking) = lacking {
        let title = format!(
            "{}: {} without the column `{lacking}`",
            source.name, list.kind
        );
        diagnostics.push(Diagnostic::general(title));
        return None;
    }
    let day = list.day(stated.as_deref(), diagnostics)?;
    let mut found = CollectedPrices::default();
    for row in table.rows() {
        let of = |name: &str| Row::optional_text(&row, name).unwrap_or_default();
        let usd = row.number("PricePerUnit", 0.0..=1e9, diagnostics);
        let is_usual = USUAL.iter().all(|(_, name, usual)| of(name) == *usual);
        let Some(usd) = usd else { continue };
        if of("Instance Type").is_empty() || !is_usual {
            found.drop("no usual Linux machine");
            continue;
        }
        if of("Currency") != "USD" {
            found.drop("no price in USD");
            continue;
        }
        let words = TermWords {
            kind: of("TermType"),
            lease: of("LeaseContractLength"),
            class: of("OfferingClass"),
            payment: of("PurchaseOption"),
            unit: of("Unit"),
        };
        push(
            &mut found,
            list,
            (of("Instance Type"), of("Region Code"), day),
            &words,
            usd,
        );
    }
    Some(found)
}
