use super::super::table::Table;
use super::names::Names;
use super::tables::setting;
use crate::figure::material::Cloud;
use crate::figure::place::Place;
use scavsim_base::text::{Cell, Column, Sheet};
use scavsim_search::testbed::PlanMetrics;

/// Maximum number of rows; if there are more, those on a front come first.
const MOST_CONFIGURATIONS: usize = 2_400;
/// Columns that appear when a row is opened.
const MORE: [&str; 11] = [
    "VM",
    "other axes",
    "workers",
    "batch",
    "time 5 %, h",
    "time 95 %, h",
    "cost 5 %, USD",
    "cost 95 %, USD",
    "chosen by",
    "bubble, %",
    "communication, %",
];

fn mark(place: &Place) -> &'static str {
    match (place.is_knee, place.is_on_front) {
        (true, _) => "knee",
        (false, true) => "front",
        (false, false) => "",
    }
}

fn chosen_by(place: &Place) -> String {
    let each = place.by.iter();
    let each = each.map(|one| format!("{} for {} in {}", one.strategy, one.objective, one.cases));
    each.collect::<Vec<_>>().join("; ")
}

type PlaceRow<'m> = (&'m Cloud, &'m Place);

fn of_place<'m>(
    head: &'static str,
    digits: usize,
    of: fn(&Place) -> Option<f64>,
) -> Column<'m, PlaceRow<'m>> {
    Column::number(head, move |(_, place): &PlaceRow<'_>| {
        Cell::number(of(place), digits)
    })
}

/// All configurations of each cloud; if they do not fit, the front of each first.
pub(super) fn table(clouds: &[Cloud]) -> Table {
    let (rows, count) = rows(clouds);
    let shown = rows.len();
    let names = Names::from_clouds(clouds);
    let common = names.common_vm;
    let count_of = |number: Option<u32>| number.map(f64::from);
    let end = |at: usize, which: usize| {
        move |(_, place): &PlaceRow<'_>| Cell::number(place.ends.map(|ends| ends[at][which]), 2)
    };
    let columns = setting(&rows, |(cloud, _)| &cloud.setting)
        .into_iter()
        .chain([
            Column::word("workload", |(cloud, _): &PlaceRow<'_>| &*cloud.workload),
            Column::word("pricing", |(cloud, _): &PlaceRow<'_>| &*cloud.pricing),
            Column::text("configuration", move |(_, place): &PlaceRow<'_>| {
                names.text(place)
            }),
            Column::text("VM", |(_, place): &PlaceRow<'_>| {
                place.vm.clone().unwrap_or_default()
            }),
            Column::text("other axes", |(_, place): &PlaceRow<'_>| {
                place.other.clone().unwrap_or_default()
            }),
            Column::number("workers", move |(_, place): &PlaceRow<'_>| {
                Cell::number(count_of(place.workers), 0)
            }),
            Column::number("batch", move |(_, place): &PlaceRow<'_>| {
                Cell::number(count_of(place.batch), 0)
            }),
            of_place("time, h", 2, |place| Some(place.time_h)),
            of_place("cost, USD", 2, |place| Some(place.cost_usd)),
            Column::number("time 5 %, h", end(0, 0)),
            Column::number("time 95 %, h", end(0, 1)),
            Column::number("cost 5 %, USD", end(1, 0)),
            Column::number("cost 95 %, USD", end(1, 1)),
            Column::word("Pareto", |(_, place): &PlaceRow<'_>| mark(place)),
            Column::word("from", |(_, place): &PlaceRow<'_>| &*place.provenance),
            Column::word(
                "limits",
                |(_, place): &PlaceRow<'_>| {
                    if place.is_allowed { "" } else { "misses" }
                },
            ),
            of_place("chosen in cases", 0, |place| {
                Some(place.by.iter().map(|one| one.cases).sum::<u64>() as f64)
            }),
            Column::text("chosen by", |(_, place): &PlaceRow<'_>| chosen_by(place)),
        ]);
    let plans = of_plans(&rows);
    let columns: Vec<_> = columns.chain(plans).collect();
    let note = note(clouds, common, [shown, count]);
    let sheet = Sheet::new(rows, columns);
    Table::from_sheet("configurations", "Every configuration", note, &sheet)
        .with_more(&MORE)
        .in_order([("time", "time, h"), ("cost", "cost, USD")])
}

/// The rows that fit, and the number of all rows.
fn rows(clouds: &[Cloud]) -> (Vec<PlaceRow<'_>>, usize) {
    let all = || {
        let each = clouds.iter();
        each.flat_map(|cloud| cloud.places.iter().map(move |place| (cloud, place)))
    };
    let count = all().count();
    let is_first = |(_, place): &PlaceRow<'_>| place.is_on_front || place.is_knee;
    let rows: Vec<PlaceRow<'_>> = if count > MOST_CONFIGURATIONS {
        let rest = all().filter(|row| !is_first(row));
        let every = count.div_ceil(MOST_CONFIGURATIONS);
        let mut rows: Vec<PlaceRow<'_>> =
            all().filter(is_first).take(MOST_CONFIGURATIONS).collect();
        let room = MOST_CONFIGURATIONS - rows.len();
        rows.extend(rest.step_by(every).take(room));
        rows
    } else {
        all().collect()
    };
    (rows, count)
}

/// Columns of parallel plans only.
fn of_plans<'m>(rows: &[PlaceRow<'m>]) -> impl Iterator<Item = Column<'m, PlaceRow<'m>>> + use<'m> {
    let is_there = rows.iter().any(|(_, place)| place.plan.is_some());
    let all = is_there.then(|| {
        let figure = |head, decimals, of: fn(&Place, &PlanMetrics) -> Option<f64>| {
            Column::number(head, move |(_, place): &PlaceRow<'_>| {
                let value = place.plan.as_ref().and_then(|plan| of(place, plan));
                Cell::number(value, decimals)
            })
        };
        [
            figure("GiB", 1, |_, plan| Some(plan.peak_gib)),
            figure("bubble, %", 1, |_, plan| Some(100.0 * plan.bubble)),
            figure("communication, %", 1, |_, plan| {
                plan.communication.map(|share| 100.0 * share)
            }),
            figure("tokens/s", 0, |_, plan| Some(plan.tokens_per_s)),
            figure("MFU, %", 1, |_, plan| plan.mfu.map(|mfu| 100.0 * mfu)),
            figure("USD per 10⁹ tokens", 2, |place, plan| {
                plan.usd_per_1e9_tokens(place.cost_usd)
            }),
        ]
    });
    all.into_iter().flatten()
}

/// The note above the table: `shown` of `count` rows.
fn note(clouds: &[Cloud], common: Option<&str>, [shown, count]: [usize; 2]) -> String {
    let which = if clouds.iter().all(|cloud| cloud.is_all) {
        "Expected time and cost of every configuration."
    } else {
        "Expected time and cost of those that somebody chose; `--scenario FILE` shows all."
    };
    let cut = if count > shown {
        format!(
            " {shown} of {count}: all on a front, and of the others one in some; `scavsim rank FILE --format csv` has all."
        )
    } else {
        String::new()
    };
    let on = common.map_or_else(String::new, |vm| {
        format!(" Workers × global batch, all on {vm}.")
    });
    format!("{which}{on}{cut}")
}
