//! The clusters of a run, one line each: what they cost, and what became of their VMs and gradients.

use super::percent::{is_of_a_tail, lengths};
use super::summary_table::{hours_text, usd_text};
use super::text_table;
use crate::experiment::KeyTable;
use crate::experiment::summary_by::KeyGroup;

const HEADER: [&str; 11] = [
    "cluster",
    "K × B",
    "time",
    "over first",
    "cost",
    "over first",
    "lost VMs",
    "stale",
    "dropped",
    "wasted",
    "fidelity",
];

/// What the columns mean, once below all tables.
pub const LEGEND: &str = "\
K × B       workers × batch; time and cost to the target: mean over the replicas ± 95 % interval, or ~ their median and
            in brackets the mean, where few replicas carry the mean of a line of the block
over first  the one or the other over that of the first line
lost VMs    taken away by the provider; stale: samples of others that a gradient missed, over B, in the mean
dropped     gradients that the protocol gave up; wasted: compute time of those, and of second attempts
";

/// Width of the asides.
const WIDTH: usize = 118;

/// One block per (workload, pricing, objective, strategy) with a line per cluster, grouped by
/// [`of_clusters`](crate::experiment::KeyColumns::of_clusters); below it what is special about some of them, once.
pub fn render(scenario: &str, table: &KeyTable) -> String {
    let mut text = String::new();
    let same = |a: &KeyGroup, b: &KeyGroup| a.key.get(..4) == b.key.get(..4);
    for block in table.groups.chunk_by(same) {
        let cell = |group: &KeyGroup, at: usize| group.key.get(at).cloned().unwrap_or_default();
        let (Some(first), most) = (block.first(), block.iter().map(|g| g.tallied.cases).max())
        else {
            continue;
        };
        let replicas = match most.unwrap_or(0) {
            1 => "1 replica".to_owned(),
            n => format!("{n} replicas"),
        };
        let names: Vec<String> = (0..4).map(|at| cell(first, at)).collect();
        text += &format!("{scenario} · {} · {replicas}\n", names.join(" · "));
        let by_median = block.iter().any(is_carried_by_few);
        let rows = block.iter().map(|group| row(group, first, by_median));
        let rows: Vec<Vec<String>> = rows.collect();
        text += &text_table::render(&HEADER, &[0], &rows);
        let mut asides: Vec<(String, Vec<String>)> = Vec::new();
        for group in block {
            let reason = cell(group, 8);
            if reason.is_empty() {
                continue;
            }
            let said = match (group.tallied.failed, cell(group, 7)) {
                (0, fidelity) => format!(" in {fidelity}: {reason}"),
                (failed, _) => format!(": {failed} without a result: {reason}"),
            };
            let name = cell(group, 4);
            match asides.iter_mut().find(|(known, _)| *known == said) {
                Some((_, names)) if names.contains(&name) => {}
                Some((_, names)) => names.push(name),
                None => asides.push((said, vec![name])),
            }
        }
        for (said, names) in asides {
            text += &wrapped(&format!("{}{said}", names.join(", ")));
        }
        text.push('\n');
    }
    text
}

/// Whether a few replicas carry the mean of time or cost.
fn is_carried_by_few(group: &KeyGroup) -> bool {
    ["time_h", "cost_usd"].iter().any(|name| {
        let values = group.mean(name).zip(group.median(name));
        values.is_some_and(|(mean, (median, _))| is_of_a_tail(mean, mean.mean, median))
    })
}

fn row(group: &KeyGroup, first: &KeyGroup, by_median: bool) -> Vec<String> {
    let cell = |at: usize| group.key.get(at).map_or("", String::as_str);
    let name = match group.tallied.failed {
        0 => cell(4).to_owned(),
        failed => format!("{} ({failed} failed)", cell(4)),
    };
    let none = || "–".to_owned();
    let figure =
        |name, text: fn(f64) -> String| group.mean(name).map_or_else(none, |m| text(m.mean));
    let typical = |group: &KeyGroup, name: &str| match by_median {
        true => group.median(name),
        false => group.mean(name).map(|m| (m.mean, m.interval)),
    };
    let over = |name: &str| match (typical(group, name), typical(first, name)) {
        (Some((own, _)), Some((first, _))) if first > 0.0 => format!("{:.2} ×", own / first),
        _ => none(),
    };
    let mark = if by_median { "~" } else { "" };
    let with_interval = |name: &str, text: fn(f64) -> String, unit: fn(f64) -> f64| {
        typical(group, name).map_or_else(none, |(value, interval)| {
            let lengths = interval.map(|i| lengths(i, value, unit(value), 2));
            let mean = group.mean(name).filter(|_| by_median);
            let mean = mean.map(|mean| format!(" ({})", text(mean.mean)));
            let (lengths, mean) = (lengths.unwrap_or_default(), mean.unwrap_or_default());
            format!("{mark}{}{lengths}{mean}", text(value))
        })
    };
    vec![
        name,
        format!("{} × {}", cell(5), cell(6)),
        with_interval("time_h", hours_text, ratio_of_hours),
        over("time_h"),
        with_interval("cost_usd", usd_text, |_| 1.0),
        over("cost_usd"),
        figure("lost_vms", |v| format!("{v:.1}")),
        figure("staleness", |v| format!("{v:.2}")),
        figure("dropped_gradients", percent),
        figure("wasted_compute", percent),
        cell(7).to_owned(),
    ]
}

