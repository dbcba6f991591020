//! Expected coefficients of a pooled law before anything is measured, from other applications. Coefficients are seconds,
//! which differ by orders of magnitude, so this expects six contrasts of the logarithms of [`FreePooled`], which no unit of
//! time changes.

use super::free_pooled::{FREE, FreePooled};
use super::growth::Growth;

/// Contrasts of the coefficients: the fixed part of compute over that of usual samples, communication over the same,
/// what grows of communication with eight workers over what does not, a pass on one VM over communication between VMs, the
/// angle of the overlap, and what two VMs take more.
pub const CONTRASTS: usize = 6;

const OF_COEFFICIENTS: [[f64; FREE]; CONTRASTS] = [
    [1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, -1.0, 1.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, -1.0, 1.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, -1.0, 0.0, 1.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
];
/// Workers at which what grows of communication is compared with what does not.
const COMPARED_AT: u32 = 8;

type ApplicationContrasts = (&'static str, [f64; CONTRASTS]);

const SHIPPED: [ApplicationContrasts; 3] = [
    ("pollux-bert", [-0.81, 0.65, -0.54, -1.50, 0.25, 0.70]),
    ("pollux-cifar10", [-1.99, -0.50, -0.15, -1.05, 0.35, 0.40]),
    ("pollux-imagenet", [-1.50, -0.36, -0.39, -1.10, 0.32, 0.55]),
];
/// Standard deviation of each contrast between applications that are as alike as can be: three tell little of all others.
const LEAST: [f64; CONTRASTS] = [1.0, 1.2, 0.8, 0.7, 0.2, 0.4];

/// What is expected of each contrast: mean and standard deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    contrasts: [(f64, f64); CONTRASTS],
}

impl Default for Prior {
    fn default() -> Prior {
        Prior::without("")
    }
}

impl Prior {
    /// From all shipped applications but `name`, for judging what is said of that.
    pub fn without(name: &str) -> Prior {
        let known = || SHIPPED.iter().filter(|(own, _)| *own != name);
        let count = known().count() as f64;
        let contrasts = std::array::from_fn(|i| {
            let mean = known().map(|(_, c)| c[i]).sum::<f64>() / count;
            let square = |c: &[f64; CONTRASTS]| (c[i] - mean) * (c[i] - mean);
            let variance = known().map(|(_, c)| square(c)).sum::<f64>() / count;
            (mean, (variance + LEAST[i] * LEAST[i]).sqrt())
        });
        Prior { contrasts }
    }

    /// Standard deviations between coefficients and what is expected, by contrast, at `usual` samples per worker.
    pub fn deviations(&self, free: &FreePooled, growth: Growth, usual: f64) -> [f64; CONTRASTS] {
        let found = contrasts(free, growth, usual);
        std::array::from_fn(|i| {
            let (mean, deviation) = self.contrasts[i];
            (found[i] - mean) / deviation
        })
    }

    /// The coefficients that are expected where `usual` samples take `compute_s`.
    pub fn expected(&self, growth: Growth, usual: f64, compute_s: f64) -> FreePooled {
        let [a_to_b, c_to_b, d_to_c, e_to_c, angle, two_vms] = self.contrasts.map(|c| c.0);
        let share = 1.0 / (1.0 + libm::exp(a_to_b));
        let b = libm::log(compute_s * share / usual);
        let (a, c) = (b + a_to_b + libm::log(usual), b + c_to_b + libm::log(usual));
        let d = c + d_to_c - libm::log(growth.value_at(COMPARED_AT));
        FreePooled([a, b, c, d, c + e_to_c, angle, two_vms])
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

pub fn contrasts(free: &FreePooled, growth: Growth, usual: f64) -> [f64; CONTRASTS] {
    let usual = libm::log(usual);
    let offsets = [
        -usual,
        -usual,
        libm::log(growth.value_at(COMPARED_AT)),
        0.0,
        0.0,
        0.0,
    ];
    std::array::from_fn(|i| {
        let weighted = OF_COEFFICIENTS[i].iter().zip(free.0);
        weighted.map(|(w, u)| w * u).sum::<f64>() + offsets[i]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
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
            let (growth, ..) = Growth::from_law(law.communication).expect("a growth");
            let free = FreePooled::from_law(law).expect("free coefficients");
            let found = contrasts(&free, growth, usual);
            for (found, expected) in found.iter().zip(expected) {
                crate::tests::near(*found, expected, 0.25);
            }
        }
    }

    #[test]
    fn an_application_is_judged_by_what_the_others_say() {
        let all = Prior::default();
        let others = Prior::without("pollux-bert");
        assert_ne!(all, others);
        assert_eq!(all, Prior::without("unknown"));
        // Coefficients as expected are no deviation.
        let free = others.expected(Growth::Root, 32.0, 0.2);
        let off = others.deviations(&free, Growth::Root, 32.0);
        assert!(off.iter().all(|d| d.abs() < 1e-9), "{off:?}");
        let compute = libm::exp(free.0[0]) + 32.0 * libm::exp(free.0[1]);
        assert!((compute - 0.2).abs() < 1e-12);
    }
}
