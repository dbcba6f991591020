//! What markets offer over time: per zone how many machines the spot market has, and what they cost.
//!
//! - [`transfer_costs`]: what it takes to carry a checkpoint from one zone to another.
//! - [`process`]: availability drawn from a process instead of a trace.
//! - [`written`]: traces as CSV files.

pub mod process;
pub mod transfer_costs;
pub mod written;

use transfer_costs::TransferCosts;

/// One zone: what it has and what that costs, tick by tick.
#[derive(Debug, Clone, PartialEq)]
pub struct Zone {
    /// Name, such as `us-east-2b`.
    pub name: String,
    /// Region; zones of one region share losses and move checkpoints for nothing.
    pub region: String,
    /// Type of its machines; `None` where it has all that a job asks for.
    pub vm: Option<String>,
    /// USD per machine and hour on demand, which is always offered.
    pub on_demand_usd_per_h: f64,
    /// Machines that the spot market offers, per tick.
    pub offered: Vec<u16>,
    /// USD per machine and hour in the spot market, per tick.
    pub spot_usd_per_h: Vec<f64>,
}

/// Zones over the same ticks, and what it takes to move between them.
#[derive(Debug, Clone, PartialEq)]
pub struct World {
    /// Seconds of a tick.
    pub tick_s: f64,
    /// Zones, all over the same ticks.
    pub zones: Vec<Zone>,
    /// Between zones.
    pub moving: TransferCosts,
}

impl World {
    /// Names of its zones.
    pub fn zone_names(&self) -> String {
        let names: Vec<&str> = self.zones.iter().map(|zone| zone.name.as_str()).collect();
        names.join(", ")
    }

    /// Ticks of the traces: those of the shortest.
    pub fn ticks(&self) -> usize {
        let of = |zone: &Zone| zone.offered.len().min(zone.spot_usd_per_h.len());
        self.zones.iter().map(of).min().unwrap_or(0)
    }

    /// The world with some of its zones alone, in the given order.
    #[must_use]
    pub fn of_zones(&self, places: &[usize]) -> World {
        World {
            tick_s: self.tick_s,
            zones: places.iter().map(|&at| self.zones[at].clone()).collect(),
            moving: self.moving.of_zones(places),
        }
    }

    /// What happens from a tick on, for at most `ticks`; `None` where the traces end before it.
    pub fn window(&self, start: usize, ticks: usize) -> Option<Window<'_>> {
        let all = self.ticks();
        (start < all).then(|| Window {
            world: self,
            start,
            ticks: ticks.min(all - start),
        })
    }
}

/// A part of a world's time. Ticks are counted from its begin.
#[derive(Debug, Clone, Copy)]
pub struct Window<'w> {
    world: &'w World,
    start: usize,
    ticks: usize,
}

impl<'w> Window<'w> {
    /// The world that it is of.
    pub fn world(&self) -> &'w World {
        self.world
    }

    /// Number of ticks.
    pub fn ticks(&self) -> usize {
        self.ticks
    }

    /// Machines that a zone's spot market offers in a tick.
    #[inline]
    pub fn offered(&self, zone: usize, tick: usize) -> u16 {
        self.world.zones[zone].offered[self.start + tick]
    }

    /// USD per machine and hour in a zone's spot market in a tick.
    #[inline]
    pub fn spot_usd_per_h(&self, zone: usize, tick: usize) -> f64 {
        self.world.zones[zone].spot_usd_per_h[self.start + tick]
    }
}
