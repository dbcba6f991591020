//! Deserializing a tree, more strictly than the `toml` crate and with a place for every mistake.
//!
//! serde's derived structs would also take a list, field by field: `[[pricing]]` for `[pricing]` would be misread, and
//! `pricing = []` accepted. Here a table is a table wherever a form has keys, inside of kinds too.

use std::fmt::{self, Display};
use std::slice;

use ::toml::Spanned;
use ::toml::de::{DeString, DeValue};
use ::toml::map;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, Expected, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

use super::complaint::Complaint;
use super::kind::Kind;
use super::reading::{Reading, Table};
use super::tree::Node;
use crate::input::words::shown;

/// How `toml::Spanned` asks for a value with its place; no public constant exists.
const SPANNED: &str = "$__serde_spanned_private_Spanned";

/// Most entries of any list; many lists have a lower limit.
const MOST_LISTED: usize = 100_000;
/// Most keys of any table.
const MOST_KEYS: usize = 10_000;

/// Why a value cannot be had.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The value is wrong, and nobody was told yet.
    Wrong(Box<Complaint>),
    /// A part of it was wrong: it can be had without that part, if it is read again.
    ReadAgain,
    /// Too much is wrong to go on.
    Enough,
}

impl From<Complaint> for Refusal {
    fn from(complaint: Complaint) -> Refusal {
        Refusal::Wrong(Box::new(complaint))
    }
}

impl Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value is wrong")
    }
}

impl std::error::Error for Refusal {}

impl Error for Refusal {
    fn custom<M: Display>(sentence: M) -> Self {
        Complaint::Sentence(sentence.to_string()).into()
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Complaint::mismatch(expected.to_string(), found).into()
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn unknown_variant(word: &str, legal: &'static [&'static str]) -> Self {
        let word = word.to_owned();
        Complaint::UnknownValue { word, legal }.into()
    }

    fn unknown_field(word: &str, legal: &'static [&'static str]) -> Self {
        let word = word.to_owned();
        Complaint::UnknownKey { word, legal }.into()
    }

    fn missing_field(key: &'static str) -> Self {
        Complaint::Missing { key }.into()
    }
}

/// A value to read.
#[derive(Clone, Copy)]
pub(super) struct Strict<'t> {
    pub(super) reading: &'t Reading<'t>,
    pub(super) value: Value<'t>,
    /// The key that it is the value of, or an element of the value of.
    pub(super) key: Option<&'t str>,
}

/// Where a value comes from.
#[derive(Clone, Copy)]
pub(super) enum Value<'t> {
    /// From the document.
    Written(&'t Node<'t>),
    /// A key of the document.
    Key(&'t Spanned<DeString<'t>>),
    /// The name of a kind, or a text that is made up.
    Word(&'t str),
    /// A table that is made up.
    Table(Table),
    /// A one that is made up.
    One,
    /// A half that is made up.
    Half,
    /// A `true` that is made up.
    True,
    /// An empty list that is made up.
    List,
}

