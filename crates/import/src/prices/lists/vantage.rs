//! The CSV that Vantage's ec2instances.info exports: a row per VM type of AWS, of one region.

use super::collected::CollectedPrices;
use super::list_kind::ListKind;
use super::price_list::{PriceList, has_columns};
use scavsim_data::cloud::Market;
use scavsim_read::input::Diagnostics;
use scavsim_read::input::csv::Table;

pub(super) const KIND: ListKind = ListKind {
    name: "Vantage's table of EC2",
    mark: "CSV with `API Name`",
    is_it: |text| has_columns(text, &["API Name"]),
    read,
};

/// Columns of prices with their names over the years; for each market the first one in a table. For reservations the file
/// does not give the term.
const PRICES: [(Market, [&str; 2]); 2] = [
    (Market::OnDemand, ["On Demand", "Linux On Demand cost"]),
    (
        Market::Spot,
        ["Linux Spot Average cost", "Linux Spot Minimum cost"],
    ),
];

/// Hours of the possible periods of a price.
const PERIODS: [(&str, f64); 7] = [
    ("hourly", 1.0),
    ("daily", 24.0),
    ("weekly", 168.0),
    ("monthly", 730.0),
    ("annually", 8760.0),
    ("per minute", 1.0 / 60.0),
    ("per second", 1.0 / 3600.0),
];

fn read(list: &PriceList<'_>, diagnostics: &mut Diagnostics) -> Option<CollectedPrices> {
    let table = Table::read_any(list.source, diagnostics)?;
    let region = list.only_value("region", &list.options.regions, diagnostics);
    let (day, region) = (list.day(None, diagnostics)?, region?);
    let mut found = CollectedPrices::default();
    for row in table.rows() {
        let vm = row.text("API Name", diagnostics);
        for (market, columns) in PRICES {
            let mut texts = columns.iter().map(|own| (*own, row.optional_text(own)));
            let found_text = texts.find_map(|(own, text)| Some((own, text?)));
            let (Some(vm), Some((column, text))) = (vm, found_text) else {
                continue;
            };
            let Some(usd) = usd_per_hour(text) else {
                let legal = "expected USD per hour like `$0.5260 hourly`, or `unavailable`";
                let title = format!("`{column}`: `{text}` is no price");
                row.report(column, title, legal, diagnostics);
                continue;
            };
            let Some(usd) = usd else {
                found.drop("unavailable");
                continue;
            };
            let names = ["aws", vm, region, ""];
            found.push(names, market, day, usd);
        }
    }
    Some(found)
}

/// USD per hour; a missing price is `Some(None)`.
fn usd_per_hour(text: &str) -> Option<Option<f64>> {
    if ["unavailable", "n/a"]
        .iter()
        .any(|none| text.eq_ignore_ascii_case(none))
    {
        return Some(None);
    }
    let (usd, period) = match text.split_once(' ') {
        Some((usd, period)) => (usd, period.trim()),
        None => (text, "hourly"),
    };
    let hours = PERIODS.iter().find(|(name, _)| *name == period)?.1;
    let usd: f64 = usd.trim_start_matches('$').replace(',', "").parse().ok()?;
    Some(Some(usd / hours))
}
