//! One law of step time for all shapes of a VM type, and how measurements scatter around it.

use serde::{Deserialize, Serialize};

use super::bounds::{ABOVE_ZERO, OutOfBounds, at_least};
use super::{CommunicationLaw, ComputeLaw, Overlap, StepLaw};
use crate::workload::step::StepCost;

/// Seconds of a step by law for any placement of workers on VMs of one type: one p-norm over K
/// for workers on several VMs, a constant in place of communication on one VM.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PooledLaw {
    /// One worker's compute.
    pub compute: ComputeLaw,
    /// Communication between VMs, before any of it is hidden.
    pub communication: CommunicationLaw,
    /// How the two add up.
    pub overlap: Overlap,
    /// Communication of several workers on one VM.
    pub one_vm_s: f64,
    /// How ln(measured/law) varies.
    pub residual: Variation,
}

/// The covariance of ln(measured/law) at two placements with N VMs, K workers, m of them on the
/// fullest VM, and local batches x:
///
/// σ²·exp(−½((Δln N/λ_N)² + (Δln(K/N)/λ_w)² + (Δln m/λ_w)²) − |Δln x|/λ_x), and for equal
/// placements also π²·exp(−|Δln x|/λ_π) + ρ²·exp(−|Δln x|/0.35). None between one VM and several.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Variation {
    /// σ: what placements alike share.
    pub shared: f64,
    /// π: what one placement has for itself.
    pub placement: f64,
    /// ρ: what one measurement has for itself.
    pub repeat: f64,
    /// λ_N, in ln N.
    pub vms_reach: f64,
    /// λ_w, in the logarithm of workers per VM.
    pub workers_reach: f64,
    /// λ_x, in the logarithm of the local batch.
    pub batch_reach: f64,
    /// λ_π, likewise.
    pub placement_reach: f64,
}

impl PooledLaw {
    /// Whether its parameters make sense.
    ///
    /// # Errors
    /// What is wrong with the first that does not.
    pub fn check(&self) -> Result<(), OutOfBounds> {
        self.compute.check()?;
        self.communication.check()?;
        self.overlap.check()?;
        let v = &self.residual;
        at_least(&[
            ("one_vm_s", self.one_vm_s, 0.0),
            ("shared", v.shared, 0.0),
            ("placement", v.placement, 0.0),
            ("repeat", v.repeat, ABOVE_ZERO),
            ("vms_reach", v.vms_reach, ABOVE_ZERO),
            ("workers_reach", v.workers_reach, ABOVE_ZERO),
            ("batch_reach", v.batch_reach, ABOVE_ZERO),
            ("placement_reach", v.placement_reach, ABOVE_ZERO),
        ])
    }

    /// The cost of a step, as [`StepLaw::cost`].
    pub fn cost(
        &self,
        vms: u32,
        workers: u32,
        local_batch: f64,
        compute_scale: f64,
        network_scale: f64,
    ) -> Option<StepCost> {
        let communication = match vms {
            1 => CommunicationLaw::Linear {
                base_s: self.one_vm_s,
                per_worker_s: 0.0,
            },
            _ => self.communication,
        };
        let law = StepLaw {
            compute: self.compute,
            communication,
            overlap: self.overlap,
            one_vm_only: false,
        };
        law.cost(workers, local_batch, compute_scale, network_scale)
    }
}
