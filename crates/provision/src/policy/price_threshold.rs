//! Spot while it is cheap enough, on demand while it is not or there is none.

use super::{Policy, order};
use crate::policy_run::Market;
use crate::policy_run::policy_view::PolicyView;
use scavsim_base::settings;
use scavsim_read::input::checked::Fraction;

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
            let zone = view.cheapest_on_demand(view.work_s());
            view.go_on_demand(zone);
        }
    }
}
