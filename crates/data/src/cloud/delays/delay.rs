use scavsim_base::rng::{Stream, UnitLogNormal};
use scavsim_read::input::Diagnostics;
use scavsim_read::input::csv::Row;

/// A log-normal time in seconds. Means and spreads were measured over 3 to 17 runs; the form is ours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Delay {
    mean_s: f64,
    factor: UnitLogNormal,
}

impl Delay {
    /// With this mean and standard deviation in seconds, mean above 0, deviation at least 0.
    pub fn new(mean_s: f64, sd_s: f64) -> Option<Self> {
        let is_legal = mean_s.is_finite() && mean_s > 0.0 && sd_s.is_finite() && sd_s >= 0.0;
        is_legal.then(|| Delay {
            mean_s,
            factor: UnitLogNormal::from_cv(sd_s / mean_s),
        })
    }

    pub(super) fn read(row: &Row<'_>, d: &mut Diagnostics) -> Option<Self> {
        let mean_s = row.number("mean_s", 1e-3..=1e6, d);
        let sd_s = row.number("sd_s", 0.0..=1e6, d);
        Delay::new(mean_s?, sd_s?)
    }

    pub fn mean_s(self) -> f64 {
        self.mean_s
    }

    pub fn sd_s(self) -> f64 {
        self.mean_s * self.factor.cv()
    }

    /// One such time in seconds; one draw, none without spread.
    #[inline]
    pub fn sample(self, stream: &mut Stream) -> f64 {
        self.mean_s * self.factor.sample(stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scavsim_base::rng::{Purpose, Streams};
    use scavsim_base::stats::Welford;

    #[test]
    fn drawn_delays_have_the_measured_mean_and_spread() {
        let delay = Delay::new(80.65, 3.58).expect("it is legal");
        let mut stream = Streams::new(1).stream(0, Purpose::Trial(0));
        let mut seen = Welford::default();
        for _ in 0..100_000 {
            seen.add(delay.sample(&mut stream));
        }
        // 4 standard errors at a fixed seed; the spread's is sd/√(2n) for near-normal times.
        assert!((seen.mean() - 80.65).abs() < 4.0 * 3.58 / 100_000f64.sqrt());
        let error = 3.58 / 200_000f64.sqrt();
        assert!((seen.standard_deviation() - 3.58).abs() < 4.0 * error);
        assert_eq!(Delay::new(0.0, 1.0), None);
        assert_eq!(Delay::new(1.0, f64::NAN), None);
    }
}
