//! What all tables come to, a line per job and objective: the best there is, and who comes closest to it.

use super::choices::{all_on, objective, oracle_figures, oracle_place, shared_vm};
use super::closest::{are_equal, kept, ranked, searched};
use super::percent::{mean_percent, typical};
use super::places::Places;
use super::summary_columns::known_text;

use scavsim_base::stats::Interval;
use scavsim_base::text::words::{NONE, figure, hours, or_dash, percent, signed};
use scavsim_base::text::{Column, Page, Sheet, TableLayout};
use scavsim_experiment::{Group, Mean};
use scavsim_search::search::Objective;

/// More lines than this are no answer.
const MOST: usize = 12;
const DEFAULT: &str = "default";

const HEADS: [(&str, &str); 14] = [
    ("setting", "Values of the keys that hold several."),
    ("job", "Workload, job or model."),
    ("pricing", "Pricing policy."),
    (
        "for",
        "The objective: time, cost, or the knee between both.",
    ),
    (
        "best",
        "The oracle's choice: the best in expectation, workers × batch and its VMs.",
    ),
    ("time h", "Hours that the best takes, in the mean."),
    ("cost $", "What the best costs, in the mean, USD."),
    (
        "strategy",
        "The strategy that comes closest to the best. Those that start from nothing and those that build on earlier runs have a \
         table each; of equal ones it is the one that spent least.",
    ),
    (
        OFF,
        "How far time or cost of the strategy is from the best's in percent, its search counted (net). For the knee: the share \
         of the knee's gain that its choice misses.",
    ),
    ("kept", "Share of replicas within the limits."),
    ("search", "Time until the choice begins to train."),
    ("search $", "What the search costs, USD."),
    (
        "earlier runs",
        "Time and cost of the runs that the strategy builds on.",
    ),
    (
        "default",
        "How far the strategy `default`, which takes the usual configuration, is from the best, as `off %`.",
    ),
];
const OFF: &str = "off %";

pub fn meanings() -> impl Iterator<Item = (&'static str, &'static str)> {
    HEADS.into_iter()
}

/// The strategy that comes closest to the oracle of a block, among some.
struct ClosestStrategy {
    /// The name of the strategy alone, and with all that are equal to it.
    names: [String; 2],
    /// How far it is off, alone and with the interval.
    off: [String; 2],
    kept: String,
    search: String,
    search_usd: String,
    earlier: String,
}

struct HeadlineRow<'g> {
    first: &'g Group,
    pricing: String,
    /// The best on one line, and on two.
    best: [String; 2],
    time_h: String,
    cost_usd: String,
    from_nothing: Option<ClosestStrategy>,
    with_earlier_runs: Option<ClosestStrategy>,
    default: String,
}

/// The blocks that have a line: all, or those of the first policy where there are many.
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

pub(super) fn render(blocks: &[&[Group]], places: &Places, page: &Page) -> String {
    let told = headline_blocks(blocks);
    let oracles = || told.iter().filter_map(|block| block[0].oracle.as_ref());
    let shared = shared_vm(oracles(), places).filter(|_| told.len() > 1);
    let lines: Vec<HeadlineRow<'_>> = told
        .iter()
        .map(|block| line(block, shared.is_none(), places))
        .collect();
    // HeadlineColumns that are asked for are those of the tables below.
    let page = &Page {
        columns: Vec::new(),
        ..page.clone()
    };
    let is_there = |part: HeadlinePart| lines.iter().any(|line| part.closest(line).is_some());
    let best = || title("Best", shared, page);
    let alone = [HeadlinePart::Best, HeadlinePart::FromNothing];
    let mut tables: Vec<(String, Vec<HeadlinePart>)> = Vec::new();
    if !is_there(HeadlinePart::FromNothing) {
        tables.push((best(), vec![HeadlinePart::Best]));
    } else if fits(&headline_sheet(&lines, &alone).fit(page), &lines, page) {
        let both = "Best, and the closest strategy that starts from nothing";
        tables.push((title(both, shared, page), alone.to_vec()));
    } else {
        tables.push((best(), vec![HeadlinePart::Best]));
        let closest = "Closest strategy that starts from nothing";
        tables.push((title(closest, None, page), vec![HeadlinePart::FromNothing]));
    }
    if is_there(HeadlinePart::WithEarlierRuns) {
        let closest = "Closest strategy that builds on earlier runs";
        tables.push((
            title(closest, None, page),
            vec![HeadlinePart::WithEarlierRuns],
        ));
    }
    let mut text = String::new();
    let (mut has_off, mut has_default) = (false, false);
    for (title, parts) in tables {
        if !text.is_empty() {
            text.push('\n');
        }
        let sheet = headline_sheet(&lines, &parts);
        let table = sheet.fit(page);
        let shows = |head: &str| table.shown.iter().any(|&at| sheet.columns[at].head == head);
        has_off |= shows(OFF);
        has_default |= shows(DEFAULT);
        text += &title;
        text += &table.text(page);
    }
    let more = blocks.len() - told.len();
    if more > 0 {
        text += &format!("… and {more} more below\n");
    }
    let is_legend = |head: &str| (head == OFF && has_off) || (head == DEFAULT && has_default);
    let legend = HEADS.into_iter().filter(|(head, _)| is_legend(head));
    text + &page.legend(legend) + "\n"
}

