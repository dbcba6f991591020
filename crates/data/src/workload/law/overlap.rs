use serde::{Deserialize, Serialize};

use super::bounds::{OutOfBounds, at_least, laws};
use scavsim_base::Declaration;

laws! {
    #[derive(Default)]
    pub enum Overlap {
        #[default]
        Additive: Declaration {
            name: "additive",
            what: "Compute hides no communication.",
            formula: "τ = t_comp + t_comm",
            source: "the default",
            example: "laws.steps.k80.overlap = \"additive\"",
        },
        /// A part of it, between the sum and the longer of the two.
        PNorm {
            /// g, at least 1.
            exponent: f64 => 1.0,
        }: Declaration {
            name: "p-norm",
            what: "Compute hides communication in part: a step takes between the sum and the longer of the two.",
            formula: "τ = (t_comp^g + t_comm^g)^(1/g), g = `exponent`; 1 is the sum",
            source: "Pollux (Qiao et al., OSDI 2021)",
            example: "laws.steps.k80.overlap.p-norm = { exponent = 3 }",
        },
    }
}

impl Overlap {
    pub fn is_additive(&self) -> bool {
        matches!(self, Overlap::Additive)
    }

    /// Communication that remains visible, τ − t_comp.
    pub fn exposed_s(&self, compute_s: f64, communication_s: f64) -> f64 {
        match *self {
            Overlap::Additive => communication_s,
            Overlap::PNorm { exponent: g } => {
                // Relative to the longer one, so that no power overflows.
                let longest = compute_s.max(communication_s);
                let term = |t: f64| libm::pow(t / longest, g);
                let step_s = longest * libm::pow(term(compute_s) + term(communication_s), 1.0 / g);
                (step_s - compute_s).max(0.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_norm_goes_from_the_sum_to_the_longer_one() {
        let exposed = |exponent| Overlap::PNorm { exponent }.exposed_s(4.0, 3.0);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        close(exposed(1.0), 3.0);
        close(exposed(2.0), 1.0);
        assert!(exposed(200.0) < 1e-3);
        close(Overlap::PNorm { exponent: 3.0 }.exposed_s(4.0, 0.0), 0.0);
    }
}
