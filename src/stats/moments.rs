//! Mean, spread, median and confidence intervals.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Running mean and variance after Welford: one pass, no cancellation, constant memory.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Welford {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Welford {
    /// Takes in one value.
    #[inline]
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Mean; zero before the first value.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Sample variance (divisor n − 1); zero below two values.
    pub fn variance(&self) -> f64 {
        if self.count < 2 {
            0.0
        } else {
            self.squares / (self.count - 1) as f64
        }
    }

    /// Sample standard deviation.
    #[cfg(any(test, feature = "inside"))]
    pub fn standard_deviation(&self) -> f64 {
        self.variance().sqrt()
    }

    /// Half the width of the 95 % confidence interval of the mean (Student's t);
    /// `None` below two values.
    pub fn half_interval(&self) -> Option<f64> {
        (self.count >= 2)
            .then(|| student_t_97_5(self.count - 1) * (self.variance() / self.count as f64).sqrt())
    }
}

/// The 97.5 % quantile of Student's t with `degrees` of freedom (at least 1).
pub fn student_t_97_5(degrees: u64) -> f64 {
    match StudentsT::new(0.0, 1.0, degrees.max(1) as f64) {
        Ok(t) => t.inverse_cdf(0.975),
        // Unreachable: location 0, scale 1 and at least one degree are legal parameters.
        Err(_) => 1.96,
    }
}

/// Median; sorts `values`. `None` when empty. The mean of the middle two for an even count.
pub fn median(values: &mut [f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    Some(if values.len() % 2 == 1 {
        values[middle]
    } else {
        0.5 * (values[middle - 1] + values[middle])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn welford_agrees_with_the_two_pass_formula() {
        let values = [1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0];
        let mut seen = Welford::default();
        values.iter().for_each(|&v| seen.add(v));
        assert_eq!(seen.mean(), 1e9 + 10.0);
        assert!((seen.variance() - 30.0).abs() < 1e-9);
    }

    #[test]
    fn student_t_quantiles_of_the_textbook() {
        for (degrees, t) in [(1, 12.7062), (9, 2.2622), (199, 1.9720)] {
            assert!((student_t_97_5(degrees) - t).abs() < 1e-4, "{degrees}");
        }
    }

    #[test]
    fn median_of_odd_even_and_nothing() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&mut []), None);
    }
}
