//! The last value: GPUs that there are.

use super::{MarketView, SpanOf};
use scavsim_base::Declaration;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "last-value",
    what: "There will be as many GPUs as there are now, until the job is done.",
    formula: "",
    source: "usual",
    example: "parallel.reaction.forecast = \"last-value\"",
};

pub(super) fn foretell(seen: &MarketView<'_>, path: &mut Vec<SpanOf>) {
    path.push(SpanOf {
        seconds: seen.horizon_s,
        gpus: seen.capacity.gpus,
    });
}
