//! The summary of policies that decide during a run: a line per policy, and below it the cheapest that meets the deadline.

use scavsim_base::text::words::{plural, plural_with_commas, usd};
use scavsim_base::text::{Cell, Column, Page, Sheet, Tone};
use scavsim_data::pricing::MARKET;
use scavsim_experiment::{Group, GroupSummary};
use scavsim_search::search::CLAIRVOYANT;

use super::percent::mean_of;
use super::summary_table::{are_of_a_block, failures};

/// Whether groups belong to policies.
pub fn is_of<'g>(mut groups: impl Iterator<Item = &'g GroupSummary>) -> bool {
    groups.any(|group| group.independent.is_some())
}

/// A table per setting and world.
pub fn render(groups: &[Group], page: &Page) -> String {
    let blocks = groups.chunk_by(are_of_a_block);
    let tables: Vec<String> = blocks.map(|block| table(block, page)).collect();
    tables.join("\n")
}

fn table(block: &[Group], page: &Page) -> String {
    let first = &block[0];
    let cheapest = (block
        .iter()
        .filter(|group| group.strategy != CLAIRVOYANT && is_in_time(group)))
    .filter_map(|group| Some((cost_usd(group)?, group)))
    .min_by(|a, b| a.0.total_cmp(&b.0));
    let least = cheapest.map_or(f64::NEG_INFINITY, |(usd, _)| usd);
    let policy = Column::text("policy", |group: &&Group| group.strategy.clone()).rank(0);
    let figures = columns(|group: &Group| &group.tallied);
    let sheet = Sheet::new(block, [policy].into_iter().chain(figures)).toned(move |group| {
        match &*group.strategy {
            CLAIRVOYANT => Tone::Dim,
            _ if is_in_time(group) && cost_usd(group).is_some_and(|usd| usd <= least) => Tone::Best,
            _ => Tone::Plain,
        }
    });
    let own = [
        first.setting.clone(),
        first.workload.clone(),
        priced_by(first),
        sample(first),
    ];
    let title = page.parts(own.into_iter().filter(|part| !part.is_empty()), 2);
    let mut text = page.bold(&title) + &sheet.fit(page).text(page) + &failures(block, page);
    for group in block {
        text += &notes(group, page);
    }
    let answer = match cheapest {
        Some((cost_usd, group)) => {
            let over = over_clairvoyant(&group.tallied);
            let over = over.map_or(String::new(), |over| {
                format!(", {over:.3} times the clairvoyant's cost")
            });
            let closed = gap_closed(block, cost_usd).filter(|share| *share >= 0.5).map_or(String::new(), |share| {
                format!(" It closes {share:.0} % of the gap between `{STAY}`, which never changes its choice, and the clairvoyant.")
            });
            format!(
                "Cheapest of those in time: {}, {} a life{over}.{closed}",
                group.strategy,
                usd(cost_usd)
            )
        }
        None => "No policy kept all deadlines.".to_owned(),
    };
    text + &page.prose(&answer, 0)
}

/// The policy that never changes its first choice.
const STAY: &str = "stay";

/// Share in % of the extra cost of `stay` over the clairvoyant that a cost of `usd` saves, if both are in the table.
fn gap_closed(block: &[Group], usd: f64) -> Option<f64> {
    let of = |name: &str| cost_usd(block.iter().find(|group| group.strategy == name)?);
    let (stay, least) = (of(STAY)?, of(CLAIRVOYANT)?);
    (stay > least && usd < stay).then(|| 100.0 * (stay - usd) / (stay - least))
}

/// The columns of policies; `tallied` returns the figures of a group.
pub(super) fn columns<'g, T>(tallied: fn(&T) -> &GroupSummary) -> Vec<Column<'g, &'g T>> {
    let mean = |head: &'static str, digits: usize, rank: u8, metric: &'static str| {
        Column::number(head, move |group: &&T| {
            Cell::number(tallied(group).mean(metric).map(|mean| mean.mean), digits)
        })
        .rank(rank)
    };
    let share = |head: &'static str, digits: usize, rank: u8, column: &'static str| {
        Column::number(head, move |group: &&T| {
            let share = tallied(group).share(column).and_then(|share| share.share());
            Cell::number(share.map(|share| 100.0 * share), digits)
        })
        .rank(rank)
    };
    vec![
        mean("cost $", 2, 0, "cost_usd"),
        Column::number("± $", move |group: &&T| {
            let interval = tallied(group)
                .mean("cost_usd")
                .and_then(|mean| mean.interval);
            Cell::number(interval.map(|ends| 0.5 * (ends.high - ends.low)), 2)
        })
        .rank(3),
        Column::number("× clairvoyant", move |group: &&T| {
            Cell::number(over_clairvoyant(tallied(group)), 3)
        })
        .rank(1),
        share("in time %", 1, 1, "kept_net"),
        mean("late h", 2, 2, "late_h"),
        mean("spot h", 1, 4, "spot_h"),
        mean("on demand h", 1, 3, "on_demand_h"),
        mean("losses", 1, 5, "lost_vms"),
        mean("moves", 1, 6, "moves"),
        mean("starts", 1, 7, "launches"),
        Column::number("net %", move |group: &&T| {
            let caught = tallied(group).mean("caught");
            Cell::number(caught.map(|share| 100.0 * share.mean), 0)
        })
        .rank(8),
    ]
}

/// Mean USD of a life, if there is a result.
pub fn cost_usd(group: &Group) -> Option<f64> {
    mean_of(group, "cost_usd")
}

pub fn is_in_time(group: &Group) -> bool {
    let kept = group.tallied.share("kept_net");
    kept.is_some_and(|kept| kept.yes == group.tallied.cases)
}

/// Mean cost over that of the clairvoyant; `None` if some lives are not comparable.
pub fn over_clairvoyant(group: &GroupSummary) -> Option<f64> {
    let over = group.mean("overhead_net_cost")?;
    (over.count == group.cases - group.failed).then_some(1.0 + over.mean)
}

/// The pricing policy in words, unless it is only the market's price.
pub fn priced_by(group: &Group) -> String {
    match &*group.pricing {
        MARKET => String::new(),
        own => format!("priced by {own}"),
    }
}

/// The number of lives, and their precision.
pub fn sample(group: &Group) -> String {
    let lives = plural_with_commas(group.tallied.cases, "life");
    match group.tallied.independent {
        Some(independent) if independent < 2.0 && group.tallied.cases > 1 => {
            format!("{lives}, too few that do not overlap for an interval")
        }
        Some(independent) if independent < 0.995 * group.tallied.cases as f64 => {
            format!("{lives} that overlap, as {independent:.1} independent ones")
        }
        _ => lives,
    }
}

/// Notes on a policy's lives that no table shows.
fn notes(group: &Group, page: &Page) -> String {
    let mut text = String::new();
    let finished = group.mean("time_h").map_or(0, |mean| mean.count);
    let unfinished = group.tallied.cases - group.tallied.failed - finished;
    if unfinished > 0 {
        let unfinished = plural(unfinished, "life");
        text += &page.prose(
            &format!(
                "{}: {unfinished} unfinished when the market's time was over; the mean cost is a lower bound.",
                group.strategy
            ),
            3,
        );
    }
    if let Some(exact) = group.mean("exact").filter(|exact| exact.mean < 1.0) {
        let inexact = (exact.count as f64 * (1.0 - exact.mean)).round();
        let lives = plural(exact.count, "life");
        text += &page.prose(
            &format!(
                "{}: the cost is a lower bound, not exact, in {inexact} of {lives}.",
                group.strategy
            ),
            3,
        );
    }
    text
}
