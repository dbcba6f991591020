//! What configurations cost under one policy, as known before any run.

use std::cell::RefCell;

use scavsim_data::pricing::Tariff;
use scavsim_data::usage::Usage;
use scavsim_search::search::Prices;
use scavsim_search::testbed::Environment;

pub(super) struct PriceList<'a> {
    ground: &'a dyn Environment,
    tariff: &'a Tariff,
    usage: RefCell<Usage>,
}

impl<'a> PriceList<'a> {
    pub(super) fn new(ground: &'a dyn Environment, tariff: &'a Tariff) -> Self {
        PriceList {
            ground,
            tariff,
            usage: RefCell::default(),
        }
    }
}

impl Prices for PriceList<'_> {
    fn run_usd(&self, configuration: usize, seconds: f64) -> Option<f64> {
        if self.tariff.is_as_stated() && !self.ground.facts().price_is_known {
            return None;
        }
        let usage = &mut *self.usage.borrow_mut();
        Some((self.ground).plan_usd(configuration, seconds, self.tariff, usage))
    }
}
