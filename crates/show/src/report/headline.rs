//! What a table comes to, in words: who is best, by how much, and what the search cost.

use super::choices::oracle;
use super::closest::{are_equal, best, distance_text, kept, ranked, searched};
use super::headline_table::headline_blocks;
use super::places::Places;
use super::summary_columns::known_text;

use scavsim_base::text::words::percent;
use scavsim_experiment::Group;

/// The strategy that takes the usual configuration.
const DEFAULT: &str = "default";
/// More names than this are a number.
const MOST_NAMES: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headline {
    /// Which block: setting and policy where there are several, workload, objective.
    pub about: String,
    pub text: String,
}

/// One per block, those of the first policy where there are many; and how many blocks have none.
pub fn headlines(blocks: &[&[Group]], places: &Places) -> (Vec<Headline>, usize) {
    let told = headline_blocks(blocks);
    let several = blocks
        .iter()
        .any(|block| block[0].pricing != blocks[0][0].pricing);
    let headline = |block: &&[Group]| {
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

fn sentence(block: &[Group], places: &Places) -> String {
    let Some(truth) = oracle(block, places, true) else {
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
