//! The summary by pricing policy: what a price changes.

use super::percent::typical;
use super::places::Places;
use super::summary_table::{Shown, hours_text, place, usd_text};
use super::text_table;
use crate::experiment::{Chosen, Group};
use crate::search::ORACLE;

/// What the columns mean, once below all tables.
const LEGEND: &str = "\
oracle    workers × batch that is best by expectation, * where it is not that of the first policy; mean time and cost
strategy  share of replicas that are right; mean overhead over the oracle in time / cost, search steps
          counted as training; ! where replicas failed
as        policies under which all this is the same but the dollars, with the oracle's cost
";

/// Width of the lists of policies.
const WIDTH: usize = 118;

/// One block per (workload, objective), one column per strategy, one line per pricing policy;
/// policies that differ in nothing but dollars share a line.
pub fn render(groups: &[Group], places: &Places) -> String {
    let mut text = String::new();
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for group in groups {
        let key = (group.workload.as_str(), group.objective.as_str());
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let block: Vec<&Group> = (groups.iter())
            .filter(|g| (g.workload.as_str(), g.objective.as_str()) == key)
            .collect();
        let replicas = group.tallied.cases;
        let plural = if replicas == 1 { "" } else { "s" };
        text += &format!("{} · {} · {replicas} replica{plural}\n", key.0, key.1);
        text += &table(&block, places);
        text.push('\n');
    }
    text + LEGEND
}

/// A line of the table, with the policies that share it: those with equal `oracle` and `strategies`.
struct Line {
    pricing: String,
    cost: String,
    /// The oracle's configuration and time.
    oracle: [String; 2],
    strategies: Vec<String>,
    /// Further policies, with their cost.
    same: Vec<String>,
}

fn table(block: &[&Group], places: &Places) -> String {
    let policies: Vec<&[&Group]> = block.chunk_by(|a, b| a.pricing == b.pricing).collect();
    let shown = Shown::of(block.iter().copied(), places);
    let mut lines: Vec<Line> = Vec::new();
    for policy in &policies {
        let line = line(policy, &block[0].oracle, shown);
        let twin = |l: &&mut Line| (&l.oracle, &l.strategies) == (&line.oracle, &line.strategies);
        match lines.iter_mut().find(twin) {
            Some(first) => first.same.push(format!("{} {}", line.pricing, line.cost)),
            None => lines.push(line),
        }
    }
    let mut header = vec!["pricing", "oracle", "time", "cost"];
    header.extend(
        policies
            .iter()
            .take(1)
            .flat_map(|p| competitors(p))
            .map(|g| g.strategy.as_str()),
    );
    let rows: Vec<Vec<String>> = (lines.iter())
        .map(|line| {
            let [oracle, time] = line.oracle.clone();
            let mut row = vec![line.pricing.clone(), oracle, time, line.cost.clone()];
            row.extend_from_slice(&line.strategies);
            row
        })
        .collect();
    let mut text = text_table::render(&header, &[0], &rows);
    for line in lines.iter().filter(|line| !line.same.is_empty()) {
        text += &wrapped(&format!("as {}: {}", line.pricing, line.same.join(", ")));
    }
    text
}

fn line(policy: &[&Group], first: &Option<Chosen>, shown: Shown<'_>) -> Line {
    let oracle = &policy[0].oracle;
    let moved = if oracle == first { "" } else { "* " };
    let best = (oracle.as_ref()).map_or("none".to_owned(), |at| place(at, shown));
    let mean = |name, text: fn(f64) -> String| {
        let figure = policy.iter().find_map(|g| g.mean(name));
        figure.map_or("–".to_owned(), |m| text(m.mean))
    };
    Line {
        pricing: policy[0].pricing.clone(),
        cost: mean("oracle_cost_usd", usd_text),
        oracle: [format!("{moved}{best}"), mean("oracle_time_h", hours_text)],
        strategies: competitors(policy).map(strategy).collect(),
        same: Vec::new(),
    }
}

/// All but the oracle, which is no news to itself.
fn competitors<'g>(policy: &[&'g Group]) -> impl Iterator<Item = &'g Group> {
    policy.iter().copied().filter(|g| g.strategy != ORACLE)
}

fn strategy(group: &Group) -> String {
    let percent = |name| typical(group, name).map_or("–".to_owned(), |value| value.text());
    let failed = if group.tallied.failed > 0 { "!" } else { "" };
    format!(
        "{:.0} %{failed}, {} / {} %",
        100.0 * group.tallied.right(),
        percent("overhead_net_time"),
        percent("overhead_net_cost")
    )
}

/// `list` on lines of at most [`WIDTH`] characters, broken behind commas.
fn wrapped(list: &str) -> String {
    let mut text = String::new();
    let mut width = 0;
    for item in list.split_inclusive(", ") {
        let length = item.trim_end().chars().count();
        if width > 0 && width + length > WIDTH {
            text.truncate(text.trim_end().len());
            text += "\n   ";
            width = 3;
        }
        text += item;
        width += item.chars().count();
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_broken_behind_commas_and_lose_nothing() {
        let items: Vec<String> = (0..60).map(|i| format!("policy-{i} $1.00")).collect();
        let list = items.join(", ");
        let text = wrapped(&list);
        assert!(text.lines().count() > 5);
        assert!(
            text.lines().all(|line| line.chars().count() <= WIDTH),
            "{text}"
        );
        let joined: Vec<&str> = text
            .split([',', '\n'])
            .map(str::trim)
            .filter(|i| !i.is_empty())
            .collect();
        assert_eq!(joined, items);
    }
}
