//! The clusters of a run, one line each: what they cost, and what became of their VMs and gradients.

use super::percent::{is_of_a_tail, lengths, signs_in};
use super::places::Places;
use super::summary_table::{hours_text, usd_text, with_commas};
use scavsim_base::text::Page;
use scavsim_base::text::text_table::{self, Column};
use scavsim_lab::experiment::KeyTable;
use scavsim_lab::experiment::holds::Holds;
use scavsim_lab::experiment::key_groups::KeyGroup;

/// What the columns mean, once below all tables.
const LEGEND: [(&str, &str); 8] = [
    (
        "K × B",
        "workers × batch, and on which VMs; behind a slash the workers on each",
    ),
    (
        "time, cost",
        "to the target: mean over the replicas ± 95 % interval, or ~ their median and in brackets the mean, where few \
         replicas carry the mean of a line of the block",
    ),
    (
        "vs first",
        "the one or the other over that of the first line with a result",
    ),
    ("lost VMs", "taken away by the provider"),
    (
        "stale",
        "samples of others that a gradient missed, over B, in the mean",
    ),
    ("dropped", "gradients that the protocol gave up"),
    ("wasted", "compute time of those, and of second attempts"),
    (
        "fidelity",
        "how it was simulated; columns in which all is 0 are left out",
    ),
];

/// The legend below all tables.
pub fn legend(page: &Page) -> String {
    page.legend(LEGEND)
}

/// One block per (workload, pricing, objective, strategy) with a line per cluster, grouped by
/// [`of_clusters`](scavsim_lab::experiment::KeyColumns::of_clusters); below it what is special about some of them, once.
pub fn render(scenario: &str, table: &KeyTable, places: &Places, page: &Page) -> String {
    let mut text = String::new();
    let same = |a: &KeyGroup, b: &KeyGroup| a.key.get(..5) == b.key.get(..5);
    for block in table.groups.chunk_by(same) {
        let (Some(first), most) = (block.first(), block.iter().map(|g| g.tallied.cases).max())
        else {
            continue;
        };
        let replicas = match most.unwrap_or(0) {
            1 => "1 replica".to_owned(),
            n => format!("{} replicas", with_commas(n)),
        };
        let names = (0..5).map(|at| match at {
            PRICING => places.policy(cell(first, at)),
            _ => cell(first, at).to_owned(),
        });
        let names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
        let title = format!("{scenario} · {} · {replicas}", names.join(" · "));
        text += &page.bold(&page.prose(&title, 2));
        let fitted = text_table::fit(&columns(block, places, page), page);
        text += &page.bold(&fitted.header);
        for (group, line) in block.iter().zip(&fitted.rows) {
            text += &match group.tallied.failed {
                0 => line.clone(),
                _ => page.failed(line),
            };
        }
        text += &fitted.remark("95 % intervals", page);
        text += &asides(block, page);
        text.push('\n');
    }
    let signs: Vec<_> = signs_in(&text).collect();
    let legend = match signs.is_empty() {
        true => String::new(),
        false => page.legend(signs) + "\n",
    };
    text + &legend + &places.below(page)
}

/// Place of the policy in the key of a group.
const PRICING: usize = 2;

/// A cell of the key of a group.
fn cell(group: &KeyGroup, at: usize) -> &str {
    group.key.get(at).map_or("", String::as_str)
}

/// Why clusters failed or were simulated otherwise, each reason once.
fn asides(block: &[KeyGroup], page: &Page) -> String {
    let mut asides: Vec<(String, Vec<&str>)> = Vec::new();
    for group in block {
        let reason = cell(group, 9);
        if reason.is_empty() {
            continue;
        }
        let said = match (group.tallied.failed, cell(group, 8)) {
            (0, fidelity) => format!(" in {fidelity}: {reason}"),
            (failed, _) => format!(": {} without a result: {reason}", with_commas(failed)),
        };
        let name = cell(group, 5);
        match asides.iter_mut().find(|(known, _)| *known == said) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => asides.push((said, vec![name])),
        }
    }
    let line =
        |(said, names): &(String, Vec<&str>)| page.prose(&format!("{}{said}", names.join(", ")), 3);
    asides.iter().map(line).collect()
}

/// Whether a few replicas carry the mean of time or cost.
fn is_carried_by_few(group: &KeyGroup) -> bool {
    ["time_h", "cost_usd"].iter().any(|name| {
        let values = group.mean(name).zip(group.median(name));
        values.is_some_and(|(mean, (median, _))| is_of_a_tail(mean, mean.mean, median))
    })
}

/// The first cluster that has the figure: the one that others are compared with.
fn first_with<'g>(block: &'g [KeyGroup], name: &str) -> Option<&'g KeyGroup> {
    block.iter().find(|group| group.mean(name).is_some())
}

