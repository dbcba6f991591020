/// A checkpoint after every interval of work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Periodic {
    interval_h: f64,
}

impl Periodic {
    pub fn new(interval_h: f64) -> Option<Self> {
        (interval_h.is_finite() && interval_h > 0.0).then_some(Periodic { interval_h })
    }

    pub fn interval_h(self) -> f64 {
        self.interval_h
    }
}
