//! The strategy that is closest to the oracle in a block of the summary.

use super::choices::{is_all_knowing, objective};
use super::percent::{TypicalValue, typical};
use super::summary_columns::spent_text;
use scavsim_base::text::words::signed;
use scavsim_experiment::Group;
use scavsim_search::search::Objective;

/// The distance of a group from the oracle in its objective: smaller is better; `None` if unknown.
pub(super) fn distance(group: &Group) -> Option<f64> {
    match net_overhead(objective(group)?) {
        Some(metric) => Some(typical(group, metric)?.value()),
        None => Some(-group.mean("knee_depth")?.mean),
    }
}

/// Share of the replicas within the limits; 1 without limits.
pub(super) fn kept(group: &Group) -> f64 {
    let share = group
        .tallied
        .share("kept_net")
        .and_then(|share| share.share());
    share.unwrap_or(1.0)
}

/// The metric by which strategies are judged for an objective; none for the knee, which has a depth.
pub(crate) fn net_overhead(by: Objective) -> Option<&'static str> {
    match by {
        Objective::Time => Some("overhead_net_time"),
        Objective::Cost => Some("overhead_net_cost"),
        Objective::Knee => None,
    }
}

fn shown(group: &Group) -> (i64, String) {
    let percent = (100.0 * kept(group)).round() as i64;
    let text = match objective(group).and_then(net_overhead) {
        None => (group.mean("knee_depth")).map(|depth| format!("depth {:.2} of 1", depth.mean)),
        Some(_) => distance(group).map(signed),
    };
    (percent, text.unwrap_or_default())
}

/// Whether two groups are equal in everything that is printed, including the search.
pub(super) fn are_equal(a: &Group, b: &Group) -> bool {
    shown(a) == shown(b) && searched(a).is_some() == searched(b).is_some()
}

/// All groups that search and have a result, the best first.
pub(super) fn ranked(block: &[Group]) -> Vec<&Group> {
    let is_there = |g: &&Group| !is_all_knowing(g) && distance(g).is_some();
    let mut all: Vec<&Group> = block.iter().filter(is_there).collect();
    let percent = |group: &Group| (100.0 * kept(group)).round();
    all.sort_by(|a, b| {
        let by_kept = percent(b).total_cmp(&percent(a));
        by_kept.then(
            distance(a)
                .unwrap_or(f64::NAN)
                .total_cmp(&distance(b).unwrap_or(f64::NAN)),
        )
    });
    // Among equal ones, the smaller search comes first.
    let spent = |group: &Group| {
        ["search_time_h", "known_time_h"].map(|metric| group.mean(metric).map_or(0.0, |m| m.mean))
    };
    for equal in all.chunk_by_mut(|a, b| shown(a) == shown(b)) {
        equal.sort_by(|a, b| {
            let (a, b) = (spent(a), spent(b));
            a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1]))
        });
    }
    all
}

/// The best groups of a block: all that are equal.
pub(super) fn best(block: &[Group]) -> Vec<&Group> {
    let all = ranked(block);
    let equal = all.iter().take_while(|group| are_equal(group, all[0]));
    equal.copied().collect()
}

/// Time and cost of the search, if there is one.
pub(super) fn searched(group: &Group) -> Option<String> {
    let hours = group.mean("search_time_h")?.mean;
    (hours > 0.0).then(|| spent_text(group, ["search_time_h", "search_cost_usd"]))
}

impl TypicalValue<'_> {
    pub(crate) fn value(self) -> f64 {
        match self {
            TypicalValue::Mean(mean) => mean.mean,
            TypicalValue::Median(median) => median,
        }
    }
}
