//! Warnings about a result.

use serde_json::Value;

use crate::figure::Material;
use crate::report::choices::builds_on_runs;
use crate::report::{Places, manifest};
use scavsim_experiment::Group;
use scavsim_sim::training::Variation;

/// Half-width relative to the mean from which an interval is wide.
const WIDE: f64 = 0.1;
const MOST_NAMES: usize = 8;

pub(super) fn list_warnings(material: &Material) -> Vec<String> {
    let all = [
        failed,
        extrapolated,
        in_sample,
        wide,
        reached,
        few,
        imprecise,
        at_limits,
        assumed,
        cut,
    ];
    let remarks = Places::from_identity(&material.identity).remarks;
    let told = all.iter().filter_map(|one| one(material));
    told.chain(remarks.all()).collect()
}

fn of_group(group: &Group) -> String {
    format!("{} on {}", group.strategy, group.workload)
}

/// Each text once, with its number of occurrences if there are several.
fn counted(all: Vec<String>) -> Vec<String> {
    let mut each: Vec<(String, usize)> = Vec::new();
    for name in all {
        match each.iter_mut().find(|(own, _)| *own == name) {
            Some((_, count)) => *count += 1,
            None => each.push((name, 1)),
        }
    }
    let told = |(name, count)| match count {
        1 => name,
        count => format!("{name} ({count} times)"),
    };
    each.into_iter().map(told).collect()
}

fn names(all: Vec<String>) -> String {
    let more = all.len().saturating_sub(MOST_NAMES);
    let text = all
        .into_iter()
        .take(MOST_NAMES)
        .collect::<Vec<_>>()
        .join(", ");
    match more {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

fn failed(material: &Material) -> Option<String> {
    let reasons = &material.gathered.reasons;
    let count: u64 = reasons.values().sum();
    let each = reasons
        .iter()
        .map(|(reason, count)| format!("{count}: {reason}"));
    (count > 0).then(|| format!("{count} cases have no result. {}", names(each.collect())))
}

fn extrapolated(material: &Material) -> Option<String> {
    let count = |key: &str| material.gathered.provenance.get(key).copied().unwrap_or(0);
    let (beyond, between) = (count("extrapolated"), count("interpolated"));
    match (beyond, between) {
        (0, 0) => None,
        (0, between) => Some(format!(
            "{between} cases chose a configuration that lies between measured ones."
        )),
        _ => Some(format!(
            "{beyond} cases chose a configuration that nobody measured, by laws beyond the data; {between} one between \
             measured ones."
        )),
    }
}

/// Strategies that know runs of the job that they are judged on.
fn in_sample(material: &Material) -> Option<String> {
    let mut all: Vec<String> = Vec::new();
    for group in &material.groups {
        if builds_on_runs(group) && group.strategy != "oracle" && !all.contains(&group.strategy) {
            all.push(group.strategy.clone());
        }
    }
    (!all.is_empty()).then(|| {
        format!(
            "Some strategies know earlier runs: {}. What those runs cost is not in the overhead, and where they are runs of \
             the very job that is judged, the knowledge is in-sample.",
            names(all)
        )
    })
}

fn wide(material: &Material) -> Option<String> {
    let is_wide = |group: &&Group| {
        ["time_h", "cost_usd"].iter().any(|metric| {
            group.mean(metric).is_some_and(|mean| {
                let half = mean.interval.map(|i| 0.5 * (i.high - i.low));
                half.is_some_and(|half| half > WIDE * mean.mean.abs())
            })
        })
    };
    let all: Vec<String> = (material.groups.iter().filter(is_wide))
        .map(of_group)
        .collect();
    let all = counted(all);
    (!all.is_empty()).then(|| {
        format!(
            "Mean time or cost is known to no better than ±{:.0} % for {}.",
            100.0 * WIDE,
            names(all)
        )
    })
}

fn reached(material: &Material) -> Option<String> {
    let all: Vec<String> = (material.groups.iter())
        .filter(|group| {
            let share = group.tallied.share("reached_in_search");
            share
                .and_then(|share| share.share())
                .is_some_and(|share| share > 0.0)
        })
        .map(of_group)
        .collect();
    let all = counted(all);
    (!all.is_empty()).then(|| {
        format!(
            "Some jobs reached their target during the search: {}.",
            names(all)
        )
    })
}

fn few(material: &Material) -> Option<String> {
    let replicas = material.identity.get("replicas").and_then(Value::as_u64)?;
    (replicas < 20).then(|| {
        format!("{replicas} replicas only: intervals are wide or missing, and shares are coarse.")
    })
}

/// Expectations that are means of runs, with low precision.
fn imprecise(material: &Material) -> Option<String> {
    let all = material.identity.get("expectations")?.as_array()?;
    let cut = all
        .iter()
        .filter(|one| one["is_cut_short"] == Value::Bool(true));
    let each = cut.filter_map(|one| {
        let error = one["standard_error"].as_f64()?;
        Some(format!(
            "{} to {:.1} %",
            one["workload"].as_str()?,
            100.0 * error
        ))
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| {
        format!(
            "Expectations are known less well than elsewhere (standard error): {}.",
            names(each)
        )
    })
}

/// Configurations whose expectation is too close to a limit for the maximum number of runs.
fn at_limits(material: &Material) -> Option<String> {
    let all = material.identity.get(manifest::EXPECTATIONS)?.as_array()?;
    let each = all.iter().filter_map(|one| {
        let open = one[manifest::AT_A_LIMIT].as_array()?;
        let open: Vec<String> = (open.iter())
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect();
        Some(format!("{} ({})", one["workload"].as_str()?, names(open)))
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| {
        format!(
            "Whether the mean keeps to a limit is not known; it is judged by runs: {}.",
            names(each)
        )
    })
}

fn assumed(material: &Material) -> Option<String> {
    type SpreadOf = (&'static str, fn(&Variation) -> f64);
    let settings = &material.scenario.as_ref()?.runs_in;
    let parts: [SpreadOf; 4] = [
        ("step", |v| v.step_cv),
        ("placement", |v| v.placement_sigma),
        ("noise reading", |v| v.noise_cv),
        ("epochs", |v| v.epoch_cv),
    ];
    let each: Vec<String> = (parts.into_iter())
        .filter_map(|(name, of)| {
            let mut values: Vec<f64> = settings.iter().map(|own| of(&own.variation)).collect();
            values.sort_by(f64::total_cmp);
            values.dedup();
            let words: Vec<String> = values.iter().map(f64::to_string).collect();
            (values != [0.0]).then(|| format!("{name} {}", words.join(" or ")))
        })
        .collect();
    Some(if each.is_empty() {
        "Nothing varies at random: every replica is the same.".to_owned()
    } else {
        format!(
            "The size of random variation is an assumption of the scenario, not measured with its data: {}.",
            each.join(", ")
        )
    })
}

fn cut(material: &Material) -> Option<String> {
    let gathered = &material.gathered;
    gathered.is_cut.then(|| {
        format!(
            "More configurations were chosen than the {} that this page keeps.",
            gathered.chosen.len()
        )
    })
}
