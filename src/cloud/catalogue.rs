//! What can be rented, and at what price on which day.

use std::collections::BTreeSet;

use super::Date;
use super::prices::{self, Market, Price};
use super::vm_types::{self, VmType};
use crate::input::Diagnostics;

/// VM types and their dated prices.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    /// VM types.
    pub types: Vec<VmType>,
    /// Prices.
    pub prices: Vec<Price>,
}

/// What a price is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// Who rents the VM out.
    pub provider: String,
    /// Where.
    pub region: String,
    /// On which terms.
    pub market: Market,
    /// When.
    pub date: Date,
}

impl Catalogue {
    /// The embedded tables. The second part holds what is wrong with them; a test keeps it empty.
    pub fn embedded() -> (Catalogue, Diagnostics) {
        let (types, mut diagnostics) = vm_types::embedded();
        let prices = prices::embedded(&mut diagnostics);
        (Catalogue { types, prices }, diagnostics)
    }

    /// The VM type called `vm`.
    pub fn vm_type(&self, vm: &str) -> Option<&VmType> {
        self.types.iter().find(|t| t.vm == vm)
    }

    /// USD per hour of `vm` under `offer`; a price holds on the days on which its source has it.
    pub fn usd_per_hour(&self, vm: &str, offer: &Offer) -> Option<f64> {
        let price = self.prices.iter().find(|p| {
            p.vm == vm
                && (&p.provider, &p.region, p.market)
                    == (&offer.provider, &offer.region, offer.market)
                && (p.valid_from..=p.valid_to).contains(&offer.date)
        });
        price.map(|p| p.usd_per_hour)
    }

    /// What there is instead of a price that is missing: the days of the same VM, region and
    /// market; without any, other regions and markets; without any, other VM types.
    pub fn instead(&self, vm: &str, offer: &Offer) -> String {
        let of_vm = || (self.prices.iter()).filter(|p| p.vm == vm && p.provider == offer.provider);
        let days: Vec<String> = of_vm()
            .filter(|p| p.region == offer.region && p.market == offer.market)
            .map(|p| match p.valid_from == p.valid_to {
                true => p.valid_from.to_string(),
                false => format!("{} to {}", p.valid_from, p.valid_to),
            })
            .collect();
        let (what, found): (_, BTreeSet<String>) = if !days.is_empty() {
            return format!("known there: {}", days.join(", "));
        } else if of_vm().next().is_some() {
            let places = of_vm()
                .map(|p| format!("{} {}", p.region, p.market))
                .collect();
            (format!("known of `{vm}`"), places)
        } else {
            let vms = self
                .prices
                .iter()
                .map(|p| format!("{} {}", p.provider, p.vm));
            ("VM types with prices".to_owned(), vms.collect())
        };
        format!(
            "{what}: {}",
            found.into_iter().collect::<Vec<_>>().join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(region: &str, market: Market, date: &str) -> Offer {
        Offer {
            provider: "gcp".into(),
            region: region.into(),
            market,
            date: Date::parse(date).expect("a day"),
        }
    }

    #[test]
    fn the_embedded_tables_are_sound_and_every_priced_vm_type_is_described() {
        let (catalogue, diagnostics) = Catalogue::embedded();
        assert!(diagnostics.is_empty(), "{}", diagnostics.render(false));
        for price in &catalogue.prices {
            let described = catalogue.vm_type(&price.vm).map(|t| &t.provider);
            assert_eq!(described, Some(&price.provider), "{}", price.vm);
        }
    }

    /// The paper does not name its region; the catalogue has its price in us-central1.
    #[test]
    fn the_papers_price_is_the_catalogues() {
        let catalogue = Catalogue::embedded().0;
        let iowa = offer("us-central1", Market::OnDemand, "2023-05-01");
        let usd = catalogue.usd_per_hour("e2-standard-4", &iowa);
        assert!(
            usd.is_some_and(|usd| (usd - 0.13402).abs() < 5e-6),
            "{usd:?}"
        );
    }

    #[test]
    fn a_price_holds_only_while_it_was_seen() {
        let catalogue = Catalogue::embedded().0;
        let spot = |date| {
            let offer = offer("us-central1", Market::Spot, date);
            catalogue.usd_per_hour("e2-standard-4", &offer)
        };
        assert_eq!(spot("2020-05-29"), Some(0.04021));
        assert_eq!(spot("2026-07-30"), Some(0.080424));
        assert_eq!(spot("2020-05-28"), None);
        assert_eq!(spot("2022-01-01"), None);
        assert_eq!(spot("2026-07-31"), None);
    }

    #[test]
    fn what_exists_is_told_from_near_to_far() {
        let catalogue = Catalogue::embedded().0;
        let spot = offer("us-central1", Market::Spot, "2022-01-01");
        let instead = catalogue.instead("e2-standard-4", &spot);
        assert_eq!(instead, "known there: 2020-05-29, 2026-07-30");
        let mars = offer("mars-1", Market::Spot, "2022-01-01");
        let instead = catalogue.instead("e2-standard-4", &mars);
        assert!(
            instead.starts_with("known of `e2-standard-4`: asia-east1 on-demand"),
            "{instead}"
        );
        let instead = catalogue.instead("pdp-11", &mars);
        assert!(
            instead.starts_with("VM types with prices: aws m4.xlarge"),
            "{instead}"
        );
    }
}