/// What a value is.
enum Form<'t> {
    Text(&'t str),
    Whole(i128),
    Real(f64),
    Flag(bool),
    Date,
    List(Elements<'t>),
    Table(Pairs<'t>),
}

impl Form<'_> {
    /// The complaint that this form was found where something else belongs.
    fn instead_of(&self, expected: impl Into<String>) -> Refusal {
        let number;
        let found = match self {
            Form::Text(text) => Unexpected::Str(text),
            Form::Whole(whole) => {
                number = format!("the number {whole}");
                Unexpected::Other(&number)
            }
            Form::Real(real) => Unexpected::Float(*real),
            Form::Flag(flag) => Unexpected::Bool(*flag),
            Form::Date => Unexpected::Other("a date or time"),
            Form::List(_) => Unexpected::Seq,
            Form::Table(_) => Unexpected::Map,
        };
        Complaint::mismatch(expected, found).into()
    }
}

impl<'t> Strict<'t> {
    /// A whole document.
    pub(super) fn new(reading: &'t Reading<'t>, root: &'t Node<'t>) -> Strict<'t> {
        Strict {
            reading,
            value: Value::Written(root),
            key: None,
        }
    }

    /// Where it is in the document, unless it is made up.
    pub(super) fn node(self) -> Option<&'t Node<'t>> {
        match self.value {
            Value::Written(node) => Some(node),
            _ => None,
        }
    }

    /// The value of a key in it.
    pub(super) fn under(self, key: &'t str, node: &'t Node<'t>) -> Strict<'t> {
        Strict {
            value: Value::Written(node),
            key: Some(key),
            ..self
        }
    }

    /// Another value under the same key.
    pub(super) fn with(self, value: Value<'t>) -> Strict<'t> {
        Strict { value, ..self }
    }

    /// The value as a `V`, read as often as parts of it turn out to be wrong.
    pub(super) fn read<V: Deserialize<'t>>(self) -> Result<V, Refusal> {
        loop {
            self.reading.count();
            match V::deserialize(self) {
                Ok(value) => return Ok(value),
                Err(refusal) => self.after(refusal)?,
            }
        }
    }

    /// Deals with a refusal of this value or of a part of it.
    ///
    /// # Errors
    /// That reading it again is of no use.
    fn after(self, refusal: Refusal) -> Result<(), Refusal> {
        if self.reading.is_enough() {
            return Err(Refusal::Enough);
        }
        let complaint = match refusal {
            Refusal::ReadAgain => return Ok(()),
            Refusal::Enough => return Err(refusal),
            Refusal::Wrong(complaint) => *complaint,
        };
        let table = match self.value {
            Value::Written(node) => Some(Table::written(node)),
            Value::Table(table) => Some(table),
            _ => None,
        };
        if let (Some(table), Complaint::Missing { key }) = (table, &complaint)
            && self.reading.make_up(table, key, self.node())
        {
            return Ok(());
        }
        match self.node() {
            Some(node) => {
                self.reading.leave_out(node, &complaint, self.key);
                Err(Refusal::ReadAgain)
            }
            None => Err(complaint.into()),
        }
    }

    /// A refusal of this value, of use to what is around it.
    pub(super) fn settled(self, refusal: Refusal) -> Refusal {
        match self.after(refusal) {
            Ok(()) => Refusal::ReadAgain,
            Err(refusal) => refusal,
        }
    }

    /// The value as the seed makes it.
    pub(super) fn read_by<S: DeserializeSeed<'t>>(self, seed: S) -> Result<S::Value, Refusal> {
        self.reading.count();
        seed.deserialize(self)
            .map_err(|refusal| self.settled(refusal))
    }

    /// Any value that is accepted.
    pub(super) fn made_up<V: Deserialize<'t>>(self) -> Result<V, Refusal> {
        let table = Value::Table(self.reading.made_up_table());
        let (word, list) = (Value::Word(""), Value::List);
        for value in [word, Value::One, Value::Half, Value::True, list, table] {
            let word = match self.with(value).read() {
                Ok(value) => return Ok(value),
                Err(Refusal::Wrong(complaint)) => match *complaint {
                    Complaint::UnknownValue { legal, .. } => legal.first(),
                    _ => None,
                },
                Err(_) => None,
            };
            if let Some(Ok(value)) = word.map(|word| self.with(Value::Word(word)).read()) {
                return Ok(value);
            }
        }
        Err(Complaint::Consequence.into())
    }

    fn form(self) -> Result<Form<'t>, Refusal> {
        Ok(match self.value {
            Value::Written(node) => return self.written(node),
            Value::Key(key) => Form::Text(key.get_ref()),
            Value::Word(word) => Form::Text(word),
            Value::One => Form::Whole(1),
            Value::Half => Form::Real(0.5),
            Value::True => Form::Flag(true),
            Value::List => Form::List(self.elements(&[])),
            Value::Table(table) => Form::Table(self.pairs(None, table)),
        })
    }

    fn written(self, node: &'t Node<'t>) -> Result<Form<'t>, Refusal> {
        let too_large = |number: &dyn Display| {
            let number = shown(&number.to_string());
            Complaint::Sentence(format!("the number {number} is too large"))
        };
        Ok(match node.get_ref() {
            DeValue::String(text) => Form::Text(text),
            DeValue::Integer(whole) => match i128::from_str_radix(whole.as_str(), whole.radix()) {
                Ok(whole) => Form::Whole(whole),
                Err(_) => return Err(too_large(whole).into()),
            },
            DeValue::Float(real) => match real.as_str().parse::<f64>() {
                Ok(value)
                    if value.is_finite()
                        || !real.as_str().contains(|c: char| c.is_ascii_digit()) =>
                {
                    Form::Real(value)
                }
                _ => return Err(too_large(real).into()),
            },
            DeValue::Boolean(flag) => Form::Flag(*flag),
            DeValue::Datetime(_) => Form::Date,
            DeValue::Array(list) => {
                at_most(MOST_LISTED, "list", "entries", list.len())?;
                Form::List(self.elements(list))
            }
            DeValue::Table(table) => {
                at_most(MOST_KEYS, "table", "keys", table.len())?;
                Form::Table(self.pairs(Some(table.iter()), Table::written(node)))
            }
        })
    }

    fn elements(self, list: &'t [Node<'t>]) -> Elements<'t> {
        let rest = list.iter();
        Elements { rest, of: self }
    }

    fn pairs(self, rest: Option<Entries<'t>>, table: Table) -> Pairs<'t> {
        Pairs {
            rest,
            made_up: self.reading.made_up(table).into_iter(),
            of: self,
            value: None,
        }
    }

    fn text(self) -> Result<&'t str, Refusal> {
        match self.form()? {
            Form::Text(text) => Ok(text),
            other => Err(other.instead_of("a text")),
        }
    }

    fn flag(self) -> Result<bool, Refusal> {
        match self.form()? {
            Form::Flag(flag) => Ok(flag),
            other => Err(other.instead_of("`true` or `false`")),
        }
    }

    fn whole<N: TryFrom<i128> + Display>(self, least: N, most: N) -> Result<N, Refusal> {
        match self.form()? {
            Form::Whole(whole) => N::try_from(whole).map_err(|_| {
                let limits = format!("a whole number between {least} and {most}");
                Form::Whole(whole).instead_of(limits)
            }),
            other => Err(other.instead_of("a whole number")),
        }
    }

    fn number(self) -> Result<f64, Refusal> {
        match self.form()? {
            Form::Whole(whole) => Ok(whole as f64),
            Form::Real(real) => Ok(real),
            other => Err(other.instead_of("a number")),
        }
    }

    fn list(self) -> Result<Elements<'t>, Refusal> {
        match self.form()? {
            Form::List(list) => Ok(list),
            other => Err(other.instead_of("a list")),
        }
    }

    /// A list of a fixed length.
    fn tuple(self, length: usize) -> Result<Elements<'t>, Refusal> {
        let list = match self.form()? {
            Form::List(list) => list,
            other => return Err(other.instead_of(format!("a list of {length}"))),
        };
        let written = list.rest.len();
        if written != length {
            let title = format!("expected a list of {length}, found {written}");
            Err(Complaint::Sentence(title).into())
        } else if (list.rest.clone()).any(|node| self.reading.is_left_out(node)) {
            Err(Complaint::Consequence.into())
        } else {
            Ok(list)
        }
    }

    fn table(self) -> Result<Pairs<'t>, Refusal> {
        match self.form()? {
            Form::Table(table) => Ok(table),
            other => Err(other.instead_of("a table")),
        }
    }
}

