use serde::{Deserialize, Serialize};

use super::bounds::OutOfBounds;
use super::{CommunicationLaw, ComputeLaw, Overlap};
use crate::workload::step::StepCost;

#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StepLaw {
    pub compute: ComputeLaw,
    /// Communication before any of it is hidden.
    pub communication: CommunicationLaw,
    #[serde(default, skip_serializing_if = "Overlap::is_additive")]
    pub overlap: Overlap,
    /// Whether it says nothing of workers on several VMs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub one_vm_only: bool,
}

impl StepLaw {
    pub fn check(&self) -> Result<(), OutOfBounds> {
        self.compute.check()?;
        self.communication.check()?;
        self.overlap.check()
    }

    /// Cost of a step with `local_batch` samples per worker, compute times `compute_scale`, communication times
    /// `network_scale` (none with one worker). `None` where the law gives no time above zero.
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

    fn law(text: &str) -> StepLaw {
        toml::from_str(text).expect("a law")
    }

    #[test]
    fn one_worker_does_not_communicate_and_scales_act_on_their_part() {
        let law = law("compute.affine = { base_s = 0.1, per_sample_s = 0.01 }\n\
             communication.linear = { base_s = 0.2, per_worker_s = 0.05 }");
        let whole = |k, scale, network| law.cost(k, 10.0, scale, network).map(StepCost::total_s);
        assert_eq!(whole(1, 1.0, 1.0), Some(0.2));
        for (scale, network, expected) in [(1.0, 1.0, 0.6), (2.0, 1.0, 0.8), (1.0, 2.0, 1.0)] {
            let found = whole(4, scale, network).expect("in range");
            crate::tests::near(found, expected, 1e-12);
        }
    }

    #[test]
    fn a_law_that_leaves_its_range_gives_no_time() {
        let law = law("compute.affine = { base_s = -0.1, per_sample_s = 0.01 }\n\
             communication.linear = { base_s = 0, per_worker_s = 0 }");
        assert_eq!(law.cost(2, 5.0, 1.0, 1.0), None);
    }
}
