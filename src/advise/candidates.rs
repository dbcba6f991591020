//! The configurations that a profile says something of.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::configuration::{Configuration, Shape};
use crate::workload::{Provenance, Reach, Workload};

/// Workers are asked about up to so many times the most that were measured: further on a law is a guess.
const FURTHER: u32 = 2;
/// A worker's samples down to this share of the fewest that were measured; no more than the most, which fit into its memory.
const FEWER: f64 = 0.5;

/// Every combination of worker count and batch that the measurements, or within bounds the laws, answer for: the
/// measured counts and powers of two, the measured batches, on each measured shape.
pub fn candidates(workload: &Workload, reach: &Reach) -> Vec<(Configuration, Provenance)> {
    let epochs = workload.epochs.rows().iter().map(|row| row.batch);
    let batches: BTreeSet<u32> = (workload.steps.points().map(|(c, _)| c.batch))
        .chain(epochs)
        .collect();
    let mut all = Vec::new();
    for shape in workload.steps.shapes() {
        for (workers, batch) in pairs(workload, shape, &batches) {
            let configuration = Configuration {
                vm: Arc::clone(shape),
                workers,
                batch,
            };
            if let Ok(replay) = workload.replay(&configuration, reach) {
                all.push((configuration, replay.provenance));
            }
        }
    }
    all
}

fn pairs(workload: &Workload, shape: &str, batches: &BTreeSet<u32>) -> Vec<(u32, u32)> {
    let points = workload.steps.points_of(shape);
    let parsed = Shape::parse(shape).ok();
    if !parsed.is_some_and(|s| s.is_even()) {
        return points.iter().map(|(c, _)| (c.workers, c.batch)).collect();
    }
    let counts: BTreeSet<u32> = points.iter().map(|(c, _)| c.workers).collect();
    let (Some(&fewest), Some(&most)) = (counts.first(), counts.last()) else {
        return Vec::new();
    };
    let local = || points.iter().map(|(c, _)| c.local_batch());
    let least = FEWER * local().fold(f64::INFINITY, f64::min);
    let largest = local().fold(0.0, f64::max);
    let powers = (0..32).map(|n| 1u32 << n);
    let powers = powers.filter(|k| (fewest..=most.saturating_mul(FURTHER)).contains(k));
    let counts: BTreeSet<u32> = counts.iter().copied().chain(powers).collect();
    // The last VM is full wherever those that were measured were.
    let fills = |k: u32| {
        let vms = parsed.and_then(|s| s.vms(k));
        let each = parsed.and_then(|s| s.layout(fewest).first().map(|(each, _)| *each));
        vms.zip(each).is_some_and(|(vms, each)| each > 0 && (vms == 1 || k % each == 0))
    };
    let mut all = Vec::new();
    for workers in counts.into_iter().filter(|k| fills(*k)) {
        for &batch in batches.iter().filter(|b| **b >= workers) {
            let each = f64::from(batch) / f64::from(workers);
            if each >= least * (1.0 - 1e-9) && each <= largest * (1.0 + 1e-9) {
                all.push((workers, batch));
            }
        }
    }
    all
}
