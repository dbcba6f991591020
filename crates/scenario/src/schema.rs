//! The JSON Schema of a scenario file, with names for completion in editors.

use std::collections::BTreeSet;

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::{Map, Value, json};

use super::file::ScenarioFile;
use super::subject::{KINDS, LISTS};
use scavsim_data::cloud::lifetimes::Model;
use scavsim_data::pricing::builtin;
use scavsim_data::workload;
use scavsim_read::input::toml::{ANY, MOST};
use scavsim_search::search::{ALL_KNOWING, Registry};

/// Descriptions of the keys of ranges.
const OF_RANGES: [(&str, &str); 10] = [
    ("from", "First value."),
    ("to", "Last value, if the steps meet it."),
    ("step", "Added to each value to have the next."),
    (
        "factor",
        "What each value is multiplied by to have the next.",
    ),
    ("periodic-s", "Seconds of training between two checkpoints."),
    (
        "cv",
        "Coefficient of variation of service times, which are gamma.",
    ),
    ("attempts", "Attempts that are lost."),
    ("at-s", "Seconds since the bag began."),
    ("after-loss-s", "Seconds from a loss until it is noticed."),
    (
        "after-start-s",
        "Seconds from the begin of a lost attempt until that is noticed.",
    ),
];

pub const SCHEMA_ID: &str = "urn:scavsim:scenario";

pub fn schema() -> Schema {
    let names = Names::known();
    let with_names = RecursiveTransform(move |schema: &mut Schema| {
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            describe(properties);
            names.add(properties);
        }
    });
    let mut schema = SchemaSettings::draft2020_12()
        .with_transform(RecursiveTransform(without_null))
        .with_transform(with_names)
        .into_generator()
        .into_root_schema_for::<ScenarioFile>();
    with_lists(&mut schema);
    schema.insert("$id".to_owned(), json!(SCHEMA_ID));
    schema
}

/// TOML has no null: an optional key has the schema of its value.
fn without_null(schema: &mut Schema) {
    let null = json!({ "type": "null" });
    match schema.get_mut("default") {
        Some(Value::Null) => drop(schema.remove("default")),
        Some(default) => drop_nulls(default),
        None => {}
    }
    for (list, null) in [
        ("type", json!("null")),
        ("anyOf", null),
        ("enum", Value::Null),
    ] {
        if let Some(all) = schema.get_mut(list).and_then(Value::as_array_mut) {
            all.retain(|own| *own != null);
        }
    }
    let single = |schema: &Schema, list: &str| match schema.get(list)?.as_array()?.as_slice() {
        [single] => Some(single.clone()),
        _ => None,
    };
    if let Some(single) = single(schema, "type") {
        schema.insert("type".to_owned(), single);
    }
    if let Some(Value::Object(single)) = single(schema, "anyOf") {
        schema.remove("anyOf");
        schema.ensure_object().extend(single);
    }
}

fn drop_nulls(value: &mut Value) {
    if let Value::Object(keys) = value {
        keys.retain(|_, own| !own.is_null());
        keys.values_mut().for_each(drop_nulls);
    }
}

const RANGE: &str = "Range";

/// Allows lists for every key that may hold several values.
fn with_lists(schema: &mut Schema) {
    let mut root = std::mem::take(schema).to_value();
    let mut seen = BTreeSet::new();
    for path in LISTS.paths() {
        let places = places(&root, &path);
        // Two paths may lead to one definition.
        for place in places
            .into_iter()
            .filter(|place| seen.insert(place.clone()))
        {
            if let Some(own) = root.pointer_mut(&place) {
                let one = own.take();
                *own = several(one);
            }
        }
    }
    let subjects = KINDS
        .iter()
        .rev()
        .map(|kind| kind.form.key)
        .chain(["include"]);
    root["anyOf"] = subjects.map(|key| json!({ "required": [key] })).collect();
    if let Some(definitions) = root.pointer_mut("/$defs").and_then(Value::as_object_mut) {
        definitions.insert(RANGE.to_owned(), range());
    }
    if let Ok(with_lists) = Schema::try_from(root) {
        *schema = with_lists;
    }
}

