//! The largest of K independent unit log-normals, by slices of equal probability.
//!
//! Its density is cut at its quantiles into 1,024 slices. Within a slice it is nearly flat, so that a place in the slice's
//! rectangle is nearly always under the curve: a table, a multiplication and a comparison, where a formula takes two
//! logarithms, a quantile and two exponentials. The law is exact: what the rectangle does not decide, the density does, and
//! the two slices without an end are drawn by the quantile. K = 1 is the log-normal itself.

use super::Stream;
use crate::stats::normal;

const SLICES: usize = 1 << NUMBER;
/// Bits of a slice's number, of a height in its rectangle, and of a place.
const NUMBER: u32 = 10;
const HEIGHT: u32 = 10;
const PLACE: u32 = u64::BITS - NUMBER - HEIGHT;

/// Between these σ of the logarithm: beyond, slices are too narrow for floating point, or not flat.
const SIGMAS: std::ops::RangeInclusive<f64> = 1e-4..=2.0;

/// The law of max over K of exp(σ z − σ²/2), z standard normal.
#[derive(Debug, Clone)]
pub struct LargestLogNormal {
    count: u32,
    sigma: f64,
    /// Left ends of the slices; those of the first two are the same, as the first has none.
    ends: Box<[f64; SLICES]>,
    /// Heights below this are under the curve everywhere in a slice, in 2⁻¹⁰ of its rectangle.
    sure: Box<[u16; SLICES]>,
    /// Logarithm of the largest density of each slice.
    tops: Box<[f64; SLICES]>,
}

impl LargestLogNormal {
    /// The largest of `count` log-normals with this σ; `None` where they have none, or one beyond what slices are good for.
    pub fn new(count: u32, sigma: f64) -> Option<Self> {
        if count == 0 || !SIGMAS.contains(&sigma) {
            return None;
        }
        let mut law = LargestLogNormal {
            count,
            sigma,
            ends: Box::new([0.0; SLICES]),
            sure: Box::new([0; SLICES]),
            tops: Box::new([0.0; SLICES]),
        };
        // The outermost slices have no end: their place is empty, and no height is sure.
        let ends: Vec<f64> = (1..SLICES)
            .map(|number| law.normal_at(libm::log(number as f64 / SLICES as f64)))
            .collect();
        let logs: Vec<f64> = ends.iter().map(|&z| law.log_density(z)).collect();
        // Concave in z, so that only the slice with the peak, or one beside it, is higher inside than at its ends.
        let highest = (0..ends.len())
            .max_by(|&a, &b| logs[a].total_cmp(&logs[b]))
            .unwrap_or_default();
        for number in 1..SLICES - 1 {
            let (left, right) = (number - 1, number);
            let mut top = logs[left].max(logs[right]);
            if left == highest || right == highest {
                top = top.max(law.peak(ends[left], ends[right]));
            }
            let least = libm::exp(logs[left].min(logs[right]) - top);
            law.sure[number] = (least * f64::from(1u32 << HEIGHT)) as u16;
            law.tops[number] = top;
        }
        for (number, &z) in (1..).zip(&ends) {
            law.ends[number] = law.value(z);
        }
        law.ends[0] = law.ends[1];
        Some(law)
    }

    #[inline]
    pub fn sample(&self, stream: &mut Stream) -> f64 {
        let bits = stream.bits();
        let turned = bits ^ stream.mirror;
        let number = (turned & (SLICES as u64 - 1)) as usize;
        if height(bits) < self.sure[number] {
            self.place(number, turned)
        } else {
            self.weighed(number, bits, stream)
        }
    }

    /// The place in a slice that the upper bits say.
    #[inline]
    fn place(&self, number: usize, bits: u64) -> f64 {
        let share = (bits >> (NUMBER + HEIGHT)) as f64 * (1.0 / (1u64 << PLACE) as f64);
        let (from, to) = (self.ends[number], self.ends[(number + 1) & (SLICES - 1)]);
        from + (to - from) * share
    }

    /// Where a rectangle does not decide.
    #[cold]
    #[inline(never)]
    fn weighed(&self, number: usize, mut bits: u64, stream: &mut Stream) -> f64 {
        let share = 1.0 / SLICES as f64;
        if number == 0 {
            return self.value(self.normal_at(libm::log(share * stream.uniform())));
        }
        if number == SLICES - 1 {
            let above = share * (1.0 - stream.uniform());
            return self.value(self.normal_at(libm::log1p(-above)));
        }
        loop {
            let value = self.place(number, bits ^ stream.mirror);
            let seen = height(bits);
            if seen < self.sure[number] {
                return value;
            }
            let up = (f64::from(seen) + stream.height()) * (1.0 / f64::from(1u32 << HEIGHT));
            let z = (libm::log(value) + 0.5 * self.sigma * self.sigma) / self.sigma;
            if libm::log(up) < self.log_density(z) - self.tops[number] {
                return value;
            }
            bits = stream.bits();
        }
    }

    /// The largest normal below which the largest of K is with probability u, by ln u.
    fn normal_at(&self, log_u: f64) -> f64 {
        normal::upper_quantile(-libm::expm1(log_u / f64::from(self.count)))
    }

