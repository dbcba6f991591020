//! Strategies and policies as tables.

use super::super::table::Table;
use super::names::Names;
use crate::figure::Material;
use crate::figure::place::Outcome;
use crate::report::Places;
use crate::report::choices::{builds_on_runs, is_all_knowing, place as in_words};
use crate::report::percent::typical;
use crate::report::summary_table::are_of_a_block;
use scavsim_base::text::words::first_of;
use scavsim_base::text::words::{or_dash, percent};
use scavsim_base::text::{Cell, Column, Sheet};
use scavsim_experiment::Group;

/// Maximum number of rows in the table of strategies; all others are in the files.
const MOST_STRATEGIES: usize = 2_000;
const MOST_POLICIES: usize = 1_000;

const IN_SUMMARY: &str = "; all are in summary.csv.";

pub(super) fn setting<'m, R: 'm>(rows: &[R], of: fn(&R) -> &str) -> Option<Column<'m, R>> {
    let is_there = rows.iter().any(|row| !of(row).is_empty());
    is_there.then(|| Column::word("setting", move |row: &R| of(row)))
}

type GroupRow<'m> = (&'m Group, &'m Outcome);

fn begins(group: &Group) -> &'static str {
    match (is_all_knowing(group), builds_on_runs(group)) {
        (true, _) => "with the truth",
        (false, true) => "with earlier runs",
        (false, false) => "from nothing",
    }
}

fn mean<'m>(head: &'static str, digits: usize, metric: &'static str) -> Column<'m, GroupRow<'m>> {
    Column::number(head, move |(group, _): &GroupRow<'_>| {
        Cell::number(group.mean(metric).map(|mean| mean.mean), digits)
    })
}

/// A ratio less 1, or a share, in percent.
fn over<'m>(head: &'static str, metric: &'static str) -> Column<'m, GroupRow<'m>> {
    Column::number(head, move |(group, _): &GroupRow<'_>| {
        Cell::number(group.mean(metric).map(|mean| 100.0 * mean.mean), 1)
    })
}

/// Half of the 95 % interval of a ratio or share, in percent.
fn half<'m>(head: &'static str, metric: &'static str) -> Column<'m, GroupRow<'m>> {
    Column::number(head, move |(group, _): &GroupRow<'_>| {
        let interval = group.mean(metric).and_then(|mean| mean.interval);
        Cell::number(interval.map(|i| 50.0 * (i.high - i.low)), 1)
    })
}

fn end<'m>(
    head: &'static str,
    of: fn(&Outcome) -> Option<[f64; 2]>,
    at: usize,
) -> Column<'m, GroupRow<'m>> {
    Column::number(head, move |(_, outcome): &GroupRow<'_>| {
        Cell::number(of(outcome).map(|ends| ends[at]), 2)
    })
}

/// Columns that appear when a row is opened.
const MORE_OF_STRATEGIES: [&str; 21] = [
    "starts",
    "± net time, %",
    "± net cost, %",
    "median net time, %",
    "median net cost, %",
    "gross time, %",
    "gross cost, %",
    "time 5 %, h",
    "time 95 %, h",
    "cost 5 %, USD",
    "cost 95 %, USD",
    "earlier runs, h",
    "earlier runs, USD",
    "error, %",
    "failed",
    "MFU, %",
    "USD per 10⁹ tokens",
    "effective time",
    "tokens/s",
    "regret time, %",
    "regret cost, %",
];

const MEANINGS: [(&str, &str); 10] = [
    (
        "chooses most often",
        "the most frequent choice, and the share of replicas that made it",
    ),
    (
        "right, %",
        "share of replicas whose choice is worth what the oracle's is",
    ),
    ("search, h", "time until the choice begins to train"),
    ("search, USD", "cost until the choice begins to train"),
    ("time, h", "mean over replicas, search included"),
    ("cost, USD", "mean over replicas, search included"),
    (
        "net time, %",
        "time over the oracle's in the same replica, search steps counted as training, ± half of a 95 % interval",
    ),
    (
        "net cost, %",
        "cost over the oracle's in the same replica, search steps counted as training, ± half of a 95 % interval",
    ),
    (
        "regret time, %",
        "expected time of the choice alone over the oracle's",
    ),
    (
        "regret cost, %",
        "expected cost of the choice alone over the oracle's",
    ),
];

