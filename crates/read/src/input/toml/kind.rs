//! Values that are one of several kinds: `"bsp"`, or `{ ssp = { slack = 3 } }`.

use ::toml::Spanned;
use ::toml::de::DeString;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, EnumAccess, VariantAccess, Visitor};

use super::complaint::Complaint;
use super::strict_deserializer::{ReadFailure, StrictDeserializer, ValueOrigin};
use super::tree::TomlNode;

/// A kind by its name, with its settings.
pub(super) struct Kind<'t> {
    of: StrictDeserializer<'t>,
    name: &'t str,
    /// The key and the value, if there is more than a name.
    settings: Option<(&'t Spanned<DeString<'t>>, StrictDeserializer<'t>)>,
}

impl<'t> Kind<'t> {
    pub(super) fn named(of: StrictDeserializer<'t>, name: &'t str) -> Kind<'t> {
        let settings = None;
        Kind { of, name, settings }
    }

    pub(super) fn with_settings(
        of: StrictDeserializer<'t>,
        key: &'t Spanned<DeString<'t>>,
        settings: &'t TomlNode<'t>,
    ) -> Kind<'t> {
        let name = key.get_ref();
        let settings = Some((key, of.under(name, settings)));
        Kind { of, name, settings }
    }

    fn without_settings(&self, keys: Vec<&'static str>) -> ReadFailure {
        let kind = self.name.to_owned();
        Complaint::WithoutSettings { kind, keys }.into()
    }

    fn without_value(&self, expected: String) -> ReadFailure {
        let kind = self.name.to_owned();
        Complaint::WithoutValue { kind, expected }.into()
    }
}

impl<'t> EnumAccess<'t> for Kind<'t> {
    type Error = ReadFailure;
    type Variant = Kind<'t>;

    fn variant_seed<V: DeserializeSeed<'t>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Kind<'t>), ReadFailure> {
        match (
            seed.deserialize(self.of.with(ValueOrigin::Word(self.name))),
            &self.settings,
        ) {
            (Ok(kind), _) => Ok((kind, self)),
            (Err(ReadFailure::Wrong(complaint)), Some((key, _))) => {
                (self.of.reading).tell(key.span(), &complaint, self.of.key);
                Err(Complaint::Consequence.into())
            }
            (Err(refusal), _) => Err(refusal),
        }
    }
}

impl<'t> VariantAccess<'t> for Kind<'t> {
    type Error = ReadFailure;

    fn unit_variant(self) -> Result<(), ReadFailure> {
        match self.settings {
            Some((_, settings)) if !settings.node().is_some_and(is_empty_table) => {
                let kind = self.name.to_owned();
                Err(settings.settled(Complaint::NeedlessSettings { kind }.into()))
            }
            _ => Ok(()),
        }
    }

    fn newtype_variant<T: Deserialize<'t>>(self) -> Result<T, ReadFailure> {
        if let Some((_, settings)) = self.settings {
            return settings.read();
        }
        if self.of.node().is_none() {
            return self.of.made_up();
        }
        // Reading a table without keys reports the missing ones.
        let table = self.of.reading.made_up_table();
        match &self.of.with(ValueOrigin::Table(table)).read::<T>() {
            Err(ReadFailure::Wrong(complaint))
                if let Complaint::Mismatch { expected, .. } = &**complaint =>
            {
                Err(self.without_value(expected.clone()))
            }
            _ => Err(self.without_settings(self.of.reading.made_up(table))),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'t>>(
        self,
        seed: S,
    ) -> Result<S::Value, ReadFailure> {
        match self.settings {
            Some((_, settings)) => settings.read_by(seed),
            None => Err(self.without_settings(Vec::new())),
        }
    }

    fn tuple_variant<V: Visitor<'t>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, ReadFailure> {
        match self.settings {
            Some((_, settings)) => settings
                .deserialize_tuple(length, visitor)
                .map_err(|refusal| settings.settled(refusal)),
            None => Err(self.without_value(format!("a list of {length}"))),
        }
    }

    fn struct_variant<V: Visitor<'t>>(
        self,
        keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadFailure> {
        match self.settings {
            Some((_, settings)) => settings
                .deserialize_struct("", keys, visitor)
                .map_err(|refusal| settings.settled(refusal)),
            None => Err(self.without_settings(keys.to_vec())),
        }
    }
}

fn is_empty_table(node: &TomlNode<'_>) -> bool {
    (node.get_ref().as_table()).is_some_and(|table| table.is_empty())
}
