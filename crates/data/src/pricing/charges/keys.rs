//! The keys of charges among those of a policy. They are declared in the charges' own files, so they are taken out while the
//! form is read.

use std::collections::HashMap;
use std::fmt;
use std::sync::{LazyLock, Mutex, PoisonError};

use schemars::Schema;
use serde::de::value::StringDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};

use super::CHARGES;
use super::charge::Keys;

fn all_keys() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    CHARGES.iter().flat_map(|charge| charge.keys)
}

pub fn add_to_schema(schema: &mut Schema) {
    let properties = schema
        .get_mut("properties")
        .and_then(|properties| properties.as_object_mut());
    let Some(properties) = properties else { return };
    for (key, what) in all_keys() {
        let number = serde_json::json!({
            "description": what,
            "type": "number",
            "minimum": 0,
        });
        properties.insert((*key).to_owned(), number);
    }
}

/// A deserializer of a form that has the keys of charges besides its fields, and no others; they go to `found`.
pub struct ChargeKeysDeserializer<'k, D> {
    pub inner: D,
    pub found: &'k mut Keys,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for ChargeKeysDeserializer<'_, D> {
    type Error = D::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let legal = with_keys(fields);
        let visitor = ChargeKeysVisitor {
            visitor,
            legal,
            found: self.found,
        };
        (self.inner).deserialize_struct(name, legal, visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// The fields of a form and the keys of charges, as long as the program runs: made once for each form.
fn with_keys(fields: &'static [&'static str]) -> &'static [&'static str] {
    type Names = &'static [&'static str];
    static MADE: LazyLock<Mutex<HashMap<Names, Names>>> = LazyLock::new(Mutex::default);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.entry(fields).or_insert_with(|| {
        let all = fields
            .iter()
            .copied()
            .chain(all_keys().map(|(key, _)| *key));
        Vec::leak(all.collect())
    })
}

/// A visitor that does not see the keys of charges.
struct ChargeKeysVisitor<'k, V> {
    visitor: V,
    legal: &'static [&'static str],
    found: &'k mut Keys,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for ChargeKeysVisitor<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(Pairs {
            map,
            legal: self.legal,
            found: self.found,
        })
    }
}

struct Pairs<'k, A> {
    map: A,
    legal: &'static [&'static str],
    found: &'k mut Keys,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Pairs<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let mut seed = Some(seed);
        loop {
            let of_form = &mut seed;
            let legal = self.legal;
            match self.map.next_key_seed(Name { of_form, legal })? {
                None => return Ok(None),
                Some(FormOrChargeKey::OfForm(key)) => return Ok(Some(key)),
                Some(FormOrChargeKey::OfCharge(key)) => {
                    let number = self.map.next_value()?;
                    self.found.0.insert(key, number);
                }
            }
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// Whose a key is. One of nobody is refused while it is read, so that the message has its place.
struct Name<'s, K> {
    of_form: &'s mut Option<K>,
    legal: &'static [&'static str],
}

enum FormOrChargeKey<V> {
    OfForm(V),
    OfCharge(&'static str),
}

impl<'de, K: DeserializeSeed<'de>> DeserializeSeed<'de> for Name<'_, K> {
    type Value = FormOrChargeKey<K::Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let key = String::deserialize(deserializer)?;
        if let Some((own, _)) = all_keys().find(|(own, _)| *own == key) {
            return Ok(FormOrChargeKey::OfCharge(own));
        }
        match self.of_form.take() {
            Some(seed) if self.legal.contains(&&*key) => {
                let key = StringDeserializer::new(key);
                seed.deserialize(key).map(FormOrChargeKey::OfForm)
            }
            _ => Err(D::Error::unknown_field(&key, self.legal)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pricing::PolicyFile;
    use scavsim_read::input::{self, Diagnostics, Source};

    #[test]
    fn keys_of_charges_are_read_beside_those_of_the_form_and_written_with_them() {
        let text = "usd_per_vm_hour = 1\negress_gib = 5\nusd_per_egress_gib = 0.5\n";
        let file: PolicyFile = toml::from_str(text).expect("legal keys and values");
        let egress = file.charges.product("egress_gib", "usd_per_egress_gib");
        assert_eq!(egress, Ok(2.5));
        assert_eq!(file.charges.get("storage_gib"), None);
        let written = toml::to_string(&file).expect("it can be written");
        let again: PolicyFile = toml::from_str(&written).expect("it reads back");
        assert_eq!(again.charges, file.charges);
        assert_eq!(again.usd_per_vm_hour, file.usd_per_vm_hour);
    }

    #[test]
    fn a_wrong_value_has_its_place_and_a_misspelt_key_its_remedy() {
        let source = Source::new("p.toml", "egress_gib = -1\nstorag_gib = 5\n");
        let mut wrong = Diagnostics::default();
        let _: Option<PolicyFile> = input::toml::read(&source, &mut wrong);
        let wrong = wrong.render(false);
        assert!(wrong.contains("p.toml:1:14"), "{wrong}");
        assert!(wrong.contains("p.toml:2:1"), "{wrong}");
        assert!(wrong.contains("did you mean `storage_gib`?"), "{wrong}");
    }

    #[test]
    fn every_key_is_that_of_one_charge() {
        let mut seen = std::collections::HashSet::new();
        for (key, what) in all_keys() {
            assert!(seen.insert(key) && what.ends_with('.'), "{key}");
        }
    }
}