fn at_most(most: usize, what: &str, parts: &str, found: usize) -> Result<(), Refusal> {
    if found <= most {
        return Ok(());
    }
    let title = format!("expected a {what} of at most {most} {parts}, found {found}");
    Err(Complaint::Sentence(title).into())
}

/// What serde asks for: whatever stands there has to be this, and is handed to the visitor.
macro_rules! asked_for {
    ($($method:ident $what:ident($($argument:expr),*) $visit:ident,)*) => {
        $(fn $method<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Refusal> {
            visitor.$visit(self.$what($($argument),*)?)
        })*
    };
}

impl<'t> Deserializer<'t> for Strict<'t> {
    type Error = Refusal;

    asked_for! {
        deserialize_bool flag() visit_bool,
        deserialize_i8 whole(i8::MIN, i8::MAX) visit_i8,
        deserialize_i16 whole(i16::MIN, i16::MAX) visit_i16,
        deserialize_i32 whole(i32::MIN, i32::MAX) visit_i32,
        deserialize_i64 whole(i64::MIN, i64::MAX) visit_i64,
        deserialize_u8 whole(u8::MIN, u8::MAX) visit_u8,
        deserialize_u16 whole(u16::MIN, u16::MAX) visit_u16,
        deserialize_u32 whole(u32::MIN, u32::MAX) visit_u32,
        deserialize_u64 whole(u64::MIN, u64::MAX) visit_u64,
        deserialize_f32 number() visit_f64,
        deserialize_f64 number() visit_f64,
        deserialize_str text() visit_borrowed_str,
        deserialize_string text() visit_borrowed_str,
        deserialize_identifier text() visit_borrowed_str,
        deserialize_seq list() visit_seq,
        deserialize_map table() visit_map,
    }

    fn deserialize_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match self.form()? {
            Form::Text(text) => visitor.visit_borrowed_str(text),
            Form::Whole(whole) => match i64::try_from(whole) {
                Ok(whole) => visitor.visit_i64(whole),
                Err(_) => visitor.visit_f64(whole as f64),
            },
            Form::Real(real) => visitor.visit_f64(real),
            Form::Flag(flag) => visitor.visit_bool(flag),
            Form::Date => Err(Form::Date.instead_of((&visitor as &dyn Expected).to_string())),
            Form::List(list) => visitor.visit_seq(list),
            Form::Table(table) => visitor.visit_map(table),
        }
    }

    fn deserialize_option<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'t>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'t>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        visitor.visit_seq(self.tuple(length)?)
    }

    fn deserialize_tuple_struct<V: Visitor<'t>>(
        self,
        _name: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        visitor.visit_seq(self.tuple(length)?)
    }

    fn deserialize_struct<V: Visitor<'t>>(
        self,
        name: &'static str,
        keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        if name == SPANNED {
            let names = keys.iter();
            visitor.visit_map(Parts { names, of: self })
        } else {
            visitor.visit_map(self.table()?)
        }
    }

    fn deserialize_enum<V: Visitor<'t>>(
        self,
        _name: &'static str,
        _kinds: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        visitor.visit_enum(match self.form()? {
            Form::Text(name) => Kind::named(self, name),
            Form::Table(table) => table.kind()?,
            other => return Err(other.instead_of("a text or a table")),
        })
    }

    forward_to_deserialize_any! {
        <W: Visitor<'t>>
        i128 u128 char bytes byte_buf unit unit_struct ignored_any
    }
}

