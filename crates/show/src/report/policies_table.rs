//! The summary by pricing policy: the effect of a price.

use super::choices::{all_on, objective, place, shared_vm, shown};
use super::percent::typical;
use super::places::Places;
use scavsim_base::text::words::{NONE, hours, or_dash, percent, plural_with_commas, usd};
use scavsim_base::text::{Column, EXPLAIN, NEEDED, Page, Sheet};
use scavsim_experiment::{Chosen, Group};
use scavsim_search::search::{ORACLE, Objective};

/// Rows that fit a terminal of 24 lines with a title, heads, remarks and the next prompt.
const MOST_ROWS: usize = 18;

/// A block per (setting, workload, objective), a column per strategy, a line per policy, or per set of policies that differ
/// in dollars only.
pub fn render(groups: &[Group], places: &Places, page: &Page) -> String {
    tables(groups, places, page) + &places.below(page) + &page.dim(EXPLAIN)
}

pub(super) fn tables(groups: &[Group], places: &Places, page: &Page) -> String {
    let mut text = String::new();
    fn key_of(group: &Group) -> [&str; 3] {
        [&group.setting, &group.workload, &group.objective]
    }
    let mut seen: Vec<[&str; 3]> = Vec::new();
    for group in groups {
        let key = key_of(group);
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let block: Vec<&Group> = (groups.iter()).filter(|g| key_of(g) == key).collect();
        let named = key.into_iter().filter(|name| !name.is_empty());
        let mut title: Vec<String> = named.map(str::to_owned).collect();
        let are_replicas = group.oracle.is_some() || group.tallied.failed == group.tallied.cases;
        let what = if are_replicas { "replica" } else { "case" };
        title.push(plural_with_commas(group.tallied.cases, what));
        let common = common_vm(&block, places);
        title.extend(common.map(all_on));
        text += &page.bold(&page.parts(title, 2));
        text += &table(&block, places, page);
        text.push('\n');
    }
    text
}

/// The VM type of all oracles' choices, if it is the same.
fn common_vm<'g>(block: &[&'g Group], places: &Places) -> Option<&'g str> {
    shared_vm(
        block.iter().filter_map(|group| group.oracle.as_ref()),
        places,
    )
}

/// A line of the table, with the policies that share it: they have equal `oracle` and `strategies`.
struct PolicyLine {
    pricing: String,
    /// Name of the policies' table, and their values of each key that distinguishes them.
    base: String,
    keys: Vec<Vec<f64>>,
    costs: Vec<f64>,
    /// The oracle's configuration, on one line and on two, and its time.
    oracle: [String; 3],
    strategies: Vec<Cell>,
    same: Vec<String>,
}

struct Cell {
    whole: String,
    short: String,
    /// The share that must be equal in policies on one line.
    right: String,
    /// Overheads in percent; `None` if there is none.
    overheads: [Option<f64>; 2],
}

impl Cell {
    /// Whether two cells differ by at most one in the last digit of an overhead.
    fn is_close(&self, other: &Cell) -> bool {
        let mut overheads = self.overheads.iter().zip(&other.overheads);
        self.right == other.right
            && overheads.all(|pair| match pair {
                (Some(a), Some(b)) => ((10.0 * a).round() - (10.0 * b).round()).abs() <= 1.0,
                (a, b) => a == b,
            })
    }
}

