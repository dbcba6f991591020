//! Dated prices of VM types, from `data/clouds/prices/`, one table per provider.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::date::Date;
use super::sources::Sources;
use scavsim_read::input::csv::{Row, Table};
use scavsim_read::input::{Diagnostics, Source};

pub const FOLDER: &str = "data/clouds/prices/";

macro_rules! table {
    ($provider:literal) => {
        (
            $provider,
            concat!("data/clouds/prices/", $provider, ".csv"),
            include_str!(concat!(
                "../../../../data/clouds/prices/",
                $provider,
                ".csv"
            )),
        )
    };
}

pub const TABLES: [(&str, &str, &str); 6] = [
    table!("aws"),
    table!("azure"),
    table!("gcp"),
    table!("lambda"),
    table!("nebius"),
    table!("runpod"),
];

/// On which terms a VM is rented.
///
/// ```
/// # use scavsim_data::face as scavsim;
/// assert_eq!(scavsim::Market::OnDemand.name(), "on-demand");
/// ```
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[schemars(description = "On which terms a VM is rented.")]
pub enum Market {
    /// Until it is given back.
    OnDemand,
    /// Until the provider takes it; only the price is known here.
    Spot,
    /// Paid for a year, used or not.
    #[serde(rename = "commitment-1y")]
    Commitment1y,
    /// Paid for three years, used or not.
    #[serde(rename = "commitment-3y")]
    Commitment3y,
}

scavsim_base::named! {
    Market:
    OnDemand = "on-demand", Spot = "spot", Commitment1y = "commitment-1y",
    Commitment3y = "commitment-3y",
}

impl Market {
    pub(super) fn read(row: &Row<'_>, d: &mut Diagnostics) -> Option<Market> {
        row.known("market", &Market::ALL, Market::name, d)
    }
}

impl fmt::Display for Market {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Price {
    pub provider: Arc<str>,
    pub vm: Arc<str>,
    pub region: Arc<str>,
    pub market: Market,
    pub usd_per_hour: f64,
    pub valid_from: Date,
    /// Last day on which the source has it; afterwards it is not known.
    pub valid_to: Date,
    pub source_keys: Arc<str>,
}

impl Price {
    /// What is looked for; prices are in this order, then by day.
    pub(super) fn key(&self) -> (&str, &str, &str, Market) {
        (&self.provider, &self.vm, &self.region, self.market)
    }

    pub fn holds_on(&self, date: Date) -> bool {
        (self.valid_from..=self.valid_to).contains(&date)
    }
}

pub(super) fn embedded(sources: &Sources, diagnostics: &mut Diagnostics) -> Vec<Price> {
    let mut prices = Vec::with_capacity(4096);
    let mut texts = Texts::default();
    // The tables are in the order of their providers, and so are the prices.
    for (provider, file, text) in TABLES {
        match read_sound(provider, text, sources, &mut texts) {
            Some(sound) => prices.extend(sound),
            None => {
                let file = Source::new(file, text);
                prices.extend(read(provider, &file, sources, &mut texts, diagnostics));
            }
        }
    }
    prices
}

const COLUMNS: [&str; 7] = [
    "vm",
    "region",
    "market",
    "usd_per_hour",
    "valid_from",
    "valid_to",
    "source",
];

/// Like [`read`] in a fraction of its time, for a sorted table without mistakes and quotes; `None` for any other.
fn read_sound(
    provider: &str,
    text: &str,
    sources: &Sources,
    texts: &mut Texts,
) -> Option<Vec<Price>> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    if !lines.next()?.split(',').eq(COLUMNS) {
        return None;
    }
    let provider = texts.shared(provider);
    let mut prices: Vec<Price> = Vec::with_capacity(text.len() / 64);
    // Most rows have the days of the row before.
    let mut days = [("", Date::FIRST); 2];
    let mut day_in = |column: usize, text| {
        if days[column].0 != text {
            days[column] = (text, Date::parse(text)?);
        }
        Some(days[column].1)
    };
    for line in lines {
        let mut cells = line.split(',');
        let [vm, region, market] = [cells.next()?, cells.next()?, cells.next()?];
        let [usd_per_hour, from, to] = [cells.next()?, cells.next()?, cells.next()?];
        let keys = cells.next()?;
        let is_plain = |cell: &str| {
            let mut bytes = cell.bytes();
            !cell.is_empty() && bytes.all(|b| b.is_ascii_graphic() && b != b'"')
        };
        if cells.next().is_some() || ![vm, region, keys].into_iter().all(is_plain) {
            return None;
        }
        let last = prices.last();
        let again = |of: fn(&Price) -> &Arc<str>, text: &str| {
            last.map(of).filter(|before| ***before == *text).cloned()
        };
        let source_keys = match again(|p| &p.source_keys, keys) {
            Some(keys) => keys,
            None if sources.knows(keys) => texts.shared(keys),
            None => return None,
        };
        let price = Price {
            provider: Arc::clone(&provider),
            vm: again(|p| &p.vm, vm).unwrap_or_else(|| texts.shared(vm)),
            region: again(|p| &p.region, region).unwrap_or_else(|| texts.shared(region)),
            market: Market::named(market)?,
            usd_per_hour: (usd_per_hour.parse().ok())
                .filter(|usd: &f64| usd.is_finite() && *usd >= LEAST_USD)?,
            valid_from: day_in(0, from)?,
            valid_to: day_in(1, to)?,
            source_keys,
        };
        let is_behind = last.is_none_or(|before| match before.key().cmp(&price.key()) {
            Ordering::Less => true,
            Ordering::Equal => before.valid_to < price.valid_from,
            Ordering::Greater => false,
        });
        if price.valid_to < price.valid_from || !is_behind {
            return None;
        }
        prices.push(price);
    }
    Some(prices)
}

