//! Every configuration of a ranking for people: a line each, in the available width.

use super::choices::all_on;
use super::places::Places;
use super::ranking_data::{market, vms_label};
use super::ranking_layout::{INTERVAL, Layout, figure, interval};
use super::ranking_plans::{plan, plan_columns, plan_lines};
use scavsim_base::text::words::{NONE, hours, or_dash, percent, plural, share, usd, whole_share};
use scavsim_base::text::{Column, EXPLAIN, Page, Sheet, Tone};
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_data::configuration::Shape;
use scavsim_experiment::{Ranked, Ranking};
use scavsim_search::search::{Limits, Objective};

struct Common {
    /// Most rows; all when `None`.
    top: Option<usize>,
    page: Page,
    layout: Layout,
    /// Fewest and most runs of a configuration, among those with more than one run.
    runs: (u64, u64),
    /// Whether it is the only ranking, so that the answer lists its best configurations.
    is_only: bool,
    /// Whether estimates of unmeasured configurations are uncertain.
    is_unsure: bool,
    limits: Limits,
    /// Whether it has parallel plans, whose steps are modelled.
    of_plans: bool,
    may_not_fit: bool,
    /// Whether machines are lost or fail during the training.
    is_interrupted: bool,
}

/// Effective training time ratio from which interruptions are negligible.
const UNDISTURBED: f64 = 0.995;
impl Common {
    fn has_intervals(&self) -> bool {
        self.runs.1 > 1 || self.is_unsure
    }

    fn head(&self) -> &'static str {
        if self.of_plans { "plan" } else { "K × B" }
    }
}

/// A block per workload and policy, and the best ones below all blocks.
pub fn render(
    scenario: &str,
    rankings: &[Ranking],
    places: &Places,
    top: Option<usize>,
    page: &Page,
) -> String {
    let Some(first) = rankings.first() else {
        return String::new();
    };
    let rows = || rankings.iter().flat_map(|ranking| &ranking.rows);
    let runs = || rows().map(|row| row.runs).filter(|runs| *runs > 1);
    let mut common = Common {
        top,
        page: page.clone(),
        layout: Layout::All,
        runs: (runs().min().unwrap_or(1), runs().max().unwrap_or(1)),
        is_unsure: rows().any(|row| row.spread.time().is_some_and(|deviation| deviation > 0.0)),
        is_only: rankings.len() == 1,
        limits: first.limits,
        of_plans: rows().any(|row| row.plan.is_some()),
        may_not_fit: rows().any(|row| row.plan.as_ref().is_some_and(|plan| plan.may_not_fit)),
        is_interrupted: rows().any(|row| row.effective().is_some_and(|share| share < UNDISTURBED)),
    };
    let mut text = String::new();
    for layout in Layout::ALL {
        common.layout = layout;
        text = rankings
            .iter()
            .map(|r| block(scenario, r, places, &common))
            .collect();
        if common.page.has_room_for(&text) {
            break;
        }
    }
    text += &legend(&common);
    text += &places.below(page);
    if !text.ends_with("\n\n") {
        text.push('\n');
    }
    text + &answer(rankings, places, page) + &page.dim(EXPLAIN)
}

/// Lines of an answer that fit the last screen with its title.
const MOST: usize = 9;

/// The best of one ranking for each objective; if there are several rankings, for the objective that sorts them.
fn answer(rankings: &[Ranking], places: &Places, page: &Page) -> String {
    let (mut text, mut shown) = (String::new(), 0);
    for ranking in rankings {
        let own = match rankings {
            [_] => bests(ranking, page),
            _ => {
                let parts = [
                    ranking.setting.clone(),
                    ranking.workload.clone(),
                    places.policy(&ranking.pricing),
                ];
                let parts: Vec<String> = parts.into_iter().filter(|p| !p.is_empty()).collect();
                let best = best_for(ranking, ranking.objective);
                let best = best.unwrap_or_else(|| NO_CHOICE.to_owned());
                page.prose(&format!("{}: {best}", parts.join(" · ")), 2)
            }
        };
        if shown > 0 && text.lines().count() + own.lines().count() > MOST {
            text += &format!("… and {} more above\n", rankings.len() - shown);
            break;
        }
        text += &own;
        shown += 1;
    }
    text
}

