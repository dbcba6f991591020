//! Whether every cluster can run: its protocol, and all sizes that it may reach.

use std::collections::BTreeMap;
use std::ops::Range;

use super::complaints::Complaints;
use super::extent;
use super::file::{OutsideHullRule, ScenarioFile};
use scavsim_data::configuration::Configuration;
use scavsim_data::workload::{OutsideHull, Reach, Workload};
use scavsim_read::input::Spanned;
use scavsim_sim::cluster::sizes::{Builder, MOST_SIZES, UnknownCluster};
use scavsim_sim::cluster::{OnLoss, Setup};
use scavsim_sim::training::Variation;
use scavsim_sim::training::barrier_waits::BarrierWaits;
use scavsim_sim::training::sync::Protocol;

/// Reports configurations that their protocol cannot run, and clusters that cannot run in a size that they may reach: one
/// message per workload.
pub(super) fn check(
    file: &ScenarioFile,
    workloads: &[(Workload, Vec<Configuration>)],
    reach: &Reach,
    (setup, variation): (&Setup, &Variation),
    complaints: &mut Complaints<'_>,
) {
    if !protocols_run(file, workloads, setup, complaints) {
        return;
    }
    let loses = (setup.spot.as_ref()).is_some_and(|s| s.on_loss != OnLoss::default());
    let changes_size = setup.elastic.is_some() || loses;
    // Equal workers on VMs that are never lost were checked before.
    let is_built = |workload: &Workload, c: &Configuration| {
        let protocol = setup.protocol_on(&workload.name, &c.vm);
        changes_size || setup.kinds.contains_key(&c.vm) || protocol.service_in_step_s() > 0.0
    };
    let waits = BarrierWaits::new(
        variation,
        (workloads.iter()).flat_map(|(w, all)| all.iter().filter(|c| is_built(w, c))),
    );
    for (workload, configurations) in workloads {
        let builder = Builder {
            workload,
            reach,
            variation,
            waits: &waits,
            setup,
        };
        let is_built = |c: &&Configuration| is_built(workload, c);
        let sizes = configurations.iter().filter(is_built);
        let sizes = sizes.filter_map(|c| builder.count_of_sizes(c));
        let sizes = sizes.fold(0usize, usize::saturating_add);
        if changes_size && !extent::sizes(file, workload, sizes, complaints) {
            continue;
        }
        let mut lacking =
            (configurations.iter().filter(is_built)).filter_map(|c| Some((c, builder.missing(c)?)));
        if let Some((at, missing)) = lacking.next() {
            report(file, workload, at, &missing, complaints);
        }
    }
}

fn report(
    file: &ScenarioFile,
    workload: &Workload,
    at: &Configuration,
    missing: &UnknownCluster,
    complaints: &mut Complaints<'_>,
) {
    let of_sizes = || {
        let changing = (file.elastic.as_ref().map(Spanned::span))
            .or(file.spot.as_ref().map(Spanned::span))
            .unwrap_or_default();
        let title = format!(
            "`{}` on {at} may come to a size that is not known",
            workload.name
        );
        complaints.mistake_at(changing, title, "changes the cluster's size")
    };
    let complaint = match missing {
        UnknownCluster::Itself(outside) => {
            let title = format!("`{}` on {at} cannot be built", workload.name);
            let place = kind_of(file, at).or(file.workloads.as_ref().map(Spanned::span));
            let label = "a worker's share is outside what was measured";
            let help = match file.cluster.outside {
                OutsideHullRule::Extrapolate => {
                    format!("{outside}; no law of the workload speaks for it")
                }
                _ => format!("{outside}; or set `cluster.outside = \"extrapolate\"`"),
            };
            (complaints.mistake_at(place.unwrap_or_default(), title, label)).with_help(help)
        }
        UnknownCluster::Service { step_s, service_s } => {
            let title = format!("`{}` on {at} has no time to compute", workload.name);
            let place = kind_of(file, at).or(file.sync.as_ref().map(Spanned::span));
            let help = format!(
                "with `step_includes_service` a step of {step_s:.3} s holds {service_s:.3} s at the parameter servers: lower \
                 `service_s`, or say `false` if the step was measured without them"
            );
            let label = "its parameter servers take longer than a step";
            (complaints.mistake_at(place.unwrap_or_default(), title, label)).with_help(help)
        }
        UnknownCluster::Size(outside) => of_sizes().with_help(remedy(file, at, outside)),
        UnknownCluster::TooManySizes => {
            of_sizes().with_help(format!("it has more than {MOST_SIZES} sizes"))
        }
    };
    complaints.push(complaint);
}

fn kind_of(file: &ScenarioFile, at: &Configuration) -> Option<Range<usize>> {
    let kind = (file.kind.keys()).find(|name| **name.get_ref() == *at.vm);
    kind.map(Spanned::span)
}

/// Help for a size of a cluster outside the measurements: allow fewer sizes, or laws.
fn remedy(file: &ScenarioFile, at: &Configuration, outside: &OutsideHull) -> String {
    let fewer = match (&file.spot, &file.elastic) {
        (_, Some(_)) if outside.configuration.workers > at.workers => "lower `elastic.most_vms`",
        (None, Some(_)) => "raise `elastic.fewest_vms`",
        _ => "raise `spot.fewest_workers`",
    };
    match file.cluster.outside {
        OutsideHullRule::Extrapolate => {
            format!("{outside}; no law of the workload speaks for it: {fewer}")
        }
        _ => format!("{outside}; {fewer}, or set `cluster.outside = \"extrapolate\"`"),
    }
}

fn protocols_run(
    file: &ScenarioFile,
    workloads: &[(Workload, Vec<Configuration>)],
    setup: &Setup,
    complaints: &mut Complaints<'_>,
) -> bool {
    let alike = workloads
        .iter()
        .flat_map(|(w, all)| all.chunk_by(|a, b| a.vm == b.vm).map(move |own| (w, own)));
    let impossible = alike.into_iter().find_map(|(workload, own)| {
        let protocol = setup.protocol_on(&workload.name, &own.first()?.vm);
        let mut wrong = (own.iter()).filter_map(|c| Some((c, protocol.check(c.workers).err()?)));
        wrong.next().map(|(c, why)| (workload, c, protocol, why))
    });
    let Some((workload, at, protocol, why)) = impossible else {
        return true;
    };
    let kind = (file.kind.iter()).find(|(name, _)| **name.get_ref() == *at.vm);
    let kind = kind.map(|(_, table)| table.get_ref());
    let of_workload = |table: &BTreeMap<Spanned<String>, Spanned<Protocol>>| {
        let own = table
            .iter()
            .find(|(name, _)| *name.get_ref() == workload.name);
        own.map(|(_, sync)| sync.span())
    };
    let span = (kind.and_then(|k| of_workload(&k.sync_of)))
        .or_else(|| Some(kind?.sync.as_ref()?.span()))
        .or_else(|| of_workload(&file.sync_of))
        .or_else(|| file.sync.as_ref().map(Spanned::span));
    let title = format!("{} on {at}: {why}", protocol.name());
    let label = "not possible on all configurations";
    complaints.error_at(span.unwrap_or_default(), title, label);
    false
}
