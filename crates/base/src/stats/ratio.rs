use super::{Interval, Welford};

/// Two figures of the same cases, each by itself and how they go together, in one pass.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Pair {
    pub each: [Welford; 2],
    products: f64,
}

impl Pair {
    #[inline]
    pub fn add(&mut self, figures: [f64; 2]) {
        let before = figures[0] - self.each[0].mean();
        self.each[0].add(figures[0]);
        self.each[1].add(figures[1]);
        self.products += before * (figures[1] - self.each[1].mean());
    }

    /// Takes in the figures of other cases, which follow.
    pub fn merge(&mut self, other: &Pair) {
        let (a, b) = (self.each[0].count() as f64, other.each[0].count() as f64);
        if b > 0.0 {
            let apart = [0, 1].map(|i| other.each[i].mean() - self.each[i].mean());
            self.products += other.products;
            if a > 0.0 {
                self.products += apart[0] * apart[1] * (a * b / (a + b));
            }
        }
        for (own, other) in self.each.iter_mut().zip(&other.each) {
            own.merge(other);
        }
    }

    pub fn products(&self) -> f64 {
        self.products
    }

    /// Two figures with their sum of [`products`](Pair::products).
    pub fn of_sums(each: [Welford; 2], products: f64) -> Pair {
        Pair { each, products }
    }

    /// Standard error of the ratio of both means, over the ratio: √(s₀²/m₀² + s₁²/m₁² − 2 s₀₁/(m₀ m₁)) / √n, by the delta method.
    /// Infinite below two pairs.
    pub fn ratio_error(&self) -> f64 {
        let count = self.each[0].count() as f64;
        if count < 2.0 {
            return f64::INFINITY;
        }
        let [x, y] = self.each;
        let parts = x.variance() / (x.mean() * x.mean()) + y.variance() / (y.mean() * y.mean());
        let both = self.products / (count - 1.0) / (x.mean() * y.mean());
        ((parts - 2.0 * both).max(0.0) / count).sqrt()
    }

    /// Correlation of the two; zero where one of them does not vary.
    pub fn correlation(&self) -> f64 {
        let [x, y] = self.each.map(|figure| figure.variance().sqrt());
        let most = x * y * (self.each[0].count() as f64 - 1.0);
        if most > 0.0 {
            (self.products / most).clamp(-1.0, 1.0)
        } else {
            0.0
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    pub ratio: f64,
    /// Lower end of its 95 % confidence interval; `None` where there is no interval.
    pub low: Option<f64>,
    /// Upper end; `None` where nothing is beyond it, because the mean below may be zero.
    pub high: Option<f64>,
}

impl Ratio {
    /// The ratio of two means with this correlation, from the interval of each: that of Fieller (1954) where
    /// intervals are symmetric, after Donner and Zou (2012) where they are not. `None` where the mean below is not above 0.
    pub fn from_means(
        means: [f64; 2],
        intervals: Option<[Interval; 2]>,
        correlation: f64,
    ) -> Option<Ratio> {
        let [above, below] = means;
        if below <= 0.0 {
            return None;
        }
        let mut ratio = Ratio {
            ratio: above / below,
            low: None,
            high: None,
        };
        let Some([a, b]) = intervals else {
            return Some(ratio);
        };
        // Where (above − ratio · below)² is what the two lengths come to.
        let ((a_down, a_up), (b_down, b_up)) = (a.about(above), b.about(below));
        let middle = |a: f64, b: f64| above * below - correlation * a * b;
        let root = |a: f64, b: f64| {
            let inner = middle(a, b).powi(2) - (below * below - b * b) * (above * above - a * a);
            inner.max(0.0).sqrt()
        };
        let reach = middle(a_down, b_up) + root(a_down, b_up);
        ratio.low = (reach > 0.0).then(|| (above * above - a_down * a_down) / reach);
        let rest = below * below - b_down * b_down;
        ratio.high = (rest > 0.0).then(|| (middle(a_up, b_down) + root(a_up, b_down)) / rest);
        Some(ratio)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::near;

    #[test]
    fn correlation_of_few_pairs() {
        let mut pair = Pair::default();
        assert_eq!(pair.correlation(), 0.0);
        for values in [[1.0, 2.0], [2.0, 4.0], [3.0, 5.0], [4.0, 4.0]] {
            pair.add(values);
        }
        assert_eq!(pair.each.map(|figure| figure.mean()), [2.5, 3.75]);
        // 3.5 / √(5 · 4.75)
        near(pair.correlation(), 0.718_185, 1e-6);
        let (mut parts, mut rest) = (Pair::default(), Pair::default());
        parts.add([1.0, 2.0]);
        for values in [[2.0, 4.0], [3.0, 5.0], [4.0, 4.0]] {
            rest.add(values);
        }
        parts.merge(&rest);
        near(parts.correlation(), pair.correlation(), 1e-12);
        // s² = 5/3 and 19/12 about means of 2.5 and 3.75, s₀₁ = 7/6.
        let expected =
            ((5.0 / 3.0 / 6.25 + 19.0 / 12.0 / 14.0625 - 2.0 * 7.0 / 6.0 / 9.375) / 4.0_f64).sqrt();
        near(pair.ratio_error(), expected, 1e-12);
        let mut none = Pair::default();
        none.merge(&parts);
        none.merge(&Pair::default());
        assert_eq!(none, parts);
    }

    /// Fieller's limits as the roots of (x − r y)² = t² (s_xx − 2 r s_xy + r² s_yy).
    #[test]
    fn symmetric_intervals_give_fieller() {
        let (means, halves, correlation) = ([8.0, 2.0], [1.0, 0.5], 0.3);
        let intervals = [0, 1].map(|i| Interval {
            low: means[i] - halves[i],
            high: means[i] + halves[i],
        });
        let seen = Ratio::from_means(means, Some(intervals), correlation).expect("above 0");
        for end in [seen.low, seen.high] {
            let r = end.expect("an end");
            let left = (means[0] - r * means[1]).powi(2);
            let right = halves[0] * halves[0] - 2.0 * r * correlation * halves[0] * halves[1]
                + r * r * halves[1] * halves[1];
            near(left, right, 1e-9);
        }
        assert!(seen.low < Some(4.0) && Some(4.0) < seen.high);
    }

    #[test]
    fn what_may_be_divided_by_nothing_has_no_upper_end() {
        let around = |value: f64, half: f64| Interval {
            low: value - half,
            high: value + half,
        };
        let seen = Ratio::from_means([1.0, 1.0], Some([around(1.0, 0.1), around(1.0, 1.5)]), 0.0);
        let seen = seen.expect("above 0");
        assert_eq!((seen.ratio, seen.high), (1.0, None));
        let low = seen.low.expect("a lower end");
        assert!((0.3..0.5).contains(&low), "{low}");
        assert_eq!(Ratio::from_means([1.0, 0.0], None, 0.0), None);
        assert_eq!(Ratio::from_means([1.0, -1.0], None, 0.0), None);
    }
}
