//! Seconds of communication per step by the worker count K, before compute hides any.

use serde::{Deserialize, Serialize};

use super::bounds::{ANY, OutOfBounds, at_least, laws};
use scavsim_base::Declaration;

laws! {
    /// A law of communication time, for two workers and more.
    pub enum CommunicationLaw {
        Linear {
            /// c.
            base_s: f64 => ANY,
            /// d.
            per_worker_s: f64 => ANY,
        }: Declaration {
            name: "linear",
            what: "Communication through a synchronous parameter server, or by an all-reduce bound by latency.",
            formula: "c + d·K, K workers; c = `base_s`, d = `per_worker_s`",
            source: "chosen by `import` among laws, by steps left out",
            example: "laws.steps.k80.communication.linear = { base_s = 0.5, per_worker_s = 0.25 }",
        },
        Ring {
            /// c.
            base_s: f64 => ANY,
            /// d: seconds to send the gradient once.
            per_pass_s: f64 => ANY,
        }: Declaration {
            name: "ring",
            what: "Communication by a ring all-reduce bound by bandwidth.",
            formula: "c + d·2(K − 1)/K; c = `base_s`, d = `per_pass_s` to send the gradient once",
            source: "chosen by `import` among laws, by steps left out",
            example: "laws.steps.k80.communication.ring = { base_s = 0.5, per_pass_s = 2 }",
        },
        Tree {
            /// c.
            base_s: f64 => ANY,
            /// d.
            per_level_s: f64 => ANY,
        }: Declaration {
            name: "tree",
            what: "Communication along a tree of workers.",
            formula: "c + d·log₂ K; c = `base_s`, d = `per_level_s`",
            source: "chosen by `import` among laws, by steps left out",
            example: "laws.steps.k80.communication.tree = { base_s = 0.5, per_level_s = 2 }",
        },
        Root {
            /// c.
            base_s: f64 => ANY,
            /// d.
            per_root_s: f64 => ANY,
        }: Declaration {
            name: "root",
            what: "Communication that grows with workers more slowly than a line.",
            formula: "c + d·√K; c = `base_s`, d = `per_root_s`",
            source: "chosen for pooled laws, by the most workers left out",
            example: "laws.steps.k80.communication.root = { base_s = 0.5, per_root_s = 2 }",
        },
        /// A jump at the second worker, then a slope.
        StepSlope {
            /// j: seconds with two workers.
            jump_s: f64 => 0.0,
            /// d.
            per_worker_s: f64 => ANY,
        }: Declaration {
            name: "step-slope",
            what: "Communication over Ethernet: a jump at the second node, then a slope.",
            formula: "j + d·(K − 2); j = `jump_s`, d = `per_worker_s`",
            source: "Pollux (Qiao et al., OSDI 2021)",
            example: "laws.steps.k80.communication.step-slope = { jump_s = 1, per_worker_s = 0.25 }",
        },
        Saturating {
            /// t_ps.
            service_s: f64 => 0.0,
            /// q: how sharply the server saturates.
            sharpness: f64 => 1.0,
        }: Declaration {
            name: "saturating",
            what: "Communication with an asynchronous parameter server, which serves one update after the other.",
            formula: "(t_w^q + (K·t_ps)^q)^(1/q) − t_w; t_w the worker's compute, t_ps = `service_s`, q = `sharpness`",
            source: "this project",
            example: "laws.steps.k80.communication.saturating = { service_s = 1, sharpness = 2 }",
        },
    }
}

impl CommunicationLaw {
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
        for (law, workers, expected) in [
            ("linear = { base_s = 0.5, per_worker_s = 0.25 }", 8, 2.5),
            ("ring = { base_s = 0.5, per_pass_s = 2.0 }", 4, 3.5),
            ("tree = { base_s = 0.5, per_level_s = 2.0 }", 8, 6.5),
            ("root = { base_s = 0.5, per_root_s = 2.0 }", 9, 6.5),
            ("step-slope = { jump_s = 1.0, per_worker_s = 0.25 }", 2, 1.0),
            ("step-slope = { jump_s = 1.0, per_worker_s = 0.25 }", 6, 2.0),
            ("saturating = { service_s = 1.0, sharpness = 2.0 }", 4, 2.0),
        ] {
            let found: CommunicationLaw = toml::from_str(law).expect(law);
            let seconds = found.seconds(workers, 3.0);
            assert!((seconds - expected).abs() < 1e-12, "{law}: {seconds}");
        }
    }
}
