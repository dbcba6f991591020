//! Compares two values of a key: a higher price, later start or longer duration is never better for a strategy that knows the truth, and a
//! value at its limit has the effect of one just next to it. Without randomness, except for losses of VMs with memoryless lifetimes.

use std::collections::HashMap;

use super::records::UNCERTAIN;
use super::{Found, Trial, breach};
use crate::draft::Draft;
use crate::grounds::UNIT;
use crate::rows::Row;

/// The effect of the second value on a figure.
#[derive(Clone, Copy)]
pub enum Way {
    NeverLess,
    NeverMore,
    Same,
}
use Way::{NeverLess, NeverMore, Same};

/// A key, two of its values, and the effect of the second on the expectations of the oracle's choice.
pub type Neighbours = (&'static str, &'static str, &'static str, &'static str, Way);

pub const NEIGHBOURS: &[Neighbours] = &[
    (
        "pricing.define.unit.usd_per_vm_hour",
        "1.0",
        "1.3",
        "cost",
        NeverLess,
    ),
    (
        "pricing.define.unit.usd_per_job",
        "0",
        "0.7",
        "cost",
        NeverLess,
    ),
    (
        "pricing.define.unit.minimum_s",
        "0",
        "3600",
        "cost",
        NeverLess,
    ),
    (
        "pricing.define.unit.granularity_s",
        "1",
        "60",
        "cost",
        NeverLess,
    ),
    ("pricing.define.unit.minimum_s", "0", "1e-6", "cost", Same),
    ("cluster.start_up_s", "0", "1e-6", "time", Same),
    ("cluster.start_up_s", "0", "71.3", "time", NeverLess),
    ("cluster.start_up_s", "0", "71.3", "cost", NeverLess),
    ("variation.step_cv", "0", "1e-9", "time", Same),
    ("variation.vm_sigma", "0", "1e-9", "time", Same),
    ("spot.checkpoint_write_s", "0", "1e-6", "time", Same),
    ("spot.exponential_mean_h", "1e6", "2e6", "time", Same),
    ("spot.warm_restart_s", "0", "71.3", "time", NeverLess),
    ("spot.replacement_s", "0", "71.3", "time", NeverLess),
    ("spot.warm_restart_s", "0", "1e-6", "time", Same),
    ("spot.replacement_s", "0", "1e-6", "time", Same),
    ("failures.restart_s", "0", "1e-6", "time", Same),
    ("bag.dispatch_lag_s", "0", "1e-6", "time", Same),
    ("bag.dispatch_lag_s", "0", "17.1", "time", NeverLess),
    ("bag.start_stagger_s", "0", "17.1", "time", NeverLess),
];

// Keys without a pair above, with the reason. A pair is included only if some scenario violates it when it is exchanged.
// - `pricing.define.unit.commitment_discount`: 0 is refused, so no value is its limit.
// - `vm.mine.compute_scale`, `network_scale`: few scenarios have a VM type of their own, and the oracle leaves it for a better one.
// - `variation.noise_cv`: only probes see it; expectations of a run do not depend on it.
// - `variation.placement_sigma`: its mean is always 1, so it changes no mean of a run.
// - `spot.cold_join_s`: no VM joins if all wait for lost ones, as they do here.
// - `failures.restart_s`, `detection_s`, `replacement_s` by minutes, `checkpoint_write_s`: only plans fail, and so seldom that the
//   effect on a mean of runs is below its error.

/// Number of pairs that are tried in a scenario, among those that apply to it.
const TRIED: usize = 3;
/// Tolerance for rounding of sums, and for the tiny change.
const ROUNDING: f64 = 1e-9;
const CONTINUOUS: f64 = 1e-3;
/// Relative standard error of a trial run of 20,000 worker-steps, which times protocols without a formula.
const TRIAL_ERROR: f64 = 2e-3;

/// Keys without effect here, or random ones.
const LEFT_OUT: [&str; 12] = [
    "limits",
    "search",
    "strategy",
    "antithetic",
    "precision",
    "most_replicas",
    "fidelity",
    "variation",
    "elastic",
    "spot",
    "failures",
    "cluster.search",
];
/// Keys of losses that duplicate one of the table, or make lifetimes with memory.
const INSTEAD: [&str; 9] = [
    "spot.lifetime",
    "spot.restart",
    "spot.start_up",
    "spot.checkpoint_mb",
    "spot.on_loss",
    "failures.lemon_share",
    "failures.lemon_factor",
    "failures.maintenance_every_h",
    "failures.maintenance_s",
];

