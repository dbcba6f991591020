//! Paths of included files, as written.

use std::borrow::Cow;
use std::fmt;

use scavsim_read::input::Spanned;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

#[derive(Debug, Clone)]
pub enum Include {
    /// `"base.toml"`.
    One(String),
    /// `["base.toml", "prices.toml"]`; a later one wins.
    Several(Vec<Spanned<String>>),
}

impl<'de> Deserialize<'de> for Include {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IncludeVisitor;

        impl<'de> Visitor<'de> for IncludeVisitor {
            type Value = Include;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a path or a list of paths")
            }

            fn visit_str<E: Error>(self, path: &str) -> Result<Include, E> {
                Ok(Include::One(path.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Include, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(Include::Several)
            }
        }
        deserializer.deserialize_any(IncludeVisitor)
    }
}

impl JsonSchema for Include {
    fn schema_name() -> Cow<'static, str> {
        "Include".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Paths of scenario files: one, or a list in which a later one wins.",
            "oneOf": [
                { "type": "string" },
                { "type": "array", "items": { "type": "string" } }
            ]
        })
    }
}