/// The least price that is taken for one, in USD per hour.
pub const LEAST_USD: f64 = 1e-6;

/// One copy of each text: a table names few things many times.
#[derive(Default)]
struct Texts(HashSet<Arc<str>>);

impl Texts {
    fn shared(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = text.into();
        self.0.insert(Arc::clone(&new));
        new
    }
}

fn read(
    provider: &str,
    file: &Arc<Source>,
    sources: &Sources,
    texts: &mut Texts,
    diagnostics: &mut Diagnostics,
) -> Vec<Price> {
    let Some(table) = Table::read(file, &COLUMNS, &[], diagnostics) else {
        return Vec::new();
    };
    let mut prices: Vec<(Price, Row<'_>)> = Vec::new();
    for row in table.rows() {
        let is_sourced = sources.check(&row, diagnostics);
        match price(provider, &row, texts, diagnostics) {
            Some(price) if is_sourced => prices.push((price, row)),
            _ => {}
        }
    }
    prices.sort_by(|(a, _), (b, _)| (a.key(), a.valid_from).cmp(&(b.key(), b.valid_from)));
    for pair in prices.windows(2) {
        let [(before, _), (price, row)] = pair else {
            continue;
        };
        if before.key() == price.key() && price.valid_from <= before.valid_to {
            let label = format!("another holds until {}", before.valid_to);
            let title = "two prices for the same day";
            row.report_line(title, label, diagnostics);
        }
    }
    prices.into_iter().map(|(price, _)| price).collect()
}

fn price(provider: &str, row: &Row<'_>, texts: &mut Texts, d: &mut Diagnostics) -> Option<Price> {
    let day = |column: &str, d: &mut Diagnostics| {
        let text = row.text(column, d)?;
        let date = Date::parse(text);
        if date.is_none() {
            let title = format!("`{column}`: expected a day like 2026-07-30, found `{text}`");
            row.report(column, title, "not a day", d);
        }
        date
    };
    let market = Market::read(row, d)?;
    let (valid_from, valid_to) = (day("valid_from", d)?, day("valid_to", d)?);
    if valid_to < valid_from {
        let title = format!("`valid_to` {valid_to} is before `valid_from` {valid_from}");
        row.report("valid_to", title, "runs backwards", d);
    }
    Some(Price {
        provider: texts.shared(provider),
        vm: texts.shared(row.text("vm", d)?),
        region: texts.shared(row.text("region", d)?),
        market,
        usd_per_hour: row.number("usd_per_hour", LEAST_USD.., d)?,
        valid_from,
        valid_to,
        source_keys: texts.shared(row.text("source", d)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_tables_are_read_alike_both_ways() {
        let mut diagnostics = Diagnostics::default();
        let sources = Sources::embedded(&mut diagnostics);
        let texts = &mut Texts::default();
        for (provider, file, text) in TABLES {
            let quick = read_sound(provider, text, &sources, texts).expect(file);
            assert!(quick.len() > 50, "{file}");
            let source = Source::new(file, text);
            let careful = read(provider, &source, &sources, texts, &mut diagnostics);
            assert_eq!(quick, careful, "{file}");
        }
        assert!(diagnostics.is_empty(), "{}", diagnostics.render(false));
    }

    #[test]
    fn prices_that_overlap_run_backwards_or_have_no_day_are_refused() {
        let sources = crate::cloud::sources::tests::sources();
        let head = "vm,region,market,usd_per_hour,valid_from,valid_to,source\n";
        let markets = "allowed here: `on-demand`, `spot`, `commitment-1y`, `commitment-3y`";
        let overlap = "spot,1,2020-01-01,2021-01-01,s\nv,r,spot,2,2021-01-01,2022-01-01,s";
        for (row, expected) in [
            (overlap, "two prices for the same day"),
            ("spot,1,2021-01-01,2020-01-01,s", "is before `valid_from`"),
            ("spot,1,2021-02-30,2021-03-01,s", "expected a day"),
            ("reserved,1,2021-02-01,2021-03-01,s", markets),
            ("spot,0,2021-02-01,2021-03-01,s", "`usd_per_hour`: expected"),
            ("spot,1,2021-02-01,2021-03-01,", "`source`: expected"),
            ("spot,1,2021-02-01,2021-03-01,s+t", "unknown source `t`"),
        ] {
            let rows = format!("v,r,{row}\n");
            let mut diagnostics = Diagnostics::default();
            let file = Source::new("prices.csv", format!("{head}{rows}"));
            let texts = &mut Texts::default();
            let quick = read_sound("gcp", &file.text, &sources, texts);
            assert_eq!(quick, None, "{rows}");
            read("gcp", &file, &sources, texts, &mut diagnostics);
            let shown = diagnostics.render(false);
            assert!(shown.contains(expected), "{rows}{shown}");
            let line = 1 + rows.lines().count();
            assert!(shown.contains(&format!("prices.csv:{line}:")), "{shown}");
        }
    }
}