pub(super) fn strategies(material: &Material) -> Table {
    let names = Names::from_clouds(&material.clouds);
    let rows = material.groups.iter().zip(&material.outcomes);
    let rows: Vec<GroupRow<'_>> = rows.take(MOST_STRATEGIES).collect();
    let median = |head, metric: &'static str| {
        Column::number(head, move |(group, _): &GroupRow<'_>| {
            let own = typical(group, metric).filter(|own| own.is_median());
            Cell::number(own.map(|own| 100.0 * own.value()), 1)
        })
    };
    let columns = setting(&rows, |(group, _)| &group.setting)
        .into_iter()
        .chain([
            Column::word("workload", |(group, _): &GroupRow<'_>| &*group.workload),
            Column::word("pricing", |(group, _): &GroupRow<'_>| &*group.pricing),
            Column::word("objective", |(group, _): &GroupRow<'_>| &*group.objective),
            Column::word("strategy", |(group, _): &GroupRow<'_>| &*group.strategy),
            Column::word("starts", |(group, _): &GroupRow<'_>| begins(group)),
            Column::text("chooses most often", move |(group, _): &GroupRow<'_>| {
                choice(group, material, &names)
            }),
            Column::number("right, %", |(group, _): &GroupRow<'_>| {
                Cell::number(Some(100.0 * group.tallied.right()), 0)
            }),
            mean("search, h", 2, "search_time_h"),
            mean("search, USD", 2, "search_cost_usd"),
            mean("time, h", 2, "time_h"),
            mean("cost, USD", 2, "cost_usd"),
            over("net time, %", "overhead_net_time"),
            half("± net time, %", "overhead_net_time"),
            median("median net time, %", "overhead_net_time"),
            over("net cost, %", "overhead_net_cost"),
            half("± net cost, %", "overhead_net_cost"),
            median("median net cost, %", "overhead_net_cost"),
            over("gross time, %", "overhead_gross_time"),
            over("gross cost, %", "overhead_gross_cost"),
            over("regret time, %", "regret_time"),
            over("regret cost, %", "regret_cost"),
            end("time 5 %, h", |outcome| outcome.time_h, 0),
            end("time 95 %, h", |outcome| outcome.time_h, 1),
            end("cost 5 %, USD", |outcome| outcome.cost_usd, 0),
            end("cost 95 %, USD", |outcome| outcome.cost_usd, 1),
            mean("earlier runs, h", 1, "known_time_h"),
            mean("earlier runs, USD", 2, "known_cost_usd"),
            over("error, %", "error_mean"),
            Column::number("failed", |(group, _): &GroupRow<'_>| {
                Cell::number(Some(group.tallied.failed as f64), 0)
            }),
        ]);
    // Only parallel plans have these.
    let of_plans = (rows.iter()).any(|(group, _)| group.mean("tokens_per_s").is_some());
    let plans = of_plans.then(|| {
        [
            mean("tokens/s", 0, "tokens_per_s"),
            over("MFU, %", "mfu"),
            mean("USD per 10⁹ tokens", 2, "usd_per_1e9_tokens"),
            mean("effective time", 2, "effective"),
        ]
    });
    let columns: Vec<_> = columns.chain(plans.into_iter().flatten()).collect();
    let note = format!(
        "Over the oracle's time and cost in the same replica, search counted.{}",
        first_of(MOST_STRATEGIES, material.groups.len(), IN_SUMMARY)
    );
    let sheet = Sheet::new(rows, columns);
    let mut table = Table::from_sheet("strategies", "What finding it costs", note, &sheet)
        .with_more(&MORE_OF_STRATEGIES)
        .with_halves(&[
            ("net time, %", "± net time, %"),
            ("net cost, %", "± net cost, %"),
        ])
        .with_bars(&["net time, %", "net cost, %"])
        .with_meanings(&MEANINGS)
        .in_order([("time", "net time, %"), ("cost", "net cost, %")]);
    table.parts = Some("starts");
    table
}

/// The most frequent choice, and its share.
fn choice(group: &Group, material: &Material, names: &Names<'_>) -> String {
    let cloud = material.cloud(&group.setting, &group.workload, &group.pricing);
    or_dash(group.choice.as_ref().map(|choice| {
        let place = cloud.and_then(|cloud| cloud.place_of(choice));
        let text = place.map_or_else(
            || in_words(choice, &Places::default(), " on "),
            |place| names.text(place),
        );
        format!("{text} ({})", percent(group.choice_share, 0))
    }))
}

pub(super) fn policies(material: &Material, places: &Places) -> Table {
    let blocks: Vec<&[Group]> = material.groups.chunk_by(are_of_a_block).collect();
    type PolicyBlock<'m> = &'m [Group];
    let figure = |head, metric: &'static str| {
        Column::number(head, move |block: &PolicyBlock<'_>| {
            let mean = block.iter().find_map(|group| group.mean(metric));
            Cell::number(mean.map(|mean| mean.mean), 2)
        })
    };
    let columns = setting(&blocks, |block| &block[0].setting)
        .into_iter()
        .chain([
            Column::word("workload", |block: &PolicyBlock<'_>| &*block[0].workload),
            Column::word("objective", |block: &PolicyBlock<'_>| &*block[0].objective),
            Column::word("policy", |block: &PolicyBlock<'_>| &*block[0].pricing),
            Column::text("best configuration", |block: &PolicyBlock<'_>| {
                let oracle = block[0].oracle.as_ref();
                or_dash(oracle.map(|oracle| in_words(oracle, places, " on ")))
            }),
            figure("its time, h", "oracle_time_h"),
            figure("its cost, USD", "oracle_cost_usd"),
            Column::text("mind", |block: &PolicyBlock<'_>| {
                let name = block[0].pricing.as_str();
                if places.is_marked(name) {
                    "spot price, VMs never lost"
                } else if places.remarks.only_ratios.iter().any(|own| own == name) {
                    "a unit, no money"
                } else {
                    ""
                }
            }),
        ]);
    let columns: Vec<_> = columns.collect();
    let count = blocks.len();
    let note = format!(
        "The best configuration at each price; a click on a row shows the page at it.{}",
        first_of(MOST_POLICIES, count, IN_SUMMARY)
    );
    let sheet = Sheet::new(blocks.into_iter().take(MOST_POLICIES), columns);
    let mut table = Table::from_sheet("policies", "What prices change", note, &sheet)
        .with_bars(&["its cost, USD"]);
    table.picks = Some(["pricing", "policy"]);
    table
}
