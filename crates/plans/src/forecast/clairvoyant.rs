//! All that comes.

use super::{MarketView, SpanOf};
use scavsim_base::Declaration;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "clairvoyant",
    what: "The GPUs that there will be are known: no policy can know that; it shows what a forecast could be worth.",
    formula: "",
    source: "a bound",
    example: "parallel.reaction.forecast = \"clairvoyant\"",
};

pub(super) fn foretell(seen: &MarketView<'_>, path: &mut Vec<SpanOf>) {
    let mut capacity = seen.capacity.clone();
    let (mut at, end) = (seen.now_s, seen.now_s + seen.horizon_s);
    while at < end {
        let until = capacity.changes_at().seconds().min(end);
        if until > at {
            path.push(SpanOf {
                seconds: until - at,
                gpus: capacity.gpus,
            });
            at = until;
        }
        if until < end {
            capacity.go_on(seen.losses);
        }
    }
}
