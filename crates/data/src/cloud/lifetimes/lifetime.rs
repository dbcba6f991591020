use std::fmt::Debug;
use std::sync::Arc;

use scavsim_base::rng::Stream;

/// The distribution F of the age in hours at which a VM is lost, without a cap. F may stay below 1: some are never lost.
pub trait Law: Debug + Send + Sync {
    /// F(t) = P(T ≤ t).
    fn cdf(&self, age_h: f64) -> f64;
    /// f(t) = dF/dt, per hour.
    fn density(&self, age_h: f64) -> f64;
    /// The least t with F(t) ≥ `u`, for u in (0, 1); infinite where F stays below u.
    fn inverse_cdf(&self, u: f64) -> f64;
    /// E[min(T, t)] = ∫₀ᵗ (1 − F) in hours.
    fn mean_until(&self, age_h: f64) -> f64;

    /// Losses per hour of a VM that lives, where they do not depend on its age.
    fn ageless_rate(&self) -> Option<f64> {
        None
    }

    /// The product of 1 − F at `at_h` over VMs that run since these hours; 1 for those that do not run yet.
    fn all_outlive(&self, since_h: &[f64], at_h: f64) -> f64 {
        let outlive = |since_h: &f64| 1.0 - self.cdf((at_h - since_h).max(0.0));
        since_h.iter().map(outlive).product()
    }
}

/// The life of one VM in hours: min(T, cap), T by a [`Law`]. Without a cap, VMs that the law leaves alive live for ever.
#[derive(Debug, Clone)]
pub struct Lifetime {
    law: Arc<dyn Law>,
    cap_h: f64,
}

impl Lifetime {
    /// Lives by `law`, ended at `cap_h` if there is a cap. A cap that is not above 0 counts as none.
    pub fn new(law: impl Law + 'static, cap_h: Option<f64>) -> Self {
        Lifetime::shared(Arc::new(law), cap_h)
    }

    pub(super) fn shared(law: Arc<dyn Law>, cap_h: Option<f64>) -> Self {
        let cap_h = cap_h.filter(|cap| *cap > 0.0).unwrap_or(f64::INFINITY);
        Lifetime { law, cap_h }
    }

    pub fn ageless_rate(&self) -> Option<f64> {
        self.law
            .ageless_rate()
            .filter(|_| self.cap_h == f64::INFINITY)
    }

    /// Age in hours at which the provider ends every VM; infinite without a cap.
    pub fn cap_h(&self) -> f64 {
        self.cap_h
    }

    /// The life of a new VM in hours; infinite if it is never lost. One draw.
    #[inline]
    pub fn sample(&self, stream: &mut Stream) -> f64 {
        self.quantile(stream.uniform())
    }

    /// How many hours a VM that has reached `age_h` lives on: F⁻¹(F(s) + u (1 − F(s))) − s. One draw.
    pub fn sample_rest(&self, age_h: f64, stream: &mut Stream) -> f64 {
        let u = stream.uniform();
        if age_h >= self.cap_h {
            return 0.0;
        }
        let reached = self.law.cdf(age_h);
        let at = reached + u * (1.0 - reached);
        // Rounded up to 1 it would be the end of the law, not a quantile.
        (self.quantile(at.min(1.0 - f64::EPSILON)) - age_h).max(0.0)
    }

    /// The life of which a share `u` in (0, 1) is not longer.
    pub fn quantile(&self, u: f64) -> f64 {
        self.law.inverse_cdf(u).min(self.cap_h)
    }

    /// P(life ≤ t): 1 from the cap on.
    pub fn cdf(&self, age_h: f64) -> f64 {
        match age_h {
            t if t < 0.0 => 0.0,
            t if t >= self.cap_h => 1.0,
            t => self.law.cdf(t),
        }
    }

    /// P(life < t), which differs from [`Lifetime::cdf`] at the cap.
    pub fn cdf_before(&self, age_h: f64) -> f64 {
        match age_h {
            t if t <= 0.0 => 0.0,
            t if t > self.cap_h => 1.0,
            t => self.law.cdf(t),
        }
    }

    /// P(life > t).
    pub fn survival(&self, age_h: f64) -> f64 {
        1.0 - self.cdf(age_h)
    }

    /// P(life ≥ age) of VMs that run since these hours and live each by itself, all together, at `at_h`.
    pub fn all_outlive(&self, since_h: &[f64], at_h: f64) -> f64 {
        if (since_h.iter()).any(|since_h| at_h - since_h > self.cap_h) {
            return 0.0;
        }
        self.law.all_outlive(since_h, at_h)
    }

    /// Losses per hour among the VMs of this age, f/(1 − F); infinite from the cap on.
    pub fn hazard(&self, age_h: f64) -> f64 {
        let left = self.survival(age_h);
        if left > 0.0 {
            self.law.density(age_h) / left
        } else {
            f64::INFINITY
        }
    }

    /// E[min(life, t)] in hours.
    pub fn mean_until(&self, age_h: f64) -> f64 {
        self.law.mean_until(age_h.min(self.cap_h))
    }

    /// E[life; life ≤ t] = ∫₀ᵗ s dF(s) in hours, the VMs ended at the cap included.
    pub fn lost_until(&self, age_h: f64) -> f64 {
        let survival = self.survival(age_h);
        let survived = if survival > 0.0 {
            age_h * survival
        } else {
            0.0
        };
        self.mean_until(age_h) - survived
    }
}
