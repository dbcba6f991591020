use std::fmt;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Something by its name or path, or as a table.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(untagged)]
pub enum NameOrTable<T> {
    /// By name or path.
    Named(String),
    /// A table of one's own.
    Table(Box<T>),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for NameOrTable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrTableVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for NameOrTableVisitor<T> {
            type Value = NameOrTable<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name, a path or a table")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<NameOrTable<T>, E> {
                Ok(NameOrTable::Named(word.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<NameOrTable<T>, A::Error> {
                let table = T::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                Ok(NameOrTable::Table(Box::new(table)))
            }
        }
        deserializer.deserialize_any(NameOrTableVisitor(PhantomData))
    }
}

/// A value or several.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a value or a list of them")]
pub enum OneOrMore<T> {
    /// One.
    One(T),
    /// Several.
    Several(Vec<T>),
}

impl<T> OneOrMore<T> {
    pub fn all(&self) -> &[T] {
        match self {
            OneOrMore::One(value) => std::slice::from_ref(value),
            OneOrMore::Several(values) => values,
        }
    }
}