/// A list, element by element.
struct Elements<'t> {
    rest: slice::Iter<'t, Node<'t>>,
    of: Strict<'t>,
}

impl<'t> Iterator for Elements<'t> {
    type Item = Strict<'t>;

    fn next(&mut self) -> Option<Strict<'t>> {
        let of = self.of;
        let node = (self.rest).find(|node| !of.reading.is_left_out(node))?;
        Some(of.with(Value::Written(node)))
    }
}

impl<'t> SeqAccess<'t> for Elements<'t> {
    type Error = Refusal;

    fn next_element<E: Deserialize<'t>>(&mut self) -> Result<Option<E>, Refusal> {
        self.next().map(Strict::read).transpose()
    }

    fn next_element_seed<E: DeserializeSeed<'t>>(
        &mut self,
        seed: E,
    ) -> Result<Option<E::Value>, Refusal> {
        let element = self.next();
        element.map(|element| element.read_by(seed)).transpose()
    }
}

type Entries<'t> = map::Iter<'t, Spanned<DeString<'t>>, Node<'t>>;

/// A table, key by key; those that are made up come last.
struct Pairs<'t> {
    rest: Option<Entries<'t>>,
    made_up: std::vec::IntoIter<&'static str>,
    of: Strict<'t>,
    /// Value of the last key; none if it is made up.
    value: Option<Strict<'t>>,
}

