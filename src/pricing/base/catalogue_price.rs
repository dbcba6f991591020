//! The listed price of a VM type in a region, on a day.

use std::sync::Arc;

use super::{Base, NoPrice, Rule, VmPrice};
use crate::cloud::{Catalogue, Market, Offer, prices};

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
    fn usd_per_hour(&self, vm: &str, catalogue: &Catalogue) -> Result<f64, NoPrice> {
        let Offer {
            provider,
            region,
            market,
            date,
        } = &self.0;
        catalogue.usd_per_hour(vm, &self.0).ok_or_else(|| NoPrice {
            what: format!(
                "no {market} price of `{vm}` in {provider} {region} on {date} in {}",
                prices::FOLDER
            ),
            help: catalogue.instead(vm, &self.0),
        })
    }

    fn market(&self) -> Market {
        self.0.market
    }
}