/// What hours are multiplied by in the unit that [`hours_text`] shows them in.
fn ratio_of_hours(hours: f64) -> f64 {
    if hours_text(hours).ends_with("min") {
        60.0
    } else {
        1.0
    }
}

fn percent(fraction: f64) -> String {
    match fraction {
        0.0 => "0 %".to_owned(),
        _ => format!("{:.1} %", 100.0 * fraction),
    }
}

/// A sentence on lines of at most [`WIDTH`] characters.
fn wrapped(sentence: &str) -> String {
    let mut text = String::new();
    let mut width = 0;
    for word in sentence.split(' ') {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > WIDTH {
            text += "\n   ";
            width = 3;
        }
        if width > 0 {
            text.push(' ');
            width += 1;
        }
        text += word;
        width += length;
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::record::{Record, Status};
    use crate::experiment::summary_by::SummaryBy;
    use crate::experiment::{KeyColumns, Sink};

    fn table(records: &[Record<'_>]) -> KeyTable {
        let mut summary = SummaryBy::new(KeyColumns::of_clusters());
        for record in records {
            summary.take(record).expect("few groups");
        }
        summary.finish()
    }

    fn record<'p>(kind: &'p str, hours: f64, reason: &'p str) -> Record<'p> {
        Record {
            workload: "w",
            pricing: "p",
            objective: "time",
            strategy: "oracle",
            chosen_vm: Some(kind),
            chosen_workers: Some(8),
            chosen_batch: Some(512),
            time_h: Some(hours),
            cost_usd: Some(3.0 * hours),
            fidelity: Some("event"),
            status: Status::Ok,
            reason: reason.into(),
            ..Record::default()
        }
    }

    #[test]
    fn clusters_stand_in_the_order_of_the_scenario_and_are_compared_with_the_first() {
        let text = render("s", &table(&[record("z", 2.0, ""), record("a", 1.0, "")]));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "s · w · p · time · oracle · 1 replica");
        assert!(lines[2].starts_with("z "), "{text}");
        assert!(
            lines[2].contains("2.00 h  ") && lines[2].contains("1.00 ×"),
            "{text}"
        );
        assert!(
            lines[3].starts_with("a ") && lines[3].contains("0.50 ×"),
            "{text}"
        );
    }

    #[test]
    fn a_reason_is_said_once_for_all_that_share_it_and_failures_have_theirs() {
        let failed = Record {
            status: Status::Failed,
            time_h: None,
            cost_usd: None,
            fidelity: None,
            reason: "nobody is left".into(),
            ..record("c", 1.0, "")
        };
        let records = [
            record("a", 1.0, "too fast"),
            record("b", 1.0, "too fast"),
            failed,
        ];
        let text = render("s", &table(&records));
        assert_eq!(text.matches("too fast").count(), 1, "{text}");
        assert!(text.contains("\na, b in event: too fast\n"), "{text}");
        assert!(
            text.contains("\nc: 1 without a result: nobody is left\n"),
            "{text}"
        );
        assert!(text.contains("\nc (1 failed) "), "{text}");
    }

    #[test]
    fn asides_are_broken_between_words_and_lose_nothing() {
        let words: Vec<String> = (0..90).map(|i| format!("word{i}")).collect();
        let text = wrapped(&words.join(" "));
        assert!(text.lines().count() > 3);
        assert!(
            text.lines().all(|line| line.chars().count() <= WIDTH),
            "{text}"
        );
        let again: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(again, words);
    }
}
