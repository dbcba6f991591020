//! How sure a prediction is.

use scavsim_base::stats::{normal, student_t};

/// Standard deviations of the logarithms of step and epochs, from the error of the fit, what is
/// left of the residual, and repeats. `None` where nothing is known: too few points to leave one out.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spread {
    /// Spread of the step.
    pub step: Option<f64>,
    /// Spread of epochs.
    pub epochs: Option<f64>,
}

/// The 90 % interval of a figure above zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// Errors of ln(predicted/measured).
#[derive(Debug, Default)]
pub(super) struct Squares {
    sum: f64,
    count: u32,
}

impl Squares {
    pub(super) fn add(&mut self, predicted: f64, measured: f64) {
        let error = libm::log(predicted / measured);
        self.sum += error * error;
        self.count += 1;
    }

    /// Root mean square of the deviations, wider where they are few: its 90 % interval is that of Student. `None`
    /// without any.
    pub(super) fn deviation(&self) -> Option<f64> {
        let count = self.count;
        let mean = || self.sum / f64::from(count);
        (count > 0).then(|| student_t::wider(0.95, u64::from(count)) * mean().sqrt())
    }
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
        let factor = libm::exp(normal::AT_95 * deviation);
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
        let interval = spread.of_time(100.0).expect("both are known");
        assert!((interval.high / 100.0 - 1.0857).abs() < 1e-4);
        assert!(interval.holds(92.2) && !interval.holds(92.0));
        assert_eq!(Spread::default().of_time(1.0), None);
    }
}
