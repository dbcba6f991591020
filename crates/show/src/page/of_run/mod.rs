//! The page of a run, and of a ranking: the best configuration, the search cost, and every configuration.

mod answers;
mod cases;
mod configurations;
mod names;
mod tables;
mod warnings;

use super::contents::{Contents, Fact, Picker};
use super::picture::{Layer, Picture};
use super::sources;
use crate::figure::Material;
use crate::figure::material::{Cloud, distinct};
use crate::report::Places;
use scavsim_base::text::words::{plural, plural_with_commas};
use scavsim_experiment::Ranking;

pub fn of_result(material: &Material) -> Contents {
    let places = Places::from_identity(&material.identity);
    let settings = material.distinct(|group| &group.setting);
    let workloads = material.distinct(|group| &group.workload);
    let policies = material.distinct(|group| &group.pricing);
    let objectives = material.distinct(|group| &group.objective);
    let strategies = material.distinct(|group| &group.strategy);
    let marks = Picker::among("strategy", "strategy", &strategies);
    let answers = answers::of_result(material, &places);
    let mut tables = vec![tables::strategies(material)];
    tables.push(configurations::table(&material.clouds));
    if policies.len() > 1 {
        tables.push(tables::policies(material, &places));
    }
    tables.push(cases::table(&material.gathered));
    let strategies = Layer {
        table: "strategies",
        label: "mean job of a strategy, search included",
        x: "time, h",
        y: "cost, USD",
        x_ends: Some(["time 5 %, h", "time 95 %, h"]),
        y_ends: Some(["cost 5 %, USD", "cost 95 %, USD"]),
        name: "strategy",
        is_named: true,
        ..Layer::default()
    };
    Contents {
        title: material.name.clone(),
        about: about(material, workloads.len()),
        pickers: (Picker::among("setting", "setting", &settings).into_iter())
            .chain(Picker::among("workload", "job", &workloads))
            .chain(Picker::among("objective", "best by", &objectives))
            .chain(Picker::among("pricing", "prices", &policies))
            .chain(marks.map(Picker::marking))
            .collect(),
        answers,
        picture: Some(picture(&material.clouds, vec![strategies])),
        tables,
        caveats: warnings::list_warnings(material),
        facts: facts(material),
        sources: sources::list_sources(material),
    }
}

pub fn of_rankings(name: &str, rankings: Vec<Ranking>, places: &Places) -> Contents {
    let first = rankings.first().map(|ranking| ranking.objective);
    let clouds = Cloud::of_rankings(rankings, &[]);
    let settings = distinct(clouds.iter().map(|cloud| &*cloud.setting));
    let mut objectives = answers::objectives(&clouds);
    // The objective that sorts the rows is shown first.
    objectives.sort_by_key(|objective| Some(*objective) != first);
    let names: Vec<&str> = objectives
        .iter()
        .map(|objective| objective.name())
        .collect();
    let workloads = distinct(clouds.iter().map(|cloud| &*cloud.workload));
    let policies = distinct(clouds.iter().map(|cloud| &*cloud.pricing));
    let count = clouds.iter().map(|cloud| cloud.places.len() as u64).sum();
    Contents {
        title: name.to_owned(),
        about: vec![
            plural(workloads.len() as u64, "job"),
            plural_with_commas(count, "configuration"),
        ],
        pickers: [
            Picker::among("setting", "setting", &settings),
            Picker::among("workload", "job", &workloads),
            Picker::among("objective", "best by", &names),
            Picker::among("pricing", "prices", &policies),
        ]
        .into_iter()
        .flatten()
        .collect(),
        answers: answers::of_clouds(&clouds, &objectives, places),
        picture: Some(picture(&clouds, Vec::new())),
        tables: vec![configurations::table(&clouds)],
        caveats: places.remarks.all(),
        facts: vec![
            Fact::new("scenario", name),
            Fact::new("scavsim", env!("CARGO_PKG_VERSION")),
            Fact::new("workloads", workloads.join(", ")),
            Fact::new("pricing policies", policies.join(", ")),
        ],
        sources: Vec::new(),
    }
}

/// Time over cost of all configurations, and further layers.
fn picture(clouds: &[Cloud], more: Vec<Layer>) -> Picture {
    let is_all = clouds.iter().all(|cloud| cloud.is_all);
    let configurations = Layer {
        table: "configurations",
        label: if is_all {
            "configuration"
        } else {
            "configuration that somebody chose"
        },
        x: "time, h",
        y: "cost, USD",
        name: "configuration",
        front: Some("Pareto"),
        filled: Some("from"),
        hollow: "not measured",
        ..Layer::default()
    };
    let layers = std::iter::once(configurations).chain(more).collect();
    Picture::cost_over_time("Down and to the left is better.", layers)
}

fn about(material: &Material, workloads: usize) -> Vec<String> {
    let number = |key: &str| {
        material
            .identity
            .get(key)
            .and_then(serde_json::Value::as_u64)
    };
    let replicas = number("replicas").map(|count| plural_with_commas(count, "replica"));
    let cases = number("cases").map(|count| plural_with_commas(count, "case"));
    let seed = number("seed").map(|seed| format!("seed {seed}"));
    std::iter::once(plural(workloads as u64, "job"))
        .chain([replicas, cases, seed].into_iter().flatten())
        .collect()
}

fn facts(material: &Material) -> Vec<Fact> {
    let of = |key: &str| match material.identity.get(key) {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(serde_json::Value::Array(all)) => all.len().to_string(),
        Some(value) => value.to_string(),
        None => "not stated".to_owned(),
    };
    let names = |all: Vec<&str>| all.join(", ");
    let settings = material.distinct(|group| &group.setting);
    let settings = (settings.len() > 1).then(|| Fact::new("settings", names(settings)));
    let facts = [
        Fact::new("scenario", of("scenario")),
        Fact::new("scavsim", of("scavsim")),
        Fact::new("seed", of("seed")),
        Fact::new("replicas", of("replicas")),
        Fact::new("cases", of("cases")),
        Fact::new("without a result", of("failed")),
        Fact::new("fidelity", of("fidelity")),
        Fact::new(
            "workloads",
            names(material.distinct(|group| &group.workload)),
        ),
        Fact::new("pricing policies", of("policies")),
        Fact::new(
            "objectives",
            names(material.distinct(|group| &group.objective)),
        ),
        Fact::new(
            "strategies",
            names(material.distinct(|group| &group.strategy)),
        ),
        Fact::new("random streams", of("rng")),
        Fact::new("hash of the scenario", of("scenario_hash")),
        Fact::new("hash of the prices", of("prices_hash")),
    ];
    facts.into_iter().chain(settings).collect()
}
