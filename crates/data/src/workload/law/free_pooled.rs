//! The coefficients of a pooled law as a fit sees them.

use super::growth::Growth;
use super::pooled::Variation;
use super::{ComputeLaw, Overlap, PooledLaw};

/// Coefficients of a [`PooledLaw`] that a fit may choose freely.
pub const FREE: usize = 11;
/// By how much they are moved to see what a step does.
const NUDGE: f64 = 1e-5;
/// Sharpest overlap: the step is then the longer part to within 4 %.
const SHARPEST: f64 = 20.0;

/// What a pooled law has beside its coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PooledForm {
    pub growth: Growth,
    /// Whether communication inside of VMs adds to that between them.
    pub inside: bool,
    /// Whether two VMs are told apart from more.
    pub two_vms: bool,
    /// Whether samples on further VMs take longer for what all VMs share.
    pub shared: bool,
}

/// ln a, ln b, ln c, ln d, ln e, the angle α of which g is 1 + 19·sin² α, q, β, γ, δ and ln f: whatever they are, the law is
/// legal.
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
        let shared = law.shared_per_sample_s;
        let [a, b, c, d, e, f] = [base_s, per_sample_s, base, slope, law.one_vm_pass_s, shared]
            .map(|coefficient| libm::log(coefficient.max(1e-12)));
        let angle = libm::asin(((exponent - 1.0) / (SHARPEST - 1.0)).clamp(0.0, 1.0).sqrt());
        let PooledLaw {
            two_vms: q,
            one_vm_growth: inside,
            per_vm_growth: between,
            vms_growth: vms,
            ..
        } = *law;
        Some(FreePooled([
            a, b, c, d, e, angle, q, inside, between, vms, f,
        ]))
    }

    pub fn law(&self, form: PooledForm, residual: Variation) -> PooledLaw {
        let [base_s, per_sample_s, base, slope, one_vm_pass_s] =
            std::array::from_fn(|i| libm::exp(self.0[i].min(50.0)));
        let sine = libm::sin(self.0[5]);
        let free_if = |is_free: bool, i: usize| if is_free { self.0[i] } else { 0.0 };
        PooledLaw {
            compute: ComputeLaw::Affine {
                base_s,
                per_sample_s,
            },
            communication: form.growth.law(base, slope),
            overlap: Overlap::PNorm {
                exponent: 1.0 + (SHARPEST - 1.0) * sine * sine,
            },
            one_vm_s: 0.0,
            one_vm_pass_s,
            one_vm_growth: free_if(form.inside, 7),
            per_vm_growth: free_if(form.inside, 8),
            vms_growth: if form.inside { self.0[9] } else { 1.0 },
            shared_per_sample_s: if form.shared {
                libm::exp(self.0[10].min(50.0))
            } else {
                0.0
            },
            inside: form.inside,
            two_vms: free_if(form.two_vms, 6),
            left_out: 0.0,
            residual,
        }
    }
}

impl PooledLaw {
    /// `None` where communication is of a form that no fit has.
    pub fn form(&self) -> Option<PooledForm> {
        let (growth, ..) = Growth::from_law(self.communication)?;
        Some(PooledForm {
            growth,
            inside: self.inside,
            two_vms: self.two_vms != 0.0,
            shared: self.shared_per_sample_s > 0.0,
        })
    }

    /// How ln(seconds) of a step changes with each of [`FreePooled`]; `None` where the law gives no step.
    pub fn gradient(&self, vms: u32, workers: u32, local_batch: f64) -> Option<[f64; FREE]> {
        let (form, free) = (self.form()?, FreePooled::from_law(self)?);
        let ln_s = |free: FreePooled| {
            let law = free.law(form, self.residual);
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
