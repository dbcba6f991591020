//! Figures of a summary that the tables for people show.

use std::sync::LazyLock;

use scavsim_experiment::metrics::KeptMetrics;

/// Figures whose mean only is shown in a table.
const MEANS: &[&str] = &[
    "knee_depth",
    "regret_time",
    "regret_cost",
    "excess_choice",
    "excess_gross",
    "excess_net",
    "search_time_h",
    "search_cost_usd",
    "known_time_h",
    "known_cost_usd",
    "oracle_time_h",
    "oracle_cost_usd",
    "saved_time_h",
    "saved_cost_usd",
    "error_mean",
    "error_max",
];

/// Figures shown by their median if few replicas dominate the mean.
const MEDIANS: &[&str] = &[
    "overhead_gross_time",
    "overhead_gross_cost",
    "overhead_net_time",
    "overhead_net_cost",
];

static KEPT: LazyLock<KeptMetrics> = LazyLock::new(|| KeptMetrics::only(MEANS, MEDIANS));

/// The figures that a summary needs if only a table of strategies or of policies is printed.
pub fn kept() -> &'static KeptMetrics {
    &KEPT
}
