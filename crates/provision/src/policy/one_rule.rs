//! Policies of one rule each: spot while a condition holds, else on demand or nothing. They differ in condition and net.

use super::{Net, Policy, order};
use crate::policy_run::Market;
use crate::policy_run::policy_view::PolicyView;
use scavsim_base::settings;
use scavsim_read::input::checked::Fraction;

fn go_on_demand(view: &mut PolicyView<'_, '_>) {
    view.go_on_demand(view.cheapest_on_demand(view.work_s()));
}

fn keep_spot(view: &mut PolicyView<'_, '_>) {
    if view.running().is_none() {
        order::try_by_price(view, view.checkpoint());
    }
}

settings! {
    /// On demand only.
    pub struct OnDemandOnly {}

    name: "on-demand",
    what: "machines on demand from the first to the last tick",
    formula: "wherever the whole costs least",
    source: "common practice",
    example: "policy.names = [\"on-demand\"]",
}

impl Policy for OnDemandOnly {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        if view.running().is_none() {
            go_on_demand(view);
        }
    }
}

settings! {
    /// Spot only: waits while no zone has machines.
    pub struct SpotOnly {}

    name: "spot-only",
    what: "spot machines only; waits while no zone has any, and may be late",
    formula: "the cheapest zone first, the region of the last loss last",
    source: "common practice",
    example: "policy.names = [\"spot-only\"]",
}

impl Policy for SpotOnly {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        keep_spot(view);
    }

    fn net(&self) -> Net {
        Net::None
    }
}

settings! {
    /// Greedy with a safety net.
    pub struct Greedy {}

    name: "greedy",
    what: "spot machines while there are any, on demand from the last moment that keeps the deadline",
    formula: "the cheapest zone first, the region of the last loss last",
    source: "Wu and others, NSDI 2024",
    example: "policy.names = [\"greedy\"]",
}

impl Policy for Greedy {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        keep_spot(view);
    }
}

settings! {
    /// Spot machines below a share of the price on demand.
    pub struct PriceThreshold {
        /// Largest share of the price on demand that is paid for spot machines.
        pub share: Fraction = Fraction::new(0.5).expect("it is a fraction"),
    }

    name: "price-threshold",
    what: "spot machines where they cost at most a share of the price on demand, else on demand",
    formula: "spot price <= share x price on demand",
    source: "this project, as [elastic] of clusters",
    example: "policy.names = [\"price-threshold\"]",
}

impl Policy for PriceThreshold {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        let is_cheap = |view: &PolicyView<'_, '_>, zone: usize| {
            view.spot_usd_per_h(zone) <= self.share.get() * view.on_demand_usd_per_h(zone)
        };
        if let Some(place) = view.running()
            && place.market == Market::Spot
            && is_cheap(view, place.zone)
        {
            return;
        }
        let mut zones = order::by_price(view, view.lost());
        zones.retain(|&zone| is_cheap(view, zone));
        if !order::try_in_order(view, &zones) {
            go_on_demand(view);
        }
    }
}
