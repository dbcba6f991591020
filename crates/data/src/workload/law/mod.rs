//! Laws of step time and epochs that a workload may name, for what was not measured: synthetic
//! VM types, gaps and extrapolation. Pure functions with their parameters; no tables.
//!
//! - [`compute`]: one worker's seconds by its local batch; [`worker`]: by its size, too.
//! - [`communication`]: seconds of communication by the worker count.
//! - [`overlap`]: how much of it compute hides.
//! - [`pooled`]: one law for all shapes of a VM type.
//! - [`epochs`]: passes over the data by the global batch.
//! - [`goodput`]: the same from a noise scale over training; [`noise`]: that noise scale.
//!
//! A new law is a variant in its file, with its formula there.

pub mod communication;
pub mod compute;
pub mod epochs;
pub mod goodput;
pub mod noise;
pub mod overlap;
pub mod pooled;
pub mod worker;

pub use communication::CommunicationLaw;
pub use compute::{ComputeLaw, SizedWorker};
pub use epochs::EpochLaw;
pub use noise::NoiseLaw;
pub use overlap::Overlap;
pub use pooled::PooledLaw;
pub use worker::{Speed, WorkerLaw};

use serde::{Deserialize, Serialize};

use super::step_cost::StepCost;

/// Seconds of a step by law, for one VM shape.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StepLaw {
    /// One worker's compute.
    pub compute: ComputeLaw,
    /// Communication before any of it is hidden.
    pub communication: CommunicationLaw,
    /// How the two add up.
    #[serde(default, skip_serializing_if = "Overlap::is_additive")]
    pub overlap: Overlap,
    /// Whether it says nothing of workers on several VMs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub one_vm_only: bool,
}

/// Complains about the first of `parameters` (name, value, least value) that is not a number of
/// at least its least value.
fn at_least(parameters: &[(&str, f64, f64)]) -> Result<(), String> {
    for &(name, value, least) in parameters {
        if !(value.is_finite() && value >= least) {
            return Err(match least {
                ANY => format!("expected `{name}` to be a number, found {value}"),
                ABOVE_ZERO => format!("expected `{name}` above 0, found {value}"),
                _ => format!("expected `{name}` of at least {least}, found {value}"),
            });
        }
    }
    Ok(())
}

/// A least value for what may be anything.
const ANY: f64 = f64::NEG_INFINITY;
/// A least value for what must be above zero.
const ABOVE_ZERO: f64 = f64::MIN_POSITIVE;

impl StepLaw {
    /// Whether its parameters make sense.
    ///
    /// # Errors
    /// What is wrong with the first that does not.
    pub fn check(&self) -> Result<(), String> {
        self.compute.check()?;
        self.communication.check()?;
        self.overlap.check()
    }

    /// The cost of a step with `workers` workers of `local_batch` samples each: compute times
    /// `compute_scale`, communication times `network_scale`. A single worker does not
    /// communicate. `None` where the law gives no time above zero.
    pub fn cost(
        &self,
        workers: u32,
        local_batch: f64,
        compute_scale: f64,
        network_scale: f64,
    ) -> Option<StepCost> {
        let compute_s = compute_scale * self.compute.seconds(local_batch);
        let raw_s = match workers {
            1 => 0.0,
            k => network_scale * self.communication.seconds(k, compute_s),
        };
        let sound = compute_s.is_finite() && compute_s > 0.0 && raw_s.is_finite() && raw_s >= 0.0;
        sound.then(|| StepCost {
            compute_s,
            communication_s: self.overlap.exposed_s(compute_s, raw_s),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_worker_does_not_communicate_and_scales_act_on_their_part() {
        let law: StepLaw = toml::from_str(
            "compute.affine = { base_s = 0.1, per_sample_s = 0.01 }\n\
             communication.linear = { base_s = 0.2, per_worker_s = 0.05 }",
        )
        .expect("a law");
        let whole = |k, scale, network| law.cost(k, 10.0, scale, network).map(StepCost::total_s);
        assert_eq!(whole(1, 1.0, 1.0), Some(0.2));
        let close = |a: Option<f64>, b: f64| assert!(a.is_some_and(|a| (a - b).abs() < 1e-12));
        close(whole(4, 1.0, 1.0), 0.6);
        close(whole(4, 2.0, 1.0), 0.8);
        close(whole(4, 1.0, 2.0), 1.0);
    }

    #[test]
    fn a_law_that_leaves_its_range_gives_no_time() {
        let law: StepLaw = toml::from_str(
            "compute.affine = { base_s = -0.1, per_sample_s = 0.01 }\n\
             communication.linear = { base_s = 0, per_worker_s = 0 }",
        )
        .expect("a law");
        assert_eq!(law.cost(2, 5.0, 1.0, 1.0), None);
    }
}
