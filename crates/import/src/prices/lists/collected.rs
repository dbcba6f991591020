//! The prices of a list, and the dropped entries.

use std::collections::{BTreeMap, BTreeSet};

use super::price_list::PriceList;
use crate::prices::{ObservedPrices, Sizes};
use crate::report::Report;
use scavsim_data::cloud::prices::LEAST_USD;
use scavsim_data::cloud::{Date, Market};
use scavsim_read::input::name::not_a_name;

#[derive(Default)]
pub(super) struct CollectedPrices {
    pub(super) seen: ObservedPrices,
    pub(super) sizes: Sizes,
    read: usize,
    dropped: BTreeMap<&'static str, usize>,
    /// Number of further prices for one key and day.
    again: usize,
}

impl CollectedPrices {
    pub(super) fn drop(&mut self, why: &'static str) {
        self.read += 1;
        *self.dropped.entry(why).or_default() += 1;
    }

    /// Adds USD per hour of a provider's VM type in a region and zone, which may be empty; if two differ, keeps the lower one.
    pub(super) fn push(
        &mut self,
        [provider, vm, region, zone]: [&str; 4],
        market: Market,
        day: Date,
        usd: f64,
    ) {
        let names = [provider, vm, region];
        if names.iter().any(|name| not_a_name(name).is_some()) {
            return self.drop("no name of a VM type or region");
        }
        if !(LEAST_USD..=1e6).contains(&usd) {
            return self.drop("no price above 0");
        }
        self.read += 1;
        let [provider, vm, region] = names.map(str::to_owned);
        let key = (provider, vm, region, zone.to_owned(), market);
        let days = self.seen.entry(key).or_default();
        let known = days.entry(day).or_insert(usd);
        self.again += usize::from(*known != usd);
        *known = known.min(usd);
    }

    pub(super) fn days(&self) -> BTreeMap<String, Vec<Date>> {
        let mut days: BTreeMap<String, BTreeSet<Date>> = BTreeMap::new();
        for (key, prices) in &self.seen {
            days.entry(key.0.clone()).or_default().extend(prices.keys());
        }
        let days = days.into_iter();
        days.map(|(provider, days)| (provider, days.into_iter().collect()))
            .collect()
    }

    pub(super) fn report(&self, list: &PriceList<'_>) -> Report {
        let mut report = Report::default();
        let dropped: Vec<(&str, usize)> = self.dropped.iter().map(|(why, n)| (*why, *n)).collect();
        report.rows(
            format!("{}: {}", list.source.name, list.kind),
            self.read,
            &dropped,
        );
        if self.again > 0 {
            report.note(format!(
                "two prices of one VM type, of which the lower is taken: {}",
                self.again
            ));
        }
        report
    }
}
