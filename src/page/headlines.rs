//! What came out, in sentences.

use crate::experiment::Group;
use crate::figure::Material;

/// Sentences of a page; what is beyond stands in its table.
const MOST: usize = 12;

/// One sentence per workload, policy and objective, of the strategies that search.
pub(super) fn of(material: &Material) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut rest = 0;
    for same in material.groups.chunk_by(|a, b| {
        (&a.workload, &a.pricing, &a.objective) == (&b.workload, &b.pricing, &b.objective)
    }) {
        match sentence(same) {
            // A number stays with its unit.
            Some(sentence) if all.len() < MOST => all.push(sentence.replace(" %", "\u{a0}%")),
            Some(_) => rest += 1,
            None => {}
        }
    }
    if rest > 0 {
        all.push(format!(
            "{rest} more of these stand in the table of strategies."
        ));
    }
    all
}

fn sentence(groups: &[Group]) -> Option<String> {
    let first = groups.first()?;
    let metric = match first.objective.as_str() {
        "time" => "overhead_net_time",
        _ => "overhead_net_cost",
    };
    let what = if first.objective == "time" {
        "time"
    } else {
        "cost"
    };
    let searches = |group: &&Group| {
        group.strategy != "oracle"
            && group
                .mean("search_time_h")
                .is_some_and(|mean| mean.mean > 0.0)
    };
    let mean = |group: &Group| group.mean(metric).map(|mean| mean.mean);
    let mut found: Vec<(&Group, f64)> = (groups.iter().filter(searches))
        .filter_map(|group| Some((group, mean(group)?)))
        .collect();
    if found.is_empty() {
        found = (groups.iter().filter(|group| group.strategy != "oracle"))
            .filter_map(|group| Some((group, mean(group)?)))
            .collect();
    }
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (best, least) = found.first()?;
    let oracle = |name: &str| {
        groups
            .iter()
            .find_map(|group| group.mean(name))
            .map(|mean| mean.mean)
    };
    let (hours, usd) = (oracle("oracle_time_h")?, oracle("oracle_cost_usd")?);
    let on = first.oracle.as_ref().map_or(String::new(), |oracle| {
        match (oracle.workers, oracle.batch) {
            (Some(workers), Some(batch)) => format!(", on {workers} workers with batch {batch}"),
            _ => String::new(),
        }
    });
    let adds = |value: f64| match value < 0.0 {
        true => format!("{:.1} % less {what} than that", -100.0 * value),
        false => format!("{:.1} % more {what}", 100.0 * value),
    };
    let mut text = format!(
        "{}, {}, objective {}: the oracle takes {hours:.2} h and {usd:.2} USD{on}. {} comes closest: {}, its search steps \
         credited, and a choice as good as the oracle's in {:.0} % of runs",
        first.workload,
        first.pricing,
        first.objective,
        best.strategy,
        adds(*least),
        100.0 * best.tallied.right(),
    );
    if let Some((worst, most)) = found
        .last()
        .filter(|(group, _)| group.strategy != best.strategy)
    {
        text += &format!("; {} is furthest: {}", worst.strategy, adds(*most));
    }
    Some(text + ".")
}