fn block(scenario: &str, ranking: &Ranking, places: &Places, common: &Common) -> String {
    let all = ranking.rows.len();
    let count = common.top.unwrap_or(all).min(all);
    let rows = &ranking.rows[..count];
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
    let mut text = common.page.parts(title, 2);
    let mut facts = vec![plural(all as u64, "configuration")];
    facts.push(format!("{} on the front", ranking.on_front()));
    if let (true, Some(Some(market))) = (one_market, markets.first()) {
        facts.push(format!("all {market}"));
    }
    facts.extend(common.limit());
    let shared = shared_vm(&ranking.rows);
    facts.extend(shared.map(all_on));
    text += &common.page.parts(facts, 2);
    let columns = columns(ranking, !one_market, shared.is_none(), common);
    let sheet = Sheet::new(rows, columns).toned(|row| {
        if row.best_for.contains(&ranking.objective) {
            Tone::Best
        } else if row.is_allowed {
            Tone::Plain
        } else {
            Tone::Failed
        }
    });
    // Columns that do not fit are missing from the page.
    let wide = Page {
        is_wide: true,
        ..common.page.clone()
    };
    text += &sheet.fit(&wide).text(&wide);
    if count < all {
        text += &format!("… and {} more: --top all\n", all - count);
    }
    if !common.is_only {
        text += &bests(ranking, &common.page);
    }
    text + "\n"
}

const NO_CHOICE: &str = "no configuration keeps to the limits";

/// The best configuration for an objective, with its time and cost.
fn best_for(ranking: &Ranking, objective: Objective) -> Option<String> {
    let with_vms = shared_vm(&ranking.rows).is_none();
    let mut rows = ranking.rows.iter();
    let row = rows.find(|row| row.best_for.contains(&objective))?;
    Some(format!(
        "{}, {}, {}",
        named(row, with_vms),
        hours(row.expected.time_s / SECONDS_PER_HOUR),
        usd(row.expected.cost_usd)
    ))
}

/// The best for each objective, first for the one that sorts the rows.
fn bests(ranking: &Ranking, page: &Page) -> String {
    let mut all = Objective::ALL.to_vec();
    all.sort_by_key(|objective| *objective != ranking.objective);
    let best = |objective: Objective| {
        let best = best_for(ranking, objective)?;
        Some(format!("Best for {}: {best}", objective.name()))
    };
    let mut sentences: Vec<String> = all.into_iter().filter_map(best).collect();
    let costs = ranking
        .rows
        .iter()
        .filter_map(|row| Some((row.job_cost_usd?, row)));
    if let Some((cost, row)) = costs.min_by(|a, b| a.0.total_cmp(&b.0)) {
        sentences.push(format!(
            "least expected cost of a job, E[C] = p N E[T]: {}, {cost:.4} USD",
            named(row, shared_vm(&ranking.rows).is_none())
        ));
    }
    if !ranking.rows.iter().any(|row| row.is_allowed) {
        sentences.push(NO_CHOICE.to_owned());
    }
    sentences.iter().map(|one| page.prose(one, 2)).collect()
}

/// A configuration in words, with its kind if it has one.
fn named(row: &Ranked, with_vms: bool) -> String {
    let kind = row.vm.as_ref().filter(|_| is_of_a_kind(row));
    let kind = kind.map_or_else(String::new, |kind| format!(" ({kind})"));
    configuration(row, with_vms) + &kind
}