/// Whether a table is no wider than the page, each line of it a row, and has what matters.
fn fits(table: &TableLayout, lines: &[HeadlineRow<'_>], page: &Page) -> bool {
    let text = table.rows.concat();
    let misses = |head: &str| table.left_out.iter().any(|own| own == head);
    page.is_wide
        || (text.lines().count() == lines.len()
            && page.has_room_for(&text)
            && !["time h", "cost $", "strategy", OFF, "search"]
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
    fn closest<'l>(self, line: &'l HeadlineRow<'_>) -> Option<&'l ClosestStrategy> {
        match self {
            HeadlinePart::Best => None,
            HeadlinePart::FromNothing => line.from_nothing.as_ref(),
            HeadlinePart::WithEarlierRuns => line.with_earlier_runs.as_ref(),
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
    columns.push(Column::word("job", |line: &&HeadlineRow<'g>| &*line.first.workload).rank(0));
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
    let cell = move |line: &HeadlineRow<'g>, text: fn(&ClosestStrategy) -> &String| {
        or_dash(part.closest(line).map(|closest| text(closest).clone()))
    };
    let is_there = |text: fn(&ClosestStrategy) -> &String| {
        let mut all = lines.iter().filter_map(|line| part.closest(line));
        all.any(|closest| !text(closest).is_empty())
    };
    columns.push(
        Column::text("strategy", move |line: &&HeadlineRow<'g>| {
            cell(line, |c| &c.names[1])
        })
        .rank(1)
        .short(move |line| cell(line, |c| &c.names[0])),
    );
    columns.push(
        Column::number(OFF, move |line: &&HeadlineRow<'g>| {
            cell(line, |c| &c.off[1])
        })
        .rank(1)
        .short(move |line| cell(line, |c| &c.off[0])),
    );
    if is_there(|closest| &closest.kept) {
        columns.push(
            Column::number("kept", move |line: &&HeadlineRow<'g>| {
                cell(line, |c| &c.kept)
            })
            .rank(3),
        );
    }
    columns.push(
        Column::number("search", move |line: &&HeadlineRow<'g>| {
            cell(line, |c| &c.search)
        })
        .rank(2),
    );
    columns.push(
        Column::number("search $", move |line: &&HeadlineRow<'g>| {
            cell(line, |c| &c.search_usd)
        })
        .rank(5),
    );
    if is_there(|closest| &closest.earlier) {
        let earlier = move |line: &&HeadlineRow<'g>| cell(line, |c| &c.earlier);
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
    let builds = |group: &Group| {
        let known = group.mean("known_time_h");
        known.is_some_and(|hours| hours.mean > 0.0)
    };
    let among = |with_runs: bool| {
        let some = all.iter().copied();
        closest(
            &some
                .filter(|group| builds(group) == with_runs)
                .collect::<Vec<_>>(),
        )
    };
    let from_nothing = among(false);
    // Where it is the closest itself, it need not stand there twice.
    let is_closest = (from_nothing.as_ref()).is_some_and(|closest| closest.names[0] == DEFAULT);
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

/// The first of some strategies, which are sorted: the closest.
fn closest(all: &[&Group]) -> Option<ClosestStrategy> {
    let first = *all.first()?;
    let equal = all.iter().take_while(|group| are_equal(group, first));
    let equal: Vec<&str> = equal.map(|group| group.strategy.as_str()).collect();
    let mean = |metric| group_mean(first, metric);
    let search_usd = mean("search_cost_usd").filter(|_| searched(first).is_some());
    Some(ClosestStrategy {
        names: [first.strategy.clone(), equal.join(", ")],
        off: off_text(first),
        kept: match first.tallied.share("kept_net") {
            Some(_) => percent(kept(first), 0),
            None => String::new(),
        },
        search: match mean("search_time_h") {
            Some(time) if time > 0.0 => hours(time),
            Some(_) => "none".to_owned(),
            None => NONE.to_owned(),
        },
        search_usd: or_dash(search_usd.map(|usd| format!("{usd:.2}"))),
        earlier: match mean("known_time_h") {
            Some(time) if time > 0.0 => known_text(first),
            _ => String::new(),
        },
    })
}

fn group_mean(group: &Group, metric: &str) -> Option<f64> {
    group.mean(metric).map(|mean| mean.mean)
}

/// The share of the knee's gain that choices miss, which has no search in it.
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

/// How far a strategy is from the best, as a fraction.
fn off(group: &Group) -> Option<Mean> {
    let over = |metric| {
        let mean = group.mean(metric)?;
        let value = typical(group, metric)?.value();
        Some(Mean {
            mean: value,
            ..*mean
        })
    };
    match objective(group)? {
        Objective::Time => over("overhead_net_time"),
        Objective::Cost => over("overhead_net_cost"),
        Objective::Knee => group.mean("knee_depth").map(missed),
    }
}

/// How far a strategy is from the best, in percent: alone, and with the interval.
fn off_text(group: &Group) -> [String; 2] {
    let over = |metric| {
        let value = typical(group, metric)?;
        Some([value.text(), value.text_with_interval()])
    };
    let both = match objective(group) {
        Some(Objective::Time) => over("overhead_net_time"),
        Some(Objective::Cost) => over("overhead_net_cost"),
        Some(Objective::Knee) | None => group.mean("knee_depth").map(|depth| {
            let missed = missed(depth);
            [signed(missed.mean), mean_percent(&missed)]
        }),
    };
    both.unwrap_or_else(|| [NONE.to_owned(), NONE.to_owned()])
}
