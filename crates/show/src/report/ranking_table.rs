//! Every configuration of a ranking for people: a line each, on no more columns than there are.

use super::places::Places;
use super::ranking_data::{held, market};
use super::summary_table::{hours_text, usd_text};
use scavsim_base::text::Page;
use scavsim_base::text::text_table;
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_lab::experiment::{Ranked, Ranking};
use scavsim_search::search::{Limits, Objective};

/// What is shown.
#[derive(Debug, Clone, Copy)]
pub struct Shown {
    /// Most rows; all when `None`.
    pub top: Option<usize>,
    /// Columns of the terminal.
    pub width: usize,
    /// Whether it shows colours.
    pub is_coloured: bool,
}

/// How much of a row fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    /// How it was obtained as a letter, not as a word.
    letter: bool,
    cost_interval: bool,
    time_interval: bool,
    /// Rows on two lines.
    stacked: bool,
}

/// From all to the least.
const LAYOUTS: [Layout; 5] = {
    let all = Layout {
        letter: false,
        cost_interval: true,
        time_interval: true,
        stacked: false,
    };
    let letter = Layout {
        letter: true,
        ..all
    };
    let no_cost = Layout {
        cost_interval: false,
        ..letter
    };
    let none = Layout {
        time_interval: false,
        ..no_cost
    };
    [
        all,
        letter,
        no_cost,
        none,
        Layout {
            stacked: true,
            ..none
        },
    ]
};

/// What all blocks have in common.
struct Common {
    shown: Shown,
    layout: Layout,
    runs: u64,
    limits: Limits,
    /// Whether it is of bags of jobs, whose times are stated.
    of_bags: bool,
    /// Whether it is of parallel plans, whose steps are modelled.
    of_plans: bool,
}

impl Common {
    fn page(&self) -> Page {
        Page {
            width: self.shown.width,
            is_coloured: self.shown.is_coloured,
            ..Page::default()
        }
    }
}

/// A block per workload and policy, with a legend below all.
pub fn render(scenario: &str, rankings: &[Ranking], places: &Places, shown: Shown) -> String {
    let Some(first) = rankings.first() else {
        return String::new();
    };
    let rows = || rankings.iter().flat_map(|ranking| &ranking.rows);
    let mut common = Common {
        shown,
        layout: LAYOUTS[0],
        runs: rows().map(|row| row.runs).max().unwrap_or(1),
        limits: first.limits,
        of_bags: rows().any(|row| ["stated", "formula"].contains(&row.provenance)),
        of_plans: rows().any(|row| row.provenance == "modelled"),
    };
    let mut text = String::new();
    for layout in LAYOUTS {
        common.layout = layout;
        text = rankings
            .iter()
            .map(|r| block(scenario, r, places, &common))
            .collect();
        if text.lines().all(|line| line.chars().count() <= shown.width) {
            break;
        }
    }
    text + &legend(first.objective, &common) + &places.below(&common.page())
}

fn block(scenario: &str, ranking: &Ranking, places: &Places, common: &Common) -> String {
    let all = ranking.rows.len();
    let count = common.shown.top.unwrap_or(all).min(all);
    let rows = &ranking.rows[..count];
    let unit = Unit::of(&ranking.rows);
    let mut markets: Vec<Option<&str>> = ranking.rows.iter().map(market).collect();
    markets.dedup();
    let one_market = markets.len() <= 1;
    let title = [
        scenario.to_owned(),
        ranking.setting.clone(),
        ranking.workload.clone(),
        places.policy(&ranking.pricing),
        format!("by {}", ranking.objective.name()),
    ];
    let title = title.into_iter().filter(|part| !part.is_empty());
    let mut text = common.page().parts(title, 2);
    let mut facts = vec![match all {
        1 => "1 configuration".to_owned(),
        n => format!("{n} configurations"),
    }];
    facts.push(format!("{} on the front", ranking.on_front()));
    if let (true, Some(Some(market))) = (one_market, markets.first()) {
        facts.push(format!("all {market}"));
    }
    text += &common.page().parts(facts, 2);
    let with_kind = ranking.rows.iter().any(is_of_a_kind);
    let columns = Columns {
        layout: common.layout,
        varies: common.runs > 1,
        limited: common.limits.are_any(),
        with_market: !one_market,
        with_kind,
        unit,
        objective: ranking.objective,
    };
    let cells: Vec<Vec<String>> = rows.iter().map(|row| columns.row(row)).collect();
    let header = columns.header();
    let left: Vec<usize> = (0..header.len())
        .filter(|at| columns.is_text(header[*at]))
        .collect();
    let page = common.page();
    let lines = text_table::lines(&header, &left, &cells);
    let heights = cells
        .iter()
        .map(|row| row.iter().map(|cell| cell.lines().count()).max());
    let mut lines = lines.into_iter();
    text += &page.bold(&lines.next().unwrap_or_default());
    for (row, height) in rows.iter().zip(heights) {
        let line: String = lines.by_ref().take(height.unwrap_or(1)).collect();
        text += &match (row.best_for.contains(&ranking.objective), row.is_allowed) {
            (true, _) => page.best(&line),
            (false, false) => page.failed(&line),
            (false, true) => line,
        };
    }
    if count < all {
        text += &format!("… and {} more: --top all\n", all - count);
    }
    text += &bests(ranking);
    text + "\n"
}

