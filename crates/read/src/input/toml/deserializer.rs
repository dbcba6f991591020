//! The interface of serde to a value that is read strictly.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::slice;
use std::sync::Arc;

use serde::de::{
    Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, Expected, IntoDeserializer,
    MapAccess, SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::complaint::Complaint;
use super::kind::Kind;
use super::reading::{KeyedTable, Reading};
use super::strict_deserializer::{
    Elements, Form, Pairs, ReadFailure, StrictDeserializer, ValueOrigin,
};
use super::tree::TomlNode;
use crate::input::{Diagnostics, Source};

/// How `toml::Spanned` requests a value with its place; no public constant exists.
const SPANNED: &str = "$__serde_spanned_private_Spanned";

/// Reads a tree as a `T`; its mistakes go to `diagnostics`.
pub(super) fn read<T: DeserializeOwned>(
    source: &Arc<Source>,
    root: &TomlNode<'_>,
    broken: &[Range<usize>],
    diagnostics: &mut Diagnostics,
) -> Option<T> {
    let reading = Reading {
        source,
        broken,
        mistakes: RefCell::default(),
        left_out: RefCell::default(),
        made_up: RefCell::default(),
        made_up_tables: Cell::new(0),
        read: Cell::new(0),
    };
    let value = StrictDeserializer::new(&reading, root).read::<T>();
    let is_whole =
        (reading.made_up.borrow().keys()).all(|table| matches!(table, KeyedTable::MadeUp(_)));
    diagnostics.extend(reading.mistakes.into_inner());
    value.ok().filter(|_| is_whole)
}

/// Methods of the deserializer: the value must have this form, and is passed to the visitor.
macro_rules! asked_for {
    ($($method:ident $what:ident($($argument:expr),*) $visit:ident,)*) => {
        $(fn $method<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadFailure> {
            visitor.$visit(self.$what($($argument),*)?)
        })*
    };
}

impl<'t> Deserializer<'t> for StrictDeserializer<'t> {
    type Error = ReadFailure;

    asked_for! {
        deserialize_bool flag() visit_bool,
        deserialize_i8 whole_number(i8::MIN, i8::MAX) visit_i8,
        deserialize_i16 whole_number(i16::MIN, i16::MAX) visit_i16,
        deserialize_i32 whole_number(i32::MIN, i32::MAX) visit_i32,
        deserialize_i64 whole_number(i64::MIN, i64::MAX) visit_i64,
        deserialize_u8 whole_number(u8::MIN, u8::MAX) visit_u8,
        deserialize_u16 whole_number(u16::MIN, u16::MAX) visit_u16,
        deserialize_u32 whole_number(u32::MIN, u32::MAX) visit_u32,
        deserialize_u64 whole_number(u64::MIN, u64::MAX) visit_u64,
        deserialize_f32 number() visit_f64,
        deserialize_f64 number() visit_f64,
        deserialize_str text() visit_borrowed_str,
        deserialize_string text() visit_borrowed_str,
        deserialize_identifier text() visit_borrowed_str,
        deserialize_seq list() visit_seq,
        deserialize_map table() visit_map,
    }

    fn deserialize_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadFailure> {
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

    fn deserialize_option<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadFailure> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'t>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadFailure> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'t>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, ReadFailure> {
        visitor.visit_seq(self.tuple(length)?)
    }

    fn deserialize_tuple_struct<V: Visitor<'t>>(
        self,
        _name: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, ReadFailure> {
        visitor.visit_seq(self.tuple(length)?)
    }

    fn deserialize_struct<V: Visitor<'t>>(
        self,
        name: &'static str,
        keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadFailure> {
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
    ) -> Result<V::Value, ReadFailure> {
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

impl<'t> SeqAccess<'t> for Elements<'t> {
    type Error = ReadFailure;

    fn next_element<E: Deserialize<'t>>(&mut self) -> Result<Option<E>, ReadFailure> {
        self.next().map(StrictDeserializer::read).transpose()
    }

    fn next_element_seed<E: DeserializeSeed<'t>>(
        &mut self,
        seed: E,
    ) -> Result<Option<E::Value>, ReadFailure> {
        let element = self.next();
        element.map(|element| element.read_by(seed)).transpose()
    }
}

impl<'t> Pairs<'t> {
    /// The only key as the name of a kind, and its value as the settings.
    fn kind(self) -> Result<Kind<'t>, ReadFailure> {
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
    type Error = ReadFailure;

    fn next_key_seed<K: DeserializeSeed<'t>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ReadFailure> {
        let of = self.of;
        let mut entries = self.rest.iter_mut().flatten();
        if let Some((key, node)) = entries.find(|(_, node)| !of.reading.is_left_out(node)) {
            let value = of.under(key.get_ref(), node);
            self.value = Some(value);
            match seed.deserialize(value.with(ValueOrigin::Key(key))) {
                Err(ReadFailure::Wrong(complaint)) => {
                    of.reading.tell(key.span(), &complaint, value.key);
                    Err(value.settled(Complaint::Consequence.into()))
                }
                key => key.map(Some),
            }
        } else if let Some(key) = self.made_up.next() {
            self.value = None;
            seed.deserialize(of.with(ValueOrigin::Word(key))).map(Some)
        } else {
            Ok(None)
        }
    }

    fn next_value<V: Deserialize<'t>>(&mut self) -> Result<V, ReadFailure> {
        match self.value {
            Some(value) => value.read(),
            None => self.of.made_up(),
        }
    }

    fn next_value_seed<S: DeserializeSeed<'t>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, ReadFailure> {
        match self.value {
            Some(value) => value.read_by(seed),
            None => seed.deserialize(self.of.with(ValueOrigin::Word(""))),
        }
    }
}

/// What makes up a `toml::Spanned`: start, end and value, in this order.
struct Parts<'t> {
    names: slice::Iter<'static, &'static str>,
    of: StrictDeserializer<'t>,
}

impl<'t> MapAccess<'t> for Parts<'t> {
    type Error = ReadFailure;

    fn next_key_seed<K: DeserializeSeed<'t>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ReadFailure> {
        let name = self.names.next();
        let name = name.map(|name| seed.deserialize(self.of.with(ValueOrigin::Word(name))));
        name.transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'t>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, ReadFailure> {
        let span = match self.of.value {
            ValueOrigin::Written(node) => node.span(),
            ValueOrigin::Key(key) => key.span(),
            _ => 0..0,
        };
        match self.names.len() {
            2 => seed.deserialize(span.start.into_deserializer()),
            1 => seed.deserialize(span.end.into_deserializer()),
            _ => seed.deserialize(self.of),
        }
    }
}
