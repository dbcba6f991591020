use std::sync::Arc;

use super::price::{Base, NoPrice, Rule, VmPrice};
use crate::cloud::Fleet;
use crate::usage::RentedVmType;
use scavsim_base::Declaration;

pub const RULE: Rule = Rule {
    declaration: Declaration {
        name: "market-price",
        what: "VMs cost what the market of a scenario with `[policy]` asks at each time; what else the policy says is billed on top.",
        formula: "∫ price(t) dt over the billed hours, with `market_price = true`",
        source: "price histories of spot markets",
        example: "pricing.define.mine = { market_price = true, granularity_s = 3600 }",
    },
    keys: "`market_price`",
    read: |file| {
        file.market_price
            .then(|| Ok(Base::Vm(Arc::new(MarketPrice))))
    },
};

/// USD per VM and hour as the market asks, spot and on demand.
#[derive(Debug)]
pub struct MarketPrice;

impl VmPrice for MarketPrice {
    fn usd_per_hour(&self, _: RentedVmType<'_>, _: &Fleet<'_>) -> Result<f64, NoPrice> {
        Err(NoPrice {
            what: "`market_price` takes prices from a market, and there is none".to_owned(),
            help: "only scenarios with `[policy]` have a market; take another price".to_owned(),
        })
    }

    fn is_of_market(&self) -> bool {
        true
    }
}
