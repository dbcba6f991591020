//! The summary of a run of many pricing policies: a line per strategy, over all policies.

use super::closest::{are_equal, ranked};
use super::headline_table::off;
use super::places::Places;
use scavsim_base::text::words::{NONE, hours, signed, usd};
use scavsim_base::text::{Column, EXPLAIN, Page, Sheet};
use scavsim_experiment::Group;
use scavsim_search::search::{ORACLE, Objective};

/// Number of blocks from which on policies are summarised.
const MANY: usize = 10;

struct StrategyLine<'g> {
    objective: &'g str,
    strategy: &'g str,
    worse_by: Vec<f64>,
    /// Hours or USD of searches, depending on the objective.
    search: Vec<f64>,
    /// Hours of earlier runs that it uses.
    earlier_h: f64,
    best_in: usize,
    blocks: usize,
}

/// Whether pricing policies are swept, or too many for a table each on one screen.
pub(super) fn is_of(blocks: &[&[Group]], places: &Places) -> bool {
    let first = blocks.first().map(|block| &block[0].pricing);
    let several = blocks.iter().any(|block| Some(&block[0].pricing) != first);
    let are_swept = |block: &&[Group]| !places.swept(&block[0].pricing).1.is_empty();
    several && (blocks.len() >= MANY || blocks.iter().any(are_swept))
}

/// The answer: how much worse each strategy is than the best, the cost of its search, and how often it is the closest.
pub(super) fn render(blocks: &[&[Group]], page: &Page) -> String {
    let mut lines: Vec<StrategyLine<'_>> = Vec::new();
    for block in blocks {
        let all = ranked(block);
        for group in block.iter().filter(|group| group.strategy != ORACLE) {
            let is_it = |line: &&mut StrategyLine<'_>| {
                (line.objective, line.strategy) == (&*group.objective, &*group.strategy)
            };
            let at = match lines.iter_mut().find(is_it) {
                Some(line) => line,
                None => {
                    lines.push(StrategyLine {
                        objective: &group.objective,
                        strategy: &group.strategy,
                        worse_by: Vec::new(),
                        search: Vec::new(),
                        earlier_h: 0.0,
                        best_in: 0,
                        blocks: 0,
                    });
                    let last = lines.len() - 1;
                    &mut lines[last]
                }
            };
            let metric = match Objective::named(&group.objective) {
                Some(Objective::Cost) => "search_cost_usd",
                _ => "search_time_h",
            };
            let earlier = group.mean("known_time_h").map_or(0.0, |mean| mean.mean);
            at.earlier_h = at.earlier_h.max(earlier);
            at.blocks += 1;
            at.worse_by.extend(off(group).map(|off| off.mean));
            at.search.extend(group.mean(metric).map(|mean| mean.mean));
            at.best_in += usize::from(all.first().is_some_and(|best| are_equal(best, group)));
        }
    }
    // A stable sort keeps the scenario's order of strategies.
    lines.sort_by(|a, b| a.objective.cmp(b.objective));
    let several = lines
        .iter()
        .any(|line| line.objective != lines[0].objective);
    let mut columns =
        vec![Column::word("strategy", |line: &&StrategyLine<'_>| line.strategy).rank(0)];
    if several {
        columns.insert(
            0,
            Column::word("for", |line: &&StrategyLine<'_>| line.objective).rank(0),
        );
    }
    columns.extend([
        Column::number("worse by", |line: &&StrategyLine<'_>| {
            ends(&line.worse_by, |share| format!("{} %", signed(share)))
        })
        .rank(1),
        Column::number("search cost", |line: &&StrategyLine<'_>| {
            let is_of_cost = line.objective == Objective::Cost.name();
            if line.search.iter().all(|search| *search == 0.0) {
                return "none".to_owned();
            }
            ends(&line.search, if is_of_cost { usd } else { hours })
        })
        .rank(2),
        Column::number("earlier runs", |line: &&StrategyLine<'_>| {
            match line.earlier_h {
                0.0 => "none".to_owned(),
                time_h => format!("{time_h:.0} h"),
            }
        })
        .rank(2),
        Column::number("best in", |line: &&StrategyLine<'_>| {
            format!("{} of {}", line.best_in, line.blocks)
        })
        .rank(1),
    ]);
    if lines.is_empty() {
        return page.dim(EXPLAIN);
    }
    let title = page.bold("Strategies over all pricing policies, search included\n");
    title + &Sheet::new(&lines, columns).fit(page).text(page) + &page.dim(EXPLAIN)
}

/// The least and the most of some values.
fn ends(values: &[f64], text: impl Fn(f64) -> String) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match (text(least), text(most)) {
        _ if values.is_empty() => NONE.to_owned(),
        (least, most) if least == most => least,
        (least, most) => format!("{least} to {most}"),
    }
}
