//! How the clusters of a scenario are rented and lost.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::complaints::Complaints;
use super::file::{ElasticTable, Resize, ScenarioFile};
use super::kinds::{self, Kinds};
use super::spot;
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_clusters::machine::Machine;
use scavsim_data::configuration::Shape;
use scavsim_data::pricing::reductions::spot_series::SpotSeries;
use scavsim_data::pricing::spot_series_key::Step;
use scavsim_data::workload::{Reach, SubstituteVm, Workload};
use scavsim_sim::cluster::{Elastic, Setup};
use scavsim_sim::training::sync::Protocol;

pub(super) fn read(
    file: &ScenarioFile,
    workloads: &[Option<&Workload>],
    machines: &[Machine],
    complaints: &mut Complaints<'_>,
) -> Setup {
    let mut setup = Setup {
        protocol: file.sync.as_ref().map_or(Protocol::Bsp, |s| *s.get_ref()),
        spot: spot::read(file, complaints),
        elastic: elastic(file, complaints),
        protocol_of: kinds::protocols(&file.sync_of),
        staleness: file.staleness,
        keeps_batch: file.cluster.resize.map(|r| r == Resize::KeepBatch),
        ..Setup::default()
    };
    let measured: BTreeSet<&str> = (workloads.iter().flatten())
        .flat_map(|w| w.steps.shapes().map(|s| &**s))
        .collect();
    let own = (file.spot.as_ref()).and_then(|s| s.get_ref().lifetime.as_ref());
    let mut lifetimes = vec![own.map_or("", |name| name.get_ref().as_str())];
    for name in file
        .kind
        .values()
        .filter_map(|k| k.get_ref().lifetime.as_ref())
    {
        if !lifetimes.contains(&name.get_ref().as_str()) {
            lifetimes.push(name.get_ref());
        }
    }
    let read: Vec<&Workload> = workloads.iter().flatten().copied().collect();
    if workloads.iter().all(Option::is_some) {
        kinds::sync_of(&file.sync_of, &read, complaints);
    }
    let kinds = Kinds {
        workloads: &read,
        measured: &measured,
        // Without any workload every name would seem unknown.
        all_read: workloads.iter().all(Option::is_some),
        machines,
        spot: file.spot.is_some(),
        says_notice: (file.spot.as_ref()).is_some_and(|s| s.get_ref().notice_s.is_some()),
        lifetimes,
        terms: setup.spot.as_deref(),
    };
    setup.kinds = (file.kind.iter())
        .filter_map(|(name, table)| {
            let kind = kinds.read(name, table, complaints)?;
            Some((name.get_ref().as_str().into(), Arc::new(kind)))
        })
        .collect();
    setup
}

/// A workload answers for kinds of clusters by the VM type of their first workers.
pub(super) fn extend(reach: &mut Reach, setup: &Setup, machines: &[Machine]) {
    let by_name: HashMap<&str, &Machine> =
        (machines.iter().rev().map(|m| (&*m.stand_in.vm, m))).collect();
    for (name, kind) in &setup.kinds {
        let Some((first, _)) = kind.workers.first() else {
            continue;
        };
        let own = Shape::parse(first).ok().and_then(|shape| {
            let machine = by_name.get(shape.vm_type)?;
            Some(SubstituteVm {
                vm: Arc::clone(name),
                like: shape.on(&machine.stand_in.like).into(),
                ..machine.stand_in.clone()
            })
        });
        let alias = own.unwrap_or_else(|| SubstituteVm {
            vm: Arc::clone(name),
            like: Arc::clone(first),
            compute_scale: 1.0,
            network_scale: 1.0,
            link_scale: None,
            size: None,
            knee: None,
            is_same: true,
        });
        reach.stand_ins.insert(Arc::clone(name), alias);
    }
}

/// When clusters grow and shrink with the price of spot VMs.
fn elastic(file: &ScenarioFile, complaints: &mut Complaints<'_>) -> Option<Arc<Elastic>> {
    let table = file.elastic.as_ref()?;
    let ElasticTable {
        prices,
        grow_at,
        shrink_above,
        most_vms,
        fewest_vms,
    } = table.get_ref();
    if let Err(why) = SpotSeries::new("`prices`", prices.get_ref()) {
        complaints.error_at(prices.span(), why.to_string(), "not a series of prices");
        return None;
    }
    if grow_at.get() > shrink_above.get() || fewest_vms.get() > most_vms.get() {
        complaints.error_at(
            table.span(),
            "`elastic` contradicts itself",
            "expected `grow_at` ≤ `shrink_above` and `fewest_vms` ≤ `most_vms`",
        );
        return None;
    }
    let prices = (prices.get_ref().iter())
        .map(|Step(hour, ratio)| (hour.get() * SECONDS_PER_HOUR, ratio.get()))
        .collect();
    Some(Arc::new(Elastic {
        prices,
        grow_at: grow_at.get(),
        shrink_above: shrink_above.get(),
        most_vms: most_vms.get(),
        fewest_vms: fewest_vms.get(),
    }))
}
