//! Laws of rows, alone and compared with others.

use std::collections::HashMap;

use super::{Found, Trial, breach};
use crate::rows::Row;

/// Columns that hold words.
const WORDS: [&str; 15] = [
    "workload",
    "pricing",
    "objective",
    "strategy",
    "setting",
    "chosen_vm",
    "chosen_other",
    "oracle_vm",
    "oracle_other",
    "provenance",
    "fidelity",
    "status",
    "reason",
    "chosen_batch",
    "oracle_batch",
];
/// Prefixes of columns that may be negative.
const SIGNED: [&str; 6] = [
    "overhead_",
    "repeated_",
    "regret_",
    "saved_",
    "knee_depth",
    "rival_knee",
];
/// Columns that are shares of a whole.
const SHARES: [&str; 3] = ["dropped_gradients", "wasted_compute", "right"];
/// Tolerance for rounding of sums.
const ROUNDING: f64 = 1e-9;

/// The place of a row, in words.
pub fn place(row: &Row) -> String {
    let parts = [
        "case",
        "strategy",
        "objective",
        "pricing",
        "replica",
        "setting",
    ];
    let parts = parts.map(|part| format!("{part} {}", row.text(part)));
    parts.join(", ")
}

fn is_about(one: f64, other: f64) -> bool {
    (one - other).abs() <= ROUNDING * one.abs().max(other.abs()).max(1e-6)
}

pub fn are_figures(trial: &Trial<'_>) -> Found {
    for row in trial.rows {
        for (column, cell) in row.cells() {
            if WORDS.contains(&column) || cell.is_empty() {
                continue;
            }
            let figure: f64 = cell.parse().unwrap_or(f64::NAN);
            let least = if SIGNED.iter().any(|name| column.starts_with(name)) {
                f64::NEG_INFINITY
            } else {
                0.0
            };
            let most = if SHARES.contains(&column) {
                1.0 + ROUNDING
            } else {
                f64::MAX
            };
            if !figure.is_finite() || figure < least || figure > most {
                return breach("", format!("{column} is {cell}: {}", place(row)));
            }
        }
        let has_figures = row.figure("time_h").is_some() && row.figure("oracle_time_h").is_some();
        if row.is_ok() != has_figures || !row.is_ok() && row.text("reason").is_empty() {
            let said = format!(
                "{} with time {} and reason `{}`: {}",
                row.text("status"),
                row.text("time_h"),
                row.text("reason"),
                place(row)
            );
            return breach("", said);
        }
    }
    Ok(())
}

pub fn parts_are_the_bill(trial: &Trial<'_>) -> Found {
    for row in trial.rows.iter().filter(|row| row.is_ok()) {
        let parts = row
            .cells()
            .filter(|(column, _)| column.starts_with("bill_"));
        let parts: Vec<f64> = parts.filter_map(|(_, cell)| cell.parse().ok()).collect();
        let (sum, cost) = (parts.iter().sum::<f64>(), row.figure("cost_usd"));
        if !parts.is_empty() && !cost.is_some_and(|cost| is_about(cost, sum)) {
            return breach("", format!("cost {cost:?}, parts {sum}: {}", place(row)));
        }
    }
    Ok(())
}

pub fn net_is_within_gross(trial: &Trial<'_>) -> Found {
    // Lifetimes that are drawn again may favour the run without credit.
    if trial.draft.has("spot") || trial.draft.has("elastic") || trial.draft.has("bag") {
        return Ok(());
    }
    for row in trial.rows {
        for unit in ["time", "cost"] {
            let of = |kind: &str| row.figure(&format!("overhead_{kind}_{unit}"));
            if let (Some(net), Some(gross)) = (of("net"), of("gross"))
                && net > gross + ROUNDING
            {
                return breach(
                    "",
                    format!("net {net}, gross {gross} in {unit}: {}", place(row)),
                );
            }
        }
    }
    Ok(())
}

/// By how many of the stated standard errors a choice may be better than the oracle's: chosen and valued on two sets of runs,
/// each a difference of two means.
pub const UNCERTAIN: f64 = 6.0;

pub fn oracle_is_best(trial: &Trial<'_>) -> Found {
    let better = |row: &Row| match row.text("objective") {
        "knee" => None,
        objective => row.figure(&format!("regret_{objective}")).map(|r| -r),
    };
    for row in trial.rows {
        // No configuration is below the deepest of the front, whichever is on it.
        let is_knee = row.text("objective") == "knee";
        let depth = row.figure("knee_depth").filter(|_| is_knee);
        if depth.is_some_and(|depth| depth > 1.0 + ROUNDING) {
            return breach("", format!("depth {depth:?}: {}", place(row)));
        }
        if better(row).is_some_and(|better| better > ROUNDING) && row.figure("right") == Some(0.0) {
            return breach("", format!("better than what is right: {}", place(row)));
        }
        let is_oracle = row.text("strategy") == "oracle" && row.is_ok();
        if is_oracle && row.figure("right") != Some(1.0) {
            return breach("", format!("the oracle is not right: {}", place(row)));
        }
    }
    let best = trial
        .rows
        .iter()
        .filter_map(|row| Some((better(row)?, row)));
    if let Some((most, row)) = best.max_by(|a, b| a.0.total_cmp(&b.0))
        && most > ROUNDING
        && let Some(error) = trial.stated_error()?
        && most > UNCERTAIN * error
    {
        return breach(
            "",
            format!("better by {most}, known within {error}: {}", place(row)),
        );
    }
    Ok(())
}

