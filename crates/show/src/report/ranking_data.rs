//! Every configuration of a ranking for programs: as CSV and as JSON, all rows and all columns.

use serde_json::{Value, json};

use scavsim_base::text::{Column, Sheet};
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_data::cloud::Market;
use scavsim_experiment::{Ranked, Ranking};
use scavsim_search::testbed::PlanMetrics;

type RankedRow<'r> = (usize, &'r Ranked);

fn ranking_sheet<'r>(scenario: &'r str, ranking: &'r Ranking) -> Sheet<'r, RankedRow<'r>> {
    // A job that never ends has no figure: JSON has no infinity.
    let of = |head, value: fn(&Ranked) -> Value| {
        Column::text(head, move |(_, row): &RankedRow<'r>| value(row))
    };
    let mut columns = vec![
        Column::text("scenario", move |_: &RankedRow<'r>| scenario),
        Column::text("workload", |_: &RankedRow<'r>| &*ranking.workload),
        Column::text("pricing", |_: &RankedRow<'r>| &*ranking.pricing),
        Column::text("setting", |_: &RankedRow<'r>| &*ranking.setting),
        Column::word("sorted_by", |_: &RankedRow<'r>| ranking.objective.name()),
        Column::text("rank", |(rank, _): &RankedRow<'r>| json!(rank)),
        of("best_for", |row| {
            let names: Vec<&str> = row.best_for.iter().map(|o| o.name()).collect();
            json!(names.join(";"))
        }),
        of("on_front", |row| json!(row.is_on_front)),
        of("within_limits", |row| json!(row.is_allowed)),
        of("vm", |row| json!(row.vm)),
        of("vms", |row| json!(vms(row))),
        of("held", |row| json!(vms_label(row))),
        of("market", |row| json!(market(row))),
        of("workers", |row| json!(row.workers)),
        of("batch", |row| json!(row.batch)),
        of("other", |row| json!(row.other)),
        of("time_h", |row| {
            json!(row.expected.time_s / SECONDS_PER_HOUR)
        }),
        of("time_p5_h", |row| {
            json!(row.time_interval_s()[0] / SECONDS_PER_HOUR)
        }),
        of("time_p95_h", |row| {
            json!(row.time_interval_s()[1] / SECONDS_PER_HOUR)
        }),
        of("cost_usd", |row| json!(row.expected.cost_usd)),
        of("cost_p5_usd", |row| json!(row.cost_interval_usd()[0])),
        of("cost_p95_usd", |row| json!(row.cost_interval_usd()[1])),
        of("miss", |row| json!(row.miss.and_then(|miss| miss.share()))),
        of("runs", |row| json!(row.runs)),
        of("provenance", |row| json!(row.provenance)),
    ];
    // Only bags of jobs have this column.
    if ranking.rows.iter().any(|row| row.job_cost_usd.is_some()) {
        columns.push(of("job_cost_usd", |row| json!(row.job_cost_usd)));
    }
    // Only parallel plans have these.
    if ranking.rows.iter().any(|row| row.plan.is_some()) {
        columns.extend(plan_columns());
    }
    Sheet::new((1..).zip(&ranking.rows), columns)
}

/// Figures of parallel plans, from [`PlanMetrics`].
fn plan_columns<'r>() -> Vec<Column<'r, RankedRow<'r>>> {
    let of = |head, value: fn(&PlanMetrics) -> Value| {
        Column::text(head, move |(_, row): &RankedRow<'r>| {
            row.plan.as_ref().map_or(Value::Null, value)
        })
    };
    vec![
        of("peak_gib", |plan| json!(plan.peak_gib)),
        of("may_not_fit", |plan| json!(plan.may_not_fit)),
        of("bubble", |plan| json!(plan.bubble)),
        of("communication", |plan| json!(plan.communication)),
        of("tokens_per_s", |plan| json!(plan.tokens_per_s)),
        of("mfu", |plan| json!(plan.mfu)),
        Column::text("effective", |(_, row): &RankedRow<'r>| {
            json!(row.effective())
        }),
        Column::text("usd_per_1e9_tokens", |(_, row): &RankedRow<'r>| {
            json!(row.usd_per_1e9_tokens())
        }),
    ]
}

/// The number of all its VMs; `None` if unknown.
pub(super) fn vms(row: &Ranked) -> Option<u32> {
    (!row.held.is_empty()).then(|| row.held.iter().map(|held| held.vms).sum())
}

pub(super) fn vms_label(row: &Ranked) -> String {
    let each: Vec<String> = (row.held.iter())
        .map(|held| format!("{} {}", held.vms, held.vm))
        .collect();
    each.join(" + ")
}

/// The market of its VMs; `None` if unknown.
pub(super) fn market(row: &Ranked) -> Option<&'static str> {
    let mut all = row.held.iter().map(|held| held.market);
    let first = all.next()?;
    if all.all(|market| market == first) {
        first.map(Market::name)
    } else {
        Some("mixed")
    }
}

/// The table as text; the heads, from the first ranking with rows, only on request.
pub fn csv(scenario: &str, rankings: &[Ranking], with_heads: bool) -> String {
    let some = rankings.iter().filter(|ranking| !ranking.rows.is_empty());
    let text = |(at, ranking)| ranking_sheet(scenario, ranking).csv(with_heads && at == 0);
    some.enumerate().map(text).collect()
}

/// The rows as JSON. `schema` counts up with every incompatible change.
pub fn json(scenario: &str, rankings: &[Ranking]) -> Value {
    let rows = rankings
        .iter()
        .map(|ranking| ranking_sheet(scenario, ranking).json());
    let rows: Vec<Value> = rows.flatten().collect();
    json!({ "schema": 1, "scenario": scenario, "configurations": rows })
}
