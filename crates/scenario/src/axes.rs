//! The axes of `[cluster]`: whether they are compatible, and their configurations.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::axis::Axis;
use super::complaints::Complaints;
use super::file::ClusterTable;
use scavsim_data::configuration::{Configuration, Shape};
use scavsim_data::workload::{Reach, Workload};
use scavsim_read::input::Spanned;
use scavsim_read::input::checked::{Count, MOST_MACHINES, MOST_SAMPLES};

pub(super) const MOST_EXCLUSIONS: usize = 1000;

pub(super) fn check(cluster: &ClusterTable, complaints: &mut Complaints<'_>) {
    complaints.no_duplicates("vm", &cluster.vm);
    let axes = [
        ("workers", &cluster.workers),
        ("batch", &cluster.batch),
        ("local_batch", &cluster.local_batch),
    ];
    if let (Some(local), Some(_)) = (&cluster.local_batch, &cluster.batch) {
        let why = "the global batch follows from the workers";
        complaints.exclude_each_other("batch", "local_batch", local, why);
    }
    for (name, axis) in axes {
        let Some(axis) = axis else { continue };
        if let Axis::List(values) = axis.get_ref() {
            let numbers: Vec<Spanned<u32>> = (values.iter())
                .map(|v| Spanned::new(v.span(), v.get_ref().get()))
                .collect();
            complaints.no_duplicates(name, &numbers);
        }
        if cluster.pairs.is_some() {
            let why = "`pairs` gives workers and batch already";
            complaints.exclude_each_other(name, "pairs", axis, why);
        }
    }
    too_large(cluster, complaints);
    if let Some(pairs) = &cluster.pairs {
        complaints.not_empty("pairs", pairs, &["[8, 384]"]);
        let numbers: Vec<Spanned<[u32; 2]>> = (pairs.get_ref().iter())
            .map(|p| Spanned::new(p.span(), p.get_ref().map(Count::get)))
            .collect();
        complaints.no_duplicates("pairs", &numbers);
    }
    if let Some(beyond) = cluster.exclude.get(MOST_EXCLUSIONS) {
        let title = format!(
            "`exclude` has {} entries; at most {MOST_EXCLUSIONS}",
            cluster.exclude.len()
        );
        complaints.error_at(beyond.span(), title, "the first too many");
    }
    for exclusion in cluster.exclude.iter().filter(|e| e.get_ref().is_empty()) {
        let title = "an entry of `exclude` has no condition";
        let complaint =
            (complaints.mistake_at(exclusion.span(), title, "would leave out everything"))
                .with_help("allowed here: `vm`, `workers`, `batch`, `local_batch`");
        complaints.push(complaint);
    }
}

fn too_large(cluster: &ClusterTable, complaints: &mut Complaints<'_>) {
    let mut refuse = |what: &str, value: u32, most: u32, span: Range<usize>| {
        if value > most {
            let title = format!("no cluster has {what} {value}");
            complaints.error_at(span, title, format!("at most {most}"));
        }
    };
    let axes = [
        ("a worker count of", &cluster.workers, MOST_MACHINES),
        ("a batch of", &cluster.batch, MOST_SAMPLES),
        ("a local batch of", &cluster.local_batch, MOST_SAMPLES),
    ];
    for (what, axis, most) in axes {
        let Some(axis) = axis else { continue };
        match axis.get_ref() {
            Axis::Measured => {}
            Axis::List(list) => {
                for value in list {
                    refuse(what, value.get_ref().get(), most, value.span());
                }
            }
            Axis::Series(values) => {
                let last = values.last().copied().unwrap_or(0);
                refuse(what, last, most, axis.span());
            }
        }
    }
    for pair in cluster.pairs.iter().flat_map(|pairs| pairs.get_ref()) {
        let [workers, batch] = pair.get_ref().map(Count::get);
        refuse("a worker count of", workers, MOST_MACHINES, pair.span());
        refuse("a batch of", batch, MOST_SAMPLES, pair.span());
    }
}

