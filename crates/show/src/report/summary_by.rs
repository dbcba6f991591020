//! The summary by any chosen columns, in all its formats.

use serde_json::{Map, Value, json};

use super::group_summary::{self, failed_tone};
use super::market_table;
use super::percent::{mean_percent, right, right_alone, signs_in};
use scavsim_base::text::words::{NONE, hours, signed, usd};
use scavsim_base::text::{Column, Page, Sheet};
use scavsim_experiment::{KeyGroup, KeyTable, Mean};

/// The first column after the key of the groups.
pub const FIRST_FIGURE: &str = "cases";

/// `summary.csv`: one row per group.
pub(super) fn groups_sheet(table: &KeyTable) -> Sheet<'_, &KeyGroup> {
    let tallied = group_summary::Columns::<&KeyGroup>(|group| &group.tallied);
    let mut columns: Vec<_> = key_columns(table).collect();
    columns.extend(tallied.counts(FIRST_FIGURE));
    columns.extend(tallied.shares());
    columns.extend(tallied.metrics("count", |group, at| {
        let mean = group.tallied.means[at];
        mean.map_or(String::new(), |mean| mean.count.to_string())
    }));
    columns.extend(tallied.coverage_columns());
    Sheet::new(&table.groups, columns)
}

fn key_columns(table: &KeyTable) -> impl Iterator<Item = Column<'_, &KeyGroup>> {
    let names = table.columns.iter().enumerate();
    names.map(|(at, name)| Column::word(name, move |group: &&KeyGroup| &*group.key[at]).rank(0))
}

/// JSON for programs; `schema` is increased by every incompatible change.
pub fn json(scenario: &str, table: &KeyTable) -> Value {
    let groups = table.groups.iter().map(|group| {
        let key: Map<String, Value> = (table.columns.iter().zip(&group.key))
            .map(|(name, cell)| (name.clone(), json!(cell)))
            .collect();
        let mut value = json!({ "key": key, "cases": group.tallied.cases });
        if let Some(map) = value.as_object_mut() {
            map.extend(group_summary::json(&group.tallied, None));
        }
        value
    });
    let groups: Vec<Value> = groups.collect();
    json!({ "schema": 2, "scenario": scenario, "by": table.columns, "groups": groups })
}

/// The table for people: a line per group.
pub fn table(table: &KeyTable, page: &Page) -> String {
    let counted = || Column::number("cases", |group: &&KeyGroup| cases(group)).rank(0);
    if market_table::is_of(table.groups.iter().map(|group| &group.tallied)) {
        let figures = market_table::columns(|group: &KeyGroup| &group.tallied);
        let columns = key_columns(table).chain([counted()]).chain(figures);
        return Sheet::new(&table.groups, columns).fit(page).text(page);
    }
    let regret = |group: &&KeyGroup| {
        pair(group, ["regret_time", "regret_cost"], |mean| {
            signed(mean.mean)
        })
    };
    let net = |group: &KeyGroup, text: fn(&Mean) -> String| {
        pair(group, ["overhead_net_time", "overhead_net_cost"], text)
    };
    let columns = key_columns(table).chain([
        counted(),
        Column::number("right", |group: &&KeyGroup| right(&group.tallied))
            .rank(1)
            .short(|group| right_alone(&group.tallied)),
        Column::number("regret t / $", regret).rank(5),
        Column::number("search", |group: &&KeyGroup| search(group)).rank(3),
        Column::number("net t / $", move |group: &&KeyGroup| {
            net(group, mean_percent)
        })
        .rank(2)
        .short(move |group| net(group, |mean| signed(mean.mean))),
    ]);
    let sheet = Sheet::new(&table.groups, columns).toned(|group| failed_tone(&group.tallied));
    let fitted = sheet.fit(page);
    let text = fitted.text(page);
    let signs: Vec<_> = signs_in(&text).collect();
    text + &page.legend(signs) + &fitted.remark("95 % intervals", page)
}

fn cases(group: &KeyGroup) -> String {
    match group.tallied.failed {
        0 => group.tallied.cases.to_string(),
        failed => format!("{} ({failed} failed)", group.tallied.cases),
    }
}

fn pair(group: &KeyGroup, metrics: [&str; 2], text: fn(&Mean) -> String) -> String {
    match metrics.map(|metric| group.mean(metric)) {
        [Some(time), Some(cost)] => format!("{} / {} %", text(time), text(cost)),
        _ => NONE.to_owned(),
    }
}

fn search(group: &KeyGroup) -> String {
    match ["search_time_h", "search_cost_usd"].map(|metric| group.mean(metric)) {
        [Some(time), Some(cost)] if time.mean > 0.0 => {
            format!("{}, {}", hours(time.mean), usd(cost.mean))
        }
        [Some(_), Some(_)] => "none".to_owned(),
        _ => NONE.to_owned(),
    }
}
