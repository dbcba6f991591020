/// How machines are rented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Market {
    /// Cheap, while there are any.
    Spot,
    /// Always there, never lost.
    OnDemand,
}

impl Market {
    pub fn in_zone(self, zone: usize) -> Place {
        Place { zone, market: self }
    }
}

/// Machines in a zone, of one market.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Number of the zone.
    pub zone: usize,
    /// How they are rented.
    pub market: Market,
}

/// Number of a place among the rentals of a market: each zone on spot and on demand.
pub fn rental_index(place: Place) -> u16 {
    2 * place.zone as u16 + u16::from(place.market == Market::OnDemand)
}
