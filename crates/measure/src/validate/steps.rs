//! Hold-outs of steps.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::folds::{
    Fold, Folds, MeasuredStep, ladders, large, measured, one_batch, one_count, placements,
};
use super::split::{Answer, Depth, UnansweredReason, ValidationSplit};
use scavsim_base::stats::Welford;
use scavsim_data::configuration::Shape;
use scavsim_data::workload::law::prior::Prior;
use scavsim_data::workload::law::{Overlap, PooledLaw, StepLaw};
use scavsim_data::workload::step_cost::{StepCosts, StepRow};
use scavsim_data::workload::{Communication, Laws, Workload};
use scavsim_fit::best::{best, best_on_one_vm};
use scavsim_fit::pooled::{PooledPoint, pooled, refitted};
use scavsim_fit::steps::{StepPoint, p_norm};

pub(super) fn splits(workload: &Workload, depth: Depth) -> Vec<ValidationSplit> {
    let all = measured(workload);
    let split = |what, of: &str, folds: Folds, refit: bool| {
        let answered = |fold: &Fold| answers(workload, &all, fold, refit);
        let folds = folds.map(|folds| folds.par_iter().map(answered).collect());
        ValidationSplit::from_folds(workload, what, of, folds)
    };
    let mut splits = Vec::new();
    for shape in workload.steps.shapes() {
        splits.push(split("one K", shape, one_count(&all, shape), false));
    }
    let mut types: Vec<&str> = all.iter().map(|m| m.vm_type).collect();
    types.sort_unstable();
    types.dedup();
    for vm_type in types {
        let is_pooled = workload.laws.pooled.contains_key(vm_type);
        let of_law = |folds: fn(&[MeasuredStep<'_>], &str) -> Folds| {
            if is_pooled {
                folds(&all, vm_type)
            } else {
                Err(UnansweredReason::NotPooled)
            }
        };
        if depth == Depth::Whole {
            splits.push(split("one batch", vm_type, one_batch(&all, vm_type), false));
            splits.push(split("placements", vm_type, of_law(placements), false));
        }
        splits.push(split("large clusters", vm_type, large(&all, vm_type), true));
        if depth == Depth::Whole {
            splits.push(split("all but a ladder", vm_type, of_law(ladders), true));
        }
        splits.extend(repeats(workload, &all, vm_type));
    }
    splits
}

/// The scatter of equal placements: no prediction can be more precise.
fn repeats(
    workload: &Workload,
    all: &[MeasuredStep<'_>],
    vm_type: &str,
) -> Option<ValidationSplit> {
    /// Workers on VMs, and the batch.
    type PlacementKey<'m> = (&'m [(u32, u32)], u32);
    let mut equal: BTreeMap<PlacementKey<'_>, Welford> = BTreeMap::new();
    for m in all.iter().filter(|m| m.vm_type == vm_type) {
        equal
            .entry((&m.layout, m.at.batch))
            .or_default()
            .add(m.cost.total_s());
    }
    let several = || equal.values().filter(|w| w.count() > 1);
    let variations: Vec<f64> = several()
        .map(|w| 100.0 * w.variance().sqrt() / w.mean())
        .collect();
    let asked = several().map(|w| w.count() as usize).sum();
    (!variations.is_empty()).then(|| ValidationSplit {
        workload: workload.name.clone(),
        left_out: "nothing: equal placements",
        of: vm_type.to_owned(),
        asked,
        answered: asked,
        error: Some(variations.iter().sum::<f64>() / variations.len() as f64),
        worst: variations.iter().copied().reduce(f64::max),
        covered: None,
        reason: None,
        answers: Vec::new(),
    })
}

/// Predictions of the asked steps from the remaining ones.
pub fn answers(
    workload: &Workload,
    all: &[MeasuredStep<'_>],
    fold: &Fold,
    refit: bool,
) -> Vec<Answer> {
    let kept: Vec<&MeasuredStep<'_>> = (0..all.len())
        .filter(|i| fold.out.binary_search(i).is_err())
        .map(|i| &all[i])
        .collect();
    answers_by(&laws(workload, &kept, refit), workload, all, fold)
}

/// Predictions of the asked steps by `laws`, with the residuals of the remaining ones.
pub fn answers_by(
    laws: &Laws,
    workload: &Workload,
    all: &[MeasuredStep<'_>],
    fold: &Fold,
) -> Vec<Answer> {
    let kept = (0..all.len()).filter(|i| fold.out.binary_search(i).is_err());
    let rows = (kept.map(|i| &all[i]))
        .map(|m| StepRow {
            vm: m.at.vm.clone(),
            workers: m.at.workers,
            batch: m.at.batch,
            step_s: m.cost.total_s(),
            communication_s: Some(m.cost.communication_s),
        })
        .collect();
    let steps = StepCosts::new(rows, workload.steps.measured, Communication::Known, laws);
    (fold.asked.iter())
        .map(|&i| {
            let at = all[i].at;
            let known = (steps.as_ref().ok())
                .and_then(|steps| steps.known(at).or_else(|| steps.beyond(at, 1.0, 1.0)));
            Answer {
                measured: all[i].cost.total_s(),
                said: known.map(|k| (k.cost.total_s(), k.deviation)),
            }
        })
        .collect()
}

/// The laws of a workload, fitted to the remaining steps.
fn laws(workload: &Workload, kept: &[&MeasuredStep<'_>], refit: bool) -> Laws {
    let again = |(vm_type, law): (&String, &PooledLaw)| {
        let points: Vec<PooledPoint> = (kept.iter())
            .filter(|m| m.vm_type == vm_type)
            .filter_map(|m| PooledPoint::new(&m.at.vm, m.at.workers, m.at.batch, m.cost.total_s()))
            .collect();
        // The prior of a law that is judged comes from other workloads.
        let prior = Prior::without(&workload.name);
        let fit = if refit {
            pooled(&points)
        } else {
            refitted(&points, law, &prior)
        };
        Some((vm_type.clone(), fit?.law))
    };
    let of_shape = |(shape, law): (&String, &StepLaw)| {
        let vm_type = Shape::parse(shape).ok()?.vm_type;
        let (norm, one_vm) = (
            matches!(law.overlap, Overlap::PNorm { .. }),
            law.one_vm_only,
        );
        let points: Vec<StepPoint> = (kept.iter())
            .filter(|m| {
                let own = *m.at.vm == **shape && (m.vms > 1 || !norm);
                own || ((norm || one_vm) && m.vm_type == vm_type && m.at.workers == 1)
            })
            .map(|m| StepPoint {
                workers: m.at.workers,
                local_batch: m.at.local_batch(),
                step_s: m.cost.total_s(),
                exposed_s: Some(m.cost.communication_s),
            })
            .collect();
        let chosen = || best(&points).ok().map(|chosen| chosen.fit);
        let fit = match (one_vm, norm) {
            (true, _) => best_on_one_vm(&points).ok().map(|chosen| chosen.fit),
            (false, true) => p_norm(&points).or_else(chosen),
            (false, false) => chosen(),
        };
        Some((shape.clone(), fit?.law))
    };
    Laws {
        pooled: workload.laws.pooled.iter().filter_map(again).collect(),
        steps: workload.laws.steps.iter().filter_map(of_shape).collect(),
        epochs: workload.laws.epochs,
    }
}
