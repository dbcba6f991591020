use super::{MarketView, SpanOf};
use scavsim_base::Declaration;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "none",
    what: "Nobody looks ahead: what is fastest now is taken, whatever it costs to change.",
    formula: "",
    source: "usual",
    example: "parallel.reaction.forecast = \"none\"",
};

/// A span in which every pause is worth while.
pub(super) fn foretell(seen: &MarketView<'_>, path: &mut Vec<SpanOf>) {
    path.push(SpanOf {
        seconds: f64::INFINITY,
        gpus: seen.capacity.gpus,
    });
}
