//! Prices derived from each other, and the resulting relations of their bills.

use std::collections::HashMap;

use crate::grounds::UNIT;
use crate::laws::records::place;
use crate::laws::{Found, Trial, breach};
use crate::rows::Row;

/// A price derived from a USD per VM and hour, and its effect on a bill.
pub struct Twin {
    pub name: &'static str,
    pub keys: &'static [(&'static str, &'static str)],
    /// Minimum and maximum of its bill, from that of the unit price, in USD, and the hours.
    range: fn(f64, f64) -> (f64, f64),
}

const UNIT_KEY: (&str, &str) = ("usd_per_vm_hour", "1.0");

/// Exactly this value.
fn just(value: f64) -> (f64, f64) {
    (value, value)
}

pub const TWINS: &[Twin] = &[
    Twin {
        name: "double",
        keys: &[("usd_per_vm_hour", "2.0")],
        range: |usd, _| just(2.0 * usd),
    },
    Twin {
        name: "fee",
        keys: &[UNIT_KEY, ("usd_per_job", "3.5")],
        range: |usd, _| just(usd + 3.5),
    },
    Twin {
        name: "by-hour",
        keys: &[UNIT_KEY, ("granularity_s", "3600")],
        range: |usd, _| (usd, f64::MAX),
    },
    Twin {
        name: "at-least",
        keys: &[UNIT_KEY, ("minimum_s", "600")],
        range: |usd, _| (usd, f64::MAX),
    },
    Twin {
        name: "sustained",
        keys: &[UNIT_KEY, ("sustained_use", "[1.0, 0.8, 0.6, 0.4]")],
        range: |usd, _| (0.4 * usd, usd),
    },
    Twin {
        name: "half-on-spot",
        keys: &[UNIT_KEY, ("spot_ratio", "0.5")],
        range: |usd, _| (0.5 * usd, usd),
    },
    Twin {
        name: "committed",
        keys: &[UNIT_KEY, ("commitment_discount", "0.25")],
        range: |usd, _| just(0.75 * usd),
    },
    Twin {
        name: "with-servers",
        keys: &[UNIT_KEY, ("billed_parameter_servers", "2")],
        range: |usd, hours| just(usd + 2.0 * hours),
    },
    Twin {
        name: "leaving",
        keys: &[
            UNIT_KEY,
            ("egress_gib", "10"),
            ("usd_per_egress_gib", "0.1"),
        ],
        range: |usd, _| just(usd + 1.0),
    },
    Twin {
        name: "storing",
        keys: &[
            UNIT_KEY,
            ("storage_gib", "730"),
            ("usd_per_storage_gib_month", "1"),
        ],
        range: |usd, hours| just(usd + hours),
    },
];

/// Columns in which two rows must agree to be bills for equal usage.
const SAME: [&str; 12] = [
    "workload",
    "objective",
    "strategy",
    "replica",
    "setting",
    "chosen_vm",
    "chosen_workers",
    "chosen_batch",
    "chosen_other",
    "time_h",
    "search_time_h",
    "lost_vms",
];
/// Tolerance for rounding of a bill.
const ROUNDING: f64 = 1e-8;

pub fn bills_follow_prices(trial: &Trial<'_>) -> Found {
    let key = |row: &Row| SAME.map(|column| row.text(column).to_owned());
    // If the objective is cost, another price changes the search.
    let is_same_search =
        |row: &&Row| row.text("objective") == "time" || row.figure("search_time_h") == Some(0.0);
    let units = trial
        .rows
        .iter()
        .filter(|row| row.is_ok() && row.text("pricing") == UNIT)
        .filter(is_same_search);
    let units: HashMap<_, &Row> = units.map(|row| (key(row), row)).collect();
    for twin in TWINS {
        // A draft that was invalid with it may have lost a line.
        let is_whole = twin.keys.iter().all(|(key, value)| {
            let key = format!("pricing.define.{}.{key}", twin.name);
            trial.draft.value(&key) == Some(value)
        });
        if !is_whole {
            continue;
        }
        let own = trial
            .rows
            .iter()
            .filter(|row| row.is_ok() && row.text("pricing") == twin.name);
        for row in own.filter(is_same_search) {
            let Some(unit) = units.get(&key(row)) else {
                continue;
            };
            let figures = [
                unit.figure("cost_usd"),
                row.figure("cost_usd"),
                row.figure("time_h"),
            ];
            let [Some(usd), Some(own), Some(hours)] = figures else {
                continue;
            };
            let (least, most) = (twin.range)(usd, hours);
            let room = ROUNDING * own.abs().max(usd);
            if own < least - room || own > most + room {
                return breach(
                    "",
                    format!(
                        "`{}` is {own}, expected {least} to {most}: {}",
                        twin.name,
                        place(row)
                    ),
                );
            }
        }
    }
    Ok(())
}

/// Without losses or changes the oracle's bill is for its VMs over its whole time.
pub fn bill_is_vm_hours(trial: &Trial<'_>) -> Found {
    let changes = ["spot", "elastic", "kind", "bag", "parallel", "grid", "vm"];
    if changes.iter().any(|key| trial.draft.has(key)) {
        return Ok(());
    }
    let rows = trial
        .rows
        .iter()
        .filter(|row| row.is_ok() && row.text("strategy") == "oracle");
    for row in rows.filter(|row| row.text("pricing") == UNIT) {
        let per_vm: f64 = (row.text("chosen_vm").rsplit_once('/'))
            .map_or(1.0, |(_, many)| many.parse().unwrap_or(1.0));
        let figures = [
            row.figure("chosen_workers"),
            row.figure("time_h"),
            row.figure("cost_usd"),
        ];
        let [Some(workers), Some(hours), Some(usd)] = figures else {
            continue;
        };
        let vm_hours = (workers / per_vm).ceil() * hours;
        if (usd - vm_hours).abs() > ROUNDING * vm_hours {
            return breach(
                "",
                format!("{usd} USD, {vm_hours} VM-hours: {}", place(row)),
            );
        }
    }
    Ok(())
}
