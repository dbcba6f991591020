//! The schema of a scenario file as a set of choices: definitions, and all their points.

use std::collections::BTreeSet;

use serde_json::Value;

/// The JSON Schema of scenario files.
pub struct Schema(Value);

/// The name of the file itself among the names of definitions.
pub const FILE: &str = "Scenario";

impl Schema {
    pub fn new(schema: Value) -> Schema {
        Schema(schema)
    }

    pub fn root(&self) -> &Value {
        &self.0
    }

    /// The referenced node, and the name of its definition if it has one.
    pub fn resolve<'s>(&'s self, node: &'s Value) -> (Option<&'s str>, &'s Value) {
        match node["$ref"].as_str() {
            None => (None, node),
            Some(path) => {
                let name = path.rsplit('/').next().expect("a path");
                (Some(name), &self.0["$defs"][name])
            }
        }
    }

    /// A definition by its name.
    pub fn definition(&self, name: &str) -> &Value {
        match name {
            FILE => &self.0,
            _ => &self.0["$defs"][name],
        }
    }

    /// Keys and variants of all definitions, as `SpotTable.lifetime` and `Protocol=ssp`, and the known names for each key, as
    /// `SpotTable.lifetime=gcp-2019`.
    pub fn points(&self) -> BTreeSet<String> {
        let mut points = BTreeSet::new();
        let definitions = self.0["$defs"].as_object().expect("there are definitions");
        let all = definitions.iter().map(|(name, node)| (&**name, node));
        for (name, node) in all.chain([(FILE, &self.0)]) {
            for (key, value) in node["properties"].as_object().into_iter().flatten() {
                let point = format!("{name}.{key}");
                for known in self.known(value) {
                    points.insert(format!("{point}={known}"));
                }
                points.insert(point);
            }
            for variant in branches(node) {
                if let Some(variant) = variant_name(variant) {
                    points.insert(format!("{name}={variant}"));
                }
            }
            for word in words(node) {
                points.insert(format!("{name}={word}"));
            }
        }
        points
    }

    /// The names of a registry for a key: those of an `enum` that also allows other text, also in a list.
    fn known<'s>(&'s self, node: &'s Value) -> Vec<&'s str> {
        let of_list = branches(&node["items"]);
        let all = branches(node).into_iter().chain(of_list);
        all.flat_map(words).collect()
    }
}

/// The alternatives of a node: the nodes of its `anyOf` or `oneOf`.
pub fn branches(node: &Value) -> Vec<&Value> {
    let of = |key: &str| node[key].as_array().into_iter().flatten();
    of("anyOf").chain(of("oneOf")).collect()
}

/// The words of an `enum`.
pub fn words(node: &Value) -> Vec<&str> {
    let all = node["enum"].as_array().into_iter().flatten();
    all.filter_map(Value::as_str).collect()
}

/// The name of a variant: its text, or its only key.
pub fn variant_name(node: &Value) -> Option<&str> {
    let only = || match node["required"].as_array()?.as_slice() {
        [only] if node["properties"].as_object()?.len() == 1 => only.as_str(),
        _ => None,
    };
    node["const"].as_str().or_else(only)
}
