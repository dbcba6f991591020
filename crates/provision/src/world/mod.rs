//! What markets offer over time: machines per zone, and their prices; from traces ([`written`]) or a [`process`].

pub mod place;
pub mod process;
pub mod transfer_costs;
pub mod written;

pub use place::{Market, Place, rental_index};
use scavsim_data::pricing::{MarketRental, Policy, SpotSeries, Tariff};
use transfer_costs::TransferCosts;

/// A zone with its machines and prices per tick.
#[derive(Debug, Clone, PartialEq)]
pub struct Zone {
    /// For example `us-east-2b`.
    pub name: String,
    /// Zones of one region share losses and move checkpoints for free.
    pub region: String,
    /// `None` where it has all that a job asks for.
    pub vm: Option<String>,
    /// USD per machine and hour on demand, which is always offered.
    pub on_demand_usd_per_h: f64,
    pub offered: Vec<u16>,
    /// USD per machine and hour, per tick.
    pub spot_usd_per_h: Vec<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct World {
    pub tick_s: f64,
    /// All over the same ticks.
    pub zones: Vec<Zone>,
    pub moving: TransferCosts,
}

impl World {
    pub fn zone_names(&self) -> String {
        let names: Vec<&str> = self.zones.iter().map(|zone| zone.name.as_str()).collect();
        names.join(", ")
    }

    /// Ticks of the traces: those of the shortest.
    pub fn ticks(&self) -> usize {
        let of = |zone: &Zone| zone.offered.len().min(zone.spot_usd_per_h.len());
        self.zones.iter().map(of).min().unwrap_or(0)
    }

    /// Some of its zones, in the given order.
    #[must_use]
    pub fn of_zones(&self, places: &[usize]) -> World {
        World {
            tick_s: self.tick_s,
            zones: places.iter().map(|&at| self.zones[at].clone()).collect(),
            moving: self.moving.of_zones(places),
        }
    }

    /// The world from a tick on, for at most `ticks`; `None` where the traces end before it.
    pub fn window(&self, start: usize, ticks: usize) -> Option<Window<'_>> {
        let all = self.ticks();
        (start < all).then(|| Window {
            world: self,
            start,
            ticks: ticks.min(all - start),
        })
    }
}

/// A part of a world's time. Ticks count from its begin.
#[derive(Debug, Clone, Copy)]
pub struct Window<'w> {
    world: &'w World,
    start: usize,
    ticks: usize,
}

impl<'w> Window<'w> {
    pub fn world(&self) -> &'w World {
        self.world
    }

    pub fn ticks(&self) -> usize {
        self.ticks
    }

    /// What rentals in this window are billed by, each zone on spot and on demand.
    pub fn tariff(&self, pricing: &Policy) -> Tariff {
        let tick_h = self.world.tick_s / 3600.0;
        let rentals = self.world.zones.iter().flat_map(|zone| {
            let usd = zone.spot_usd_per_h[self.start..][..self.ticks].iter();
            let spot = MarketRental {
                usd_per_hour: 1.0,
                on_spot: true,
                series: Some(SpotSeries::of_ticks(tick_h, usd.copied())),
            };
            let on_demand = MarketRental {
                usd_per_hour: zone.on_demand_usd_per_h,
                on_spot: false,
                series: None,
            };
            [spot, on_demand]
        });
        pricing.market_tariff(rentals)
    }

    #[inline]
    pub fn offered(&self, zone: usize, tick: usize) -> u16 {
        self.world.zones[zone].offered[self.start + tick]
    }

    /// USD per hour of a machine, whether there is any or not.
    #[inline]
    pub fn usd_per_h(&self, place: Place, tick: usize) -> f64 {
        let zone = &self.world.zones[place.zone];
        match place.market {
            Market::Spot => zone.spot_usd_per_h[self.start + tick],
            Market::OnDemand => zone.on_demand_usd_per_h,
        }
    }
}