fn table(block: &[&Group], places: &Places, page: &Page) -> String {
    let policies: Vec<&[&Group]> = block.chunk_by(|a, b| a.pricing == b.pricing).collect();
    let with_vm = common_vm(block, places).is_none();
    let mut lines: Vec<PolicyLine> = Vec::new();
    let keys = swept_keys(&policies, places);
    let is_folded = policies.len() > MOST_ROWS && !page.is_wide;
    for policy in &policies {
        let line = line(policy, best(policies[0]), (with_vm, &keys), places);
        let twin = |l: &&mut PolicyLine| {
            let mut cells = l.strategies.iter().zip(&line.strategies);
            let is_as_good = cells.all(|(a, b)| a.is_close(b));
            let is_of_it = keys.is_empty() || l.base == line.base;
            is_folded && l.oracle == line.oracle && is_of_it && is_as_good
        };
        match lines.iter_mut().find(twin) {
            Some(first) => first.add(line),
            None => lines.push(line),
        }
    }
    let bases = lines.iter().any(|line| line.base != lines[0].base);
    let mut columns: Vec<Column<'_, &PolicyLine>> = Vec::new();
    if keys.is_empty() {
        columns.push(Column::text("pricing", |line: &&PolicyLine| {
            line.pricing.clone()
        }));
    } else if bases {
        columns.push(Column::text("policy", |line: &&PolicyLine| line.base.clone()).rank(0));
    }
    for (at, key) in keys.iter().enumerate() {
        let cell = move |line: &&PolicyLine| values_text(&line.keys[at], |value| value.to_string());
        columns.push(Column::number(short_key(key, &keys).to_owned(), cell).rank(0));
    }
    let cost = |line: &&PolicyLine| values_text(&line.costs, usd);
    columns.extend([
        Column::number("time", |line: &&PolicyLine| line.oracle[2].clone()).rank(1),
        Column::number("cost", cost).rank(1),
        Column::text("oracle", |line: &&PolicyLine| line.oracle[0].clone())
            .rank(0)
            .stacked(|line| line.oracle[1].clone()),
    ]);
    let strategies = policies.iter().take(1).flat_map(|p| competitors(p));
    for (at, group) in strategies.enumerate() {
        // In the scenario's order; the first policies are compared first.
        let rank = NEEDED.saturating_add(at as u8);
        let cell = move |line: &&PolicyLine, of: fn(&Cell) -> &String| {
            let cell = line.strategies.get(at);
            cell.map_or_else(String::new, |cell| of(cell).clone())
        };
        let column = Column::number(&group.strategy, move |line| cell(line, |own| &own.whole));
        columns.push(
            column
                .rank(rank)
                .short(move |line| cell(line, |own| &own.short)),
        );
    }
    let table = Sheet::new(&lines, columns).fit(page);
    let mut text = table.text(page);
    text += &table.remark("", page);
    if !keys.is_empty() {
        return text;
    }
    for line in lines.iter().filter(|line| !line.same.is_empty()) {
        // A policy and its cost stay on one line.
        let same: Vec<String> = line
            .same
            .iter()
            .map(|one| one.replace(' ', "\u{a0}"))
            .collect();
        let same = page.prose(&format!("as {}: {}", line.pricing, same.join(", ")), 3);
        text += &same.replace('\u{a0}', " ");
    }
    text + &by_money(&policies, places, page)
}

/// Keys that distinguish policies made of one table, in their order.
fn swept_keys(policies: &[&[&Group]], places: &Places) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for policy in policies {
        for (key, _) in places.swept(&policy[0].pricing).1 {
            if !keys.contains(key) {
                keys.push(key.clone());
            }
        }
    }
    keys
}

/// The last part of a key, such as a VM type, if no other key has it.
fn short_key<'k>(key: &'k str, all: &[String]) -> &'k str {
    let last = |key: &'k str| key.split_once('.').map_or(key, |(_, last)| last);
    let others = all.iter().filter(|other| *other != key);
    let is_taken = |other: &String| other.ends_with(last(key));
    if others.into_iter().any(is_taken) {
        key
    } else {
        last(key)
    }
}

/// Values that share a row: a few are listed, many are a range from first to last.
fn values_text(values: &[f64], text: impl Fn(f64) -> String) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    match sorted.as_slice() {
        [] => NONE.to_owned(),
        [only] => text(*only),
        [one, other] => format!("{}, {}", text(*one), text(*other)),
        [first, .., last] => format!("{} to {}", text(*first), text(*last)),
    }
}

impl PolicyLine {
    /// Adds policies that differ in dollars only.
    fn add(&mut self, other: PolicyLine) {
        let cost = values_text(&other.costs, usd);
        self.same.push(format!("{} {cost}", other.pricing));
        if !other.keys.is_empty() {
            self.costs.extend(other.costs);
        }
        for (own, other) in self.keys.iter_mut().zip(other.keys) {
            own.extend(other);
        }
    }
}

const MOST_NAMED: usize = 3;

