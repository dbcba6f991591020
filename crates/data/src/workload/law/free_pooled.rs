//! The coefficients of a pooled law as a fit sees them.

use super::growth::Growth;
use super::pooled::Variation;
use super::{ComputeLaw, Overlap, PooledLaw};

/// Coefficients of a [`PooledLaw`] that a fit may choose freely.
pub const FREE: usize = 7;
/// By how much they are moved to see what a step does.
const NUDGE: f64 = 1e-5;
/// Sharpest overlap: the step is then the longer part to within 4 %.
const SHARPEST: f64 = 20.0;

/// ln a, ln b, ln c, ln d, ln e, the angle α of which g is 1 + 19·sin² α, and q: whatever they are, the law is legal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FreePooled(pub [f64; FREE]);

impl FreePooled {
    /// The coefficients of a law; `None` of one that is of another form.
    pub fn from_law(law: &PooledLaw) -> Option<FreePooled> {
        let ComputeLaw::Affine {
            base_s,
            per_sample_s,
        } = law.compute
        else {
            return None;
        };
        let Overlap::PNorm { exponent } = law.overlap else {
            return None;
        };
        let (_, base, slope) = Growth::from_law(law.communication)?;
        let [a, b, c, d, e] = [base_s, per_sample_s, base, slope, law.one_vm_pass_s]
            .map(|coefficient| libm::log(coefficient.max(1e-12)));
        let angle = libm::asin(((exponent - 1.0) / (SHARPEST - 1.0)).clamp(0.0, 1.0).sqrt());
        Some(FreePooled([a, b, c, d, e, angle, law.two_vms]))
    }

    pub fn law(&self, growth: Growth, residual: Variation) -> PooledLaw {
        let [base_s, per_sample_s, base, slope, one_vm_pass_s] =
            std::array::from_fn(|i| libm::exp(self.0[i].min(50.0)));
        let sine = libm::sin(self.0[5]);
        PooledLaw {
            compute: ComputeLaw::Affine {
                base_s,
                per_sample_s,
            },
            communication: growth.law(base, slope),
            overlap: Overlap::PNorm {
                exponent: 1.0 + (SHARPEST - 1.0) * sine * sine,
            },
            one_vm_s: 0.0,
            one_vm_pass_s,
            two_vms: self.0[6],
            residual,
        }
    }
}

impl PooledLaw {
    /// How ln(seconds) of a step changes with each of [`FreePooled`]; `None` where the law gives no step.
    pub fn gradient(&self, vms: u32, workers: u32, local_batch: f64) -> Option<[f64; FREE]> {
        let (growth, ..) = Growth::from_law(self.communication)?;
        let free = FreePooled::from_law(self)?;
        let ln_s = |free: FreePooled| {
            let law = free.law(growth, self.residual);
            let cost = law.cost(vms, workers, local_batch, 1.0, 1.0);
            cost.map(|cost| libm::log(cost.total_s()))
        };
        let mut gradient = [0.0; FREE];
        for (i, slope) in gradient.iter_mut().enumerate() {
            let moved = |by: f64| {
                let mut other = free;
                other.0[i] += by;
                ln_s(other)
            };
            *slope = (moved(NUDGE)? - moved(-NUDGE)?) / (2.0 * NUDGE);
        }
        Some(gradient)
    }
}
