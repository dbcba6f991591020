//! The data behind a result, with their origin.

use serde::Serialize;
use serde_json::Value;

use crate::figure::Material;
use scavsim_data::pricing::builtin;

#[derive(Debug, Serialize)]
pub struct Source {
    /// Workload or pricing policy.
    pub name: String,
    pub what: String,
    /// Who measured or printed it, and when.
    pub from: String,
    pub licence: String,
    pub hash: String,
}

/// Maximum number of listed policies; a page is no price list.
const MOST_POLICIES: usize = 80;

pub(super) fn list_sources(material: &Material) -> Vec<Source> {
    let mut all = Vec::new();
    let listed = |key: &str| material.identity.get(key).and_then(Value::as_array);
    for entry in listed("workloads").into_iter().flatten() {
        let name = entry["name"].as_str().unwrap_or_default();
        let hash = entry["data_hash"].as_str().unwrap_or_default();
        let known = material
            .workloads
            .iter()
            .find(|workload| workload.name == name);
        let description = known.map(|workload| &workload.description);
        let of = |text: fn(&scavsim_data::workload::Description) -> String| {
            description.map_or_else(|| "not in the program".to_owned(), text)
        };
        all.push(Source {
            name: name.to_owned(),
            what: of(|d| format!("{} on {} to {}", d.model, d.data_set, d.target)),
            from: of(|d| {
                if d.accuracy.is_empty() {
                    d.citation.clone()
                } else {
                    format!("{}; {}", d.citation, d.accuracy)
                }
            }),
            licence: of(|d| d.licence.clone()),
            hash: hash.to_owned(),
        });
    }
    if let Some(grid) = material.identity.get("grid") {
        let jobs = grid["jobs"].as_array().map_or(0, Vec::len);
        all.push(Source {
            name: grid["name"].as_str().unwrap_or_default().to_owned(),
            what: format!("a measured grid of real runs, {jobs} jobs"),
            from: "see `scavsim list grids`".to_owned(),
            licence: "see `scavsim list grids`".to_owned(),
            hash: String::new(),
        });
    }
    let (embedded, _) = builtin::policies();
    for name in material
        .distinct(|group| &group.pricing)
        .into_iter()
        .take(MOST_POLICIES)
    {
        let own = material
            .scenario
            .iter()
            .flat_map(|scenario| &scenario.policies);
        let policy = own.chain(&embedded).find(|policy| policy.name == name);
        all.push(Source {
            name: name.to_owned(),
            what: "pricing policy".to_owned(),
            from: policy.map_or_else(
                || "defined in the scenario".to_owned(),
                |policy| policy.description.clone(),
            ),
            licence: String::new(),
            hash: String::new(),
        });
    }
    all
}