/// Whether the key applies to a scenario.
fn is_about(draft: &Draft, key: &str) -> bool {
    let has_losses = draft.has("spot") || draft.has("failures") || draft.has("elastic");
    match key.split('.').next() {
        Some("pricing") => true,
        Some("cluster") => draft.ground != "grid",
        Some("variation") => ["training", "shipped"].contains(&draft.ground),
        Some("spot") => draft.value("spot.exponential_mean_h").is_some() && draft.ground != "bag",
        Some("bag") => draft.has("bag") && !has_losses,
        Some(table) => draft.has(table),
        None => false,
    }
}

/// The scenario with one value of the key, without other randomness.
fn variant(draft: &Draft, key: &str, value: &str, figure: &str) -> Draft {
    let table = key.split('.').next().unwrap_or_default();
    let mut variant = draft.flat();
    let is_left_out = |name: &&str| **name != *table;
    let gone: Vec<&str> = LEFT_OUT
        .iter()
        .copied()
        .filter(|name| is_left_out(name))
        .collect();
    variant.lines.retain(|line| {
        let is_luck = table == "variation" && line.is_in("variation");
        !is_luck && !gone.iter().chain(&INSTEAD).any(|key| line.is_in(key))
    });
    if table == "spot" {
        variant.set("spot.on_loss", "\"wait\"", Vec::new());
    }
    for (key, value) in [
        ("replicas", "1".to_owned()),
        ("search.strategies", "[\"oracle\"]".to_owned()),
        ("search.objectives", format!("[\"{figure}\"]")),
        ("pricing.policies", format!("[\"{UNIT}\"]")),
        (key, value.to_owned()),
    ] {
        variant.set(key, value, Vec::new());
    }
    variant
}

/// Breaks a pair: reversed, or with distant values.
pub fn tampered(&(key, from, to, figure, way): &Neighbours) -> Neighbours {
    let far = match key {
        _ if key.ends_with("_s") => "9000",
        _ if key.ends_with("mean_h") => "2.0",
        _ => "0.3",
    };
    match way {
        NeverLess => (key, from, to, figure, NeverMore),
        NeverMore => (key, from, to, figure, NeverLess),
        Same => (key, from, far, figure, Same),
    }
}

pub fn are_as_they_should(trial: &Trial<'_>) -> Found {
    hold(trial, NEIGHBOURS)
}

/// Whether some pairs of a table that apply to the scenario hold.
pub fn hold(trial: &Trial<'_>, table: &[Neighbours]) -> Found {
    let draft = trial.draft;
    if draft.has("kind") {
        return Ok(());
    }
    let mut all: Vec<&Neighbours> = table.iter().filter(|one| is_about(draft, one.0)).collect();
    let mut luck = trial.luck(23);
    for _ in 0..TRIED.min(all.len()) {
        let &(key, from, to, figure, way) = all.swap_remove(luck.below(all.len()));
        let drafts = [from, to].map(|value| variant(draft, key, value, figure));
        let (Some(first), Some(second)) = (trial.run(&drafts[0], 1)?, trial.run(&drafts[1], 1)?)
        else {
            continue;
        };
        let column = if figure == "time" {
            "expected_time_h"
        } else {
            "expected_cost_usd"
        };
        let of = |row: &Row| {
            Some((
                ["workload", "setting"].map(|column| row.text(column).to_owned()),
                row.figure(column)?,
            ))
        };
        let first: HashMap<_, f64> = first.iter().filter_map(of).collect();
        for (place, second) in second.iter().filter_map(of) {
            let Some(&first) = first.get(&place) else {
                continue;
            };
            trial.comparisons.set(trial.comparisons.get() + 1);
            let off = match way {
                NeverLess => first / second - 1.0,
                NeverMore => second / first - 1.0,
                Same => (second / first - 1.0).abs() - CONTINUOUS,
            };
            if off > ROUNDING {
                // Means of runs are as precise as stated.
                let mut known = if draft.has("sync") { TRIAL_ERROR } else { 0.0 };
                for draft in &drafts {
                    known = known.max(
                        trial
                            .take(trial.program.stated_error(draft))?
                            .unwrap_or(f64::INFINITY),
                    );
                }
                if off > UNCERTAIN * known {
                    return breach(
                        "",
                        format!(
                            "{key} {from}, then {to}: {column} is {first}, then {second}, known within {known}: {place:?}"
                        ),
                    );
                }
            }
        }
    }
    Ok(())
}
