//! Expected coefficients of a pooled law before anything is measured. Coefficients are seconds, which differ by orders of
//! magnitude, so this expects ten contrasts of the logarithms of [`FreePooled`], which no unit of time changes.

use super::free_pooled::{FREE, FreePooled, PooledForm};

/// Contrasts of the coefficients: the fixed part of compute over that of usual samples, communication over the same,
/// what grows of communication at `compared_at` over what does not, a pass on one VM over communication between VMs, the
/// angle of the overlap, what two VMs take more, the three exponents, and a sample for what VMs share over one of compute.
const CONTRASTS: usize = 10;

const OF_COEFFICIENTS: [[f64; FREE]; CONTRASTS] = [
    [1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, -1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [
        0.0,
        0.0,
        -1.0,
        1.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        LN_COMPARED,
        0.0,
    ],
    [0.0, 0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
    [0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
];

/// Expected of any machine: mean and standard deviation, about a factor of four for what are seconds. No application has all
/// of it, so that none is judged by what was learned from itself.
const ANY_MACHINE: [(f64, f64); CONTRASTS] = [
    (-1.0, 1.2),
    (-0.4, 1.4),
    (-0.5, 1.2),
    (-1.5, 1.8),
    (0.3, 0.2),
    (0.55, 0.4),
    (0.9, 0.3),
    (0.0, 0.4),
    (0.85, 0.25),
    (-2.0, 1.5),
];

/// Where what grows of communication is compared with what does not: in VMs, or of older laws in workers.
fn compared_at(form: PooledForm) -> f64 {
    if form.inside {
        1.0
    } else {
        form.growth.value_at(8) / libm::exp(LN_COMPARED)
    }
}

/// The contrast of δ, which is 1 in older laws.
const VMS_GROWTH: usize = 8;
/// ln of the number of VMs at which it is compared.
const LN_COMPARED: f64 = 2.0 * std::f64::consts::LN_2;

const OLDER: usize = 6;

type ApplicationContrasts = (&'static str, [f64; OLDER]);

/// The shipped laws, which are older: communication inside of VMs adds nothing to that between them, and no exponent is free.
const SHIPPED: [ApplicationContrasts; 3] = [
    ("pollux-bert", [-0.81, 0.65, -0.54, -1.50, 0.25, 0.70]),
    ("pollux-cifar10", [-1.99, -0.50, -0.15, -1.05, 0.35, 0.40]),
    ("pollux-imagenet", [-1.50, -0.36, -0.39, -1.10, 0.32, 0.55]),
];
/// Standard deviation of each contrast between applications that are as alike as can be: three tell little of all others.
const LEAST: [f64; OLDER] = [1.0, 1.2, 0.8, 0.7, 0.2, 0.4];

/// What is expected of each contrast: mean and standard deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    contrasts: [(f64, f64); CONTRASTS],
}

impl Prior {
    /// What is expected of a law of `form`.
    pub fn for_form(form: PooledForm) -> Prior {
        if form.inside {
            Prior {
                contrasts: ANY_MACHINE,
            }
        } else {
            Prior::without("")
        }
    }

    /// For older laws, from all shipped applications but `name`, for judging what is said of that.
    pub fn without(name: &str) -> Prior {
        let known = || SHIPPED.iter().filter(|(own, _)| *own != name);
        let count = known().count() as f64;
        let contrasts = std::array::from_fn(|i| {
            if i == VMS_GROWTH {
                return (1.0, 1e-3);
            }
            if i >= OLDER {
                return (0.0, 1.0);
            }
            let mean = known().map(|(_, c)| c[i]).sum::<f64>() / count;
            let square = |c: &[f64; OLDER]| (c[i] - mean) * (c[i] - mean);
            let variance = known().map(|(_, c)| square(c)).sum::<f64>() / count;
            (mean, (variance + LEAST[i] * LEAST[i]).sqrt())
        });
        Prior { contrasts }
    }

    /// Standard deviations between coefficients and what is expected, by contrast, at `usual` samples per worker.
    pub fn deviations(&self, free: &FreePooled, form: PooledForm, usual: f64) -> [f64; CONTRASTS] {
        let found = contrasts(free, form, usual);
        std::array::from_fn(|i| {
            let (mean, deviation) = self.contrasts[i];
            (found[i] - mean) / deviation
        })
    }

    /// The coefficients that are expected where `usual` samples take `compute_s`.
    pub fn expected(&self, form: PooledForm, usual: f64, compute_s: f64) -> FreePooled {
        let [
            a_to_b,
            c_to_b,
            d_to_c,
            e_to_c,
            angle,
            q,
            inside,
            between,
            vms,
            f_to_b,
        ] = self.contrasts.map(|c| c.0);
        let share = 1.0 / (1.0 + libm::exp(a_to_b));
        let b = libm::log(compute_s * share / usual);
        let (a, c) = (b + a_to_b + libm::log(usual), b + c_to_b + libm::log(usual));
        let d = c + d_to_c - libm::log(compared_at(form)) - LN_COMPARED * vms;
        let (e, f) = (c + e_to_c, b + f_to_b);
        FreePooled([a, b, c, d, e, angle, q, inside, between, vms, f])
    }

    /// Prior precision of the coefficients, by rows. A little is added to each, since nothing is expected of their level.
    pub fn precision(&self) -> [f64; FREE * FREE] {
        const LEVEL: f64 = 1e-4;
        let mut precision = [0.0; FREE * FREE];
        for i in 0..FREE {
            precision[i * FREE + i] = LEVEL;
        }
        for (weights, (_, deviation)) in OF_COEFFICIENTS.iter().zip(self.contrasts) {
            for i in 0..FREE {
                for j in 0..FREE {
                    precision[i * FREE + j] += weights[i] * weights[j] / (deviation * deviation);
                }
            }
        }
        precision
    }
}

fn contrasts(free: &FreePooled, form: PooledForm, usual: f64) -> [f64; CONTRASTS] {
    let usual = libm::log(usual);
    let mut offsets = [0.0; CONTRASTS];
    offsets[..3].copy_from_slice(&[-usual, -usual, libm::log(compared_at(form))]);
    std::array::from_fn(|i| {
        let weighted = OF_COEFFICIENTS[i].iter().zip(free.0);
        weighted.map(|(w, u)| w * u).sum::<f64>() + offsets[i]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::law::growth::Growth;
    use crate::workload::{library, load};
    use scavsim_base::stats::median;
    use scavsim_read::input::Diagnostics;

    /// What is expected is what the shipped laws say, which were fitted under it.
    #[test]
    fn the_contrasts_are_those_of_the_shipped_laws() {
        for (name, expected) in SHIPPED {
            let folder = library::embedded(name).expect("shipped");
            let workload = load::load(&folder, &mut Diagnostics::default()).expect("sound");
            let law = workload.laws.pooled.values().next().expect("a pooled law");
            let points = workload.steps.points();
            let mut batches: Vec<f64> = points.map(|(c, _)| c.local_batch()).collect();
            let usual = median(&mut batches).expect("steps");
            let form = law.form().expect("a form");
            let free = FreePooled::from_law(law).expect("free coefficients");
            let found = contrasts(&free, form, usual);
            for (found, expected) in found.iter().zip(expected) {
                crate::tests::near(*found, expected, 0.25);
            }
        }
    }

    #[test]
    fn an_application_is_judged_by_what_the_others_say() {
        let form = PooledForm {
            growth: Growth::Root,
            inside: false,
            two_vms: true,
            shared: false,
        };
        let all = Prior::for_form(form);
        let others = Prior::without("pollux-bert");
        assert_ne!(all, others);
        assert_eq!(all, Prior::without("unknown"));
        // Coefficients as expected are no deviation.
        for (prior, inside) in [
            (others, false),
            (
                Prior {
                    contrasts: ANY_MACHINE,
                },
                true,
            ),
        ] {
            let form = PooledForm { inside, ..form };
            let free = prior.expected(form, 32.0, 0.2);
            let off = prior.deviations(&free, form, 32.0);
            assert!(off.iter().all(|d| d.abs() < 1e-9), "{off:?}");
            let compute = libm::exp(free.0[0]) + 32.0 * libm::exp(free.0[1]);
            assert!((compute - 0.2).abs() < 1e-12);
        }
    }
}