fn columns(block: &[KeyGroup], places: &Places, page: &Page) -> Vec<Column<'static>> {
    let by_median = block.iter().any(is_carried_by_few);
    let cells =
        |cell: &dyn Fn(&KeyGroup) -> String| block.iter().map(cell).collect::<Vec<String>>();
    let none = || "–".to_owned();
    let typical = |group: &KeyGroup, name: &str| match by_median {
        true => (group.median(name))
            .map(|(value, interval)| (value, interval.map(|i| (i, Holds::AsSaid)))),
        false => (group.mean(name)).map(|m| (m.mean, m.interval.map(|i| (i, m.holds)))),
    };
    let over = |name: &'static str| {
        let first = first_with(block, name).and_then(|first| typical(first, name));
        cells(&|group| match (typical(group, name), first) {
            (Some((own, _)), Some((first, _))) if first > 0.0 => format!("{:.2} ×", own / first),
            _ => none(),
        })
    };
    let mark = if by_median { "~" } else { "" };
    let figure =
        |name: &'static str, text: fn(f64) -> String, unit: fn(f64) -> f64, whole: bool| {
            cells(&|group| {
                typical(group, name).map_or_else(none, |(value, interval)| {
                    let mean = group.mean(name).filter(|_| by_median);
                    let mean =
                        mean.map_or_else(String::new, |mean| format!(" ({})", text(mean.mean)));
                    let lengths = interval.map(|i| lengths(i, value, unit(value), 2));
                    let lengths = lengths.filter(|_| whole).unwrap_or_default();
                    format!("{mark}{}{lengths}{mean}", text(value))
                })
            })
        };
    let measured = |head, rank, name: &'static str, text, unit| {
        let mut column = Column::new(head, false, rank, figure(name, text, unit, true));
        column.short = Some(figure(name, text, unit, false));
        column
    };
    let name = |group: &KeyGroup| match group.tallied.failed {
        0 => cell(group, 5).to_owned(),
        failed => format!("{} ({} failed)", cell(group, 5), with_commas(failed)),
    };
    let counts = |group: &KeyGroup| match (cell(group, 6), cell(group, 7)) {
        ("", "") => none(),
        (workers, batch) => format!("{workers} × {batch}"),
    };
    let on = |group: &KeyGroup| match cell(group, 6).parse().ok() {
        None => none(),
        workers => places.shapes(cell(group, 5), workers),
    };
    let mut columns = vec![
        Column::new("cluster", true, 0, cells(&name)),
        Column::new("K × B", false, 0, cells(&counts)),
        Column::new("on", true, 0, cells(&on)),
        measured("time", 1, "time_h", hours_text, ratio_of_hours),
        Column::new("vs first", false, 2, over("time_h")),
        measured("cost", 1, "cost_usd", usd_text, |_| 1.0),
        Column::new("vs first", false, 2, over("cost_usd")),
    ];
    type Text = fn(f64) -> String;
    let others: [(&'static str, &str, Text); 4] = [
        ("lost VMs", "lost_vms", |v| format!("{v:.1}")),
        ("stale", "staleness", |v| format!("{v:.2}")),
        ("dropped", "dropped_gradients", percent),
        ("wasted", "wasted_compute", percent),
    ];
    for (at, (head, metric, text)) in others.into_iter().enumerate() {
        let mean = |group: &KeyGroup| group.mean(metric).map(|m| m.mean);
        // What never happens is no news.
        if page.is_wide
            || block
                .iter()
                .any(|group| mean(group).is_some_and(|v| v != 0.0))
        {
            let own = cells(&|group| mean(group).map_or_else(none, text));
            columns.push(Column::new(head, false, 4 + at as u8, own));
        }
    }
    let fidelity = cells(&|group| cell(group, 8).to_owned());
    columns.push(Column::new("fidelity", false, 9, fidelity));
    columns
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

#[cfg(test)]
mod tests {
    use super::*;
    use scavsim_lab::experiment::Tasks;
    use scavsim_lab::experiment::record::{Record, Status};
    use scavsim_lab::experiment::summary_by::SummaryBy;
    use scavsim_lab::experiment::{KeyColumns, Sink};

    fn table(records: &[Record<'_>]) -> KeyTable {
        let mut summary = SummaryBy::new(KeyColumns::of_clusters(), Tasks::new(99, 99, 2));
        for record in records {
            summary.take(record).expect("few groups");
        }
        summary.finish().expect("few groups")
    }

    fn record<'p>(kind: &'p str, hours: f64, reason: &'p str) -> Record<'p> {
        {
            let mut record = Record::default();
            record.workload = "w";
            record.pricing = "p";
            record.objective = "time";
            record.strategy = "oracle";
            record.chosen_vm = Some(kind);
            record.chosen_workers = Some(8);
            record.chosen_batch = Some(512);
            record.time_h = Some(hours);
            record.cost_usd = Some(3.0 * hours);
            record.fidelity = Some("event");
            record.status = Status::Ok;
            record.reason = reason.into();
            record
        }
    }

    #[test]
    fn clusters_stand_in_the_order_of_the_scenario_and_are_compared_with_the_first() {
        let text = render(
            "s",
            &table(&[record("z", 2.0, ""), record("a", 1.0, "")]),
            &Places::default(),
            &Page::default(),
        );
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
        let failed = {
            let mut record = record("c", 1.0, "");
            record.status = Status::Failed;
            record.time_h = None;
            record.cost_usd = None;
            record.fidelity = None;
            record.reason = "nobody is left".into();
            record
        };
        let records = [
            record("a", 1.0, "too fast"),
            record("b", 1.0, "too fast"),
            failed,
        ];
        let text = render("s", &table(&records), &Places::default(), &Page::default());
        assert_eq!(text.matches("too fast").count(), 1, "{text}");
        assert!(text.contains("\na, b in event: too fast\n"), "{text}");
        assert!(
            text.contains("\nc: 1 without a result: nobody is left\n"),
            "{text}"
        );
        assert!(text.contains("\nc (1 failed) "), "{text}");
    }
}
