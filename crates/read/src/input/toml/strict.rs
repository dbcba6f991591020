//! Deserializing a tree, more strictly than the `toml` crate and with a place for every
//! error.
//!
//! serde's derived structs would also take a list, field by field: `[[pricing]]` for
//! `[pricing]` would be misread, and `pricing = []` accepted. And an element of a list
//! that is refused by a hand-written type would be blamed on the whole list.

use std::fmt::{self, Display};
use std::ops::Range;

use ::toml::Spanned;
use ::toml::de::{DeString, DeValue, ValueDeserializer};
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    Visitor,
};
use serde::forward_to_deserialize_any;

use super::tree::Node;

/// How `toml::Spanned` asks for a value with its place; no public constant exists.
const SPANNED: &str = "$__serde_spanned_private_Spanned";

/// Most entries of any list; many lists have a lower limit.
const MOST_LISTED: usize = 100_000;
/// Most keys of any table.
const MOST_KEYS: usize = 10_000;

/// Why, and where, a value was refused.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) message: String,
    pub(super) span: Option<Range<usize>>,
    /// The innermost table around it whose keys depend on one of its values (its tag).
    pub(super) tagged: Option<Range<usize>>,
}

impl Refusal {
    /// Says where it was, unless a more exact place is known.
    fn at(mut self, span: &Range<usize>) -> Self {
        self.span.get_or_insert_with(|| span.clone());
        self
    }
}

impl Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

impl Error for Refusal {
    fn custom<M: Display>(message: M) -> Self {
        Self {
            message: message.to_string(),
            span: None,
            tagged: None,
        }
    }
}

impl From<::toml::de::Error> for Refusal {
    fn from(error: ::toml::de::Error) -> Self {
        Self {
            message: error.message().to_owned(),
            span: error.span(),
            tagged: None,
        }
    }
}

/// A value to deserialize from.
pub(super) struct Strict<'s>(pub(super) Node<'s>);

impl<'de> Strict<'de> {
    fn visit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        let span = self.0.span();
        match self.0.into_inner() {
            DeValue::Table(table) if table.len() > MOST_KEYS => Err(Refusal::custom(format!(
                "expected a table of at most {MOST_KEYS} keys, found {}",
                table.len()
            ))),
            DeValue::Array(array) if array.len() > MOST_LISTED => Err(Refusal::custom(format!(
                "expected a list of at most {MOST_LISTED} entries, found {}",
                array.len()
            ))),
            DeValue::Table(table) => visitor.visit_map(Pairs {
                rest: table.into_iter(),
                value: None,
            }),
            DeValue::Array(array) => {
                let length = array.len();
                let mut elements = Elements(array.into_iter());
                // A tuple takes what it needs: what is left would be dropped in silence.
                match (visitor.visit_seq(&mut elements), elements.0.len()) {
                    (Ok(_), left @ 1..) => Err(Refusal::custom(format!(
                        "invalid length {length}, expected a tuple of size {}",
                        length - left
                    ))),
                    (visited, _) => visited,
                }
            }
            scalar => ValueDeserializer::from(Spanned::new(span.clone(), scalar))
                .deserialize_any(visitor)
                .map_err(Refusal::from),
        }
        .map_err(|refusal| refusal.at(&span))
    }
}

impl<'de> Deserializer<'de> for Strict<'de> {
    type Error = Refusal;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        // Only a tagged type asks for a table without saying so.
        let table = self.0.get_ref().is_table().then(|| self.0.span());
        self.visit(visitor).map_err(|refusal| Refusal {
            tagged: refusal.tagged.or(table),
            ..refusal
        })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        self.visit(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        let span = self.0.span();
        match self.0.get_ref() {
            _ if name == SPANNED => visitor.visit_map(Parts {
                names: fields.iter(),
                span: span.clone(),
                node: Some(self.0),
            }),
            DeValue::Array(_) => Err(Refusal::invalid_type(Unexpected::Seq, &visitor)),
            DeValue::Datetime(_) => ValueDeserializer::from(self.0)
                .deserialize_struct(name, fields, visitor)
                .map_err(Refusal::from),
            _ => self.visit(visitor),
        }
        .map_err(|refusal| refusal.at(&span))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        let span = self.0.span();
        ValueDeserializer::from(self.0)
            .deserialize_enum(name, variants, visitor)
            .map_err(|error| Refusal::from(error).at(&span))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct identifier ignored_any
    }
}

/// A table, key by key.
struct Pairs<'s, I> {
    rest: I,
    value: Option<Node<'s>>,
}

impl<'s, I> MapAccess<'s> for Pairs<'s, I>
where
    I: Iterator<Item = (Spanned<DeString<'s>>, Node<'s>)>,
{
    type Error = Refusal;

    fn next_key_seed<K: DeserializeSeed<'s>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Refusal> {
        let Some((key, value)) = self.rest.next() else {
            return Ok(None);
        };
        self.value = Some(value);
        let span = key.span();
        let key = Spanned::new(span.clone(), DeValue::String(key.into_inner()));
        let key = seed.deserialize(Strict(key));
        key.map(Some).map_err(|refusal| refusal.at(&span))
    }

    fn next_value_seed<V: DeserializeSeed<'s>>(&mut self, seed: V) -> Result<V::Value, Refusal> {
        deserialize_taken(&mut self.value, seed)
    }
}

/// A list, element by element.
struct Elements<I>(I);

impl<'s, I: Iterator<Item = Node<'s>>> SeqAccess<'s> for Elements<I> {
    type Error = Refusal;

    fn next_element_seed<E: DeserializeSeed<'s>>(
        &mut self,
        seed: E,
    ) -> Result<Option<E::Value>, Refusal> {
        let mut node = self.0.next();
        if node.is_none() {
            return Ok(None);
        }
        deserialize_taken(&mut node, seed).map(Some)
    }
}

/// What makes up a `toml::Spanned`: start, end and value, in this order.
struct Parts<'s> {
    names: std::slice::Iter<'static, &'static str>,
    span: Range<usize>,
    node: Option<Node<'s>>,
}

impl<'s> MapAccess<'s> for Parts<'s> {
    type Error = Refusal;

    fn next_key_seed<K: DeserializeSeed<'s>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Refusal> {
        self.names
            .next()
            .map(|name| seed.deserialize(BorrowedStrDeserializer::new(name)))
            .transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'s>>(&mut self, seed: V) -> Result<V::Value, Refusal> {
        match self.names.len() {
            2 => seed.deserialize(self.span.start.into_deserializer()),
            1 => seed.deserialize(self.span.end.into_deserializer()),
            _ => deserialize_taken(&mut self.node, seed),
        }
    }
}

fn deserialize_taken<'s, S: DeserializeSeed<'s>>(
    node: &mut Option<Node<'s>>,
    seed: S,
) -> Result<S::Value, Refusal> {
    let Some(node) = node.take() else {
        return Err(Refusal::custom("a value was asked for twice"));
    };
    let span = node.span();
    seed.deserialize(Strict(node))
        .map_err(|refusal| refusal.at(&span))
}
