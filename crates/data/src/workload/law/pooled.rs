use serde::{Deserialize, Serialize};

use super::bounds::{ABOVE_ZERO, ANY, OutOfBounds, at_least};
use super::{CommunicationLaw, ComputeLaw, Overlap};
use crate::workload::step::StepCost;

/// Seconds of a step by law for any placement of workers on VMs of one type: one p-norm over compute and communication.
///
/// Communication of K workers on N VMs, n = K/N on each, is 0 for one worker; on one VM it is
/// I = c₁ + e·2(n − 1)/n·n^β; on several (c + d·N^δ)·n^γ + I + f·x·(K − n). Laws with `inside = false`, as fitted before, have
/// only (c + d·h(K)) on several VMs. On two VMs what is between them is exp(q·(1 − N/K)) times that: rings over two machines
/// pass each of them twice.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PooledLaw {
    pub compute: ComputeLaw,
    /// c + d·h: communication between VMs, before any of it is hidden.
    pub communication: CommunicationLaw,
    pub overlap: Overlap,
    /// c₁: communication of several workers on one VM, whatever their number.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub one_vm_s: f64,
    /// e: seconds to send the gradient once between workers on one VM.
    #[serde(default)]
    pub one_vm_pass_s: f64,
    /// β: how communication inside of a VM grows with its workers, beyond a ring; 1 is a line.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub one_vm_growth: f64,
    /// γ: how communication between VMs grows with the workers on each.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub per_vm_growth: f64,
    /// δ: the power of the number of VMs with which communication between them grows; 0 is none, 1 a line.
    #[serde(default = "line", skip_serializing_if = "is_line")]
    pub vms_growth: f64,
    /// f: seconds per sample on further VMs, for what all of them share: a store, or a network that holds all of a step up.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shared_per_sample_s: f64,
    /// Whether communication inside of VMs adds to that between them, which then grows with the VMs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inside: bool,
    /// q: how much dearer communication is between just two VMs of many workers, as a logarithm.
    #[serde(default)]
    pub two_vms: f64,
    /// Mean relative error of steps that were left out, where the law was asked about any.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: f64,
    pub residual: Variation,
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

fn line() -> f64 {
    1.0
}

fn is_line(value: &f64) -> bool {
    *value == line()
}

/// The covariance of ln(measured/law) at two placements with N VMs, K workers, m of them on the
/// fullest VM, and local batches x:
///
/// σ²·exp(−½((Δln N/λ_N)² + (Δln(K/N)/λ_w)² + (Δln m/λ_w)²) − |Δln x|/λ_x),
/// φ²·exp(−½((Δln(K/N))² + (Δln m)²)), and ω² times the lesser ln N; for equal placements also
/// π²·exp(−|Δln x|/λ_π) and ρ²·exp(−|Δln x|/0.35). None of these between one VM and several. On all
/// placements β²·exp(−|Δln x|/0.05), where each x that is no power of two counts three times β.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Variation {
    /// σ: what placements alike share.
    pub shared: f64,
    /// φ: what a shape has for itself, with any number of VMs.
    #[serde(default)]
    pub shape: f64,
    /// ω: how far a factor of e in the number of VMs leads away.
    #[serde(default)]
    pub growth: f64,
    /// β: what a local batch has for itself, on all placements: its kernels are others.
    #[serde(default)]
    pub batch: f64,
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
    pub fn check(&self) -> Result<(), OutOfBounds> {
        self.compute.check()?;
        self.communication.check()?;
        self.overlap.check()?;
        let v = &self.residual;
        at_least(&[
            ("one_vm_s", self.one_vm_s, 0.0),
            ("one_vm_pass_s", self.one_vm_pass_s, 0.0),
            ("one_vm_growth", self.one_vm_growth, ANY),
            ("per_vm_growth", self.per_vm_growth, ANY),
            ("vms_growth", self.vms_growth, ANY),
            ("shared_per_sample_s", self.shared_per_sample_s, 0.0),
            ("two_vms", self.two_vms, ANY),
            ("left_out", self.left_out, 0.0),
            ("shared", v.shared, 0.0),
            ("shape", v.shape, 0.0),
            ("growth", v.growth, 0.0),
            ("batch", v.batch, 0.0),
            ("placement", v.placement, 0.0),
            ("repeat", v.repeat, ABOVE_ZERO),
            ("vms_reach", v.vms_reach, ABOVE_ZERO),
            ("workers_reach", v.workers_reach, ABOVE_ZERO),
            ("batch_reach", v.batch_reach, ABOVE_ZERO),
            ("placement_reach", v.placement_reach, ABOVE_ZERO),
        ])
    }

    /// c + d·N^δ.
    fn grown_s(&self, vms: u32, compute_s: f64) -> f64 {
        match self.communication {
            CommunicationLaw::Linear {
                base_s,
                per_worker_s,
            } => base_s + per_worker_s * libm::pow(f64::from(vms), self.vms_growth),
            other => other.seconds(vms, compute_s),
        }
    }

    pub fn cost(
        &self,
        vms: u32,
        workers: u32,
        local_batch: f64,
        compute_scale: f64,
        network_scale: f64,
    ) -> Option<StepCost> {
        let compute_s = compute_scale * self.compute.seconds(local_batch);
        let (k, n) = (
            f64::from(workers),
            f64::from(workers) / f64::from(vms.max(1)),
        );
        let ring_s = self.one_vm_s + self.one_vm_pass_s * 2.0 * (n - 1.0) / n;
        let inside_s = if n > 1.0 {
            ring_s * libm::pow(n, self.one_vm_growth)
        } else {
            0.0
        };
        let two = if vms == 2 {
            libm::exp(self.two_vms * (1.0 - f64::from(vms) / k))
        } else {
            1.0
        };
        let between_s = |raw_s: f64| network_scale * two * raw_s * libm::pow(n, self.per_vm_growth);
        let shared_s = self.shared_per_sample_s * local_batch * (k - n);
        let raw_s = match (vms, workers) {
            (_, 1) => 0.0,
            // What stays inside of a VM does not pass its network.
            (1, _) if self.inside => inside_s,
            (1, _) => network_scale * inside_s,
            _ if self.inside => between_s(self.grown_s(vms, compute_s)) + inside_s + shared_s,
            _ => between_s(self.communication.seconds(workers, compute_s)),
        };
        let sound = compute_s.is_finite() && compute_s > 0.0 && raw_s.is_finite() && raw_s >= 0.0;
        sound.then(|| StepCost {
            compute_s,
            communication_s: self.overlap.exposed_s(compute_s, raw_s),
        })
    }
}
