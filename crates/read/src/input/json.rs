//! JSON into typed values. An object with a duplicate key is refused, because readers silently use one of its values. A text
//! with invisible characters is refused, too.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor,
};

use super::foreign::is_hidden;
use super::words::shown;
use super::{Diagnostics, Source};

/// Reads a text of JSON; its mistakes go to `diagnostics`, under this title.
pub fn read<V: DeserializeOwned>(
    source: &Arc<Source>,
    title: &str,
    diagnostics: &mut Diagnostics,
) -> Option<V> {
    let checked = check(&source.text);
    let error = match checked.and_then(|()| serde_json::from_str(&source.text)) {
        Ok(value) => return Some(value),
        Err(error) => error,
    };
    // Lines and columns count from 1.
    let before = (source.text.split_inclusive('\n')).take(error.line().saturating_sub(1));
    let at = before.map(str::len).sum::<usize>() + error.column().saturating_sub(1);
    let at = source.text.floor_char_boundary(at.min(source.text.len()));
    diagnostics.error_at(source, at..at, title, error.to_string());
    None
}

/// Whether a text is JSON without repeated keys and without characters that are not seen.
pub fn check(text: &str) -> serde_json::Result<()> {
    let mut reader = serde_json::Deserializer::from_str(text);
    JsonCheck.deserialize(&mut reader)?;
    reader.end()
}

/// A value that is checked and dropped.
struct JsonCheck;

fn text<E: Error>(text: &str) -> Result<(), E> {
    if text.contains(is_hidden) {
        let title = format!("`{}` has characters that are not seen", shown(text));
        return Err(E::custom(title));
    }
    Ok(())
}

impl<'de> DeserializeSeed<'de> for JsonCheck {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for JsonCheck {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        text(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(JsonCheck)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            text(&key)?;
            if let Some(key) = keys.replace(key) {
                return Err(A::Error::custom(format!(
                    "the key `{}` appears twice",
                    shown(&key)
                )));
            }
            map.next_value_seed(JsonCheck)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_of_two_equal_keys_is_told_at_its_place() {
        let told = |text: &str| check(text).map_err(|error| error.to_string());
        let sound = r#"{"a": [{"b": 1, "c": null}, "x", 1.5, -1, true]}"#;
        assert_eq!(told(sound), Ok(()));
        let twice = "{\"a\": {\n \"b\": 1,\n \"b\": 2}}";
        let expected = "the key `b` appears twice at line 3 column 4";
        assert_eq!(told(twice), Err(expected.to_owned()));
        assert!(told(r#"{"a": "\u001b[31m"}"#).is_err());
        assert!(told(r#"{"\u202e": 1}"#).is_err());
        assert!(told("{} {}").is_err());
    }
}
