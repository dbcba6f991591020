//! The JSON Schema of a scenario file, with the names that editors complete.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::{Map, Value, json};

use super::file::ScenarioFile;
use crate::cloud::lifetimes::Model;
use crate::pricing::builtin;
use crate::search::{ALL_KNOWING, Registry};
use crate::{grid, workload};

/// What the keys of ranges mean, wherever they stand.
const OF_RANGES: [(&str, &str); 5] = [
    ("from", "First value."),
    ("to", "Last value, if the steps meet it."),
    ("step", "Added to each value to have the next."),
    (
        "factor",
        "What each value is multiplied by to have the next.",
    ),
    ("periodic-s", "Seconds of training between two checkpoints."),
];

/// The JSON Schema of a scenario file.
pub fn schema() -> Schema {
    // "No default" is not a default of null.
    let without_null = RecursiveTransform(|schema: &mut Schema| {
        if schema.get("default").is_some_and(Value::is_null) {
            schema.remove("default");
        }
    });
    let names = Names::known();
    let with_names = RecursiveTransform(move |schema: &mut Schema| {
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            describe(properties);
            names.add(properties);
        }
    });
    SchemaSettings::draft2020_12()
        .with_transform(without_null)
        .with_transform(with_names)
        .into_generator()
        .into_root_schema_for::<ScenarioFile>()
}

fn describe(properties: &mut Map<String, Value>) {
    for (key, meaning) in OF_RANGES {
        if let Some(Value::Object(own)) = properties.get_mut(key)
            && !own.contains_key("description")
        {
            own.insert("description".to_owned(), json!(meaning));
        }
    }
}

/// Names by the keys that take them, beside names and paths of one's own.
#[derive(Clone)]
struct Names(Vec<(&'static str, Vec<String>)>);

impl Names {
    fn known() -> Names {
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
        // A broken table is reported by whoever uses it.
        let (policies, _) = builtin::policies();
        let (models, _) = Model::embedded();
        let registry = Registry::default();
        let strategies = ALL_KNOWING
            .iter()
            .map(|(name, _)| *name)
            .chain(registry.names());
        Names(vec![
            ("workloads", owned(workload::library::names())),
            ("stored", owned(workload::library::names())),
            ("grid", owned(grid::library::names())),
            (
                "policies",
                policies.iter().map(|policy| policy.name.clone()).collect(),
            ),
            ("strategies", owned(strategies.collect())),
            (
                "lifetime",
                models.iter().map(|model| model.name.clone()).collect(),
            ),
        ])
    }

    /// Offers them where a text is asked for, or a list of texts.
    fn add(&self, properties: &mut Map<String, Value>) {
        for (key, names) in &self.0 {
            let Some(Value::Object(own)) = properties.get_mut(*key) else {
                continue;
            };
            let any = json!([{ "enum": names }, { "type": "string" }]);
            let is_text = |value: Option<&Value>| match value {
                Some(Value::String(one)) => one == "string",
                Some(Value::Array(several)) => several.contains(&json!("string")),
                _ => false,
            };
            if let Some(Value::Object(items)) = own.get_mut("items") {
                if is_text(items.get("type")) {
                    items.remove("type");
                    items.insert("anyOf".to_owned(), any);
                }
            } else if is_text(own.get("type")) {
                own.remove("type");
                own.insert("anyOf".to_owned(), any);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `visit` for every property of a schema.
    fn each(node: &Value, visit: &mut impl FnMut(&str, &Value)) {
        match node {
            Value::Object(map) => {
                if let Some(Value::Object(properties)) = map.get("properties") {
                    properties.iter().for_each(|(key, value)| visit(key, value));
                }
                map.values().for_each(|value| each(value, visit));
            }
            Value::Array(list) => list.iter().for_each(|value| each(value, visit)),
            _ => {}
        }
    }

    #[test]
    fn every_key_is_described_and_names_are_offered() {
        let schema = serde_json::to_value(schema()).expect("it is JSON");
        let (mut count, mut silent) = (0, Vec::new());
        each(&schema, &mut |key, value| {
            count += 1;
            let target = value.get("$ref").and_then(Value::as_str);
            let target = target.and_then(|path| schema.pointer(path.trim_start_matches('#')));
            let is_described =
                |node: Option<&Value>| node.is_some_and(|n| n.get("description").is_some());
            if !is_described(Some(value)) && !is_described(target) {
                silent.push(key.to_owned());
            }
        });
        assert!(count > 150, "{count}");
        assert!(silent.is_empty(), "{silent:?}");
        let offered = |path: &str| {
            schema
                .pointer(path)
                .and_then(Value::as_array)
                .map_or(0, Vec::len)
        };
        assert!(offered("/properties/workloads/items/anyOf/0/enum") >= 12);
        assert!(offered("/$defs/SpotTable/properties/lifetime/anyOf/0/enum") > 30);
        assert!(offered("/$defs/SearchTable/properties/strategies/items/anyOf/0/enum") > 8);
        assert!(offered("/$defs/PricingTable/properties/policies/items/anyOf/0/enum") > 60);
    }
}
