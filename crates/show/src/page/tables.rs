//! Tables that can be sorted and filtered, and what opens behind their rows.

use serde::Serialize;
use serde_json::{Value, json};

use crate::figure::Material;
use crate::figure::material::{Cloud, Place};
use scavsim_base::text::words::{or_dash, percent};
use scavsim_base::text::{Cell, Column, Sheet};
use scavsim_lab::experiment::columns::Value as Datum;
use scavsim_lab::experiment::{COLUMNS, Group, Record};
use scavsim_sim::plans::PlanFigures;

/// A sheet as it stands on a page.
#[derive(Debug, Serialize)]
pub struct Table {
    /// Anchor of the table.
    pub id: &'static str,
    /// What it shows.
    pub caption: &'static str,
    /// How to read it; what is left out.
    pub note: String,
    /// Columns of the table.
    pub columns: Vec<Head>,
    /// Rows of the table.
    pub rows: Vec<PageLine>,
}

/// The heading of a column.
#[derive(Debug, Serialize)]
pub struct Head {
    /// Words of the head, with the unit.
    pub name: String,
    /// Whether it holds numbers.
    pub is_number: bool,
}

/// A row.
#[derive(Debug, Serialize)]
pub struct PageLine {
    /// Cells of the row as they are read.
    pub cells: Vec<Text>,
    /// Key of what opens behind it; empty for nothing.
    pub opens: String,
}

/// A cell.
#[derive(Debug, Serialize)]
pub struct Text {
    /// The text as it is read.
    pub text: String,
    /// What numbers are sorted by.
    pub value: Option<f64>,
}

impl Table {
    /// A sheet under this anchor and caption; rows open nothing.
    pub(super) fn of<R>(
        id: &'static str,
        caption: &'static str,
        note: String,
        sheet: &Sheet<'_, R>,
    ) -> Table {
        let head = |column: &Column<'_, R>| Head {
            name: column.head.to_string(),
            is_number: !column.is_text,
        };
        let text = |cell: Cell| Text {
            text: cell.text,
            value: cell.number,
        };
        let line = |row: &R| PageLine {
            cells: (sheet.columns.iter())
                .map(|column| text(column.cell(row)))
                .collect(),
            opens: String::new(),
        };
        Table {
            id,
            caption,
            note,
            columns: sheet.columns.iter().map(head).collect(),
            rows: sheet.rows.iter().map(line).collect(),
        }
    }

    /// The rows open what is kept under this word and their number.
    fn opening(mut self, word: &str) -> Table {
        for (number, row) in self.rows.iter_mut().enumerate() {
            row.opens = format!("{word}-{number}");
        }
        self
    }
}

/// Rows of one table; all others are in the files.
const MOST_ROWS: usize = 1_500;

pub(super) fn of(material: &Material) -> Vec<Table> {
    vec![
        strategies(material),
        configurations(material),
        cases(material),
    ]
}

/// The setting, where there are several.
fn setting<'m, R: 'm>(rows: &[R], of: fn(&R) -> &str) -> Option<Column<'m, R>> {
    let is_there = rows.iter().any(|row| !of(row).is_empty());
    is_there.then(|| Column::word("setting", move |row: &R| of(row)))
}

fn beyond(count: usize, where_: &str) -> String {
    if count > MOST_ROWS {
        format!(" The first {MOST_ROWS} of {count}; all are in {where_}.")
    } else {
        String::new()
    }
}

