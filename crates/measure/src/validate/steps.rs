//! Steps left out.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::split::{Answer, Depth, Split};
use scavsim_base::stats::Welford;
use scavsim_data::configuration::{Configuration, Shape};
use scavsim_data::fit::best::{best, best_on_one_vm};
use scavsim_data::fit::pooled::{PooledPoint, pooled, refitted};
use scavsim_data::fit::steps::{StepPoint, p_norm};
use scavsim_data::workload::law::prior::Prior;
use scavsim_data::workload::law::{Overlap, PooledLaw, StepLaw};
use scavsim_data::workload::step_cost::{StepCosts, StepRow};
use scavsim_data::workload::{Communication, Laws, StepCost, Workload};

/// Times that placements are left out in: each once, in as many parts.
const PARTS: usize = 10;
/// Large clusters have more than this share of the most VMs.
const SMALL: u32 = 4;

/// A measured step and where it stands.
pub struct Measured<'w> {
    /// The configuration.
    pub at: &'w Configuration,
    /// The measured step.
    pub cost: StepCost,
    /// VM type.
    pub vm_type: &'w str,
    /// Number of VMs.
    pub vms: u32,
    even: bool,
    /// Workers on each VM, ascending.
    pub layout: Vec<(u32, u32)>,
}

/// What is left out at a time, and what of it is asked about.
pub struct Fold {
    /// What is left out, ascending.
    pub out: Vec<usize>,
    /// What is asked about.
    pub asked: Vec<usize>,
}

/// All measured steps of a workload.
pub fn measured(workload: &Workload) -> Vec<Measured<'_>> {
    (workload.steps.points())
        .filter_map(|(at, cost)| {
            let shape = Shape::parse(&at.vm).ok()?;
            let mut layout = shape.layout(at.workers);
            layout.sort_unstable();
            Some(Measured {
                at,
                cost: *cost,
                vm_type: shape.vm_type,
                vms: shape.vms(at.workers)?,
                even: shape.is_even(),
                layout,
            })
        })
        .collect()
}

/// All splits of the steps.
pub(super) fn splits(workload: &Workload, depth: Depth) -> Vec<Split> {
    let all = measured(workload);
    let answered = |folds: Vec<Fold>, refit: bool| -> Vec<Vec<Answer>> {
        (folds.par_iter())
            .map(|fold| answers(workload, &all, fold, refit))
            .collect()
    };
    let mut splits = Vec::new();
    for shape in workload.steps.shapes() {
        let folds = answered(one_count(&all, shape), false);
        splits.extend(Split::of(workload, "one K", &**shape, &folds));
    }
    let mut types: Vec<&str> = all.iter().map(|m| m.vm_type).collect();
    types.sort_unstable();
    types.dedup();
    for vm_type in types {
        if depth == Depth::Whole {
            let folds = answered(one_batch(&all, vm_type), false);
            splits.extend(Split::of(workload, "one batch", vm_type, &folds));
            if workload.laws.pooled.contains_key(vm_type) {
                let folds = answered(placements(&all, vm_type), false);
                splits.extend(Split::of(workload, "placements", vm_type, &folds));
            }
        }
        let folds = answered(large(&all, vm_type), true);
        splits.extend(Split::of(workload, "large clusters", vm_type, &folds));
        splits.extend(repeats(workload, &all, vm_type));
    }
    splits
}

fn indices<'a>(all: &'a [Measured<'_>], is: impl Fn(&Measured<'_>) -> bool + 'a) -> Vec<usize> {
    (0..all.len()).filter(|&i| is(&all[i])).collect()
}