/// The VM type that all rows share, if the number of VMs follows from the number of workers: no line needs to name it.
fn shared_vm(rows: &[Ranked]) -> Option<&str> {
    let mut shared: Option<&str> = None;
    for row in rows {
        let vm = row.vm.as_deref().filter(|_| !is_of_a_kind(row))?;
        let vms = Shape::parse(vm).ok()?.vms(row.workers?)?;
        if machines(row) != format!("{vms} {vm}") || shared.is_some_and(|other| other != vm) {
            return None;
        }
        shared = Some(vm);
    }
    shared.filter(|_| rows.len() > 1)
}

/// Whether its name differs from the name of its VMs.
fn is_of_a_kind(row: &Ranked) -> bool {
    let Some(vm) = &row.vm else { return false };
    let type_of = vm.split_once('/').map_or(&**vm, |(name, _)| name);
    !row.held.is_empty() && row.held.iter().any(|held| held.vm != type_of)
}

/// Workers, batch and the other values, except its VMs.
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
    if row.plan.as_ref().is_some_and(|plan| plan.may_not_fit) {
        text += ", may not fit";
    }
    text
}

fn machines(row: &Ranked) -> String {
    match (&row.vm, &row.held[..]) {
        (Some(vm), [held]) if !is_of_a_kind(row) => format!("{} {vm}", held.vms),
        (Some(vm), []) => vm.clone(),
        _ => vms_label(row),
    }
}

#[derive(Debug, Clone, Copy)]
struct Unit {
    name: &'static str,
    seconds: f64,
}

impl Unit {
    /// Hours, or a smaller unit if the least time is short.
    fn for_rows(rows: &[Ranked]) -> Unit {
        let finite = rows.iter().map(|row| row.expected.time_s);
        let least = finite
            .filter(|t| t.is_finite())
            .fold(f64::INFINITY, f64::min);
        let (name, seconds) = match least {
            t if t < 60.0 => ("time s", 1.0),
            t if t < 360.0 => ("time min", 60.0),
            _ => ("time h", SECONDS_PER_HOUR),
        };
        Unit { name, seconds }
    }
}

fn columns<'r>(
    ranking: &'r Ranking,
    with_market: bool,
    with_vms: bool,
    common: &Common,
) -> Vec<Column<'r, &'r Ranked>> {
    let (layout, rows) = (common.layout, &ranking.rows);
    let unit = Unit::for_rows(rows);
    let scaled = move |seconds: f64| figure(seconds / unit.seconds);
    let (varies, objective) = (common.has_intervals(), ranking.objective);
    let many_batches = rows.iter().any(|row| row.batch != rows[0].batch);
    let is_stacked = layout == Layout::Stacked && with_vms;
    let of_plans = common.of_plans;
    let name = move |row: &&Ranked| {
        let name = if of_plans {
            plan(row, many_batches)
        } else {
            configuration(row, false)
        };
        if is_stacked {
            format!("{name}\non {}", machines(row))
        } else {
            name
        }
    };
    let kind = |row: &&Ranked| row.vm.clone().unwrap_or_default();
    let time = move |row: &&Ranked| scaled(row.expected.time_s);
    let times = move |row: &&Ranked| interval(row.time_interval_s(), scaled);
    let cost = |row: &&Ranked| figure(row.expected.cost_usd);
    let costs = |row: &&Ranked| interval(row.cost_interval_usd(), figure);
    let missed = |row: &&Ranked| or_dash(row.miss.and_then(|m| m.share()).map(whole_share));
    let effective = |row: &&Ranked| or_dash(row.effective().map(|share| percent(share, 1)));
    let with = |is_shown: bool, column| is_shown.then_some(column);
    let has_kinds = !is_stacked && rows.iter().any(is_of_a_kind);
    let columns = [
        with(
            true,
            Column::word("", move |row: &&Ranked| mark(row, objective)),
        ),
        with(true, Column::text(common.head(), name)),
        with(has_kinds, Column::text("kind", kind)),
        with(
            with_vms && !is_stacked,
            Column::text("on", |row: &&Ranked| machines(row)),
        ),
        with(
            with_market,
            Column::word("market", |row: &&Ranked| market(row).unwrap_or(NONE)),
        ),
        with(true, Column::number(unit.name, time)),
        with(
            varies && layout.has_time_interval(),
            Column::number(INTERVAL, times),
        ),
        with(true, Column::number("cost $", cost)),
        with(
            varies && layout.has_cost_interval(),
            Column::number(INTERVAL, costs),
        ),
        with(common.limits.are_any(), Column::number("miss", missed)),
        with(common.is_interrupted, Column::number("ETTR", effective)),
    ];
    let mut columns: Vec<_> = columns.into_iter().flatten().collect();
    if of_plans {
        columns.extend(plan_columns(layout, varies));
    }
    columns.push(if layout >= Layout::Letter {
        Column::word("f", |row: &&Ranked| &row.provenance[..1])
    } else {
        Column::word("from", |row: &&Ranked| row.provenance)
    });
    columns
}

