//! Which measured steps are held out together.

use super::split::UnansweredReason;
use crate::advise::candidates::{FEWER, FURTHER};
use scavsim_data::configuration::{Configuration, Shape};
use scavsim_data::workload::{StepCost, Workload};

/// Number of parts in which placements are held out.
const PARTS: usize = 10;
/// Large clusters have more than one in this many of the most VMs.
const SMALL: u32 = 4;
/// If the most VMs are fewer than twice [`SMALL`], large clusters have more than this number.
const FEW: u32 = 3;
/// Numbers of VMs of the rungs of a ladder, all of them full.
const RUNGS: [u32; 3] = [1, 2, 4];

pub struct MeasuredStep<'w> {
    pub at: &'w Configuration,
    pub cost: StepCost,
    pub vm_type: &'w str,
    pub vms: u32,
    even: bool,
    /// Workers on each VM, ascending.
    pub layout: Vec<(u32, u32)>,
}

pub fn measured(workload: &Workload) -> Vec<MeasuredStep<'_>> {
    (workload.steps.points())
        .filter_map(|(at, cost)| {
            let shape = Shape::parse(&at.vm).ok()?;
            let mut layout = shape.layout(at.workers);
            layout.sort_unstable();
            Some(MeasuredStep {
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

/// What is held out at once, and the part that is predicted.
pub struct Fold {
    pub out: Vec<usize>,
    pub asked: Vec<usize>,
}

/// The hold-outs in order, or why there are none.
pub(super) type Folds = Result<Vec<Fold>, UnansweredReason>;

/// The folds, if any of them predicts something.
fn some(folds: Vec<Fold>, otherwise: UnansweredReason) -> Folds {
    let asks = folds.iter().any(|fold| !fold.asked.is_empty());
    if asks { Ok(folds) } else { Err(otherwise) }
}

fn indices<'a>(
    all: &'a [MeasuredStep<'_>],
    is: impl Fn(&MeasuredStep<'_>) -> bool + 'a,
) -> Vec<usize> {
    (0..all.len()).filter(|&i| is(&all[i])).collect()
}

/// Every worker count of a shape between others of it, with all placements of as many workers on as many VMs.
pub(super) fn one_count(all: &[MeasuredStep<'_>], shape: &str) -> Folds {
    let own = || all.iter().filter(|m| &*m.at.vm == shape);
    let mut counts: Vec<(u32, u32)> = own().map(|m| (m.at.workers, m.vms)).collect();
    counts.sort_unstable();
    counts.dedup();
    let between = counts.get(1..counts.len().saturating_sub(1)).unwrap_or(&[]);
    let folds = (between.iter())
        .map(|&(workers, vms)| {
            let vm_type = own().next().map(|m| m.vm_type);
            let same = |m: &MeasuredStep<'_>| (m.at.workers, m.vms) == (workers, vms);
            Fold {
                out: indices(all, |m| same(m) && Some(m.vm_type) == vm_type),
                asked: indices(all, |m| same(m) && &*m.at.vm == shape),
            }
        })
        .collect();
    some(folds, UnansweredReason::FewCounts)
}

/// Every batch between others: the local one, or the global one if there are fewer.
pub(super) fn one_batch(all: &[MeasuredStep<'_>], vm_type: &str) -> Folds {
    let distinct = |key: &dyn Fn(&MeasuredStep<'_>) -> u64| {
        let mut keys: Vec<u64> = (all.iter().filter(|m| m.vm_type == vm_type))
            .map(key)
            .collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    };
    let local = |m: &MeasuredStep<'_>| m.at.local_batch().to_bits();
    let global = |m: &MeasuredStep<'_>| u64::from(m.at.batch);
    let by_local = distinct(&local).len() < distinct(&global).len();
    let key = |m: &MeasuredStep<'_>| if by_local { local(m) } else { global(m) };
    let beside = |m: &MeasuredStep<'_>, more: bool| {
        all.iter().any(|o| {
            let same = o.at.vm == m.at.vm && o.at.workers == m.at.workers;
            same && o.at.batch != m.at.batch && (o.at.batch > m.at.batch) == more
        })
    };
    let folds = (distinct(&key).into_iter())
        .map(|batch| {
            let out = indices(all, |m| m.vm_type == vm_type && key(m) == batch);
            let mut asked = out.clone();
            asked.retain(|&i| beside(&all[i], true) && beside(&all[i], false));
            Fold { out, asked }
        })
        .filter(|fold| !fold.asked.is_empty())
        .collect();
    some(folds, UnansweredReason::FewBatches)
}

/// Uneven placements on several VMs, in parts.
pub(super) fn placements(all: &[MeasuredStep<'_>], vm_type: &str) -> Folds {
    let mut uneven: Vec<(&str, u32)> = (all.iter())
        .filter(|m| m.vm_type == vm_type && !m.even)
        .map(|m| (&*m.at.vm, m.at.workers))
        .collect();
    uneven.dedup();
    let parts = PARTS.min(uneven.len());
    let folds = (0..parts)
        .map(|part| {
            let taken: Vec<_> = uneven.iter().skip(part).step_by(parts).collect();
            all_of(indices(all, |m| {
                taken.contains(&&(&*m.at.vm, m.at.workers))
            }))
        })
        .collect();
    some(folds, UnansweredReason::AllEven)
}

fn all_of(out: Vec<usize>) -> Fold {
    Fold {
        asked: out.clone(),
        out,
    }
}

/// All clusters of more than a quarter of the most VMs; of more than three if the most are fewer than eight; otherwise those
/// of the most.
pub fn large(all: &[MeasuredStep<'_>], vm_type: &str) -> Folds {
    let own = || all.iter().filter(|m| m.vm_type == vm_type);
    let most = own().map(|m| m.vms).max().unwrap_or(0);
    let least = if most < SMALL * 2 {
        FEW + 1
    } else {
        most / SMALL + 1
    };
    // At least two numbers of VMs are needed for the growth of communication.
    let tells = |least: &u32| {
        let mut left: Vec<u32> = own().map(|m| m.vms).filter(|vms| vms < least).collect();
        left.sort_unstable();
        left.dedup();
        *least <= most && left.len() > 1
    };
    let least = ([least, most].into_iter().find(tells)).ok_or(UnansweredReason::FewSizes)?;
    let is_large = |m: &MeasuredStep<'_>| m.vm_type == vm_type && m.vms >= least;
    Ok(vec![all_of(indices(all, is_large))])
}

/// All except one worker, a full VM, two and four of them, with one batch of each worker, for one such batch after the other;
/// the configurations of advice are predicted.
pub(super) fn ladders(all: &[MeasuredStep<'_>], vm_type: &str) -> Folds {
    let own = || all.iter().filter(|m| m.vm_type == vm_type && m.even);
    let each = |m: &MeasuredStep<'_>| m.at.workers / m.vms;
    let full = own().map(each).max().unwrap_or(0);
    let mut batches: Vec<u64> = own().map(|m| m.at.local_batch().to_bits()).collect();
    batches.sort_unstable();
    batches.dedup();
    let of_batch = |batch: u64| {
        let is_rung = |m: &MeasuredStep<'_>| {
            let placed = m.at.workers == 1 || each(m) == full && RUNGS.contains(&m.vms);
            m.vm_type == vm_type && m.even && placed && m.at.local_batch().to_bits() == batch
        };
        let kept = indices(all, is_rung);
        let has = |workers: u32| kept.iter().any(|&i| all[i].at.workers == workers);
        let (needed, most) = ([1, full, 2 * full], RUNGS[RUNGS.len() - 1] * full);
        if !needed.into_iter().all(has) {
            return None;
        }
        let most = FURTHER * if has(most) { most } else { 2 * full };
        let samples = f64::from_bits(batch);
        let is_asked = |m: &MeasuredStep<'_>| {
            let range = FEWER * samples..=samples;
            m.at.workers <= most && range.contains(&m.at.local_batch())
        };
        let out = indices(all, |m| m.vm_type == vm_type && !is_rung(m));
        let asked = out.iter().copied().filter(|&i| is_asked(&all[i]));
        Some(Fold {
            asked: asked.collect(),
            out: out.clone(),
        })
    };
    let folds = batches.into_iter().filter_map(of_batch).collect();
    some(folds, UnansweredReason::NoLadder)
}
