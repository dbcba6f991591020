//! The listed price of a VM type in a region, on a day.

use std::sync::Arc;

use super::{Base, NoPrice, Rule, VmPrice};
use crate::cloud::{Fleet, Market, Offer, prices};

/// `catalogue`, with `provider`, `region` and `date`
pub const RULE: Rule = Rule {
    keys: "`catalogue` with `provider`, `region` and `date`",
    read: |file| {
        let place = (&file.provider, &file.region, file.date);
        match (file.catalogue, place) {
            (None, (None, None, None)) => None,
            (Some(market), (Some(provider), Some(region), Some(date))) => {
                Some(Ok(Base::Vm(Arc::new(CataloguePrice(Offer {
                    provider: provider.clone(),
                    region: region.clone(),
                    market,
                    date,
                })))))
            }
            _ => Some(Err(
                "`catalogue`, `provider`, `region` and `date` go together".to_owned(),
            )),
        }
    },
};

/// USD per hour from `data/clouds/prices/`.
#[derive(Debug)]
struct CataloguePrice(Offer);

impl VmPrice for CataloguePrice {
    fn usd_per_hour(&self, vm: &str, fleet: &Fleet<'_>) -> Result<f64, NoPrice> {
        let Offer {
            provider,
            region,
            market,
            date,
        } = &self.0;
        // A price that the scenario states is one on demand.
        if let (Market::OnDemand, Some(own)) = (market, fleet.own(vm))
            && let Some(usd) = own.usd_per_hour
        {
            return Ok(usd);
        }
        let (catalogue, listed) = (fleet.catalogue, fleet.listed_as(vm));
        let usd = catalogue.usd_per_hour(listed, &self.0);
        usd.ok_or_else(|| NoPrice {
            what: format!(
                "no {market} price of `{vm}` in {provider} {region} on {date} in {}",
                prices::FOLDER
            ),
            help: match fleet.own(vm) {
                Some(_) if *market == Market::OnDemand && catalogue.vm_type(listed).is_none() => {
                    "give `usd_per_hour` in its table of `[vm]`".to_owned()
                }
                _ => catalogue.instead(listed, &self.0),
            },
        })
    }

    fn market(&self) -> Market {
        self.0.market
    }
}
