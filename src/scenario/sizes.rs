//! Whether every cluster can run: its protocol, and all sizes that it may come to.

use toml::Spanned;

use super::complaints::Complaints;
use super::file::{Outside, ScenarioFile};
use crate::cluster::build::{Builder, MOST_SIZES};
use crate::cluster::{OnLoss, Setup};
use crate::configuration::Configuration;
use crate::training::Variation;
use crate::training::waits::Waits;
use crate::workload::{OutsideHull, Reach, Workload};

/// Reports configurations that their protocol cannot run on, and clusters that may come to a size that the
/// workload does not know: one message for each workload.
pub(super) fn check(
    file: &ScenarioFile,
    workloads: &[(Workload, Vec<Configuration>)],
    reach: &Reach,
    setup: &Setup,
    variation: &Variation,
    complaints: &mut Complaints<'_>,
) {
    if !protocols_run(file, workloads, setup, complaints) {
        return;
    }
    let loses = (setup.spot.as_ref()).is_some_and(|s| s.on_loss != OnLoss::default());
    if setup.elastic.is_none() && !loses {
        return;
    }
    let place = (file.elastic.as_ref().map(Spanned::span))
        .or(file.spot.as_ref().map(Spanned::span))
        .unwrap_or_default();
    let waits = Waits::default();
    for (workload, configurations) in workloads {
        let builder = Builder {
            workload,
            reach,
            variation,
            waits: &waits,
            setup,
        };
        let lacking = (configurations.iter()).find_map(|c| Some((c, builder.missing_size(c)?)));
        if let Some((at, why)) = lacking {
            let title = format!(
                "`{}` on {at} may come to a size that is not known",
                workload.name
            );
            let help = match why {
                Some(outside) => remedy(file, at, &outside),
                None => format!("it has more than {MOST_SIZES} sizes"),
            };
            let complaint = complaints.at(place.clone(), title, "changes the cluster's size");
            complaints.push(complaint.with_help(help));
        }
    }
}

/// What to do about a size of the cluster `at` that no measurements surround: allow fewer sizes, or let
/// laws speak, where they were not asked to.
fn remedy(file: &ScenarioFile, at: &Configuration, outside: &OutsideHull) -> String {
    let fewer = match (&file.spot, &file.elastic) {
        (_, Some(_)) if outside.configuration.workers > at.workers => "lower `elastic.most_vms`",
        (None, Some(_)) => "raise `elastic.fewest_vms`",
        _ => "raise `spot.fewest_workers`",
    };
    match file.cluster.outside {
        Outside::Extrapolate => {
            format!("{outside}; no law of the workload speaks for it: {fewer}")
        }
        _ => format!("{outside}; {fewer}, or set `cluster.outside = \"extrapolate\"`"),
    }
}

/// Whether every configuration's protocol can run on it.
fn protocols_run(
    file: &ScenarioFile,
    workloads: &[(Workload, Vec<Configuration>)],
    setup: &Setup,
    complaints: &mut Complaints<'_>,
) -> bool {
    let protocol_of = |c: &Configuration| {
        let kind = setup.kinds.get(&c.vm);
        kind.and_then(|k| k.protocol).unwrap_or(setup.protocol)
    };
    let impossible = (workloads.iter().flat_map(|w| &w.1))
        .find_map(|c| Some((c, protocol_of(c).check(c.workers).err()?)));
    let Some((at, why)) = impossible else {
        return true;
    };
    let kind = (file.kind.iter()).find(|(name, _)| **name.get_ref() == *at.vm);
    let own = kind.and_then(|(_, t)| t.get_ref().sync.as_ref());
    let span = own.or(file.sync.as_ref()).map(Spanned::span);
    let title = format!("{} on {at}: {why}", protocol_of(at).name());
    let label = "not possible on all configurations";
    complaints.error_at(span.unwrap_or_default(), title, label);
    false
}
