//! Paths of included files, as written.

use scavsim_read::input::Spanned;
use scavsim_read::{deserialize_forms, schema_of};
use serde::Deserialize;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error, SeqAccess};

#[derive(Debug, Clone)]
pub enum Include {
    /// `"base.toml"`.
    One(String),
    /// `["base.toml", "prices.toml"]`; a later one wins.
    Several(Vec<Spanned<String>>),
}

deserialize_forms! {
    Include, "a path or a list of paths";

    fn visit_str<E: Error>(self, path: &str) -> Result<Include, E> {
        Ok(Include::One(path.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Include, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(Include::Several)
    }
}

schema_of!(Include, is_inline: false, {
    "description": "Paths of scenario files: one, or a list in which a later one wins.",
    "oneOf": [
        { "type": "string" },
        { "type": "array", "items": { "type": "string" } }
    ]
});
