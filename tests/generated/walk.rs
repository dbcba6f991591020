//! Values for any node of the schema: by the table of hints if it knows the key, otherwise by the schema. A new key is
//! written without a line here.

use serde_json::Value;

use crate::draft::quoted;
use crate::hints;
use crate::luck::Luck;
use crate::names::Names;
use crate::schema::{Schema, branches, variant_name, words};
use crate::world::{World, between, number, percent};

/// Writes values, and records the points of the schema that they cover.
pub struct Walk<'a> {
    pub schema: &'a Schema,
    pub names: &'a Names,
    pub world: &'a mut World,
    pub luck: &'a mut Luck,
    pub points: Vec<String>,
}

/// One of the names of a registry: neighbouring scenarios use neighbouring names, so that none depends on chance.
pub fn in_turn<'n>(names: &[&'n str], turn: usize, luck: &mut Luck) -> &'n str {
    names[(turn + luck.below(3)) % names.len()]
}

impl Walk<'_> {
    /// The keys of a table that are written: required ones, one of each set of alternatives, and others by chance.
    pub fn keys(&mut self, of: &str) -> Vec<String> {
        let schema = self.schema;
        let node = schema.definition(of);
        let all = node["properties"].as_object().into_iter().flatten();
        let required: Vec<&str> = (node["required"].as_array().into_iter().flatten())
            .filter_map(Value::as_str)
            .collect();
        let alternatives = hints::alternatives(of);
        let mut taken: Vec<String> = required.iter().map(|key| (*key).to_owned()).collect();
        for set in alternatives {
            taken.extend(self.luck.pick(set).iter().map(|key| (*key).to_owned()));
        }
        for (key, _) in all {
            let is_alternative =
                (alternatives.iter().copied().flatten()).any(|keys| keys.contains(&key.as_str()));
            let share = hints::share(of, key);
            if !is_alternative && !taken.contains(key) && percent(share, self.luck) {
                taken.push(key.clone());
                taken.extend(hints::together(of, key).iter().map(|key| (*key).to_owned()));
            }
        }
        let legal = |key: &String| !node["properties"][key.as_str()].is_null();
        taken.retain(legal);
        taken.sort();
        taken.dedup();
        taken
    }

    /// The value of a key of a table.
    pub fn key(&mut self, of: &str, key: &str) -> String {
        let schema = self.schema;
        let node = &schema.definition(of)["properties"][key];
        let point = format!("{of}.{key}");
        self.points.push(point.clone());
        match hints::hint(of, key, self) {
            Some(text) => {
                for branch in branches(node).into_iter().chain(branches(&node["items"])) {
                    let said = words(branch).into_iter();
                    let said = said.filter(|word| text.contains(&format!("\"{word}\"")));
                    self.points
                        .extend(said.map(|word| format!("{point}={word}")));
                }
                if text.starts_with("{ from") && format!("{node}").contains("/Range\"") {
                    let keys = ["from", "to", "step", "factor"].into_iter();
                    let keys = keys.filter(|key| text.contains(&format!("{key} =")));
                    self.points.extend(keys.map(|key| format!("Range.{key}")));
                }
                text
            }
            None => self.value(node, &point),
        }
    }

    /// Any legal value of a node.
    pub fn value(&mut self, node: &Value, at: &str) -> String {
        let schema = self.schema;
        let (name, node) = schema.resolve(node);
        let name = name.unwrap_or(at);
        if !words(node).is_empty() {
            let word = in_turn(&words(node), self.world.turn, self.luck);
            self.points.push(format!("{name}={word}"));
            return format!("\"{word}\"");
        }
        let all = branches(node);
        let all: Vec<&Value> = (all.into_iter())
            .filter(|node| node["type"] != "null")
            .collect();
        if !all.is_empty() && (node["properties"].is_null() || percent(70, self.luck)) {
            let branch = self.branch(&all);
            if let Some(variant) = variant_name(branch) {
                self.points.push(format!("{name}={variant}"));
            }
            return self.value(branch, name);
        }
        if let Some(word) = node["const"].as_str() {
            return format!("\"{word}\"");
        }
        match kind(node) {
            "object" => self.table(name, node),
            "array" => self.list(name, node),
            "boolean" => format!("{}", self.luck.once_in(2)),
            "integer" => self.figure(node, true),
            "number" => self.figure(node, false),
            _ => "\"x\"".to_owned(),
        }
    }

    /// One of several: known names before other text, one value before several.
    fn branch<'v>(&mut self, all: &[&'v Value]) -> &'v Value {
        let is_known = |node: &&&Value| !words(node).is_empty();
        if let Some(known) = all.iter().find(is_known) {
            return known;
        }
        let schema = self.schema;
        let is_range = |node: &Value| {
            schema.resolve(node).0 == Some("Range") || node["properties"]["from"].is_object()
        };
        let is_several = all.len() == 3 && is_range(all[2]) && kind(all[1]) == "array";
        if is_several && all[0]["const"].is_null() {
            if self.world.lists == 0 || !self.luck.once_in(3) {
                return all[0];
            }
            self.world.lists -= 1;
        }
        all[self.luck.below(all.len())]
    }

    /// An inline table.
    pub fn table(&mut self, name: &str, node: &Value) -> String {
        let mut parts = Vec::new();
        if node["properties"].is_object() {
            let is_named = !self.schema.definition(name)["properties"].is_null();
            let keys = if is_named {
                self.keys(name)
            } else {
                (node["properties"].as_object().into_iter().flatten())
                    .map(|(key, _)| key.clone())
                    .collect()
            };
            for key in keys {
                let value = if is_named {
                    self.key(name, &key)
                } else {
                    match hints::hint(name, &key, self) {
                        Some(text) => text,
                        None => self.value(&node["properties"][&key], &format!("{name}.{key}")),
                    }
                };
                parts.push(format!("{} = {value}", quoted(&key)));
            }
        } else if node["additionalProperties"].is_object() {
            let key = self.luck.pick(&self.world.vms).clone();
            let value = self.value(&node["additionalProperties"], name);
            parts.push(format!("{} = {value}", quoted(&key)));
        }
        if parts.is_empty() {
            "{}".to_owned()
        } else {
            format!("{{ {} }}", parts.join(", "))
        }
    }

    fn list(&mut self, name: &str, node: &Value) -> String {
        if let Some(items) = node["prefixItems"].as_array() {
            let values: Vec<String> = items.iter().map(|item| self.value(item, name)).collect();
            return format!("[{}]", values.join(", "));
        }
        let mut values: Vec<String> = (0..=self.luck.below(2))
            .map(|_| self.value(&node["items"], name))
            .collect();
        values.sort();
        values.dedup();
        format!("[{}]", values.join(", "))
    }

    /// A number that the schema allows: near its default, or of a common size.
    fn figure(&mut self, node: &Value, is_whole: bool) -> String {
        let bound = |keys: [&str; 2], usual: f64| {
            let found = keys.iter().find_map(|key| node[*key].as_f64());
            found.unwrap_or(usual)
        };
        let least = bound(["minimum", "exclusiveMinimum"], 0.0);
        let most = bound(["maximum", "exclusiveMaximum"], f64::INFINITY);
        let value = match node["default"].as_f64().filter(|usual| *usual > 0.0) {
            Some(usual) => usual * *self.luck.pick(&[0.5, 1.0, 2.0]),
            None if least == 0.0 && self.luck.once_in(5) => 0.0,
            None => between(least.max(0.01), most.min(100.0).max(least), self.luck),
        };
        let value = value.clamp(least, most);
        match is_whole {
            true => format!("{}", value.ceil().min(most) as u64),
            false if value == 0.0 => "0".to_owned(),
            false => number(value),
        }
    }
}

fn kind(node: &Value) -> &str {
    let first = |all: &'_ Value| all.as_array().and_then(|all| all[0].as_str().map(str::len));
    match node["type"].as_str() {
        Some(kind) => kind,
        None if first(&node["type"]).is_some() => node["type"][0].as_str().unwrap_or_default(),
        None => "",
    }
}
