//! A moving average: GPUs that there were in the mean.

use super::{MarketView, SpanOf};
use scavsim_base::Declaration;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "moving-average",
    what: "There are as many GPUs as now for five minutes, then as many as there were in the mean of the last half hour, rounded to the nearest.",
    formula: "",
    source: "usual",
    example: "parallel.reaction.forecast = \"moving-average\"",
};

/// Seconds until the mean is believed.
const STAYS_S: f64 = 300.0;
/// Seconds over which it is taken, and between two looks.
const WINDOW_S: f64 = 1800.0;
const LOOK_S: f64 = 60.0;

pub(super) fn foretell(seen: &MarketView<'_>, path: &mut Vec<SpanOf>) {
    let looks = (WINDOW_S / LOOK_S) as u32;
    let sum: f64 = (0..looks)
        .map(|n| f64::from(seen.gpus_before(f64::from(n) * LOOK_S)))
        .sum();
    path.push(SpanOf {
        seconds: STAYS_S.min(seen.horizon_s),
        gpus: seen.capacity.gpus,
    });
    if seen.horizon_s > STAYS_S {
        path.push(SpanOf {
            seconds: seen.horizon_s - STAYS_S,
            gpus: (sum / f64::from(looks)).round() as u32,
        });
    }
}