/// The best for objectives that the rows are not sorted by.
fn bests(ranking: &Ranking) -> String {
    let mut text = String::new();
    for row in &ranking.rows {
        for objective in row.best_for.iter().filter(|o| **o != ranking.objective) {
            text += &format!(
                "best for {}: {}, {}, {}\n",
                objective.name(),
                named(row),
                hours_text(row.expected.time_s / SECONDS_PER_HOUR),
                usd_text(row.expected.cost_usd)
            );
        }
    }
    let costs = ranking
        .rows
        .iter()
        .filter_map(|row| Some((row.job_cost_usd?, row)));
    if let Some((usd, row)) = costs.min_by(|a, b| a.0.total_cmp(&b.0)) {
        text += &format!(
            "least expected cost of a job, E[C] = p N E[T]: {}, {usd:.4} USD\n",
            named(row)
        );
    }
    if !ranking.rows.iter().any(|row| row.is_allowed) {
        text += "no configuration keeps to the limits\n";
    }
    text
}

/// A configuration in words, with its kind where it is one.
fn named(row: &Ranked) -> String {
    let kind = row.vm.as_ref().filter(|_| is_of_a_kind(row));
    let kind = kind.map_or_else(String::new, |kind| format!(" ({kind})"));
    configuration(row, true) + &kind
}

/// Whether its name is not that of its VMs.
fn is_of_a_kind(row: &Ranked) -> bool {
    let Some(vm) = &row.vm else { return false };
    let type_of = vm.split_once('/').map_or(&**vm, |(name, _)| name);
    !row.held.is_empty() && row.held.iter().any(|held| held.vm != type_of)
}

/// Workers and batch, and what else it is but its VMs.
fn configuration(row: &Ranked, with_vms: bool) -> String {
    let counts = [row.workers, row.batch].into_iter().flatten();
    let counts: Vec<String> = counts.map(|n| n.to_string()).collect();
    let mut text = counts.join(" × ");
    if with_vms {
        let on = if text.is_empty() { "" } else { " on " };
        text += &format!("{on}{}", machines(row));
    }
    if let Some(other) = &row.other {
        let comma = if text.is_empty() { "" } else { ", " };
        text += &format!("{comma}{}", other.replace(';', ", "));
    }
    text
}

/// Its VMs, with their placement where there is one.
fn machines(row: &Ranked) -> String {
    match (&row.vm, &row.held[..]) {
        (Some(vm), [held]) if !is_of_a_kind(row) => format!("{} {vm}", held.vms),
        (Some(vm), []) => vm.clone(),
        _ => held(row),
    }
}

/// What times are shown in.
#[derive(Debug, Clone, Copy)]
struct Unit {
    name: &'static str,
    seconds: f64,
}

impl Unit {
    /// Hours, or less where all is short.
    fn of(rows: &[Ranked]) -> Unit {
        let finite = rows.iter().map(|row| row.expected.time_s);
        let least = finite
            .filter(|t| t.is_finite())
            .fold(f64::INFINITY, f64::min);
        match least {
            t if t < 60.0 => Unit {
                name: "time s",
                seconds: 1.0,
            },
            t if t < 360.0 => Unit {
                name: "time min",
                seconds: 60.0,
            },
            _ => Unit {
                name: "time h",
                seconds: SECONDS_PER_HOUR,
            },
        }
    }
}

/// The columns of a block.
struct Columns {
    layout: Layout,
    varies: bool,
    limited: bool,
    with_market: bool,
    with_kind: bool,
    unit: Unit,
    objective: Objective,
}

/// Header of an interval.
const INTERVAL: &str = "90 %";

impl Columns {
    fn is_text(&self, name: &str) -> bool {
        ["", "K × B", "on", "kind", "market", "from", "f"].contains(&name)
    }

