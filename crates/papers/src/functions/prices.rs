//! Listed prices.

use super::function::{Function, function};
use super::given::Given;
use scavsim_data::cloud::date::Date;
use scavsim_data::cloud::prices::Market;
use scavsim_data::cloud::{Catalogue, Offer};
use scavsim_read::expression::Arguments;

pub(super) const FUNCTIONS: &[Function] = &[
    function!(usd_per_hour ["vm", "market", "provider", "region", "on"] "listed price of a VM type in a market, `on-demand`, `spot`, `commitment-1y` or `commitment-3y`, on a day like '2020-05-29'"),
];

fn usd_per_hour(_: &Given, arguments: &Arguments<'_>) -> Result<f64, String> {
    let (vm, market) = (arguments.text("vm")?, arguments.text("market")?);
    let market = (Market::ALL.into_iter())
        .find(|m| m.name() == market)
        .ok_or_else(|| format!("there is no market `{market}`"))?;
    let on = arguments.text("on")?;
    let offer = Offer {
        provider: arguments.text("provider")?.to_owned(),
        region: arguments.text("region")?.to_owned(),
        market,
        date: Date::parse(on).ok_or_else(|| format!("`{on}` is no day like '2020-05-29'"))?,
    };
    let catalogue = Catalogue::embedded().0;
    (catalogue.usd_per_hour(vm, &offer))
        .ok_or_else(|| format!("no price of `{vm}`; {}", catalogue.instead(vm, &offer)))
}
