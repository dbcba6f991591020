//! The summary by pricing policy: what a price changes.

use super::summary_table::{hours_text, no_minus_zero, place, several_vm_types, usd_text};
use super::text_table;
use crate::experiment::Group;

/// What the columns mean, once below all tables.
const LEGEND: &str = "\
oracle    workers × batch that is best by expectation; * where it is not that of the first policy; its mean time and cost
strategy  share of replicas that chose as the oracle did; mean overhead over the oracle, search steps counted as
          training, in time / cost; ! where replicas failed
";

/// One block per (workload, objective), one line per pricing policy, one column per strategy.
pub fn render(groups: &[Group]) -> String {
    let mut text = String::new();
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for group in groups {
        let key = (group.workload.as_str(), group.objective);
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let block: Vec<&Group> = (groups.iter())
            .filter(|g| (g.workload.as_str(), g.objective) == key)
            .collect();
        let replicas = group.replicas;
        let plural = if replicas == 1 { "" } else { "s" };
        text.push_str(&format!("{} · {} · {replicas} replica{plural}\n", key.0, key.1));
        text.push_str(&table(&block));
        text.push('\n');
    }
    text.push_str(LEGEND);
    text
}

fn table(block: &[&Group]) -> String {
    let lines: Vec<&[&Group]> = block.chunk_by(|a, b| a.pricing == b.pricing).collect();
    let several_vms = several_vm_types(block.iter().copied());
    let mut header = vec!["pricing", "oracle", "time", "cost"];
    // The oracle's own line says nothing beyond the first columns.
    let competes = |g: &&&Group| g.strategy != crate::search::ORACLE;
    header.extend((lines[0].iter().filter(competes)).map(|g| g.strategy.as_str()));
    let first = &block[0].oracle;
    let rows: Vec<Vec<String>> = (lines.iter())
        .map(|line| {
            let oracle = &line[0].oracle;
            let moved = if oracle == first { "" } else { "* " };
            let best = (oracle.as_ref()).map_or("none".to_owned(), |at| place(at, several_vms));
            let mean = |name, text: fn(f64) -> String| {
                let figure = line.iter().find_map(|g| g.aggregate(name));
                figure.map_or("–".to_owned(), |a| text(a.mean))
            };
            let mut row = vec![
                line[0].pricing.clone(),
                format!("{moved}{best}"),
                mean("oracle_time_h", hours_text),
                mean("oracle_cost_usd", usd_text),
            ];
            row.extend(line.iter().filter(competes).map(|g| strategy(g)));
            row
        })
        .collect();
    text_table::render(&header, &[0], &rows)
}

fn strategy(group: &Group) -> String {
    let percent = |name| {
        let mean = group.aggregate(name).map(|a| a.mean);
        mean.map_or("–".to_owned(), |m| format!("{:+.1}", no_minus_zero(m)))
    };
    let failed = if group.failed > 0 { "!" } else { "" };
    format!(
        "{:.0} %{failed}, {} / {} %",
        100.0 * group.right,
        percent("overhead_net_time"),
        percent("overhead_net_cost")
    )
}