    fn header(&self) -> Vec<&'static str> {
        let mut header = vec!["", "K × B"];
        header.extend(self.with_kind.then_some("kind"));
        header.push("on");
        header.extend(self.with_market.then_some("market"));
        header.push(self.unit.name);
        header.extend((self.varies && self.layout.time_interval).then_some(INTERVAL));
        header.push("cost $");
        header.extend((self.varies && self.layout.cost_interval).then_some(INTERVAL));
        header.extend(self.limited.then_some("miss"));
        header.push(if self.layout.letter { "f" } else { "from" });
        if self.layout.stacked {
            header.retain(|name| *name != "on" && *name != "kind");
        }
        header
    }

    fn row(&self, row: &Ranked) -> Vec<String> {
        let scaled = |seconds: f64| figure(seconds / self.unit.seconds);
        let interval = |ends: [f64; 2], text: &dyn Fn(f64) -> String| match ends[0] == ends[1] {
            true => "–".to_owned(),
            false => format!("{}–{}", text(ends[0]), text(ends[1])),
        };
        let mark = match (row.best_for.contains(&self.objective), row.is_on_front) {
            (true, _) => "*",
            (false, true) => "+",
            _ if !row.is_allowed => "!",
            _ => "",
        };
        let mut cells = vec![mark.to_owned()];
        let own = configuration(row, false);
        if self.layout.stacked {
            cells.push(format!("{own}\non {}", machines(row)));
        } else {
            cells.push(own);
            if self.with_kind {
                cells.push(row.vm.clone().unwrap_or_default());
            }
            cells.push(machines(row));
        }
        if self.with_market {
            cells.push(market(row).unwrap_or("–").to_owned());
        }
        cells.push(scaled(row.expected.time_s));
        if self.varies && self.layout.time_interval {
            cells.push(interval(row.time_s, &scaled));
        }
        cells.push(figure(row.expected.cost_usd));
        if self.varies && self.layout.cost_interval {
            cells.push(interval(row.cost_usd, &figure));
        }
        if self.limited {
            let share = row.miss.and_then(|miss| miss.share());
            cells.push(share.map_or_else(|| "–".to_owned(), percent));
        }
        cells.push(match self.layout.letter {
            true => row.provenance[..1].to_owned(),
            false => row.provenance.to_owned(),
        });
        cells
    }
}

/// Four digits or all before the point.
fn figure(value: f64) -> String {
    match value {
        v if !v.is_finite() => "never".to_owned(),
        v if v.abs() >= 999.95 => format!("{v:.0}"),
        v if v.abs() >= 99.995 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

/// A share of runs.
fn percent(share: f64) -> String {
    match 100.0 * share {
        0.0 => "0 %".to_owned(),
        p if p < 1.0 => "< 1 %".to_owned(),
        p if p > 99.0 && p < 100.0 => "> 99 %".to_owned(),
        p => format!("{p:.0} %"),
    }
}

fn legend(objective: Objective, common: &Common) -> String {
    let mut lines = vec![
        (
            "*, +",
            format!(
                "best for {}; on the Pareto front: nothing is both faster and cheaper",
                objective.name()
            ),
        ),
        (
            "K × B",
            "workers × global batch; behind a slash the workers on each VM".to_owned(),
        ),
    ];
    let Layout {
        letter,
        cost_interval,
        time_interval,
        ..
    } = common.layout;
    if common.limits.are_any() {
        let mut limits = Vec::new();
        if let Some(most) = common.limits.max_time_s {
            limits.push(hours_text(most / SECONDS_PER_HOUR));
        }
        limits.extend(common.limits.max_cost_usd.map(usd_text));
        let limits = limits.join(" or ");
        lines[0].0 = "*, +, !";
        lines[0].1 += "; not within the limits";
        lines.push(("miss", format!("share of runs beyond {limits}")));
    }
    match common.runs {
        1 => lines.push((
            INTERVAL,
            "none: nothing varies at random here, so that one run tells all".to_owned(),
        )),
        n if time_interval => {
            lines.push((
                INTERVAL,
                format!("from 5 % to 95 % of {n} runs, over what nobody can know beforehand"),
            ));
        }
        _ => {}
    }
    if common.runs > 1 && !(cost_interval && time_interval) {
        lines.push((
            "",
            "no room for all intervals: see --width, or --format csv".to_owned(),
        ));
    }
    lines.push(match letter {
        true if common.of_bags => ("f", "s stated in the scenario, f by formula".to_owned()),
        false if common.of_bags => ("from", "stated in the scenario, or by formula".to_owned()),
        true if common.of_plans => ("f", "m modelled on measured layers".to_owned()),
        false if common.of_plans => ("from", "modelled on measured layers".to_owned()),
        true => (
            "f",
            "m measured, i interpolated, e extrapolated by laws".to_owned(),
        ),
        false => (
            "from",
            "measured, interpolated between measurements, or extrapolated by laws".to_owned(),
        ),
    });
    let entries = lines.iter().map(|(word, line)| (*word, line.as_str()));
    common.page().legend(entries)
}
