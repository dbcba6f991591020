//! How sure a prediction is.

/// Half the width of a 90 % interval in standard deviations, Φ⁻¹(0.95).
pub const NINETY: f64 = 1.6448536269514722;

/// Standard deviations of the logarithms of step and epochs, from the error of the fit, what is
/// left of the residual, and repeats. `None` where nothing is known: too few points to leave one out.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spread {
    /// Of the step.
    pub step: Option<f64>,
    /// Of epochs.
    pub epochs: Option<f64>,
}

/// The 90 % interval of a figure above zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// By how much a deviation that is a root mean square of `count` errors must be widened for its
/// 90 % interval: t₉₅(count)/1.645 of Student.
pub fn few(count: u32) -> f64 {
    // Cornish and Fisher's expansion is off by a tenth at two; the first are of a table.
    const FIRST: [f64; 6] = [6.313752, 2.919986, 2.353363, 2.131847, 2.015048, 1.943180];
    let n = f64::from(count.max(1));
    let t = FIRST
        .get(count.max(1) as usize - 1)
        .copied()
        .unwrap_or_else(|| {
            let z = NINETY;
            let (z3, z5, z7) = (z.powi(3), z.powi(5), z.powi(7));
            z + (z3 + z) / (4.0 * n)
                + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n)
                + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * n * n * n)
        });
    t / NINETY
}

impl Spread {
    /// Standard deviation of ln(time to the target), √(σ_step² + σ_epochs²): time is steps times
    /// step, and a bill goes with time. `None` without that of the step.
    pub fn time(&self) -> Option<f64> {
        let (step, epochs) = (self.step?, self.epochs.unwrap_or(0.0));
        Some((step * step + epochs * epochs).sqrt())
    }

    /// The interval of a time or cost of `value`.
    pub fn of_time(&self, value: f64) -> Option<Interval> {
        self.time()
            .map(|deviation| Interval::around(value, deviation))
    }
}

impl Interval {
    /// value·exp(±1.645·deviation).
    pub fn around(value: f64, deviation: f64) -> Interval {
        let factor = libm::exp(NINETY * deviation);
        Interval {
            low: value / factor,
            high: value * factor,
        }
    }

    /// Whether `value` lies in it.
    pub fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_errors_say_less() {
        // Student's t at 95 %: 1.894579 with 7 degrees of freedom, 1.697261 with 30.
        for (count, t) in [(1, 6.313752), (7, 1.894579), (30, 1.697261)] {
            assert!((few(count) * NINETY - t).abs() < 2e-4, "{count}");
        }
    }

    #[test]
    fn independent_errors_add_in_squares() {
        let spread = Spread {
            step: Some(0.03),
            epochs: Some(0.04),
        };
        assert!(spread.time().is_some_and(|t| (t - 0.05).abs() < 1e-15));
        let interval = spread.of_time(100.0).expect("both are known");
        assert!((interval.high / 100.0 - 1.0857).abs() < 1e-4);
        assert!(interval.holds(92.2) && !interval.holds(92.0));
        assert_eq!(Spread::default().of_time(1.0), None);
    }
}
