//! Dated prices of VM types, from `data/clouds/prices.csv`.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::date::Date;
use crate::input::csv::{Row, Table};
use crate::input::{Diagnostics, Source};

/// Where the prices stand.
pub const FILE: &str = "data/clouds/prices.csv";
pub(crate) const TABLE: &str = include_str!("../../data/clouds/prices.csv");

/// On which terms a VM is rented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Market {
    /// Until it is given back.
    OnDemand,
    /// Until the provider takes it; only the price is known here.
    Spot,
}

impl fmt::Display for Market {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Market::OnDemand => "on-demand",
            Market::Spot => "spot",
        })
    }
}

/// A price that was seen from one day to another.
#[derive(Debug, Clone, PartialEq)]
pub struct Price {
    /// Who rents the VM out.
    pub provider: String,
    /// Where.
    pub region: String,
    /// VM type.
    pub vm: String,
    /// On which terms.
    pub market: Market,
    /// USD per VM and hour.
    pub usd_per_hour: f64,
    /// First day on which the source has this price.
    pub valid_from: Date,
    /// Last day on which the source has it; afterwards it is not known.
    pub valid_to: Date,
    /// Where the figure comes from.
    pub source: String,
}

/// The embedded prices; what is wrong with the table goes to `diagnostics`.
pub(super) fn embedded(diagnostics: &mut Diagnostics) -> Vec<Price> {
    read(TABLE, diagnostics)
}

fn read(text: &str, diagnostics: &mut Diagnostics) -> Vec<Price> {
    let source = Source::new(FILE, text);
    let columns = [
        "provider",
        "region",
        "vm",
        "market",
        "usd_per_hour",
        "valid_from",
        "valid_to",
        "source",
    ];
    let table = Table::read(&source, &columns, &[], diagnostics);
    let mut prices: Vec<Price> = Vec::new();
    for row in table.iter().flat_map(Table::rows) {
        let Some(price) = price(&row, &source, diagnostics) else {
            continue;
        };
        let twice = prices.iter().any(|p| {
            (&p.provider, &p.region, &p.vm, p.market)
                == (&price.provider, &price.region, &price.vm, price.market)
                && p.valid_from <= price.valid_to
                && price.valid_from <= p.valid_to
        });
        if twice {
            let label = "overlaps with a row above";
            diagnostics.error_at(
                &source,
                row.line_span(),
                "two prices for the same day",
                label,
            );
        }
        prices.push(price);
    }
    prices
}

fn price(row: &Row<'_>, source: &std::sync::Arc<Source>, d: &mut Diagnostics) -> Option<Price> {
    let day = |column: &str, d: &mut Diagnostics| {
        let text = row.text(column, d)?;
        let date = Date::parse(text);
        if date.is_none() {
            let title = format!("`{column}`: expected a day like 2026-07-30, found `{text}`");
            d.error_at(source, row.span(column), title, "not a day");
        }
        date
    };
    let market = match row.text("market", d)? {
        "on-demand" => Market::OnDemand,
        "spot" => Market::Spot,
        other => {
            let title = format!("`market`: expected `on-demand` or `spot`, found `{other}`");
            d.error_at(source, row.span("market"), title, "not a market");
            return None;
        }
    };
    let (valid_from, valid_to) = (day("valid_from", d)?, day("valid_to", d)?);
    if valid_to < valid_from {
        let title = format!("`valid_to` {valid_to} is before `valid_from` {valid_from}");
        d.error_at(source, row.span("valid_to"), title, "runs backwards");
    }
    Some(Price {
        provider: row.text("provider", d)?.to_owned(),
        region: row.text("region", d)?.to_owned(),
        vm: row.text("vm", d)?.to_owned(),
        market,
        usd_per_hour: row.number("usd_per_hour", 1e-6.., d)?,
        valid_from,
        valid_to,
        source: row.text("source", d)?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_that_overlap_run_backwards_or_have_no_day_are_refused() {
        let head = "provider,region,vm,market,usd_per_hour,valid_from,valid_to,source\n";
        for (rows, expected) in [
            (
                "gcp,r,v,spot,1,2020-01-01,2021-01-01,s\ngcp,r,v,spot,2,2021-01-01,2022-01-01,s\n",
                "two prices for the same day",
            ),
            (
                "gcp,r,v,spot,1,2021-01-01,2020-01-01,s\n",
                "is before `valid_from`",
            ),
            ("gcp,r,v,spot,1,2021-02-30,2021-03-01,s\n", "expected a day"),
            (
                "gcp,r,v,reserved,1,2021-02-01,2021-03-01,s\n",
                "expected `on-demand` or `spot`",
            ),
            (
                "gcp,r,v,spot,0,2021-02-01,2021-03-01,s\n",
                "`usd_per_hour`: expected",
            ),
            (
                "gcp,r,v,spot,1,2021-02-01,2021-03-01,\n",
                "`source`: expected",
            ),
        ] {
            let mut diagnostics = Diagnostics::default();
            read(&format!("{head}{rows}"), &mut diagnostics);
            let shown = diagnostics.render(false);
            assert!(shown.contains(expected), "{rows}{shown}");
        }
    }
}
