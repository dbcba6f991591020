//! The headline of all tables, a line per job and objective: the best configuration, and the closest strategy.

use super::choices::{all_on, builds_on_runs, objective, oracle_figures, oracle_place, shared_vm};
use super::closest::{are_equal, kept, net_overhead, ranked};
use super::percent::{mean_of, mean_percent, typical};
use super::places::Places;
use super::summary_columns::{known_text, spent_text};

use scavsim_base::stats::Interval;
use scavsim_base::text::words::{NONE, figure, hours, or_dash, percent, signed, usd};
use scavsim_base::text::{Column, EXPLAIN, Page, Sheet, TableLayout};
use scavsim_experiment::{Group, Mean};
use scavsim_search::search::Objective;

/// Maximum number of rows: with a title, heads and a last line a table has twelve lines.
const MOST: usize = 9;

const DEFAULT: &str = "default";

const OFF: &str = "worse by";
const SEARCH: &str = "search cost";

struct HeadlineRow<'g> {
    first: &'g Group,
    pricing: String,
    /// The best on one line, and on two.
    best: [String; 2],
    time_h: String,
    cost_usd: String,
    /// The strategies that come closest to the oracle without earlier runs: all that are equal.
    from_nothing: Vec<&'g Group>,
    with_earlier_runs: Vec<&'g Group>,
    default: String,
}

/// The blocks that have a line: all, or those of the first policy if there are many.
pub(super) fn headline_blocks<'g>(blocks: &[&'g [Group]]) -> Vec<&'g [Group]> {
    let first_policy = |block: &&&[Group]| block[0].pricing == blocks[0][0].pricing;
    match blocks.len() {
        0..=MOST => blocks.to_vec(),
        _ => blocks
            .iter()
            .filter(first_policy)
            .take(MOST)
            .copied()
            .collect(),
    }
}

/// The headline: the best of each block, and the closest strategy without earlier runs, for the last screen.
pub(super) fn render(blocks: &[&[Group]], places: &Places, page: &Page) -> String {
    let (told, lines, shared) = rows(blocks, places);
    let page = &without_columns(page);
    let best = || title("Best configuration", shared, page);
    let alone = [HeadlinePart::Best, HeadlinePart::FromNothing];
    let mut text = if !HeadlinePart::FromNothing.is_there(&lines) {
        best() + &table(&lines, &[HeadlinePart::Best], page)
    } else if fits(&headline_sheet(&lines, &alone).fit(page), &lines, page) {
        let both = "Best configuration, and the best strategy without earlier runs";
        title(both, shared, page) + &table(&lines, &alone, page)
    } else {
        let closest = "Best strategy without earlier runs";
        best()
            + &table(&lines, &[HeadlinePart::Best], page)
            + "\n"
            + &title(closest, None, page)
            + &table(&lines, &[HeadlinePart::FromNothing], page)
    };
    let more = blocks.len() - told;
    if more > 0 {
        text += &format!("… and {more} more above\n");
    }
    text + &page.dim(EXPLAIN)
}

/// The closest strategy of each block with earlier runs; empty if no strategy uses earlier runs.
pub(super) fn with_earlier_runs(blocks: &[&[Group]], places: &Places, page: &Page) -> String {
    let (_, lines, _) = rows(blocks, places);
    let part = HeadlinePart::WithEarlierRuns;
    if !part.is_there(&lines) {
        return String::new();
    }
    let page = &without_columns(page);
    title("Best strategy with earlier runs", None, page) + &table(&lines, &[part], page) + "\n"
}

/// The number of blocks with a row, these rows, and the VM type that all share.
fn rows<'g>(
    blocks: &[&'g [Group]],
    places: &Places,
) -> (usize, Vec<HeadlineRow<'g>>, Option<&'g str>) {
    let told = headline_blocks(blocks);
    let oracles = told.iter().filter_map(|block| block[0].oracle.as_ref());
    let shared = shared_vm(oracles, places).filter(|_| told.len() > 1);
    let lines = told
        .iter()
        .map(|block| line(block, shared.is_none(), places));
    (told.len(), lines.collect(), shared)
}

/// Requested columns apply to the tables above only.
fn without_columns(page: &Page) -> Page {
    Page {
        columns: Vec::new(),
        ..page.clone()
    }
}

