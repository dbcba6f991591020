//! `summary.csv`: one row per (workload, pricing, objective, strategy).

use scavsim_base::text::{Column, Sheet};
use scavsim_experiment::{Aggregated, Chosen, Group};

use super::{group_summary, summary_by};

/// The file of a summary, the heads only `with_heads`.
pub fn text(summary: &Aggregated, with_heads: bool) -> String {
    match summary {
        Aggregated::Usual(groups) => summary_sheet(groups).csv(with_heads),
        Aggregated::By(table) => summary_by::groups_sheet(table).csv(with_heads),
    }
}

/// Per metric: mean, lower and upper end of the 95 % confidence interval of the mean, median; empty where a figure does
/// not exist.
fn summary_sheet(groups: &[Group]) -> Sheet<'_, &Group> {
    fn group_column<'g>(head: &'static str, cell: fn(&Group) -> &str) -> Column<'g, &'g Group> {
        Column::word(head, move |group: &&Group| cell(group))
    }
    let tallied = group_summary::Columns::<&Group>(|group| &group.tallied);
    let mut columns = vec![
        group_column("workload", |group| &group.workload),
        group_column("pricing", |group| &group.pricing),
        group_column("objective", |group| &group.objective),
        group_column("strategy", |group| &group.strategy),
        group_column("setting", |group| &group.setting),
    ];
    columns.extend(tallied.counts("replicas"));
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
