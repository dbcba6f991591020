//! Configurations outside of the measurements.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::axis::Axis;
use super::complaints::Complaints;
use super::file::ClusterTable;
use scavsim_data::configuration::Configuration;
use scavsim_data::workload::{OutsideHull, Reach, Workload};
use scavsim_read::input::Spanned;
use scavsim_read::input::checked::Count;

/// Reports configurations outside the measured hull: axis values above or below all measured ones, and one message for the
/// rest. Returns whether there are none.
pub(super) fn check(
    cluster: &ClusterTable,
    workload: &Workload,
    name: &Spanned<String>,
    reach: &Reach,
    configurations: &[Configuration],
    complaints: &mut Complaints<'_>,
) -> bool {
    let refused: Vec<OutsideHull> = configurations
        .iter()
        .filter_map(|c| workload.replay(c, reach).err())
        .collect();
    if refused.is_empty() {
        return true;
    }
    if let Some(pairs) = &cluster.pairs {
        let places: HashMap<[u32; 2], Range<usize>> = (pairs.get_ref().iter().rev())
            .map(|p| (p.get_ref().map(Count::get), p.span()))
            .collect();
        for outside in refused {
            let at = &outside.configuration;
            let span = places.get(&[at.workers, at.batch]).cloned();
            let span = span.unwrap_or(pairs.span());
            complaints.error_at(span, outside.to_string(), "outside what was measured");
        }
        return false;
    }
    if reach.extrapolate {
        let title = format!(
            "`outside = \"extrapolate\"` asks laws that `{}` does not have, for {} of {} configurations such as {}",
            workload.name,
            refused.len(),
            configurations.len(),
            refused[0].configuration
        );
        let help = "an import says why it keeps no law; without one, name only what was measured, or `outside = \"leave-out\"`";
        complaints.refuse(name.span(), title, without_law(workload, &refused), help);
        return false;
    }
    let others = beyond_axes(cluster, workload, refused, complaints);
    if let Some(first) = others.first() {
        let title = format!(
            "{} of {} configurations of `{}` are outside what was measured",
            others.len(),
            configurations.len(),
            workload.name
        );
        let help =
            format!("{first}; `cluster.outside = \"leave-out\"` leaves such configurations out");
        complaints.push(
            complaints
                .mistake_at(name.span(), title, "")
                .with_help(help),
        );
    }
    false
}

/// Laws that the refused configurations lack.
fn without_law(workload: &Workload, refused: &[OutsideHull]) -> String {
    let mut missing: BTreeSet<String> = BTreeSet::new();
    for outside in refused {
        missing.insert(match outside.what {
            // The law exists, but does not extend that far.
            Some(_) if workload.laws.epochs.is_some() => continue,
            Some(what) => format!("no law of {what}"),
            None => format!("no law of steps on `{}`", outside.configuration.vm),
        });
    }
    // A law that gives no time at this point does exist.
    missing.retain(|m| {
        !workload
            .laws
            .steps
            .keys()
            .any(|vm| m.ends_with(&format!("`{vm}`")))
    });
    if missing.is_empty() {
        "its laws do not reach that far".to_owned()
    } else {
        missing.into_iter().collect::<Vec<_>>().join(", ")
    }
}

/// Reports axis values outside all measured ones; returns configurations that these do not explain.
fn beyond_axes(
    cluster: &ClusterTable,
    workload: &Workload,
    refused: Vec<OutsideHull>,
    complaints: &mut Complaints<'_>,
) -> Vec<OutsideHull> {
    type AxisOf = fn(&Configuration) -> u32;
    let axes: [(&str, &Option<Spanned<Axis>>, AxisOf); 2] = [
        ("worker count", &cluster.workers, |c| c.workers),
        ("batch", &cluster.batch, |c| c.batch),
    ];
    let mut others = refused.clone();
    for (what, axis, of) in axes {
        let measured: BTreeSet<u32> = workload.steps.points().map(|p| of(&p.0)).collect();
        let (Some(axis), Some(&low), Some(&high)) = (axis, measured.first(), measured.last())
        else {
            continue;
        };
        let beyond = |value: u32| !(low..=high).contains(&value);
        let wrong: BTreeSet<u32> = (refused.iter())
            .map(|r| of(&r.configuration))
            .filter(|v| beyond(*v))
            .collect();
        let places: Vec<(Range<usize>, String)> = match axis.get_ref() {
            Axis::List(list) => (list.iter())
                .filter(|v| wrong.contains(&v.get_ref().get()))
                .map(|v| (v.span(), v.get_ref().get().to_string()))
                .collect(),
            _ if wrong.is_empty() => Vec::new(),
            _ => vec![(axis.span(), shortened(&wrong))],
        };
        let is_told = !places.is_empty();
        for (span, values) in places {
            let name = &workload.name;
            let title = format!("{what} {values} is outside what was measured for `{name}`");
            complaints.error_at(span, title, format!("measured from {low} to {high}"));
        }
        // A size that is in no list comes from a mix, and was not reported yet.
        if is_told {
            let listed: Option<BTreeSet<u32>> = match axis.get_ref() {
                Axis::List(list) => Some(list.iter().map(|v| v.get_ref().get()).collect()),
                _ => None,
            };
            let explained = |value: u32| {
                beyond(value) && listed.as_ref().is_none_or(|all| all.contains(&value))
            };
            others.retain(|r| !explained(of(&r.configuration)));
        }
    }
    others
}

/// A list of numbers; if there are many, the first few.
fn shortened(values: &BTreeSet<u32>) -> String {
    const SHOWN: usize = 4;
    let words: Vec<String> = values.iter().take(SHOWN).map(u32::to_string).collect();
    match values.len().saturating_sub(SHOWN) {
        0 => words.join(", "),
        more => format!("{} and {more} more", words.join(", ")),
    }
}
