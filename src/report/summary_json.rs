//! The summary as JSON: the stable interface for programs.

use serde_json::{Map, Value, json};

use crate::experiment::summary::METRICS;
use crate::experiment::{Chosen, Group};

/// One scenario's summary. `schema` counts up with every incompatible change.
pub fn value(scenario: &str, groups: &[Group]) -> Value {
    let place = |chosen: &Option<Chosen>| {
        let chosen = chosen.as_ref()?;
        let mut place =
            json!({ "vm": chosen.vm, "workers": chosen.workers, "batch": chosen.batch });
        if let Some(other) = &chosen.other {
            place["other"] = json!(other);
        }
        Some(place)
    };
    let groups: Vec<Value> = groups
        .iter()
        .map(|group| {
            let metrics: Map<String, Value> = (METRICS.iter().zip(&group.aggregates))
                .filter_map(|(metric, aggregate)| {
                    let a = aggregate.as_ref()?;
                    let interval = a.half_interval.map(|h| [a.mean - h, a.mean + h]);
                    let value = json!({
                        "mean": a.mean,
                        "interval95": interval,
                        "median": a.median,
                        "count": a.count,
                    });
                    Some((metric.name.to_owned(), value))
                })
                .collect();
            json!({
                "workload": group.workload,
                "pricing": group.pricing,
                "objective": group.objective,
                "strategy": group.strategy,
                "replicas": group.replicas,
                "failed": group.failed,
                "right": group.right,
                "choice": place(&group.choice),
                "choice_share": group.choice_share,
                "oracle": place(&group.oracle),
                "metrics": metrics,
            })
        })
        .collect();
    json!({ "schema": 1, "scenario": scenario, "groups": groups })
}
