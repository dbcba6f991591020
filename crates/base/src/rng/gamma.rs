//! Gamma factors with mean 1, by Marsaglia and Tsang (2000).
//!
//! Their coefficient of variation goes from 0, a constant, over 1, the exponential, to what comes in bursts. A cube of a
//! normal is nearly gamma above a shape of 1, so that few draws are rejected; a smaller shape takes one power more.

use super::Stream;

/// The law of a gamma factor with mean 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnitGamma {
    /// d = shape − ⅓ and c = 1/(3 √d) of the law that is drawn from.
    d: f64,
    c: f64,
    /// 1/shape where the shape is below 1.
    power: Option<f64>,
    scale: f64,
}

impl UnitGamma {
    /// With this coefficient of variation, which is above 0: the shape is 1/cv².
    pub fn from_cv(cv: f64) -> Self {
        let shape = 1.0 / (cv * cv);
        let is_small = shape < 1.0;
        let d = if is_small { shape + 1.0 } else { shape } - 1.0 / 3.0;
        UnitGamma {
            d,
            c: 1.0 / (9.0 * d).sqrt(),
            power: is_small.then_some(1.0 / shape),
            scale: 1.0 / shape,
        }
    }

    /// Draws a factor.
    #[inline]
    pub fn sample(&self, stream: &mut Stream) -> f64 {
        let drawn = loop {
            let x = stream.normal();
            let root = 1.0 + self.c * x;
            if root <= 0.0 {
                continue;
            }
            let v = root * root * root;
            let (height, square) = (stream.height(), x * x);
            let is_sure = height < 1.0 - 0.0331 * square * square;
            if is_sure || libm::log(height) < 0.5 * square + self.d * (1.0 - v + libm::log(v)) {
                break self.d * v;
            }
        };
        let smaller = self.power.map_or(1.0, |p| libm::pow(stream.uniform(), p));
        self.scale * drawn * smaller
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Purpose, Streams};
    use super::*;
    use crate::stats::Welford;

    /// Mean 1, the asked variance, a skewness of twice the cv; and the share below a point where a formula tells it.
    #[test]
    fn moments_and_shares_are_those_of_the_law() {
        let root_two = std::f64::consts::SQRT_2;
        // Shape 1 is the exponential, shape ½ a squared normal.
        let shares = [
            (1.0, 1.0 - libm::exp(-0.7)),
            (root_two, libm::erf(0.35f64.sqrt())),
        ];
        for cv in [0.05, 0.3, 1.0, root_two, 2.0] {
            let law = UnitGamma::from_cv(cv);
            let mut stream = Streams::new(3).stream(0, Purpose::Trial(0));
            let (mut seen, mut below) = (Welford::default(), 0.0);
            let n = 400_000.0;
            for _ in 0..400_000 {
                let x = law.sample(&mut stream);
                assert!(x >= 0.0);
                seen.add(x);
                below += f64::from(u8::from(x < 0.7));
            }
            assert!((seen.mean() - 1.0).abs() < 4.0 * cv / f64::sqrt(n), "{cv}");
            assert!((seen.standard_deviation() / cv - 1.0).abs() < 0.02, "{cv}");
            assert!((seen.skewness() / (2.0 * cv) - 1.0).abs() < 0.1, "{cv}");
            for (_, share) in shares.iter().filter(|(of, _)| *of == cv) {
                assert!((below / n - share).abs() < 0.003, "{cv}: {}", below / n);
            }
        }
    }
}
