/// A 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// The interval about `value` with one more source of uncertainty, independent of what it is of: up to `down`
    /// below and `up` above. Lengths add by their squares, side by side (Donner and Zou 2010).
    pub fn and(self, value: f64, down: f64, up: f64) -> Interval {
        Interval {
            low: value - (value - self.low).hypot(down),
            high: value + (self.high - value).hypot(up),
        }
    }

    /// Lengths of the interval below and above `value`.
    pub fn about(self, value: f64) -> (f64, f64) {
        (value - self.low, self.high - value)
    }
}
