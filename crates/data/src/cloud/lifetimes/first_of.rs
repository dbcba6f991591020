use super::lifetime::{Law, Lifetime};

/// The first of n independent lives: S(t) = S₁(t)ⁿ.
#[derive(Debug, Clone)]
pub struct FirstOf {
    one: Lifetime,
    vms: f64,
}

const POINTS: u32 = 512;
/// Where the integral of S ends, for lives without a cap, in hours.
const HORIZON_H: f64 = 1000.0;

impl FirstOf {
    pub fn lifetime(one: &Lifetime, vms: u32) -> Lifetime {
        if vms <= 1 {
            return one.clone();
        }
        let law = FirstOf {
            one: one.clone(),
            vms: f64::from(vms),
        };
        Lifetime::new(law, Some(one.cap_h()).filter(|cap| cap.is_finite()))
    }
}

impl Law for FirstOf {
    fn cdf(&self, age_h: f64) -> f64 {
        1.0 - libm::pow(1.0 - self.one.cdf_before(age_h), self.vms)
    }

    fn density(&self, age_h: f64) -> f64 {
        let survival = 1.0 - self.one.cdf_before(age_h);
        self.vms * self.one.hazard(age_h) * libm::pow(survival, self.vms)
    }

    fn inverse_cdf(&self, u: f64) -> f64 {
        let one = -libm::expm1(libm::log1p(-u) / self.vms);
        self.one.quantile(one)
    }

    fn mean_until(&self, age_h: f64) -> f64 {
        let end_h = age_h.min(self.one.cap_h()).min(HORIZON_H);
        let step_h = end_h / f64::from(POINTS);
        // Midpoints: S may fall steeply at 0.
        let middles = (0..POINTS).map(|i| (f64::from(i) + 0.5) * step_h);
        middles.map(|t| 1.0 - self.cdf(t)).sum::<f64>() * step_h
    }
}

#[cfg(test)]
mod tests {
    use super::super::Exponential;
    use super::*;

    /// Of n exponential lives with mean m the first ends after m/n in the mean, exponentially again.
    #[test]
    fn the_first_of_exponential_lives_is_exponential() {
        let one = Lifetime::new(Exponential::new(24.0).expect("it is legal"), None);
        let first = FirstOf::lifetime(&one, 8);
        for t in [0.1, 1.0, 3.0, 10.0] {
            let expected = -libm::expm1(-t / 3.0);
            assert!((first.cdf(t) - expected).abs() < 1e-12);
            assert!((first.quantile(expected) - t).abs() < 1e-9);
            assert!((first.hazard(t) - 1.0 / 3.0).abs() < 1e-9);
            let mean = 3.0 * expected;
            assert!((first.mean_until(t) / mean - 1.0).abs() < 1e-4);
        }
    }
}