/// Every worker count of a shape between others of it, with all placements of as many workers on
/// as many VMs.
fn one_count(all: &[Measured<'_>], shape: &str) -> Vec<Fold> {
    let own = || all.iter().filter(|m| &*m.at.vm == shape);
    let mut counts: Vec<(u32, u32)> = own().map(|m| (m.at.workers, m.vms)).collect();
    counts.sort_unstable();
    counts.dedup();
    let between = counts.get(1..counts.len().saturating_sub(1)).unwrap_or(&[]);
    (between.iter())
        .map(|&(workers, vms)| {
            let vm_type = own().next().map(|m| m.vm_type);
            let same = |m: &Measured<'_>| (m.at.workers, m.vms) == (workers, vms);
            Fold {
                out: indices(all, |m| same(m) && Some(m.vm_type) == vm_type),
                asked: indices(all, |m| same(m) && &*m.at.vm == shape),
            }
        })
        .collect()
}

/// Every batch that lies between others: the local one, or the global one if there are fewer.
fn one_batch(all: &[Measured<'_>], vm_type: &str) -> Vec<Fold> {
    let distinct = |key: &dyn Fn(&Measured<'_>) -> u64| {
        let mut keys: Vec<u64> = (all.iter().filter(|m| m.vm_type == vm_type))
            .map(key)
            .collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    };
    let local = |m: &Measured<'_>| m.at.local_batch().to_bits();
    let global = |m: &Measured<'_>| u64::from(m.at.batch);
    let by_local = distinct(&local).len() < distinct(&global).len();
    let key = |m: &Measured<'_>| if by_local { local(m) } else { global(m) };
    let beside = |m: &Measured<'_>, more: bool| {
        all.iter().any(|o| {
            let same = o.at.vm == m.at.vm && o.at.workers == m.at.workers;
            same && o.at.batch != m.at.batch && (o.at.batch > m.at.batch) == more
        })
    };
    (distinct(&key).into_iter())
        .map(|batch| {
            let out = indices(all, |m| m.vm_type == vm_type && key(m) == batch);
            let mut asked = out.clone();
            asked.retain(|&i| beside(&all[i], true) && beside(&all[i], false));
            Fold { out, asked }
        })
        .filter(|fold| !fold.asked.is_empty())
        .collect()
}

/// Uneven placements on several VMs, in parts.
fn placements(all: &[Measured<'_>], vm_type: &str) -> Vec<Fold> {
    let mut uneven: Vec<(&str, u32)> = (all.iter())
        .filter(|m| m.vm_type == vm_type && !m.even)
        .map(|m| (&*m.at.vm, m.at.workers))
        .collect();
    uneven.dedup();
    let parts = PARTS.min(uneven.len());
    (0..parts)
        .map(|part| {
            let taken: Vec<_> = uneven.iter().skip(part).step_by(parts).collect();
            let out = indices(all, |m| taken.contains(&&(&*m.at.vm, m.at.workers)));
            Fold {
                asked: out.clone(),
                out,
            }
        })
        .collect()
}

/// All clusters of more than a quarter of the most VMs, or those of the most where that are fewer than eight.
pub fn large(all: &[Measured<'_>], vm_type: &str) -> Vec<Fold> {
    let own = || all.iter().filter(|m| m.vm_type == vm_type);
    let most = own().map(|m| m.vms).max().unwrap_or(0);
    let is_large = |m: &Measured<'_>| {
        if most < SMALL * 2 {
            m.vms == most
        } else {
            m.vms * SMALL > most
        }
    };
    // Two numbers of VMs at least tell how communication grows.
    let mut left: Vec<u32> = own().filter(|m| !is_large(m)).map(|m| m.vms).collect();
    left.sort_unstable();
    left.dedup();
    if left.len() < 2 && most < SMALL * 2 || left.is_empty() {
        return Vec::new();
    }
    let out = indices(all, |m| m.vm_type == vm_type && is_large(m));
    vec![Fold {
        asked: out.clone(),
        out,
    }]
}

/// How far equal placements are from each other: no answer can be surer.
fn repeats(workload: &Workload, all: &[Measured<'_>], vm_type: &str) -> Option<Split> {
    /// Workers on VMs, and the batch.
    type Placed<'m> = (&'m [(u32, u32)], u32);
    let mut equal: BTreeMap<Placed<'_>, Welford> = BTreeMap::new();
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
    (!variations.is_empty()).then(|| Split {
        workload: workload.name.clone(),
        left_out: "nothing: equal placements",
        of: vm_type.to_owned(),
        asked,
        answered: asked,
        error: Some(variations.iter().sum::<f64>() / variations.len() as f64),
        worst: variations.iter().copied().reduce(f64::max),
        covered: None,
        answers: Vec::new(),
    })
}

/// What is left says of what is asked.
pub fn answers(workload: &Workload, all: &[Measured<'_>], fold: &Fold, refit: bool) -> Vec<Answer> {
    let kept: Vec<&Measured<'_>> = (0..all.len())
        .filter(|i| fold.out.binary_search(i).is_err())
        .map(|i| &all[i])
        .collect();
    let laws = laws(workload, &kept, refit);
    let rows = (kept.iter())
        .map(|m| StepRow {
            vm: m.at.vm.clone(),
            workers: m.at.workers,
            batch: m.at.batch,
            step_s: m.cost.total_s(),
            communication_s: Some(m.cost.communication_s),
        })
        .collect();
    let steps = StepCosts::new(rows, workload.steps.measured, Communication::Known, &laws);
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

/// The laws of a workload, fitted to what is left.
fn laws(workload: &Workload, kept: &[&Measured<'_>], refit: bool) -> Laws {
    let again = |(vm_type, law): (&String, &PooledLaw)| {
        let points: Vec<PooledPoint> = (kept.iter())
            .filter(|m| m.vm_type == vm_type)
            .filter_map(|m| PooledPoint::of(&m.at.vm, m.at.workers, m.at.batch, m.cost.total_s()))
            .collect();
        let fit = if refit {
            pooled(&points, &Prior::default())
        } else {
            refitted(&points, law, &Prior::default())
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
