use std::collections::HashSet;

use serde::Deserialize;
use serde::de::{Error, MapAccess, SeqAccess};

use scavsim_read::input::checked::Positive;
use scavsim_read::input::range::{MOST_VALUES, Range};
use scavsim_read::{deserialize_forms, schema_of};

/// Values of an axis: `0.5`, `[0.5, 1, 2]`, `{ from = 0.5, to = 2, step = 0.25 }`, or
/// `{ from = 0.25, to = 4, factor = 2 }`. In ascending order for a range, as written for a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ScaleAxis(pub Vec<f64>);

fn single<E: Error>(value: f64) -> Result<ScaleAxis, E> {
    let value = Positive::new(value).ok_or_else(|| {
        E::custom(format!(
            "expected a number from 10^-9 to 10^9, found {value}"
        ))
    })?;
    Ok(ScaleAxis(vec![value.get()]))
}

deserialize_forms! {
    ScaleAxis, "a number above 0, a list like [0.5, 1, 2] or a range like { from = 0.5, to = 4, factor = 2 }";

    fn visit_f64<E: Error>(self, value: f64) -> Result<ScaleAxis, E> {
        single(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<ScaleAxis, E> {
        single(value as f64)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ScaleAxis, A::Error> {
        let mut values: Vec<f64> = Vec::new();
        let mut seen = HashSet::new();
        while let Some(value) = list.next_element::<Positive>()? {
            if values.len() == MOST_VALUES {
                return Err(A::Error::custom(format!(
                    "expected a list of at most {MOST_VALUES} values, found more"
                )));
            }
            if !seen.insert(value.get().to_bits()) {
                let twice =
                    format!("expected different values, found {} twice", value.get());
                return Err(A::Error::custom(twice));
            }
            values.push(value.get());
        }
        if values.is_empty() {
            return Err(A::Error::custom(
                "expected at least one value, found an empty list",
            ));
        }
        Ok(ScaleAxis(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ScaleAxis, A::Error> {
        let range = Range::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
        let values = range.values().map_err(A::Error::custom)?;
        match values.iter().find(|value| Positive::new(**value).is_none()) {
            Some(wrong) => single(*wrong),
            None => Ok(ScaleAxis(values)),
        }
    }
}

schema_of!(ScaleAxis, is_inline: false, {
    "description": "Positive numbers: one, a list, or a range with a step or a factor.",
    "oneOf": [
        { "type": "number", "minimum": 1e-9, "maximum": 1e9 },
        {
            "type": "array",
            "minItems": 1,
            "uniqueItems": true,
            "items": { "type": "number", "minimum": 1e-9, "maximum": 1e9 }
        },
        {
            "type": "object",
            "additionalProperties": false,
            "required": ["from", "to"],
            "properties": {
                "from": { "type": "number", "minimum": 1e-9, "maximum": 1e9 },
                "to": { "type": "number", "minimum": 1e-9, "maximum": 1e9 },
                "step": { "type": "number", "minimum": 1e-9, "maximum": 1e9 },
                "factor": { "type": "number", "exclusiveMinimum": 1 }
            }
        }
    ]
});

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(text: &str) -> Result<Vec<f64>, String> {
        #[derive(Deserialize)]
        struct Holder {
            a: ScaleAxis,
        }
        let read = toml::from_str::<Holder>(&format!("a = {text}"));
        read.map(|h| h.a.0).map_err(|e| e.message().to_owned())
    }

    #[test]
    fn numbers_lists_and_both_kinds_of_range() {
        assert_eq!(axis("2"), Ok(vec![2.0]));
        assert_eq!(axis("[0.5, 2]"), Ok(vec![0.5, 2.0]));
        assert_eq!(
            axis("{ from = 0.1, to = 0.3, step = 0.1 }").map(|a| a.len()),
            Ok(3)
        );
        assert_eq!(
            axis("{ from = 0.25, to = 4, factor = 4 }"),
            Ok(vec![0.25, 1.0, 4.0])
        );
    }

    #[test]
    fn what_is_no_axis_is_refused() {
        for wrong in [
            "0",
            "-1",
            "inf",
            "[]",
            "[1, 1]",
            "[0]",
            "{ from = 2, to = 1, step = 1 }",
            "{ from = 0, to = 1, step = 0.5 }",
            "{ from = 1, to = 2 }",
            "{ from = 1, to = 2, step = 1, factor = 2 }",
            "{ from = 1, to = 2, factor = 1 }",
            "{ from = 1, to = 1e9, step = 0.1 }",
        ] {
            assert!(axis(wrong).is_err(), "{wrong}");
        }
    }
}
