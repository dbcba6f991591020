//! Deserializes a tree, more strictly than the `toml` crate and with a place for every mistake. A form with keys only accepts
//! a table: serde's derived structs would also accept a list, `[[pricing]]` for `[pricing]` or `pricing = []`.

use std::fmt::{self, Display};
use std::slice;

use ::toml::Spanned;
use ::toml::de::{DeString, DeValue};
use ::toml::map;
use serde::de::{Deserialize, DeserializeSeed, Error, Expected, Unexpected};

use super::complaint::Complaint;
use super::reading::{KeyedTable, Reading};
use super::tree::TomlNode;
use crate::input::words::shown;

/// Most entries of any list; many lists have a lower limit.
const MOST_LISTED: usize = 100_000;
const MOST_KEYS: usize = 10_000;

#[derive(Debug)]
pub(super) enum ReadFailure {
    /// The value is wrong, and this was not reported yet.
    Wrong(Box<Complaint>),
    /// A part was wrong: reading again gives the value without that part.
    ReadAgain,
    /// Too many mistakes to continue.
    Enough,
}

impl From<Complaint> for ReadFailure {
    fn from(complaint: Complaint) -> ReadFailure {
        ReadFailure::Wrong(Box::new(complaint))
    }
}

impl Display for ReadFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value is wrong")
    }
}

impl std::error::Error for ReadFailure {}

impl Error for ReadFailure {
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

#[derive(Clone, Copy)]
pub(super) struct StrictDeserializer<'t> {
    pub(super) reading: &'t Reading<'t>,
    pub(super) value: ValueOrigin<'t>,
    /// The key of this value, or of the list around it.
    pub(super) key: Option<&'t str>,
}

#[derive(Clone, Copy)]
pub(super) enum ValueOrigin<'t> {
    Written(&'t TomlNode<'t>),
    Key(&'t Spanned<DeString<'t>>),
    /// The name of a kind, or a made-up text.
    Word(&'t str),
    Table(KeyedTable),
    One,
    Half,
    True,
    List,
}

