//! `summary.csv`: one row per (workload, pricing, objective, strategy).

use scavsim_base::text::{Column, Sheet};
use scavsim_experiment::{AXIS, Aggregated, Chosen, Group, RecordColumns};

use super::{group_summary, summary_by};

/// First columns of the usual summary.
pub(super) const KEY: [&str; 4] = ["workload", "pricing", "objective", "strategy"];
/// Column of the number of replicas in the usual summary.
pub(super) const REPLICAS: &str = "replicas";

/// The summary file for records of these columns: unless records have all columns, columns that are empty in all groups are left out.
pub fn file(summary: &Aggregated, columns: &RecordColumns) -> String {
    let all = text(summary, true);
    if columns.left_out().is_empty() {
        all
    } else {
        without_empty_columns(&all)
    }
}

/// A table without the columns that are empty in all rows, except for the key of the groups; all columns if there are no rows.
pub fn without_empty_columns(table: &str) -> String {
    let reader = || {
        csv::ReaderBuilder::new()
            .has_headers(false)
            .from_reader(table.as_bytes())
    };
    let is_figure = |head: &str| head == summary_by::FIRST_FIGURE;
    let head = reader().records().flatten().next().unwrap_or_default();
    let keys = head.iter().position(is_figure).unwrap_or(0);
    let mut is_there = vec![true; keys];
    for row in reader().records().skip(1).flatten() {
        is_there.resize(row.len(), false);
        for (is_there, cell) in is_there.iter_mut().zip(&row) {
            *is_there |= !cell.is_empty();
        }
    }
    if is_there.len() == keys {
        return table.to_owned();
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in reader().records().flatten() {
        let cells = row.iter().zip(&is_there).filter(|(_, is_there)| **is_there);
        // Writing to memory cannot fail.
        let _: Result<(), _> = writer.write_record(cells.map(|(cell, _)| cell));
    }
    String::from_utf8_lossy(&writer.into_inner().unwrap_or_default()).into_owned()
}

/// All columns of a summary, the heads only `with_heads`.
pub fn text(summary: &Aggregated, with_heads: bool) -> String {
    match summary {
        Aggregated::Usual(groups) => summary_sheet(groups).csv(with_heads),
        Aggregated::By(table) => summary_by::groups_sheet(table).csv(with_heads),
    }
}

/// For each metric: mean, lower and upper end of the 95 % confidence interval of the mean, median; empty if a figure does not
/// exist.
fn summary_sheet(groups: &[Group]) -> Sheet<'_, &Group> {
    fn group_column<'g>(head: &'static str, cell: fn(&Group) -> &str) -> Column<'g, &'g Group> {
        Column::word(head, move |group: &&Group| cell(group))
    }
    let tallied = group_summary::Columns::<&Group>(|group| &group.tallied);
    let mut columns = vec![
        group_column(KEY[0], |group| &group.workload),
        group_column(KEY[1], |group| &group.pricing),
        group_column(KEY[2], |group| &group.objective),
        group_column(KEY[3], |group| &group.strategy),
        group_column("setting", |group| &group.setting),
    ];
    let axes = groups.first().map_or(&[][..], |group| group.axes.names());
    columns.extend(axes.iter().enumerate().map(|(at, name)| {
        Column::text(format!("{AXIS}{name}"), move |group: &&Group| {
            group.axes.values()[at].map_or(String::new(), |value| value.to_string())
        })
    }));
    columns.extend(tallied.counts(REPLICAS));
    columns.extend(tallied.shares());
    columns.extend(place("choice", |group| group.choice.as_ref()));
    columns.push(Column::text("choice_share", |group: &&Group| {
        group.choice_share.to_string()
    }));
    columns.extend(place("oracle", |group| group.oracle.as_ref()));
    columns.extend(tallied.metrics("median", |group, at| {
        group.medians[at].map_or(String::new(), |median| median.to_string())
    }));
    columns.extend(tallied.coverage_columns());
    Sheet::new(groups, columns)
}

fn place<'g>(whose: &str, of: fn(&Group) -> Option<&Chosen>) -> [Column<'g, &'g Group>; 4] {
    let part = |name, cell: fn(&Chosen) -> Option<String>| {
        Column::text(format!("{whose}_{name}"), move |group: &&Group| {
            of(group).and_then(cell).unwrap_or_default()
        })
    };
    [
        part("vm", |chosen| chosen.vm.clone()),
        part("workers", |chosen| Some(chosen.workers?.to_string())),
        part("batch", |chosen| Some(chosen.batch?.to_string())),
        part("other", |chosen| chosen.other.clone()),
    ]
}