    fn value(&self, z: f64) -> f64 {
        libm::exp(self.sigma * z - 0.5 * self.sigma * self.sigma)
    }

    /// ln of the density at the value of `z`, but for a constant: −z²/2 + (K − 1) ln Φ(z) − σ z.
    fn log_density(&self, z: f64) -> f64 {
        let others = f64::from(self.count - 1);
        let log_cdf = if z > 0.0 {
            libm::log1p(-normal::cdf(-z))
        } else {
            libm::log(normal::cdf(z))
        };
        -0.5 * z * z + others * log_cdf - self.sigma * z
    }

    /// The largest of it between two ends, by thirds.
    fn peak(&self, mut left: f64, mut right: f64) -> f64 {
        for _ in 0..60 {
            let third = (right - left) / 3.0;
            let (a, b) = (left + third, right - third);
            if self.log_density(a) < self.log_density(b) {
                left = a
            } else {
                right = b
            }
        }
        self.log_density(0.5 * (left + right))
    }
}

/// The part of a draw's bits that is a height.
#[inline]
fn height(bits: u64) -> u16 {
    (bits >> NUMBER & ((1 << HEIGHT) - 1)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Streams};

    /// Kolmogorov's distance to Φ(z)^K, whose 0.1 % point is 1.95/√n; fixed seeds, 12 cases.
    #[test]
    fn draws_follow_the_law_of_the_largest() {
        for count in [1, 2, 16, 1_000_000] {
            for sigma in [1e-4, 0.3, 2.0] {
                let law = LargestLogNormal::new(count, sigma).expect("within the limits");
                let mut stream = Streams::new(21).stream(0, Purpose::Trial(u64::from(count)));
                let n = 300_000;
                let mut drawn: Vec<f64> = (0..n).map(|_| law.sample(&mut stream)).collect();
                drawn.sort_by(f64::total_cmp);
                let n = f64::from(n);
                let off = |(&value, below): (&f64, u32)| {
                    let z = (libm::log(value) + 0.5 * sigma * sigma) / sigma;
                    let cdf = libm::pow(normal::cdf(z), f64::from(count));
                    (cdf - (f64::from(below) + 0.5) / n).abs()
                };
                let distance = drawn.iter().zip(0u32..).map(off).fold(0.0, f64::max);
                assert!(distance < 1.95 / n.sqrt(), "{count} {sigma}: {distance}");
            }
        }
    }

    /// The slow way within one slice, where densities differ most: ranks within the slice are uniform. The 0.1 % point,
    /// fixed seeds, 20 cases.
    #[test]
    fn within_a_slice_draws_follow_the_law() {
        let last = SLICES - 1;
        for (count, sigma) in [(1, 0.3), (1, 2.0), (16, 0.3), (16, 2.0)] {
            let law = LargestLogNormal::new(count, sigma).expect("within the limits");
            for number in [0, 1, SLICES / 2, last - 1, last] {
                let mut stream = Streams::new(22).stream(number as u64, Purpose::Trial(0));
                let rank = |_| {
                    let bits = stream.bits() & !(SLICES as u64 - 1) | number as u64;
                    let value = law.weighed(number, bits, &mut stream);
                    let z = (libm::log(value) + 0.5 * sigma * sigma) / sigma;
                    let above = -libm::expm1(f64::from(count) * libm::log1p(-normal::cdf(-z)));
                    if number == last {
                        1.0 - above * SLICES as f64
                    } else {
                        (1.0 - above) * SLICES as f64 - number as f64
                    }
                };
                let ranks: Vec<f64> = (0..40_000).map(rank).collect();
                let even = |rank: f64| rank.clamp(0.0, 1.0);
                let seen = crate::stats::kolmogorov_smirnov_against(&ranks, even, even);
                assert!(seen.p_value > 0.001, "{count} {sigma} {number}: {seen:?}");
            }
        }
    }

    /// No density is above its rectangle, and what is sure is below the curve.
    #[test]
    fn rectangles_hold_the_curve() {
        for (count, sigma) in [(1, 0.3), (2, 2.0), (16, 1e-2), (100_000, 0.3)] {
            let law = LargestLogNormal::new(count, sigma).expect("within the limits");
            for number in 1..SLICES - 1 {
                for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
                    let value =
                        law.place(number, 0) + share * (law.ends[number + 1] - law.ends[number]);
                    let z = (libm::log(value) + 0.5 * sigma * sigma) / sigma;
                    let height = libm::exp(law.log_density(z) - law.tops[number]);
                    // z is known to about 1e-16/σ.
                    assert!(height < 1.0 + 1e-9, "{count} {number} {height}");
                    let sure = f64::from(law.sure[number]) / f64::from(1u32 << HEIGHT);
                    assert!(height > sure - 1e-9, "{count} {number} {height}");
                }
            }
        }
    }

    #[test]
    fn no_spread_and_too_much_have_no_slices() {
        for (count, sigma) in [(3, 0.0), (3, 1e-9), (3, 2.1), (0, 0.3), (3, f64::NAN)] {
            assert!(LargestLogNormal::new(count, sigma).is_none());
        }
    }
}