/// The cheapest and the most expensive policies for the oracle; spot prices for VMs that are never lost are listed
/// separately. Empty if there is nothing to compare.
fn by_money(policies: &[&[&Group]], places: &Places, page: &Page) -> String {
    let mut all: Vec<(f64, &str)> = Vec::new();
    for policy in policies {
        let name = policy[0].pricing.as_str();
        let is_unit = places.remarks.only_ratios.iter().any(|own| own == name);
        let mean = policy.iter().find_map(|g| g.mean("oracle_cost_usd"));
        all.extend(mean.filter(|_| !is_unit).map(|mean| (mean.mean, name)));
    }
    if all.len() < 2 {
        return String::new();
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (marked, usual): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|(_, name)| places.is_marked(name));
    let named = |(amount, name): &(f64, &str)| format!("{} {}", places.policy(name), usd(*amount));
    let first = |all: &[(f64, &str)]| {
        let named = all.iter().take(MOST_NAMED).map(named);
        named.collect::<Vec<_>>().join(", ")
    };
    let mut parts: Vec<String> = Vec::new();
    if !usual.is_empty() {
        parts.push(format!("cheapest: {}", first(&usual)));
    }
    if usual.len() > MOST_NAMED {
        parts.extend(usual.last().map(|last| format!("dearest: {}", named(last))));
    }
    if !marked.is_empty() {
        parts.push(format!("with †: {}", first(&marked)));
    }
    page.prose(&parts.join("; "), 3)
}

/// The oracle's configuration under a policy; if every VM type is searched separately, the most frequent one with its share.
fn best(policy: &[&Group]) -> Option<(Chosen, Option<f64>)> {
    if let Some(one) = policy.iter().find_map(|group| group.oracle.clone()) {
        return Some((one, None));
    }
    let oracle = policy.iter().find(|group| group.strategy == ORACLE)?;
    Some((oracle.choice.clone()?, Some(oracle.choice_share)))
}

fn line(
    policy: &[&Group],
    first: Option<(Chosen, Option<f64>)>,
    (with_vm, keys): (bool, &[String]),
    places: &Places,
) -> PolicyLine {
    let (base, swept) = places.swept(&policy[0].pricing);
    let values = |key: &String| {
        let own = swept.iter().filter(|(name, _)| name == key);
        own.map(|(_, value)| *value).collect()
    };
    let oracle = best(policy);
    let is_moved = oracle.as_ref().map(|(at, _)| at) != first.as_ref().map(|(at, _)| at);
    let moved = if is_moved { "* " } else { "" };
    let best = |between: &str| {
        let Some((at, share)) = &oracle else {
            return format!("{moved}none");
        };
        let at = shown(at, with_vm);
        let share = share.map_or_else(String::new, |share| format!(" ({})", percent(share, 0)));
        format!("{moved}{}{share}", place(&at, places, between))
    };
    let mean = |name| {
        let figure = policy.iter().find_map(|g| g.mean(name));
        figure.map(|mean| mean.mean)
    };
    let time = or_dash(mean("oracle_time_h").map(hours));
    PolicyLine {
        pricing: places.policy(&policy[0].pricing),
        base: places.policy(&base),
        keys: keys.iter().map(values).collect(),
        costs: mean("oracle_cost_usd").into_iter().collect(),
        oracle: [best(" on "), best("\non "), time],
        strategies: competitors(policy).map(strategy).collect(),
        same: Vec::new(),
    }
}

/// All groups except the oracle, which always equals itself.
fn competitors<'g>(policy: &[&'g Group]) -> impl Iterator<Item = &'g Group> {
    policy.iter().copied().filter(|g| g.strategy != ORACLE)
}

fn strategy(group: &Group) -> Cell {
    let over = |name| or_dash(typical(group, name).map(|value| value.text()));
    let failed = if group.tallied.failed > 0 { "!" } else { "" };
    let right = percent(group.tallied.right(), 0) + failed;
    let [time, cost] = ["overhead_net_time", "overhead_net_cost"].map(over);
    let whole = format!("{right}, {time} / {cost} %");
    let overhead = |name| typical(group, name).map(|value| 100.0 * value.value());
    let is_median = |name| typical(group, name).is_some_and(|value| value.is_median());
    let names = ["overhead_net_time", "overhead_net_cost"];
    Cell {
        overheads: names.map(overhead),
        short: match objective(group) {
            Some(Objective::Time) => format!("{time}{failed} %"),
            Some(Objective::Cost) => format!("{cost}{failed} %"),
            Some(Objective::Knee) | None => whole.clone(),
        },
        whole,
        right: format!("{right} {:?}", names.map(is_median)),
    }
}
