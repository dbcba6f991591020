//! The clusters of a run, one line each: their cost, and the fate of their VMs and gradients.

use super::group_summary::{failed_tone, with_failed};
use super::percent::{ends, is_of_a_tail, signs_in};
use super::places::Places;
use scavsim_base::text::words::{
    NONE, hours, is_in_minutes, or_dash, percent, plural_with_commas, usd, with_commas,
};
use scavsim_base::text::{Column, Page, Sheet};
use scavsim_experiment::interval_coverage::IntervalCoverage;
use scavsim_experiment::{KeyGroup, KeyTable};

const LEGEND: [(&str, &str); 8] = [
    (
        "K × B",
        "workers × batch, and on which VMs; behind a slash the workers on each",
    ),
    (
        "time, cost",
        "to the target: mean over the replicas and in brackets its 95 % interval; or ~ their median, and the mean, where few \
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

pub fn legend(page: &Page) -> String {
    page.legend(LEGEND)
}

/// One block per (workload, pricing, objective, strategy) with a line per cluster, grouped by
/// [`of_clusters`](scavsim_experiment::KeyColumns::of_clusters); below it the remarks about some of them, each once.
pub fn render(scenario: &str, table: &KeyTable, places: &Places, page: &Page) -> String {
    let mut text = String::new();
    let same = |a: &KeyGroup, b: &KeyGroup| a.key.get(..5) == b.key.get(..5);
    for block in table.groups.chunk_by(same) {
        let (Some(first), most) = (block.first(), block.iter().map(|g| g.tallied.cases).max())
        else {
            continue;
        };
        let replicas = plural_with_commas(most.unwrap_or(0), "replica");
        let names = (0..5).map(|at| match at {
            PRICING => places.policy(cell(first, at)),
            _ => cell(first, at).to_owned(),
        });
        let names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
        let shared = shared_vms(block, places);
        let all_on = shared.as_ref().map(|vms| format!("all on {vms}"));
        let title = std::iter::once(scenario.to_owned()).chain(names);
        text += &page.bold(&page.parts(title.chain([replicas]).chain(all_on), 2));
        let mut columns = columns(block, places, page);
        columns.retain(|column| shared.is_none() || column.head != ON);
        let sheet = Sheet::new(block, columns).toned(|group| failed_tone(&group.tallied));
        let fitted = sheet.fit(page);
        text += &fitted.text(page);
        text += &fitted.remark("95 % intervals", page);
        text += &asides(block, page);
        text.push('\n');
    }
    let signs: Vec<_> = signs_in(&text).collect();
    let legend = if signs.is_empty() {
        String::new()
    } else {
        page.legend(signs) + "\n"
    };
    text + &legend + &places.below(page)
}

/// Index of the policy in the key of a group.
const PRICING: usize = 2;

fn cell(group: &KeyGroup, at: usize) -> &str {
    group.key.get(at).map_or("", String::as_str)
}

const ON: &str = "on";

fn vms(group: &KeyGroup, places: &Places) -> String {
    match cell(group, 6).parse().ok() {
        None => NONE.to_owned(),
        workers => places.shapes(cell(group, 5), workers),
    }
}

/// The VMs that all lines of a block share: the title names them once.
fn shared_vms(block: &[KeyGroup], places: &Places) -> Option<String> {
    let first = vms(block.first()?, places);
    let is_shared = block.len() > 1 && first != NONE;
    (is_shared && block.iter().all(|group| vms(group, places) == first)).then_some(first)
}

/// Reasons why clusters failed or were simulated differently, each once.
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

/// Whether few replicas dominate the mean of time or cost.
fn is_carried_by_few(group: &KeyGroup) -> bool {
    ["time_h", "cost_usd"].iter().any(|name| {
        let values = group.mean(name).zip(group.median(name));
        values.is_some_and(|(mean, (median, _))| is_of_a_tail(mean, mean.mean, median))
    })
}

/// The first cluster that has the figure: the reference for the others.
fn first_with<'g>(block: &'g [KeyGroup], name: &str) -> Option<&'g KeyGroup> {
    block.iter().find(|group| group.mean(name).is_some())
}

