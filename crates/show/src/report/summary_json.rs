//! The summary as JSON: the stable interface for programs.

use serde_json::{Value, json};

use super::group_summary;
use scavsim_experiment::{Chosen, Group};

/// One scenario's summary. `schema` is increased by every incompatible change.
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
            let mut value = json!({
                "workload": group.workload,
                "pricing": group.pricing,
                "objective": group.objective,
                "strategy": group.strategy,
                "setting": group.setting,
                "replicas": group.tallied.cases,
                "choice": place(&group.choice),
                "choice_share": group.choice_share,
                "oracle": place(&group.oracle),
            });
            if !group.axes.names().is_empty() {
                let axes = group.axes.names().iter().zip(group.axes.values());
                value["axes"] = axes
                    .map(|(name, value)| (name.clone(), json!(value)))
                    .collect();
            }
            if let Some(map) = value.as_object_mut() {
                map.extend(group_summary::json(&group.tallied, Some(&group.medians)));
            }
            value
        })
        .collect();
    json!({ "schema": 2, "scenario": scenario, "groups": groups })
}
