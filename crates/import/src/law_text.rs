//! Formats a law as lines of `workload.toml`: `compute.affine = { … }`.

use serde::Serialize;

use scavsim_read::deserialize_forms;
use serde::de::{Error, MapAccess};

/// A law's keys and values, in their order.
enum Node {
    Table(Vec<(String, Node)>),
    Text(String),
    Flag(bool),
    Whole(u64),
    Number(f64),
}

/// The lines of a law, its coefficients formatted by `number`; fails for anything but tables, names, numbers, and booleans.
pub fn lines(law: &impl Serialize, number: fn(f64) -> String) -> serde_json::Result<String> {
    let node: Node = serde_json::from_str(&serde_json::to_string(law)?)?;
    let mut lines = Vec::new();
    node.lay_out("", number, &mut lines);
    Ok(lines.join("\n"))
}

impl Node {
    /// A line for every innermost table, after the names on the path to it.
    fn lay_out(&self, path: &str, number: fn(f64) -> String, lines: &mut Vec<String>) {
        match self {
            Node::Table(inner) if inner.iter().any(|(_, node)| node.is_table()) => {
                for (key, node) in inner {
                    let path = match path {
                        "" => key.clone(),
                        _ => format!("{path}.{key}"),
                    };
                    node.lay_out(&path, number, lines);
                }
            }
            _ => lines.push(format!("{path} = {}", self.value(number))),
        }
    }

    fn is_table(&self) -> bool {
        matches!(self, Node::Table(_))
    }

    fn value(&self, number: fn(f64) -> String) -> String {
        match self {
            Node::Table(inner) => {
                let pairs = inner.iter();
                let pairs = pairs.map(|(key, node)| format!("{key} = {}", node.value(number)));
                format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
            }
            Node::Text(text) => format!("\"{text}\""),
            Node::Flag(flag) => flag.to_string(),
            Node::Whole(whole) => whole.to_string(),
            Node::Number(value) => number(*value),
        }
    }
}

deserialize_forms! {
    Node, "a table, a name, a number or a yes or no";

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut inner = Vec::new();
        while let Some(pair) = map.next_entry()? {
            inner.push(pair);
        }
        Ok(Node::Table(inner))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.to_owned()))
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Node, E> {
        Ok(Node::Flag(flag))
    }

    fn visit_u64<E: Error>(self, whole: u64) -> Result<Node, E> {
        Ok(Node::Whole(whole))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Number(value))
    }
}