/// Upper bound of the configurations of one VM shape in the file.
pub(super) fn at_most(
    cluster: &ClusterTable,
    workload: &Workload,
    reach: &Reach,
    vm: &Arc<str>,
    fixed_workers: Option<u32>,
) -> usize {
    if let Some(pairs) = &cluster.pairs {
        return pairs.get_ref().len();
    }
    let shape = Shape::parse(vm).ok();
    let like = shape.and_then(|s| Some(s.on(&reach.stand_in(s.vm_type)?.like)));
    let measured = (workload.steps)
        .points_of(like.as_deref().unwrap_or(vm))
        .len();
    let length = |axis: &Option<Spanned<Axis>>| match axis.as_ref().map(Spanned::get_ref) {
        None | Some(Axis::Measured) => None,
        Some(Axis::List(list)) => Some(list.len()),
        Some(Axis::Series(values)) => Some(values.len()),
    };
    let workers = fixed_workers.map(|_| 1).or(length(&cluster.workers));
    let batches = length(&cluster.local_batch).or(length(&cluster.batch));
    match (workers, batches) {
        (None, None) => measured,
        (workers, batches) => workers
            .unwrap_or(measured)
            .saturating_mul(batches.unwrap_or(measured)),
    }
}

/// Configurations of one VM shape in the file, by workers, then batch.
pub(super) fn combinations(
    cluster: &ClusterTable,
    workload: &Workload,
    reach: &Reach,
    vm: &Arc<str>,
    fixed_workers: Option<u32>,
) -> Vec<Configuration> {
    let shape = Shape::parse(vm).ok();
    let like = shape.and_then(|s| Some(s.on(&reach.stand_in(s.vm_type)?.like)));
    let points = workload.steps.points_of(like.as_deref().unwrap_or(vm));
    let measured = || points.iter().map(|p| &p.0);
    let at = |workers: u32, batch: u32| Configuration {
        vm: Arc::clone(vm),
        workers,
        batch,
    };
    if let Some(pairs) = &cluster.pairs {
        let pair = |p: &Spanned<[Count; 2]>| at(p.get_ref()[0].get(), p.get_ref()[1].get());
        let has = |c: &Configuration| fixed_workers.is_none_or(|fixed| c.workers == fixed);
        return pairs.get_ref().iter().map(pair).filter(has).collect();
    }
    let axis = |a: &Option<Spanned<Axis>>| a.as_ref().and_then(|a| a.get_ref().values());
    let (mut workers, batches) = (axis(&cluster.workers), axis(&cluster.batch));
    if let Some(fixed) = fixed_workers {
        workers = Some(vec![fixed]);
    }
    if workers.is_none() && batches.is_none() && cluster.local_batch.is_none() {
        // Only measured configurations, which need not be all combinations.
        return measured().map(|c| at(c.workers, c.batch)).collect();
    }
    let values = |asked: Option<Vec<u32>>, of: fn(&Configuration) -> u32| -> BTreeSet<u32> {
        match asked {
            Some(list) => list.into_iter().collect(),
            None => measured().map(of).collect(),
        }
    };
    let workers: BTreeSet<u32> = (values(workers, |c| c.workers).into_iter())
        .filter(|&k| shape.is_none_or(|s| s.vms(k).is_some()))
        .collect();
    if cluster.local_batch.is_some() {
        let locals = values(axis(&cluster.local_batch), |c| c.batch / c.workers);
        return (workers.iter())
            .flat_map(|&k| locals.iter().map(move |&b| (k, k.saturating_mul(b))))
            .map(|(k, b)| at(k, b))
            .collect();
    }
    let batches = values(batches, |c| c.batch);
    (workers.iter())
        .flat_map(|&k| batches.iter().map(move |&b| (k, b)))
        .map(|(k, b)| at(k, b))
        .collect()
}