/// Whether a row is the best, on the front, or not within the limits.
fn mark(row: &Ranked, objective: Objective) -> &'static str {
    if row.best_for.contains(&objective) {
        "*"
    } else if row.is_on_front {
        "+"
    } else if row.is_allowed {
        ""
    } else {
        "!"
    }
}

/// The legend of these figures only; `explain` has the general meanings.
fn legend(common: &Common) -> String {
    let layout = common.layout;
    let mut lines: Vec<(&str, String)> = Vec::new();
    if common.limits.are_any() {
        lines.push(("miss", common.missed()));
    }
    lines.extend(common.intervals().map(|line| (INTERVAL, line)));
    if common.has_intervals() && !layout.has_cost_interval() {
        let line = "no room for all intervals: see --width, or --format csv";
        lines.push(("", line.to_owned()));
    }
    if common.of_plans {
        let own = plan_lines(layout, common.may_not_fit).into_iter();
        lines.extend(own.map(|(word, line)| (word, line.to_owned())));
    }
    let entries = lines.iter().map(|(word, line)| (*word, line.as_str()));
    common.page.legend(entries)
}

/// Lines of the legend.
impl Common {
    /// The limits, and whether they apply to runs or to their mean.
    fn limit(&self) -> Option<String> {
        let of = match self.limits.max_miss {
            Some(miss) => format!("{} of runs", share(1.0 - miss)),
            None => "mean".to_owned(),
        };
        let most = self.most();
        (!most.is_empty()).then(|| format!("{of} within {}", most.join(" and ")))
    }

    fn most(&self) -> Vec<String> {
        let time = self.limits.max_time_s.map(|s| hours(s / SECONDS_PER_HOUR));
        let cost = self.limits.max_cost_usd.map(usd);
        time.into_iter().chain(cost).collect()
    }

    fn missed(&self) -> String {
        let limits = self.most().join(" or ");
        let unsure = if self.is_unsure {
            ", if what is said of them is right"
        } else {
            ""
        };
        format!("share of runs beyond {limits}{unsure}")
    }

    fn intervals(&self) -> Option<String> {
        let unsure = "over how far off laws and repeats may be";
        let runs = match self.runs {
            (fewest, most) if fewest < most => format!("{fewest} to {most}"),
            (_, most) => most.to_string(),
        };
        Some(match (self.runs.1, self.is_unsure) {
            (1, false) => "none: nothing varies at random here; one run shows all".to_owned(),
            _ if !self.layout.has_time_interval() => return None,
            (1, true) => format!("from 5 % to 95 %, {unsure}"),
            (_, false) => format!("from 5 % to 95 % of {runs} runs, which differ by chance"),
            (_, true) => format!("from 5 % to 95 %, over what {runs} runs can meet, and {unsure}"),
        })
    }
}