fn strategies(material: &Material) -> Table {
    type GroupRow<'m> = &'m Group;
    fn over<'m>(head: &'static str, metric: &'static str) -> Column<'m, GroupRow<'m>> {
        Column::number(head, move |group: &GroupRow<'_>| {
            let mean = group.mean(metric);
            let half = mean
                .and_then(|mean| mean.interval)
                .map(|i| 50.0 * (i.high - i.low));
            let mut cell = Cell::number(mean.map(|mean| 100.0 * mean.mean), 1);
            if let Some(half) = half.filter(|half| *half >= 0.05) {
                cell.text += &format!(" ±{half:.1}");
            }
            cell
        })
    }
    let mean = |head, metric| {
        Column::number(head, move |group: &GroupRow<'_>| {
            Cell::number(group.mean(metric).map(|mean| mean.mean), 2)
        })
    };
    let right = |group: &GroupRow<'_>| Cell::number(Some(100.0 * group.tallied.right()), 0);
    let failed = |group: &GroupRow<'_>| Cell::number(Some(group.tallied.failed as f64), 0);
    let rows: Vec<GroupRow<'_>> = material.groups.iter().take(MOST_ROWS).collect();
    let columns = setting(&rows, |group| &group.setting).into_iter().chain([
        Column::word("workload", |group: &GroupRow<'_>| &*group.workload),
        Column::word("pricing", |group: &GroupRow<'_>| &*group.pricing),
        Column::word("objective", |group: &GroupRow<'_>| &*group.objective),
        Column::word("strategy", |group: &GroupRow<'_>| &*group.strategy),
        Column::text("choice, workers × batch", |group: &GroupRow<'_>| {
            choice(group)
        }),
        Column::number("right, %", right),
        mean("time, h", "time_h"),
        mean("cost, USD", "cost_usd"),
        over("regret time, %", "regret_time"),
        over("regret cost, %", "regret_cost"),
        over("gross time, %", "overhead_gross_time"),
        over("gross cost, %", "overhead_gross_cost"),
        over("net time, %", "overhead_net_time"),
        over("net cost, %", "overhead_net_cost"),
        mean("search, USD", "search_cost_usd"),
        over("error, %", "error_mean"),
        Column::number("failed", failed),
    ]);
    // Only parallel plans have these.
    let of_plans = rows
        .iter()
        .any(|group| group.mean("tokens_per_s").is_some());
    let plans = of_plans.then(|| {
        let whole = |head, metric| {
            Column::number(head, move |group: &GroupRow<'_>| {
                Cell::number(group.mean(metric).map(|mean| mean.mean), 0)
            })
        };
        [
            whole("tokens/s", "tokens_per_s"),
            over("MFU, %", "mfu"),
            mean("USD per 10⁹ tokens", "usd_per_1e9_tokens"),
            mean("effective time", "effective"),
        ]
    });
    let columns = columns.chain(plans.into_iter().flatten());
    let note = format!(
        "Means over replicas, ± half of a 95 % interval. The choice is the most frequent. Gross: search steps earn no \
         progress; net: they count as training; both over the oracle's.{}",
        beyond(material.groups.len(), "summary.csv")
    );
    let columns: Vec<_> = columns.collect();
    Table::of("strategies", "Strategies", note, &Sheet::new(rows, columns))
}

/// The most frequent choice, and how frequent it is.
fn choice(group: &Group) -> String {
    or_dash(group.choice.as_ref().map(|choice| {
        let parts = [choice.workers, choice.batch].into_iter().flatten();
        let mut text = parts.map(|n| n.to_string()).collect::<Vec<_>>().join(" × ");
        if let Some(other) = &choice.other {
            text += &format!(" {other}");
        }
        format!("{text} ({})", percent(group.choice_share, 0))
    }))
}

/// Every configuration with its number among those of the page.
fn places(material: &Material) -> impl Iterator<Item = (&Cloud, &Place)> {
    let clouds = material.clouds.iter();
    clouds.flat_map(|cloud| cloud.places.iter().map(move |place| (cloud, place)))
}

fn mark(place: &Place) -> &'static str {
    match (place.is_knee, place.is_on_front) {
        (true, _) => "knee",
        (false, true) => "front",
        (false, false) => "",
    }
}

fn configurations(material: &Material) -> Table {
    type PlaceRow<'m> = (&'m Cloud, &'m Place);
    let cases = |(_, place): &PlaceRow<'_>| {
        Cell::number(
            Some(place.by.iter().map(|one| one.cases).sum::<u64>() as f64),
            0,
        )
    };
    let rows: Vec<PlaceRow<'_>> = places(material).take(MOST_ROWS).collect();
    let columns = setting(&rows, |(cloud, _)| &cloud.setting)
        .into_iter()
        .chain([
            Column::word("workload", |(cloud, _): &PlaceRow<'_>| &*cloud.workload),
            Column::word("pricing", |(cloud, _): &PlaceRow<'_>| &*cloud.pricing),
            Column::text("workers × batch", |(_, place): &PlaceRow<'_>| {
                place.name(false)
            }),
            Column::text("VM", |(_, place): &PlaceRow<'_>| {
                place.vm.clone().unwrap_or_default()
            }),
            Column::number("time, h", |(_, place): &PlaceRow<'_>| {
                Cell::number(Some(place.time_h), 3)
            }),
            Column::number("cost, USD", |(_, place): &PlaceRow<'_>| {
                Cell::number(Some(place.cost_usd), 2)
            }),
            Column::word("Pareto", |(_, place): &PlaceRow<'_>| mark(place)),
            Column::word("from", |(_, place): &PlaceRow<'_>| &*place.provenance),
            Column::number("chosen in cases", cases),
        ]);
    let of_plans = rows.iter().any(|(_, place)| place.plan.is_some());
    let plans = of_plans.then(|| {
        let figure = |head, decimals, of: fn(&Place, &PlanFigures) -> Option<f64>| {
            Column::number(head, move |(_, place): &PlaceRow<'_>| {
                let value = place.plan.as_ref().and_then(|plan| of(place, plan));
                Cell::number(value, decimals)
            })
        };
        [
            figure("GiB", 1, |_, plan| Some(plan.peak_gib)),
            figure("bubble, %", 1, |_, plan| Some(100.0 * plan.bubble)),
            figure("communication, %", 1, |_, plan| {
                Some(100.0 * plan.communication)
            }),
            figure("tokens/s", 0, |_, plan| Some(plan.tokens_per_s)),
            figure("MFU, %", 1, |_, plan| plan.mfu.map(|mfu| 100.0 * mfu)),
            figure("USD per 10⁹ tokens", 2, |place, plan| {
                plan.usd_per_1e9_tokens(place.cost_usd)
            }),
        ]
    });
    let columns = columns.chain(plans.into_iter().flatten());
    let is_all = material.clouds.iter().all(|cloud| cloud.is_all);
    let which = if is_all {
        "All configurations"
    } else {
        "Configurations that somebody chose (`--scenario FILE` shows all)"
    };
    let note = format!(
        "{which} with expected time and cost. Open one to see who chose it.{}",
        beyond(places(material).count(), "`scavsim rank FILE --format csv`")
    );
    let columns: Vec<_> = columns.collect();
    let sheet = Sheet::new(rows, columns);
    Table::of("configurations", "Configurations", note, &sheet).opening("place")
}