impl<'t> Pairs<'t> {
    /// The only key as the name of a kind, and its value as what is said of it.
    fn kind(self) -> Result<Kind<'t>, Refusal> {
        let of = self.of;
        let mut entries = self.rest.into_iter().flatten();
        let (Some((key, settings)), None) = (entries.next(), entries.next()) else {
            let title = "expected a table with exactly one key".to_owned();
            return Err(Complaint::Sentence(title).into());
        };
        if of.reading.is_left_out(settings) {
            return Err(Complaint::Consequence.into());
        }
        Ok(Kind::with_settings(of, key, settings))
    }
}

impl<'t> MapAccess<'t> for Pairs<'t> {
    type Error = Refusal;

    fn next_key_seed<K: DeserializeSeed<'t>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Refusal> {
        let of = self.of;
        let mut entries = self.rest.iter_mut().flatten();
        if let Some((key, node)) = entries.find(|(_, node)| !of.reading.is_left_out(node)) {
            let value = of.under(key.get_ref(), node);
            self.value = Some(value);
            match seed.deserialize(value.with(Value::Key(key))) {
                Err(Refusal::Wrong(complaint)) => {
                    of.reading.tell(key.span(), &complaint, value.key);
                    Err(value.settled(Complaint::Consequence.into()))
                }
                key => key.map(Some),
            }
        } else if let Some(key) = self.made_up.next() {
            self.value = None;
            seed.deserialize(of.with(Value::Word(key))).map(Some)
        } else {
            Ok(None)
        }
    }

    fn next_value<V: Deserialize<'t>>(&mut self) -> Result<V, Refusal> {
        match self.value {
            Some(value) => value.read(),
            None => self.of.made_up(),
        }
    }

    fn next_value_seed<S: DeserializeSeed<'t>>(&mut self, seed: S) -> Result<S::Value, Refusal> {
        match self.value {
            Some(value) => value.read_by(seed),
            None => seed.deserialize(self.of.with(Value::Word(""))),
        }
    }
}

/// What makes up a `toml::Spanned`: start, end and value, in this order.
struct Parts<'t> {
    names: slice::Iter<'static, &'static str>,
    of: Strict<'t>,
}

impl<'t> MapAccess<'t> for Parts<'t> {
    type Error = Refusal;

    fn next_key_seed<K: DeserializeSeed<'t>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Refusal> {
        let name = self.names.next();
        let name = name.map(|name| seed.deserialize(self.of.with(Value::Word(name))));
        name.transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'t>>(&mut self, seed: S) -> Result<S::Value, Refusal> {
        let span = match self.of.value {
            Value::Written(node) => node.span(),
            Value::Key(key) => key.span(),
            _ => 0..0,
        };
        match self.names.len() {
            2 => seed.deserialize(span.start.into_deserializer()),
            1 => seed.deserialize(span.end.into_deserializer()),
            _ => seed.deserialize(self.of),
        }
    }
}
