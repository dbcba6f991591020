//! Gamma factors with mean 1, by Marsaglia and Tsang (2000). Their coefficient of variation goes from 0, a constant, over 1,
//! the exponential, to what comes in bursts. A cube of a normal is nearly gamma above a shape of 1, so that few draws are
//! rejected; a smaller shape takes one power more.

use super::Stream;

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
    use rand_distr::{Distribution, Gamma};

    use super::super::{Purpose, Streams};
    use super::*;
    use crate::stats::{Welford, kolmogorov_smirnov};

    /// Mean 1, the asked variance and a skewness of twice the cv; draws have the law of `rand_distr`'s gamma.
    #[test]
    fn draws_have_the_moments_and_the_law_of_a_gamma() {
        for cv in [0.05, 0.3, 1.0, 1.41, 2.0] {
            let law = UnitGamma::from_cv(cv);
            let mut stream = Streams::new(3).stream(0, Purpose::Trial(0));
            let own: Vec<f64> = (0..400_000).map(|_| law.sample(&mut stream)).collect();
            let mut seen = Welford::default();
            own.iter().for_each(|x| seen.add(*x));
            assert!(own.iter().all(|x| *x >= 0.0));
            let n = own.len() as f64;
            assert!((seen.mean() - 1.0).abs() < 4.0 * cv / n.sqrt(), "{cv}");
            assert!((seen.standard_deviation() / cv - 1.0).abs() < 0.02, "{cv}");
            assert!((seen.skewness() / (2.0 * cv) - 1.0).abs() < 0.1, "{cv}");
            let theirs = Gamma::new(1.0 / (cv * cv), cv * cv).expect("a legal law");
            let theirs: Vec<f64> = theirs.sample_iter(&mut stream).take(own.len()).collect();
            assert!(kolmogorov_smirnov(&own, &theirs).p_value > 0.001, "{cv}");
        }
    }
}