pub fn clairvoyant_is_best(trial: &Trial<'_>) -> Found {
    if trial.draft.has("limits") {
        return Ok(());
    }
    for row in trial
        .rows
        .iter()
        .filter(|row| row.text("strategy") == "clairvoyant")
    {
        let (own, oracle) = match row.text("objective") {
            "time" => (row.figure("time_h"), row.figure("oracle_time_h")),
            "cost" => (row.figure("cost_usd"), row.figure("oracle_cost_usd")),
            _ => continue,
        };
        if let (Some(own), Some(oracle)) = (own, oracle)
            && own > oracle * (1.0 + ROUNDING)
        {
            return breach(
                "",
                format!("{own} beside the oracle's {oracle}: {}", place(row)),
            );
        }
    }
    Ok(())
}

/// Columns that rows of a case share for all strategies.
fn task(row: &Row) -> Vec<String> {
    ["workload", "pricing", "objective", "replica", "setting"]
        .map(|column| row.text(column).to_owned())
        .into()
}

/// A choice with a longer expected time and a higher cost than the oracle's is never as good.
pub fn dominated_is_wrong(trial: &Trial<'_>) -> Found {
    let oracles = trial
        .rows
        .iter()
        .filter(|row| row.text("strategy") == "oracle");
    let oracles: HashMap<Vec<String>, &Row> = oracles.map(|row| (task(row), row)).collect();
    for row in trial.rows.iter().filter(|row| row.is_ok()) {
        // With `each-vm` there is an oracle of each VM type.
        let Some(oracle) = oracles
            .get(&task(row))
            .filter(|o| o.text("oracle_vm") == row.text("oracle_vm"))
        else {
            continue;
        };
        let over = ["expected_time_h", "expected_cost_usd"].map(|column| {
            let (own, best) = (row.figure(column)?, oracle.figure(column)?);
            Some(own / best - 1.0)
        });
        let [Some(time), Some(cost)] = over else {
            continue;
        };
        let is_worse = time > 0.01 && cost > 0.01;
        let depth = row.figure("knee_depth");
        if is_worse && (row.figure("right") == Some(1.0) || depth.is_some_and(|depth| depth >= 1.0))
        {
            let said = format!(
                "{:+.1} % time, {:+.1} % cost, depth {depth:?}, right {:?}: {}",
                100.0 * time,
                100.0 * cost,
                row.figure("right"),
                place(row)
            );
            return breach("", said);
        }
    }
    Ok(())
}

fn limits(trial: &Trial<'_>) -> [Option<f64>; 2] {
    ["limits.max_time_h", "limits.max_cost_usd"].map(|key| trial.draft.value(key)?.parse().ok())
}

pub fn limits_are_kept(trial: &Trial<'_>) -> Found {
    // Then the limits do not apply to the expected value.
    if trial.draft.has("limits.max_miss") {
        return Ok(());
    }
    let [time, cost] = limits(trial);
    for row in trial
        .rows
        .iter()
        .filter(|row| row.is_ok() && row.text("strategy") == "oracle")
    {
        for (limit, column) in [(time, "expected_time_h"), (cost, "expected_cost_usd")] {
            if let (Some(limit), Some(expected)) = (limit, row.figure(column))
                && expected > limit * (1.0 + ROUNDING)
            {
                return breach(
                    "",
                    format!("{column} {expected}, limit {limit}: {}", place(row)),
                );
            }
        }
    }
    Ok(())
}

/// Maximum distance of an expectation from a limit at which randomness may decide whether it is met.
const NEAR: f64 = 0.02;

/// Whether anything meets the limits does not depend on the seed, except within the uncertainty of the expectation.
pub fn limits_do_not_depend_on_luck(trial: &Trial<'_>) -> Found {
    if limits(trial) == [None, None]
        || trial.draft.has("limits.max_miss")
        || trial.draft.ground == "grid"
    {
        return Ok(());
    }
    let mut other = trial.draft.flat();
    other
        .lines
        .retain(|line| !line.is_in("seed") && !line.is_in("search.strategies"));
    other.set(
        "seed",
        format!("{}", 7_000_000 + trial.draft.number),
        Vec::new(),
    );
    other.set("search.strategies", "[\"oracle\"]", Vec::new());
    let Some(rows) = trial.run(&other, 1)? else {
        return Ok(());
    };
    let far = |row: &Row| {
        let away = |limit: Option<f64>, column: &str| {
            limit
                .zip(row.figure(column))
                .is_none_or(|(limit, expected)| expected < limit * (1.0 - NEAR))
        };
        let [time, cost] = limits(trial);
        row.is_ok() && away(time, "expected_time_h") && away(cost, "expected_cost_usd")
    };
    let keyed = |rows: &[Row]| -> HashMap<Vec<String>, Row> {
        let oracles = rows.iter().filter(|row| row.text("strategy") == "oracle");
        oracles
            .map(|row| {
                (
                    [task(row), vec![row.text("oracle_vm").to_owned()]].concat(),
                    row.clone(),
                )
            })
            .collect()
    };
    // With a search by VM type several rows share a task: only their choices distinguish them, which may differ.
    if trial.draft.value("cluster.search").is_some() {
        return Ok(());
    }
    let strip = |key: &Vec<String>| key[..key.len() - 1].to_vec();
    let (own, others) = (keyed(trial.rows), keyed(&rows));
    let own: HashMap<Vec<String>, Row> = own
        .iter()
        .map(|(key, row)| (strip(key), row.clone()))
        .collect();
    for (key, other) in others.iter().map(|(key, row)| (strip(key), row)) {
        let Some(row) = own.get(&key) else { continue };
        let is_none = |row: &Row| row.text("reason").contains("keeps within the limits");
        if far(row) && is_none(other) || far(other) && is_none(row) {
            return breach(
                "",
                format!(
                    "`{}` with one seed, `{}` with another: {}",
                    row.text("reason"),
                    other.text("reason"),
                    place(row)
                ),
            );
        }
    }
    Ok(())
}