/// The columns of a block; some of them compare its lines.
fn columns<'b>(
    block: &'b [KeyGroup],
    places: &'b Places,
    page: &Page,
) -> Vec<Column<'b, &'b KeyGroup>> {
    let by_median = block.iter().any(is_carried_by_few);
    let typical = move |group: &KeyGroup, name: &str| {
        if by_median {
            (group.median(name))
                .map(|(value, interval)| (value, interval.map(|i| (i, IntervalCoverage::AsSaid))))
        } else {
            (group.mean(name)).map(|m| (m.mean, m.interval.map(|i| (i, m.holds))))
        }
    };
    let over = |name: &'static str| {
        let first = first_with(block, name).and_then(|first| typical(first, name));
        let cell = move |group: &&KeyGroup| match (typical(group, name), first) {
            (Some((own, _)), Some((first, _))) if first > 0.0 => format!("{:.2} ×", own / first),
            _ => NONE.to_owned(),
        };
        Column::number("vs first", cell).rank(2)
    };
    let mark = if by_median { "~" } else { "" };
    let measured = |head, name: &'static str, text: fn(f64) -> String, unit: fn(f64) -> f64| {
        let figure = move |group: &KeyGroup, whole: bool| {
            let (value, interval) = typical(group, name)?;
            let mean = group.mean(name).filter(|_| by_median);
            let mean = mean.map_or_else(String::new, |mean| format!(", mean {}", text(mean.mean)));
            let ends = interval.map(|interval| ends(interval, unit(value), 2));
            let ends = ends.filter(|_| whole).unwrap_or_default();
            Some(format!("{mark}{}{ends}{mean}", text(value)))
        };
        Column::number(head, move |group: &&KeyGroup| or_dash(figure(group, true)))
            .rank(1)
            .short(move |group| or_dash(figure(group, false)))
    };
    let counts = |group: &&KeyGroup| match (cell(group, 6), cell(group, 7)) {
        ("", "") => NONE.to_owned(),
        (workers, batch) => format!("{workers} × {batch}"),
    };
    let on = |group: &&KeyGroup| vms(group, places);
    let mut columns = vec![
        Column::text("cluster", |group: &&KeyGroup| {
            with_failed(cell(group, 5), &group.tallied)
        }),
        Column::number("K × B", counts).rank(0),
        Column::text(ON, on).rank(0),
        measured("time", "time_h", hours, |hours| {
            if is_in_minutes(hours) { 60.0 } else { 1.0 }
        }),
        over("time_h"),
        measured("cost", "cost_usd", usd, |_| 1.0),
        over("cost_usd"),
    ];
    type Formatter = fn(f64) -> String;
    let others: [(_, _, Formatter); 4] = [
        ("lost VMs", "lost_vms", |v| format!("{v:.1}")),
        ("stale", "staleness", |v| format!("{v:.2}")),
        ("dropped", "dropped_gradients", tenths_percent),
        ("wasted", "wasted_compute", tenths_percent),
    ];
    for (at, (head, metric, text)) in others.into_iter().enumerate() {
        let mean = |group: &KeyGroup| group.mean(metric).map(|m| m.mean);
        let happens = |group| mean(group).is_some_and(|v| v != 0.0);
        // Events that never happen are left out.
        if page.is_wide || block.iter().any(happens) {
            let own = move |group: &&KeyGroup| or_dash(mean(group).map(text));
            columns.push(Column::number(head, own).rank(4 + at as u8));
        }
    }
    columns.push(Column::number("fidelity", |group: &&KeyGroup| cell(group, 8).to_owned()).rank(9));
    columns
}

fn tenths_percent(fraction: f64) -> String {
    percent(fraction, if fraction == 0.0 { 0 } else { 1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use scavsim_experiment::Tasks;
    use scavsim_experiment::record::{Record, Status};
    use scavsim_experiment::{Aggregated, KeyColumns, Sink, Summary};

    fn table(records: &[Record<'_>]) -> KeyTable {
        let mut summary = Summary::by(KeyColumns::of_clusters(), Tasks::new(99, 99, 2));
        for record in records {
            summary.push_record(record).expect("few groups");
        }
        match summary.finish().expect("few groups") {
            Aggregated::By(table) => table,
            Aggregated::Usual(_) => panic!("columns were asked for"),
        }
    }

    fn record<'p>(kind: &'p str, hours: f64, reason: &'p str) -> Record<'p> {
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

    fn text(records: &[Record<'_>]) -> String {
        render("s", &table(records), &Places::default(), &Page::default())
    }

    #[test]
    fn clusters_stand_in_the_order_of_the_scenario_and_are_compared_with_the_first() {
        let text = text(&[record("z", 2.0, ""), record("a", 1.0, "")]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "s · w · p · time · oracle · 1 replica");
        assert!(lines[2].starts_with("z ") && lines[2].contains("2.00 h  "));
        assert!(lines[3].starts_with("a ") && lines[3].contains("0.50 ×"));
        assert!(lines[2].contains("1.00 ×"), "{text}");
    }

    #[test]
    fn a_reason_is_said_once_for_all_that_share_it_and_failures_have_theirs() {
        let mut failed = record("c", 1.0, "nobody is left");
        failed.status = Status::Failed;
        (failed.time_h, failed.cost_usd, failed.fidelity) = (None, None, None);
        let text = text(&[
            record("a", 1.0, "too fast"),
            record("b", 1.0, "too fast"),
            failed,
        ]);
        assert_eq!(text.matches("too fast").count(), 1, "{text}");
        for part in [
            "\na, b in event: too fast\n",
            "\nc: 1 without a result: nobody is left\n",
            "\nc (1 failed) ",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }
}