pub(super) enum Form<'t> {
    Text(&'t str),
    Whole(i128),
    Real(f64),
    Flag(bool),
    Date,
    List(Elements<'t>),
    Table(Pairs<'t>),
}

impl Form<'_> {
    /// The mistake that this form was found in place of another.
    pub(super) fn instead_of(&self, expected: impl Into<String>) -> ReadFailure {
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

impl<'t> StrictDeserializer<'t> {
    pub(super) fn new(reading: &'t Reading<'t>, root: &'t TomlNode<'t>) -> StrictDeserializer<'t> {
        StrictDeserializer {
            reading,
            value: ValueOrigin::Written(root),
            key: None,
        }
    }

    /// The node in the document, unless it is made up.
    pub(super) fn node(self) -> Option<&'t TomlNode<'t>> {
        match self.value {
            ValueOrigin::Written(node) => Some(node),
            _ => None,
        }
    }

    pub(super) fn under(self, key: &'t str, node: &'t TomlNode<'t>) -> StrictDeserializer<'t> {
        StrictDeserializer {
            value: ValueOrigin::Written(node),
            key: Some(key),
            ..self
        }
    }

    /// Another value under the same key.
    pub(super) fn with(self, value: ValueOrigin<'t>) -> StrictDeserializer<'t> {
        StrictDeserializer { value, ..self }
    }

    /// The value as a `V`, read again for every wrong part.
    pub(super) fn read<V: Deserialize<'t>>(self) -> Result<V, ReadFailure> {
        loop {
            self.reading.count();
            match V::deserialize(self) {
                Ok(value) => return Ok(value),
                Err(refusal) => self.after(refusal)?,
            }
        }
    }

    /// Handles a refusal of this value or of a part of it; fails if reading it again is useless.
    fn after(self, refusal: ReadFailure) -> Result<(), ReadFailure> {
        if self.reading.is_enough() {
            return Err(ReadFailure::Enough);
        }
        let complaint = match refusal {
            ReadFailure::ReadAgain => return Ok(()),
            ReadFailure::Enough => return Err(refusal),
            ReadFailure::Wrong(complaint) => *complaint,
        };
        let table = match self.value {
            ValueOrigin::Written(node) => Some(KeyedTable::written(node)),
            ValueOrigin::Table(table) => Some(table),
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
                Err(ReadFailure::ReadAgain)
            }
            None => Err(complaint.into()),
        }
    }

    /// A refusal of this value, with information for the value around it.
    pub(super) fn settled(self, refusal: ReadFailure) -> ReadFailure {
        match self.after(refusal) {
            Ok(()) => ReadFailure::ReadAgain,
            Err(refusal) => refusal,
        }
    }

    pub(super) fn read_by<S: DeserializeSeed<'t>>(self, seed: S) -> Result<S::Value, ReadFailure> {
        self.reading.count();
        seed.deserialize(self)
            .map_err(|refusal| self.settled(refusal))
    }

    pub(super) fn made_up<V: Deserialize<'t>>(self) -> Result<V, ReadFailure> {
        let table = ValueOrigin::Table(self.reading.made_up_table());
        let (word, list) = (ValueOrigin::Word(""), ValueOrigin::List);
        for value in [
            word,
            ValueOrigin::One,
            ValueOrigin::Half,
            ValueOrigin::True,
            list,
            table,
        ] {
            let word = match self.with(value).read() {
                Ok(value) => return Ok(value),
                Err(ReadFailure::Wrong(complaint)) => match *complaint {
                    Complaint::UnknownValue { legal, .. } => legal.first(),
                    _ => None,
                },
                Err(_) => None,
            };
            if let Some(Ok(value)) = word.map(|word| self.with(ValueOrigin::Word(word)).read()) {
                return Ok(value);
            }
        }
        Err(Complaint::Consequence.into())
    }

    pub(super) fn form(self) -> Result<Form<'t>, ReadFailure> {
        Ok(match self.value {
            ValueOrigin::Written(node) => return self.written(node),
            ValueOrigin::Key(key) => Form::Text(key.get_ref()),
            ValueOrigin::Word(word) => Form::Text(word),
            ValueOrigin::One => Form::Whole(1),
            ValueOrigin::Half => Form::Real(0.5),
            ValueOrigin::True => Form::Flag(true),
            ValueOrigin::List => Form::List(self.elements(&[])),
            ValueOrigin::Table(table) => Form::Table(self.pairs(None, table)),
        })
    }

    fn written(self, node: &'t TomlNode<'t>) -> Result<Form<'t>, ReadFailure> {
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
                Form::Table(self.pairs(Some(table.iter()), KeyedTable::written(node)))
            }
        })
    }

    fn elements(self, list: &'t [TomlNode<'t>]) -> Elements<'t> {
        let rest = list.iter();
        Elements { rest, of: self }
    }

    fn pairs(self, rest: Option<Entries<'t>>, table: KeyedTable) -> Pairs<'t> {
        Pairs {
            rest,
            made_up: self.reading.made_up(table).into_iter(),
            of: self,
            value: None,
        }
    }

    pub(super) fn text(self) -> Result<&'t str, ReadFailure> {
        match self.form()? {
            Form::Text(text) => Ok(text),
            other => Err(other.instead_of("a text")),
        }
    }

    pub(super) fn flag(self) -> Result<bool, ReadFailure> {
        match self.form()? {
            Form::Flag(flag) => Ok(flag),
            other => Err(other.instead_of("`true` or `false`")),
        }
    }

    pub(super) fn whole_number<N: TryFrom<i128> + Display>(
        self,
        least: N,
        most: N,
    ) -> Result<N, ReadFailure> {
        match self.form()? {
            Form::Whole(whole) => N::try_from(whole).map_err(|_| {
                let limits = format!("a whole number between {least} and {most}");
                Form::Whole(whole).instead_of(limits)
            }),
            other => Err(other.instead_of("a whole number")),
        }
    }

    pub(super) fn number(self) -> Result<f64, ReadFailure> {
        match self.form()? {
            Form::Whole(whole) => Ok(whole as f64),
            Form::Real(real) => Ok(real),
            other => Err(other.instead_of("a number")),
        }
    }

    pub(super) fn list(self) -> Result<Elements<'t>, ReadFailure> {
        match self.form()? {
            Form::List(list) => Ok(list),
            other => Err(other.instead_of("a list")),
        }
    }

    pub(super) fn tuple(self, length: usize) -> Result<Elements<'t>, ReadFailure> {
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

    pub(super) fn table(self) -> Result<Pairs<'t>, ReadFailure> {
        match self.form()? {
            Form::Table(table) => Ok(table),
            other => Err(other.instead_of("a table")),
        }
    }
}

fn at_most(most: usize, what: &str, parts: &str, found: usize) -> Result<(), ReadFailure> {
    if found <= most {
        return Ok(());
    }
    let title = format!("expected a {what} of at most {most} {parts}, found {found}");
    Err(Complaint::Sentence(title).into())
}

pub(super) struct Elements<'t> {
    pub(super) rest: slice::Iter<'t, TomlNode<'t>>,
    pub(super) of: StrictDeserializer<'t>,
}

impl<'t> Iterator for Elements<'t> {
    type Item = StrictDeserializer<'t>;

    fn next(&mut self) -> Option<StrictDeserializer<'t>> {
        let of = self.of;
        let node = (self.rest).find(|node| !of.reading.is_left_out(node))?;
        Some(of.with(ValueOrigin::Written(node)))
    }
}

pub(super) type Entries<'t> = map::Iter<'t, Spanned<DeString<'t>>, TomlNode<'t>>;

/// A table, key by key; made-up keys come last.
pub(super) struct Pairs<'t> {
    pub(super) rest: Option<Entries<'t>>,
    pub(super) made_up: std::vec::IntoIter<&'static str>,
    pub(super) of: StrictDeserializer<'t>,
    /// Value of the last key; none if it is made up.
    pub(super) value: Option<StrictDeserializer<'t>>,
}
