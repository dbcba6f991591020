use super::file_inputs::FileInputs;
use super::function::{Function, function};
use super::no_value::NoValue;
use scavsim_data::cloud::date::Date;
use scavsim_data::cloud::prices::Market;
use scavsim_data::cloud::{Catalogue, Offer};
use scavsim_read::expression::Arguments;

pub(super) const FUNCTIONS: &[Function] = &[
    function!(data usd_per_hour ["vm", "market", "provider", "region", "on"] "listed price of a VM type in a market, `on-demand`, `spot`, `commitment-1y` or `commitment-3y`, on a day like '2020-05-29'"),
];

fn usd_per_hour(_: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    let (vm, market) = (arguments.text("vm")?, arguments.text("market")?);
    let market = Market::named(market).ok_or_else(|| NoValue::unknown("market", market, []))?;
    let on = arguments.text("on")?;
    let offer = Offer {
        provider: arguments.text("provider")?.to_owned(),
        region: arguments.text("region")?.to_owned(),
        market,
        date: Date::parse(on).ok_or_else(|| NoValue::Day(on.to_owned()))?,
    };
    let catalogue = Catalogue::embedded().0;
    (catalogue.usd_per_hour(vm, &offer)).ok_or_else(|| NoValue::NoPrice {
        vm: vm.to_owned(),
        instead: catalogue.instead(vm, &offer),
    })
}
