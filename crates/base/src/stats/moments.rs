use super::student_t;

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

/// Running mean, variance and skewness after Welford: one pass, no cancellation, constant memory.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Welford {
    count: u64,
    mean: f64,
    squares: f64,
    cubes: f64,
}

impl Welford {
    #[inline]
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        let before = value - self.mean;
        if before == 0.0 && self.squares == 0.0 {
            // As of a figure that does not vary: nothing changes, without a division.
            return;
        }
        let n = self.count as f64;
        let step = before / n;
        self.cubes += before * step * step * (n - 1.0) * (n - 2.0) - 3.0 * step * self.squares;
        self.mean += step;
        self.squares += before * (value - self.mean);
    }

    /// Takes in the values of another, which follow, after Chan, Golub and LeVeque (1979) and Pébay (2008).
    pub fn merge(&mut self, other: &Welford) {
        match (self.count, other.count) {
            (_, 0) => return,
            (0, _) => {
                *self = *other;
                return;
            }
            _ => {}
        }
        let (a, b) = (self.count as f64, other.count as f64);
        let n = a + b;
        let apart = other.mean - self.mean;
        let step = apart / n;
        self.cubes += other.cubes
            + apart * step * step * a * b * (a - b)
            + 3.0 * step * (a * other.squares - b * self.squares);
        self.squares += other.squares + apart * step * a * b;
        self.mean += step * b;
        self.count += other.count;
    }

    /// Count, mean, and sums of squares and of cubes about it.
    pub fn sums(&self) -> (u64, [f64; 3]) {
        (self.count, [self.mean, self.squares, self.cubes])
    }

    /// The accumulator whose [`sums`](Welford::sums) these are.
    pub fn of_sums(count: u64, [mean, squares, cubes]: [f64; 3]) -> Welford {
        Welford {
            count,
            mean,
            squares,
            cubes,
        }
    }

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

    pub fn standard_deviation(&self) -> f64 {
        self.variance().sqrt()
    }

    /// Third central moment over the cube of the standard deviation (divisor n in both); zero without spread.
    pub fn skewness(&self) -> f64 {
        if self.squares > 0.0 {
            self.cubes / self.squares * (self.count as f64 / self.squares).sqrt()
        } else {
            0.0
        }
    }

    /// The 95 % confidence interval of the mean by Student's t, with Hall's (1992) cubic transformation that takes
    /// out the skewness: without any, and with fewer than 8 values, which do not tell it, it is the usual one. `None`
    /// below two values.
    pub fn interval(&self) -> Option<Interval> {
        self.interval_as_of(self.count as f64)
    }

    /// The [`interval`](Welford::interval) where correlated values tell no more than `n` independent ones: their variance
    /// has Bessel's correction for n, and the mean 1/n of it.
    pub fn interval_as_of(&self, n: f64) -> Option<Interval> {
        if self.count < 2 || n < 2.0 {
            return None;
        }
        let variance = self.squares / (n - 1.0) * (n / self.count as f64);
        let (t, error) = (
            student_t::quantile(0.975, n as u64 - 1),
            (variance / n).sqrt(),
        );
        let k = if n < 8.0 {
            0.0
        } else {
            self.skewness() / n.sqrt()
        };
        // T + k T²/3 + k² T³/27 + k/6 is nearly symmetric; this gives T for it.
        let back = |symmetric: f64| {
            if k.abs() < 1e-9 {
                symmetric
            } else {
                3.0 / k * (libm::cbrt(1.0 + k * (symmetric - k / 6.0)) - 1.0)
            }
        };
        Some(Interval {
            low: self.mean - back(t) * error,
            high: self.mean - back(-t) * error,
        })
    }
}

/// Mean; `None` when empty.
pub fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut count, mut sum) = (0_u64, 0.0);
    for value in values {
        count += 1;
        sum += value;
    }
    (count > 0).then(|| sum / count as f64)
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

/// [`median`] of values that nobody needs sorted.
pub fn median_of(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    median(&mut values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{close, near};

    fn moments_of(values: &[f64]) -> Welford {
        let mut seen = Welford::default();
        values.iter().for_each(|&v| seen.add(v));
        seen
    }

    #[test]
    fn welford_agrees_with_the_two_pass_formula() {
        let seen = moments_of(&[1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0]);
        assert_eq!(seen.mean(), 1e9 + 10.0);
        near(seen.variance(), 30.0, 1e-9);
    }

    #[test]
    fn skewness_agrees_with_the_two_pass_formula() {
        let values = [1.0, 2.0, 2.5, 9.0, 4.0, 1.5];
        let seen = moments_of(&values.map(|v| 1e6 + v));
        let mean = values.iter().sum::<f64>() / 6.0;
        let moment = |power| values.iter().map(|v| (v - mean).powi(power)).sum::<f64>() / 6.0;
        let expected = moment(3) / moment(2).powf(1.5);
        near(seen.skewness(), expected, 1e-6);
        assert_eq!(Welford::default().skewness(), 0.0);
    }

    #[test]
    fn parts_come_to_the_whole_whatever_their_sizes() {
        let values: Vec<f64> = (0..40).map(|i| f64::from(i * i % 17) + 3e3).collect();
        let whole = moments_of(&values);
        for cuts in [vec![1, 2, 30], vec![0, 20], vec![39], vec![7, 7, 14, 21]] {
            let (mut merged, mut begin) = (Welford::default(), 0);
            for end in cuts.into_iter().chain([values.len()]) {
                merged.merge(&moments_of(&values[begin..end]));
                begin = end;
            }
            assert_eq!(merged.count(), whole.count());
            close(merged.mean(), whole.mean(), 1e-14);
            close(merged.variance(), whole.variance(), 1e-9);
            near(merged.skewness(), whole.skewness(), 1e-8);
        }
        // What does not vary stays what it is.
        let mut same = moments_of(&[0.3; 7]);
        same.merge(&moments_of(&[0.3; 90]));
        assert_eq!((same.mean(), same.variance()), (0.3, 0.0));
    }

    #[test]
    fn the_interval_is_students_without_skewness_and_leans_to_the_tail_with_it() {
        let of = |values: &[f64]| {
            let seen = moments_of(values);
            let (down, up) = seen.interval().expect("several").about(seen.mean());
            let error = (seen.variance() / seen.count() as f64).sqrt();
            (
                down,
                up,
                student_t::quantile(0.975, seen.count() - 1) * error,
            )
        };
        let (down, up, student) = of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        near(down, student, 1e-9);
        near(up, student, 1e-9);
        let (down, up, student) = of(&[1.0, 1.1, 1.2, 1.3, 1.0, 1.1, 1.2, 9.0]);
        assert!(down < student && student < up, "{down} {student} {up}");
        let (low, high, _) = of(&[-1.0, -1.1, -1.2, -1.3, -1.0, -1.1, -1.2, -9.0]);
        near(low, up, 1e-9);
        near(high, down, 1e-9);
        assert_eq!(Welford::default().interval(), None);
    }

    #[test]
    fn mean_of_some_and_nothing() {
        assert_eq!(mean([1.0, 2.0, 6.0]), Some(3.0));
        assert_eq!(mean([]), None);
    }

    #[test]
    fn median_of_odd_even_and_nothing() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&mut []), None);
    }
}
