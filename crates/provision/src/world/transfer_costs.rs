/// Costs and times of moving a checkpoint, per pair of zones.
#[derive(Debug, Clone, PartialEq)]
pub struct TransferCosts {
    zones: usize,
    /// Row by row.
    usd_per_gb: Vec<f64>,
    /// Row by row.
    s_per_gb: Vec<f64>,
}

impl TransferCosts {
    /// Free and immediate, between all zones.
    pub fn free(zones: usize) -> Self {
        TransferCosts {
            zones,
            usd_per_gb: vec![0.0; zones * zones],
            s_per_gb: vec![0.0; zones * zones],
        }
    }

    /// USD and seconds per GB from the places of two different zones.
    pub fn by(zones: usize, pair: impl Fn(usize, usize) -> (f64, f64)) -> Self {
        let mut moving = TransferCosts::free(zones);
        for from in 0..zones {
            for to in (0..zones).filter(|&to| to != from) {
                let (usd, seconds) = pair(from, to);
                moving.usd_per_gb[from * zones + to] = usd;
                moving.s_per_gb[from * zones + to] = seconds;
            }
        }
        moving
    }

    #[inline]
    pub fn usd_per_gb(&self, from: usize, to: usize) -> f64 {
        self.usd_per_gb[from * self.zones + to]
    }

    #[inline]
    pub fn s_per_gb(&self, from: usize, to: usize) -> f64 {
        self.s_per_gb[from * self.zones + to]
    }

    pub fn slowest_s_per_gb(&self) -> f64 {
        self.s_per_gb.iter().copied().fold(0.0, f64::max)
    }

    /// Some of the zones, in the given order.
    pub(crate) fn of_zones(&self, places: &[usize]) -> TransferCosts {
        TransferCosts::by(places.len(), |from, to| {
            let (from, to) = (places[from], places[to]);
            (self.usd_per_gb(from, to), self.s_per_gb(from, to))
        })
    }
}