fn several(mut one: Value) -> Value {
    let mut own = Map::new();
    if let Some(map) = one.as_object_mut() {
        for key in ["description", "default"] {
            own.extend(map.remove(key).map(|value| (key.to_owned(), value)));
        }
    }
    let list = json!({ "type": "array", "minItems": 1, "maxItems": MOST, "uniqueItems": true, "items": one });
    // Words have no range.
    let is_word = one.get("type") == Some(&json!("string")) || one.get("$ref").is_some();
    let range = json!({ "$ref": format!("#/$defs/{RANGE}") });
    let all = if is_word {
        json!([one, list])
    } else {
        json!([one, list, range])
    };
    own.insert("anyOf".to_owned(), all);
    Value::Object(own)
}

/// A range as read by [`Range`](scavsim_read::input::range::Range).
fn range() -> Value {
    let number = |key: &str, least: f64| {
        let meaning = OF_RANGES.iter().find(|(own, _)| *own == key);
        json!({ "description": meaning.map(|(_, own)| own), "type": "number", "minimum": least, "maximum": 1e9 })
    };
    let factor = OF_RANGES.iter().find(|(own, _)| *own == "factor");
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["from", "to"],
        "properties": {
            "from": number("from", 0.0),
            "to": number("to", 1e-9),
            "step": number("step", 1e-9),
            "factor": {
                "description": factor.map(|(_, own)| own),
                "type": "number",
                "exclusiveMinimum": 1,
                "maximum": 1000
            }
        }
    })
}

/// Locations of the schemas at a path of keys.
fn places(root: &Value, path: &[&str]) -> Vec<String> {
    let mut all = vec![String::new()];
    for key in path {
        let tables = all.iter().flat_map(|place| tables(root, place));
        let tables: Vec<String> = tables.collect();
        let child = |table: &String| match *key {
            ANY => format!("{table}/additionalProperties"),
            key => format!("{table}/properties/{key}"),
        };
        all = (tables.iter().map(child))
            .filter(|place| root.pointer(place).is_some())
            .collect();
    }
    all
}

/// A location and all that it refers to, directly or as one of several forms.
fn tables(root: &Value, place: &str) -> Vec<String> {
    let Some(own) = root.pointer(place) else {
        return Vec::new();
    };
    let mut all = vec![place.to_owned()];
    if let Some(Value::String(target)) = own.get("$ref") {
        all.extend(tables(root, target.trim_start_matches('#')));
    }
    for forms in ["anyOf", "oneOf"] {
        let count = own.get(forms).and_then(Value::as_array).map_or(0, Vec::len);
        all.extend((0..count).flat_map(|at| tables(root, &format!("{place}/{forms}/{at}"))));
    }
    all
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

/// Names by key, in addition to the user's own names and paths.
#[derive(Clone)]
struct Names(Vec<(&'static str, Vec<String>)>);

impl Names {
    fn known() -> Names {
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
        // A broken table is reported where it is used.
        let (policies, _) = builtin::policies();
        let (models, _) = Model::embedded();
        let registry = Registry::default();
        let strategies = ALL_KNOWING
            .iter()
            .map(|known| known.name)
            .chain(registry.names());
        Names(vec![
            ("workloads", owned(workload::library::names())),
            ("stored", owned(workload::library::names())),
            ("grid", owned(scavsim_grids::library::names())),
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

    /// Adds the names where a string, or a list of strings, is expected.
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

    /// Numbers in these tables may be lists, as documented.
    #[test]
    fn no_number_of_spot_variation_and_policies_is_forgotten() {
        let schema = serde_json::to_value(schema()).expect("it is JSON");
        let mut count = 0;
        for name in [
            "SpotTable",
            "CheckpointChoice",
            "VariationTable",
            "DriftTable",
            "StragglerTable",
            "PolicyFile",
        ] {
            let table = schema
                .pointer(&format!("/$defs/{name}"))
                .expect("it is there");
            each(table, &mut |key, value| {
                let is = |own: &Value, word: &str| {
                    let types = own.get("type").map(Value::to_string).unwrap_or_default();
                    types.contains(word)
                };
                let number = |own: &Value| is(own, "number") || is(own, "integer");
                let forms = value.get("anyOf").and_then(Value::as_array);
                match forms {
                    Some(forms) if forms.iter().any(number) => {
                        assert!(forms.iter().any(|own| is(own, "array")), "{name}.{key}");
                        count += 1;
                    }
                    _ => {
                        let of_ranges = ["from", "to", "step", "factor"].contains(&key);
                        assert!(!number(value) || of_ranges, "{name}.{key}");
                        let by_name = value.get("additionalProperties");
                        assert!(by_name.is_none_or(|own| !number(own)), "{name}.{key}");
                    }
                }
            });
        }
        assert!(count >= 30, "{count}");
    }
}