fn cases(material: &Material) -> Table {
    type RecordRow<'m> = Record<'m>;
    fn share<'m>(
        head: &'static str,
        of: fn(&RecordRow<'_>) -> Option<f64>,
    ) -> Column<'m, RecordRow<'m>> {
        Column::number(head, move |record| {
            Cell::number(of(record).map(|share| 100.0 * share), 1)
        })
    }
    let gathered = &material.gathered;
    let whole = |value: Option<u32>| or_dash(value.map(|value| value.to_string()));
    let choice = move |record: &RecordRow<'_>| {
        format!(
            "{} × {}",
            whole(record.chosen_workers),
            whole(record.chosen_batch)
        )
    };
    let rows: Vec<RecordRow<'_>> = gathered.cases.iter().map(|own| own.as_record()).collect();
    let columns = setting(&rows, |record| record.setting).into_iter().chain([
        Column::number("case", |record: &RecordRow<'_>| {
            Cell::number(Some(record.case as f64), 0)
        }),
        Column::word("workload", |record: &RecordRow<'_>| record.workload),
        Column::word("pricing", |record: &RecordRow<'_>| record.pricing),
        Column::word("objective", |record: &RecordRow<'_>| record.objective),
        Column::word("strategy", |record: &RecordRow<'_>| record.strategy),
        Column::number("replica", |record: &RecordRow<'_>| {
            Cell::number(Some(record.replica as f64), 0)
        }),
        Column::text("choice", choice),
        Column::number("time, h", |record: &RecordRow<'_>| {
            Cell::number(record.time_h, 3)
        }),
        Column::number("cost, USD", |record: &RecordRow<'_>| {
            Cell::number(record.cost_usd, 2)
        }),
        share("net time, %", |record| record.overhead_net_time),
        share("net cost, %", |record| record.overhead_net_cost),
        Column::word("status", |record: &RecordRow<'_>| record.status.name()),
    ]);
    let of_plans = rows.iter().any(|record| record.tokens_per_s.is_some());
    let plans = of_plans.then(|| {
        let figure = |head, decimals, of: fn(&RecordRow<'_>) -> Option<f64>| {
            Column::number(head, move |record| Cell::number(of(record), decimals))
        };
        [
            figure("GiB", 1, |record| record.peak_gib),
            share("bubble, %", |record| record.bubble),
            share("communication, %", |record| record.communication),
            figure("tokens/s", 0, |record| record.tokens_per_s),
            share("MFU, %", |record| record.mfu),
            figure("USD per 10⁹ tokens", 2, |record| {
                record.usd_per_1e9_tokens
            }),
        ]
    });
    let columns = columns.chain(plans.into_iter().flatten());
    let note = format!(
        "{} of {} cases, by a fixed rule: {}. Open one to see all its columns; `scavsim trace` shows its course.",
        gathered.cases.len(),
        gathered.count,
        gathered.rule().words()
    );
    let columns: Vec<_> = columns.collect();
    Table::of("cases", "Cases", note, &Sheet::new(rows, columns)).opening("case")
}

/// What opens behind rows, as JSON: columns once, then values by row.
pub(super) fn details(material: &Material) -> String {
    let columns: Vec<Value> = (COLUMNS.iter())
        .map(|column| json!([column.name, column.unit, column.what]))
        .collect();
    let cells = |record: &Record<'_>| -> Vec<Value> {
        (COLUMNS.iter())
            .map(|column| match (column.of)(record) {
                Datum::Empty => Value::Null,
                Datum::Count(count) => json!(count),
                Datum::Whole(whole) => json!(whole),
                // As much as anybody reads.
                Datum::Figure(figure) => {
                    json!(format!("{figure:.6}").parse::<f64>().unwrap_or(figure))
                }
                Datum::Text(text) => json!(text),
            })
            .collect()
    };
    let cases: Vec<Value> = (material.gathered.cases.iter())
        .map(|owned| json!(cells(&owned.as_record())))
        .collect();
    let places: Vec<Value> = places(material)
        .take(MOST_ROWS)
        .map(|(_, place)| {
            let by = place.by.iter();
            let by = by.map(|one| json!([one.strategy, one.objective, one.cases]));
            json!(by.collect::<Vec<_>>())
        })
        .collect();
    json!({ "columns": columns, "cases": cases, "places": places }).to_string()
}
