//! Seconds of communication per step by the worker count K, before compute hides any.

use serde::{Deserialize, Serialize};

use super::bounds::{ANY, OutOfBounds, at_least};

/// A law of communication time, for two workers and more.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum CommunicationLaw {
    /// c + d·K: a synchronous parameter server, or an all-reduce bound by latency.
    Linear {
        /// c.
        base_s: f64,
        /// d.
        per_worker_s: f64,
    },
    /// c + d·2(K − 1)/K: a ring all-reduce bound by bandwidth.
    Ring {
        /// c.
        base_s: f64,
        /// d: seconds to send the gradient once.
        per_pass_s: f64,
    },
    /// c + d·log₂ K: a tree.
    Tree {
        /// c.
        base_s: f64,
        /// d.
        per_level_s: f64,
    },
    /// c + d·√K: between a constant and a line.
    Root {
        /// c.
        base_s: f64,
        /// d.
        per_root_s: f64,
    },
    /// j + d·(K − 2): Ethernet, a jump at the second node and then a slope.
    StepSlope {
        /// j: seconds with two workers.
        jump_s: f64,
        /// d.
        per_worker_s: f64,
    },
    /// (t_w^q + (K·t_ps)^q)^(1/q) − t_w: an asynchronous parameter server that serves an update
    /// in t_ps; t_w is the worker's own time, here its compute.
    Saturating {
        /// t_ps.
        service_s: f64,
        /// q: how sharply the server saturates.
        sharpness: f64,
    },
}

impl CommunicationLaw {
    /// Whether its parameters make sense.
    ///
    /// # Errors
    /// What is wrong with the first that does not.
    pub fn check(&self) -> Result<(), OutOfBounds> {
        match *self {
            CommunicationLaw::Linear {
                base_s,
                per_worker_s,
            } => at_least(&[("base_s", base_s, ANY), ("per_worker_s", per_worker_s, ANY)]),
            CommunicationLaw::Ring { base_s, per_pass_s } => {
                at_least(&[("base_s", base_s, ANY), ("per_pass_s", per_pass_s, ANY)])
            }
            CommunicationLaw::Tree {
                base_s,
                per_level_s,
            } => at_least(&[("base_s", base_s, ANY), ("per_level_s", per_level_s, ANY)]),
            CommunicationLaw::Root { base_s, per_root_s } => {
                at_least(&[("base_s", base_s, ANY), ("per_root_s", per_root_s, ANY)])
            }
            CommunicationLaw::StepSlope {
                jump_s,
                per_worker_s,
            } => at_least(&[("jump_s", jump_s, 0.0), ("per_worker_s", per_worker_s, ANY)]),
            CommunicationLaw::Saturating {
                service_s,
                sharpness,
            } => at_least(&[("service_s", service_s, 0.0), ("sharpness", sharpness, 1.0)]),
        }
    }

    /// Seconds with `workers` workers whose compute takes `compute_s`.
    pub fn seconds(&self, workers: u32, compute_s: f64) -> f64 {
        let k = f64::from(workers);
        match *self {
            CommunicationLaw::Linear {
                base_s,
                per_worker_s,
            } => base_s + per_worker_s * k,
            CommunicationLaw::Ring { base_s, per_pass_s } => {
                base_s + per_pass_s * 2.0 * (k - 1.0) / k
            }
            CommunicationLaw::Tree {
                base_s,
                per_level_s,
            } => base_s + per_level_s * libm::log2(k),
            CommunicationLaw::Root { base_s, per_root_s } => base_s + per_root_s * k.sqrt(),
            CommunicationLaw::StepSlope {
                jump_s,
                per_worker_s,
            } => jump_s + per_worker_s * (k - 2.0),
            CommunicationLaw::Saturating {
                service_s,
                sharpness: q,
            } => {
                let sum = libm::pow(compute_s, q) + libm::pow(k * service_s, q);
                libm::pow(sum, 1.0 / q) - compute_s
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_law_meets_its_formula() {
        let at = |law: CommunicationLaw, k| law.seconds(k, 3.0);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        let (base_s, per_worker_s) = (0.5, 0.25);
        close(
            at(
                CommunicationLaw::Linear {
                    base_s,
                    per_worker_s,
                },
                8,
            ),
            2.5,
        );
        let per_pass_s = 2.0;
        close(at(CommunicationLaw::Ring { base_s, per_pass_s }, 4), 3.5);
        let per_level_s = 2.0;
        close(
            at(
                CommunicationLaw::Tree {
                    base_s,
                    per_level_s,
                },
                8,
            ),
            6.5,
        );
        let per_root_s = 2.0;
        close(at(CommunicationLaw::Root { base_s, per_root_s }, 9), 6.5);
        let jump_s = 1.0;
        let ethernet = CommunicationLaw::StepSlope {
            jump_s,
            per_worker_s,
        };
        close(at(ethernet, 2), 1.0);
        close(at(ethernet, 6), 2.0);
        let server = CommunicationLaw::Saturating {
            service_s: 1.0,
            sharpness: 2.0,
        };
        close(at(server, 4), 2.0);
    }
}
