use scavsim_base::stats::{normal, student_t};

/// Standard deviations of the logarithms of step and epochs, from fit, residual and repeats; `None` for too few points.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spread {
    pub step: Option<f64>,
    pub epochs: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

#[derive(Debug, Default)]
pub(super) struct Squares {
    sum: f64,
    count: u32,
}

impl Squares {
    /// `count` errors of `deviation` that nobody measured.
    pub(super) fn assumed(deviation: f64, count: u32) -> Squares {
        Squares {
            sum: f64::from(count) * deviation * deviation,
            count,
        }
    }

    pub(super) fn add(&mut self, predicted: f64, measured: f64) {
        let error = libm::log(predicted / measured);
        self.sum += error * error;
        self.count += 1;
    }

    /// Root mean square, wider where errors are few: its 90 % interval is that of Student. `None` without any.
    pub(super) fn deviation(&self) -> Option<f64> {
        let count = self.count;
        let mean = || self.sum / f64::from(count);
        (count > 0).then(|| student_t::wider(0.95, u64::from(count)) * mean().sqrt())
    }
}

impl Spread {
    /// Standard deviation of ln(time to the target), √(σ_step² + σ_epochs²), and of the bill. `None` without that of the
    /// step.
    pub fn time(&self) -> Option<f64> {
        let (step, epochs) = (self.step?, self.epochs.unwrap_or(0.0));
        Some((step * step + epochs * epochs).sqrt())
    }

    /// The 90 % interval of a time or cost of runs around `value`, of which 90 % end within `ends` if `value` is right:
    /// lengths in logarithms add by their squares, side by side. Where nothing is known, `ends`.
    pub fn widened(&self, value: f64, ends: [f64; 2]) -> [f64; 2] {
        let deviation = self.time().unwrap_or(0.0);
        let is_finite = ends.iter().all(|end| end.is_finite() && *end > 0.0);
        if deviation == 0.0 || !is_finite || !value.is_finite() {
            return ends;
        }
        let [low, high] = ends;
        let middle = value.clamp(low, high);
        let with = |length: f64| libm::exp(length.hypot(normal::AT_95 * deviation));
        [
            middle / with(libm::log(middle / low)),
            middle * with(libm::log(high / middle)),
        ]
    }
}

impl Interval {
    /// value·exp(±1.645·deviation).
    pub fn around(value: f64, deviation: f64) -> Interval {
        let factor = libm::exp(normal::AT_95 * deviation);
        Interval {
            low: value / factor,
            high: value * factor,
        }
    }

    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_errors_say_less() {
        let mut squares = Squares::default();
        assert_eq!(squares.deviation(), None);
        // Student's t at 95 % is 6.313752 with one degree of freedom, 1.894579 with 7.
        for (count, t) in (1..=7).zip([6.313752, 0.0, 0.0, 0.0, 0.0, 0.0, 1.894579]) {
            squares.add(libm::exp(if count % 2 == 0 { 0.1 } else { -0.1 }), 1.0);
            let told = squares.deviation().expect("there are some") * normal::AT_95;
            assert!(t == 0.0 || (told - 0.1 * t).abs() < 1e-6, "{count}: {told}");
        }
    }

    #[test]
    fn independent_errors_add_in_squares() {
        let spread = Spread {
            step: Some(0.03),
            epochs: Some(0.04),
        };
        assert!(spread.time().is_some_and(|t| (t - 0.05).abs() < 1e-15));
        // Runs that do not vary, and runs that vary as much as that, ln 1.0857.
        let [low, high] = spread.widened(100.0, [100.0; 2]);
        assert!((high / 100.0 - 1.0857).abs() < 1e-4 && (low * high / 1e4 - 1.0).abs() < 1e-12);
        let [lower, higher] = spread.widened(100.0, [low, high]);
        let twice = 2.0_f64.sqrt();
        assert!((libm::log(higher / 100.0) / libm::log(high / 100.0) - twice).abs() < 1e-12);
        assert!((libm::log(lower / 100.0) / libm::log(low / 100.0) - twice).abs() < 1e-12);
        assert_eq!(Spread::default().widened(1.0, [0.5, 3.0]), [0.5, 3.0]);
        let never = [1.0, f64::INFINITY];
        assert_eq!(spread.widened(f64::INFINITY, never), never);
    }
}
