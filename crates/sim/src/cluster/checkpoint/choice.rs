use std::sync::Arc;

use crate::cluster::checkpoint::{DynamicSchedule, Policy, dynamic};
use crate::cluster::groups::Cluster;
use crate::cluster::terms::{Losses, OnLoss, Spot};
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_data::cloud::lifetimes::{Batch, FirstOf};

/// Steps of work, and ages of VMs, that a dynamic checkpoint policy tells apart.
const DYNAMIC_STEPS: (f64, f64) = (200.0, 960.0);

pub(crate) fn policy(cluster: &Cluster, job_s: f64) -> Policy {
    let Some(spot) = cluster.spot.as_deref() else {
        return Policy::None;
    };
    let on_spot = cluster.groups.iter().filter(|g| g.on_spot);
    let vms: u32 = on_spot.map(|g| g.vms).sum();
    // Workers that wait for nobody give up what they have begun: half a gradient each.
    let stepping = &cluster.whole.stepping;
    let begun_s = if cluster.has_barrier() {
        0.0
    } else {
        0.5 * (stepping.worker_s + stepping.communication_s)
    };
    let recovery = &spot.recovery;
    let write_h = (recovery.write.mean_s() + begun_s) / SECONDS_PER_HOUR;
    let mean_h = || between_losses_h(spot, vms);
    match recovery.checkpoints.at_rate(write_h, mean_h) {
        Some(policy) => policy,
        None => {
            let Some(one) = spot.losses.lifetime() else {
                return Policy::None;
            };
            let first = FirstOf::lifetime(one, vms);
            let horizon_h = if first.cap_h().is_finite() {
                first.cap_h()
            } else {
                24.0
            };
            let job_h = job_s / SECONDS_PER_HOUR;
            let start_s = match spot.on_loss {
                OnLoss::Shrink => 0.0,
                _ => recovery.replacement.mean_s(),
            };
            let warm_s = recovery.restart.map_or(cluster.restart_s, |p| p.mean_s());
            let task = dynamic::Task {
                job_h,
                write_h,
                restart_h: (start_s + warm_s) / SECONDS_PER_HOUR,
                step_h: (job_h / DYNAMIC_STEPS.0).max(horizon_h / DYNAMIC_STEPS.1),
            };
            let table = DynamicSchedule::best(&first, task, dynamic::LossOdds::Exact);
            table.map_or(Policy::None, |table| Policy::Dynamic(Arc::new(table)))
        }
    }
}

/// Mean hours between losses that hit at least one of `vms` VMs.
pub fn between_losses_h(spot: &Spot, vms: u32) -> f64 {
    let vms = f64::from(vms.max(1));
    let by_batches = |batch: &Batch| {
        let spared = (1.0 - (vms / batch.held_vms).min(1.0)).powf(batch.mean_vms);
        1.0 / (batch.losses_per_h * (1.0 - spared))
    };
    match &spot.losses {
        Losses::Alone(lifetime) => lifetime.mean_until(f64::INFINITY) / vms,
        Losses::Batch(batch) => by_batches(batch),
        Losses::Trace(trace) => Batch::counted_in(trace).map_or(f64::INFINITY, |b| by_batches(&b)),
    }
}
