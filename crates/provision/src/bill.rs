//! What a life costs: at the market's price, or by the tariff of a pricing policy.

use crate::policy_run::outcome::Outcome;
use scavsim_data::pricing::Tariff;
use scavsim_data::usage::VmInterval;

/// A bill in USD, without egress of checkpoints and lateness, which no tariff changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MarketBill {
    pub spot: f64,
    pub on_demand: f64,
    pub probes: f64,
    pub charges: f64,
}

impl MarketBill {
    /// The bill of a life; without a tariff, at the market's price for the exact time.
    pub fn of_life(life: &Outcome, tariff: Option<&Tariff>) -> MarketBill {
        let Some(tariff) = tariff else {
            return MarketBill {
                spot: life.spot_usd,
                on_demand: life.on_demand_usd,
                probes: life.probes_usd,
                charges: 0.0,
            };
        };
        let all = life.rentals.iter().copied();
        let is_on_demand = |rental: &VmInterval| rental.vm % 2 == 1;
        let probes = life.probes.iter();
        MarketBill {
            spot: tariff.vms_usd(all.clone().filter(|rental| !is_on_demand(rental))),
            on_demand: tariff.vms_usd(all.clone().filter(is_on_demand)),
            probes: probes
                .map(|usd| tariff.moment_usd(*usd, life.probe_s))
                .sum(),
            charges: tariff.charges_usd(all),
        }
    }

    pub fn usd(&self, life: &Outcome) -> f64 {
        let lateness_usd = life.lateness_usd.unwrap_or(0.0);
        self.spot + self.on_demand + life.egress_usd + self.probes + lateness_usd + self.charges
    }
}
