//! What a table comes to, in words: who is best, by how much, and what the search cost.

use super::choices::{is_all_knowing, objective, oracle};
use super::percent::{Typical, typical};
use super::places::Places;
use super::summary_columns::{known_text, spent_text};

use scavsim_base::text::Page;
use scavsim_base::text::words::{percent, signed};
use scavsim_lab::experiment::Group;
use scavsim_search::search::Objective;

/// More headlines than this are no answer.
const MOST: usize = 12;
/// The strategy that takes the usual configuration.
const DEFAULT: &str = "default";
/// More names than this are a number.
const MOST_NAMES: usize = 3;

/// What a block comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headline {
    /// Which block: setting and policy where there are several, workload, objective.
    pub about: String,
    /// The sentence.
    pub text: String,
}

/// One per block, those of the first policy where there are many; and how many blocks have none.
pub fn headlines(blocks: &[&[Group]], places: &Places) -> (Vec<Headline>, usize) {
    let first_policy = |block: &&&[Group]| block[0].pricing == blocks[0][0].pricing;
    let told: Vec<&&[Group]> = match blocks.len() {
        0..=MOST => blocks.iter().collect(),
        _ => blocks.iter().filter(first_policy).take(MOST).collect(),
    };
    let several = blocks.iter().any(|block| !first_policy(&block));
    let headline = |block: &&&[Group]| {
        let first = &block[0];
        let policy = if several {
            format!(", {}", places.policy(&first.pricing))
        } else {
            String::new()
        };
        let setting = if first.setting.is_empty() {
            String::new()
        } else {
            format!("{}, ", first.setting)
        };
        Headline {
            about: format!("{setting}{}{policy}, {}:", first.workload, first.objective),
            text: sentence(block, places),
        }
    };
    (
        told.iter().map(headline).collect(),
        blocks.len() - told.len(),
    )
}

/// All headlines, as they stand above a table.
pub(super) fn all(blocks: &[&[Group]], places: &Places, page: &Page) -> String {
    let (told, more) = headlines(blocks, places);
    let line = |one: &Headline| page.prose(&format!("{} {}", page.bold(&one.about), one.text), 2);
    let mut text: String = told.iter().map(line).collect();
    if more > 0 {
        text += &format!("… and {more} more below\n");
    }
    text + "\n"
}

/// How far a group is from the oracle in its objective: the less, the better; `None` where nothing is known.
fn distance(group: &Group) -> Option<f64> {
    let over = |metric| Some(typical(group, metric)?.value());
    match objective(group)? {
        Objective::Time => over("overhead_net_time"),
        Objective::Cost => over("overhead_net_cost"),
        Objective::Knee => Some(-group.mean("knee_depth")?.mean),
    }
}

/// Share of the replicas within the limits; all where there are none.
fn kept(group: &Group) -> f64 {
    let share = group
        .tallied
        .share("kept_net")
        .and_then(|share| share.share());
    share.unwrap_or(1.0)
}

/// The distance in words.
fn distance_text(group: &Group) -> String {
    let over =
        |metric| typical(group, metric).map(|value| format!("{} %", value.text_with_interval()));
    let text = match objective(group) {
        Some(Objective::Time) => over("overhead_net_time"),
        Some(Objective::Cost) => over("overhead_net_cost"),
        Some(Objective::Knee) | None => group
            .mean("knee_depth")
            .map(|depth| format!("depth {:.2} of 1", depth.mean)),
    };
    text.unwrap_or_default()
}

/// How good a group is, as it is printed.
fn shown(group: &Group) -> (i64, String) {
    let percent = (100.0 * kept(group)).round() as i64;
    let text = match objective(group) {
        Some(Objective::Knee) | None => distance_text(group),
        _ => distance(group).map(signed).unwrap_or_default(),
    };
    (percent, text)
}

/// Whether two groups are told apart by nothing that is printed: nor by a search that only one of them made.
fn are_equal(a: &Group, b: &Group) -> bool {
    shown(a) == shown(b) && searched(a).is_some() == searched(b).is_some()
}

/// All who search and have a result, the best first.
fn ranked(block: &[Group]) -> Vec<&Group> {
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
    // Of equal ones, those that spent less come first.
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

/// The best of a block, all that are equal.
pub(super) fn best(block: &[Group]) -> Vec<&Group> {
    let all = ranked(block);
    let equal = all.iter().take_while(|group| are_equal(group, all[0]));
    equal.copied().collect()
}

fn sentence(block: &[Group], places: &Places) -> String {
    let Some(truth) = oracle(block, places) else {
        let reason = block.iter().flat_map(|g| &g.reasons).next();
        let reason = reason.map_or_else(String::new, |(reason, _)| format!(": {reason}"));
        return format!("no result{reason}");
    };
    let mut text = format!("at best {truth}.");
    let all = ranked(block);
    let equal = best(block);
    let Some(first) = equal.first() else {
        return text;
    };
    text += &format!(
        " Closest: {}, {}{}, {}",
        names(&equal),
        distance_text(first),
        within(first),
        spent(first)
    );
    if let Some(next) = all.get(equal.len()) {
        let equal_next = all[equal.len()..]
            .iter()
            .take_while(|group| are_equal(group, next));
        let next_names = names(&equal_next.copied().collect::<Vec<_>>());
        text += &format!(
            "; then {next_names}, {}{}",
            distance_text(next),
            within(next)
        );
        if let Some(search) = searched(next) {
            text += &format!(" after a search of {search}");
        }
    }
    let default = all
        .iter()
        .skip(equal.len() + 1)
        .find(|g| g.strategy == DEFAULT);
    if let Some(default) = default {
        text += &format!("; {DEFAULT} {}{}", distance_text(default), within(default));
    }
    text + "."
}

fn names(groups: &[&Group]) -> String {
    let names: Vec<&str> = groups.iter().map(|g| g.strategy.as_str()).collect();
    match names.split_last() {
        Some((_, all)) if all.len() >= MOST_NAMES => {
            format!(
                "{} and {} more",
                names[..MOST_NAMES].join(", "),
                names.len() - MOST_NAMES
            )
        }
        Some((last, all)) if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        _ => names.join(""),
    }
}

/// How often limits are kept, where there are some and not always.
fn within(group: &Group) -> String {
    match kept(group) {
        1.0 => String::new(),
        share => format!(" within the limits in {} of replicas", percent(share, 0)),
    }
}

/// Time and cost of the search, where there is one.
fn searched(group: &Group) -> Option<String> {
    let hours = group.mean("search_time_h")?.mean;
    (hours > 0.0).then(|| spent_text(group, ["search_time_h", "search_cost_usd"]))
}

/// What was spent before the choice began to train: by the search and by the earlier runs behind it.
fn spent(group: &Group) -> String {
    let known = group.mean("known_time_h").map_or(0.0, |hours| hours.mean);
    match (searched(group), known > 0.0) {
        (Some(search), true) => {
            format!(
                "after a search of {search} and earlier runs of {}",
                known_text(group)
            )
        }
        (Some(search), false) => format!("after a search of {search}"),
        (None, true) => format!(
            "without search, after earlier runs of {}",
            known_text(group)
        ),
        (None, false) => "without search".to_owned(),
    }
}

impl Typical<'_> {
    /// The figure.
    pub(crate) fn value(self) -> f64 {
        match self {
            Typical::Mean(mean) => mean.mean,
            Typical::Median(median) => median,
        }
    }
}