fn table(lines: &[HeadlineRow<'_>], parts: &[HeadlinePart], page: &Page) -> String {
    headline_sheet(lines, parts).fit(page).text(page)
}

/// Whether a table fits the width of the page, with one line per row and all important columns.
fn fits(table: &TableLayout, lines: &[HeadlineRow<'_>], page: &Page) -> bool {
    let text = table.rows.concat();
    let misses = |head: &str| table.left_out.iter().any(|own| own == head);
    page.is_wide
        || (text.lines().count() == lines.len()
            && page.has_room_for(&text)
            && !["time h", "cost $", "strategy", OFF]
                .into_iter()
                .any(misses))
}

fn title(text: &str, shared: Option<&str>, page: &Page) -> String {
    let parts = std::iter::once(text.to_owned()).chain(shared.map(all_on));
    page.bold(&page.parts(parts, 2))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeadlinePart {
    Best,
    FromNothing,
    WithEarlierRuns,
}

impl HeadlinePart {
    fn is_there(self, lines: &[HeadlineRow<'_>]) -> bool {
        lines.iter().any(|line| !self.closest(line).is_empty())
    }

    fn closest<'l, 'g>(self, line: &'l HeadlineRow<'g>) -> &'l [&'g Group] {
        match self {
            HeadlinePart::Best => &[],
            HeadlinePart::FromNothing => &line.from_nothing,
            HeadlinePart::WithEarlierRuns => &line.with_earlier_runs,
        }
    }
}

type HeadlineColumns<'l, 'g> = Vec<Column<'l, &'l HeadlineRow<'g>>>;

fn headline_sheet<'l, 'g>(
    lines: &'l [HeadlineRow<'g>],
    parts: &[HeadlinePart],
) -> Sheet<'l, &'l HeadlineRow<'g>> {
    let is_there = |text: for<'t> fn(&'t HeadlineRow<'g>) -> &'t str| {
        lines.iter().any(|line| !text(line).is_empty())
    };
    let mut columns: HeadlineColumns<'l, 'g> = Vec::new();
    if is_there(|line| &line.first.setting) {
        columns.push(
            Column::word("setting", |line: &&HeadlineRow<'g>| &*line.first.setting)
                .rank(0)
                .stacked(|line| line.first.setting.replace(';', ";\n")),
        );
    }
    let shared = shared_prefix(lines.iter().map(|line| &*line.first.workload));
    columns.push(
        Column::word("job", |line: &&HeadlineRow<'g>| &*line.first.workload)
            .rank(0)
            .short(move |line| line.first.workload[shared..].to_owned()),
    );
    if lines.iter().any(|line| line.pricing != lines[0].pricing) {
        columns.push(Column::word("pricing", |line: &&HeadlineRow<'g>| &*line.pricing).rank(0));
    }
    columns.push(Column::word("for", |line: &&HeadlineRow<'g>| &*line.first.objective).rank(0));
    for part in parts {
        match part {
            HeadlinePart::Best => of_best(&mut columns),
            part => of_closest(*part, lines, &mut columns),
        }
    }
    if parts.contains(&HeadlinePart::FromNothing) && is_there(|line| &line.default) {
        columns
            .push(Column::number(DEFAULT, |line: &&HeadlineRow<'g>| line.default.clone()).rank(6));
    }
    Sheet::new(lines, columns)
}

/// Length of the common prefix of several different names, up to a hyphen.
fn shared_prefix<'n>(names: impl Iterator<Item = &'n str>) -> usize {
    let mut names = names;
    let Some(first) = names.next() else {
        return 0;
    };
    let (mut length, mut are_different) = (first.len(), false);
    for name in names {
        let is_same = first.bytes().zip(name.bytes()).take_while(|(a, b)| a == b);
        length = length.min(is_same.count());
        are_different |= name != first;
    }
    // A hyphen is a single byte, so names are cut between characters.
    let hyphen = first.as_bytes()[..length]
        .iter()
        .rposition(|byte| *byte == b'-');
    hyphen.filter(|_| are_different).map_or(0, |at| at + 1)
}

fn of_best<'l, 'g>(columns: &mut HeadlineColumns<'l, 'g>) {
    columns.extend([
        Column::text("best", |line: &&HeadlineRow<'g>| line.best[0].clone())
            .rank(0)
            .stacked(|line| line.best[1].clone())
            .wrapped(),
        Column::number("time h", |line: &&HeadlineRow<'g>| line.time_h.clone()).rank(0),
        Column::number("cost $", |line: &&HeadlineRow<'g>| line.cost_usd.clone()).rank(0),
    ]);
}

fn of_closest<'l, 'g>(
    part: HeadlinePart,
    lines: &'l [HeadlineRow<'g>],
    columns: &mut HeadlineColumns<'l, 'g>,
) {
    let cell = move |line: &HeadlineRow<'g>, text: fn(&Group) -> String| {
        or_dash(part.closest(line).first().map(|group| text(group)))
    };
    let is_there = |is_it: fn(&Group) -> bool| {
        let mut all = lines.iter().filter_map(|line| part.closest(line).first());
        all.any(|group| is_it(group))
    };
    let names = move |line: &&HeadlineRow<'g>| {
        let equal = part.closest(line).iter();
        let names: Vec<&str> = equal.map(|group| group.strategy.as_str()).collect();
        or_dash((!names.is_empty()).then(|| names.join(", ")))
    };
    columns.extend([
        Column::text("strategy", names)
            .rank(1)
            .short(move |line| cell(line, |group| group.strategy.clone())),
        Column::number(OFF, move |line: &&HeadlineRow<'g>| {
            cell(line, |group| off_text(group)[1].clone())
        })
        .rank(1)
        .short(move |line| cell(line, |group| off_text(group)[0].clone())),
    ]);
    if is_there(|group| group.tallied.share("kept_net").is_some()) {
        let kept = move |line: &&HeadlineRow<'g>| {
            cell(line, |group| {
                let share = group.tallied.share("kept_net");
                share.map_or_else(String::new, |_| percent(kept(group), 0))
            })
        };
        columns.push(Column::number("kept", kept).rank(3));
    }
    let search = move |line: &&HeadlineRow<'g>| cell(line, |group| search_texts(group)[0].clone());
    columns.push(
        Column::number(SEARCH, search)
            .rank(2)
            .short(move |line| cell(line, |group| search_texts(group)[1].clone())),
    );
    if is_there(builds_on_runs) {
        let earlier = move |line: &&HeadlineRow<'g>| {
            cell(line, |group| {
                let runs = builds_on_runs(group).then(|| known_text(group));
                runs.unwrap_or_default()
            })
        };
        columns.push(Column::number("earlier runs", earlier).rank(4));
    }
}

fn line<'g>(block: &'g [Group], with_vm: bool, places: &Places) -> HeadlineRow<'g> {
    let figures = oracle_figures(block);
    let best = |between: &str| match (figures, oracle_place(block, places, with_vm, between)) {
        (None, _) => "no result".to_owned(),
        (Some(_), Some(place)) => place,
        (Some(_), None) => "each VM type by itself".to_owned(),
    };
    let all = ranked(block);
    // Sorted: the closest is the first.
    let among = |with_runs: bool| -> Vec<&'g Group> {
        let some = all.iter().copied();
        let some: Vec<&Group> = some.filter(|g| builds_on_runs(g) == with_runs).collect();
        let equal = some.iter().take_while(|group| are_equal(group, some[0]));
        equal.copied().collect()
    };
    let from_nothing = among(false);
    // If it is the closest itself, it is not listed twice.
    let is_closest = from_nothing
        .first()
        .is_some_and(|first| first.strategy == DEFAULT);
    let default = all
        .iter()
        .find(|group| group.strategy == DEFAULT && !is_closest);
    let default = default.and_then(|group| Some(100.0 * off(group)?.mean));
    HeadlineRow {
        first: &block[0],
        pricing: places.policy(&block[0].pricing),
        best: [best(" on "), best("\non ")],
        time_h: or_dash(figures.map(|(time, _)| figure(time))),
        cost_usd: or_dash(figures.map(|(_, cost)| figure(cost))),
        from_nothing,
        with_earlier_runs: among(true),
        default: default.map_or_else(String::new, |percent| format!("{percent:+.0} %")),
    }
}

/// Time and cost of a search, and the one that the objective counts.
fn search_texts(group: &Group) -> [String; 2] {
    let whole = spent_text(group, ["search_time_h", "search_cost_usd"]);
    match ["search_time_h", "search_cost_usd"].map(|metric| mean_of(group, metric)) {
        [Some(time), Some(cost)] if time > 0.0 => match objective(group) {
            Some(Objective::Cost) => [whole, usd(cost)],
            _ => [whole, hours(time)],
        },
        _ => [whole.clone(), whole],
    }
}

/// The share of the knee's gain that choices miss, without the search.
fn missed(depth: &Mean) -> Mean {
    Mean {
        mean: 1.0 - depth.mean,
        interval: depth.interval.map(|ends| Interval {
            low: 1.0 - ends.high,
            high: 1.0 - ends.low,
        }),
        ..*depth
    }
}

/// The relative distance of a strategy from the best.
pub(super) fn off(group: &Group) -> Option<Mean> {
    let over = |metric| {
        let mean = group.mean(metric)?;
        let value = typical(group, metric)?.value();
        Some(Mean {
            mean: value,
            ..*mean
        })
    };
    match net_overhead(objective(group)?) {
        Some(metric) => over(metric),
        None => group.mean("knee_depth").map(missed),
    }
}

/// The distance of a strategy from the best, in percent: alone, and with the interval.
fn off_text(group: &Group) -> [String; 2] {
    let over = |metric| {
        let value = typical(group, metric)?;
        let percent = |text| format!("{text} %");
        Some([percent(value.text()), percent(value.text_with_interval())])
    };
    let both = match objective(group).and_then(net_overhead) {
        Some(metric) => over(metric),
        None => group.mean("knee_depth").map(|depth| {
            let missed = missed(depth);
            [signed(missed.mean), mean_percent(&missed)].map(|text| format!("{text} %"))
        }),
    };
    both.unwrap_or_else(|| [NONE.to_owned(), NONE.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_what_all_begin_with() {
        let shared = |names: &[&str]| shared_prefix(names.iter().copied());
        assert_eq!(shared(&["a-b-c1", "a-b-c1", "a-b-c2", "a-b-c2", "a-d"]), 2);
        assert_eq!(shared(&["a-b-c1", "a-b-c1"]), 0);
        assert_eq!(shared(&["a-b", "c-d"]), 0);
        assert_eq!(shared(&["é-a", "é-b"]), 3);
        assert_eq!(shared(&[]), 0);
    }
}
