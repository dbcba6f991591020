//! An axis of the configuration space.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::checked::Count;

/// Values of one axis: `"measured"`, `[8, 12]`, or `{ from = 8, to = 20, step = 4 }`.
#[derive(Debug, Clone, Default)]
pub enum Axis {
    /// Whatever the workload was measured at.
    #[default]
    Measured,
    /// These values.
    List(Vec<Spanned<Count>>),
    /// An arithmetic series, both ends included when the step meets them.
    Range {
        /// First value.
        from: u32,
        /// Last value.
        to: u32,
        /// Distance between values.
        step: u32,
    },
}

impl Axis {
    /// The values, or `None` for what was measured.
    pub fn values(&self) -> Option<Vec<u32>> {
        match self {
            Axis::Measured => None,
            Axis::List(values) => Some(values.iter().map(|v| v.get_ref().get()).collect()),
            Axis::Range { from, to, step } => {
                Some((*from..=*to).step_by((*step).max(1) as usize).collect())
            }
        }
    }
}

/// A longer range is a slip of the pen.
const MOST_VALUES: u32 = 1000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RangeFields {
    from: Count,
    to: Count,
    #[serde(default = "one")]
    step: Count,
}

fn one() -> Count {
    Count::new(1).expect("1 is at least 1")
}

impl<'de> Deserialize<'de> for Axis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AxisVisitor;

        impl<'de> Visitor<'de> for AxisVisitor {
            type Value = Axis;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(r#""measured", a list like [8, 12] or a range like { from = 8, to = 20, step = 4 }"#)
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<Axis, E> {
                match word {
                    "measured" => Ok(Axis::Measured),
                    _ => Err(E::unknown_variant(word, &["measured"])),
                }
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Axis, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element()? {
                    values.push(value);
                }
                if values.is_empty() {
                    return Err(A::Error::custom(
                        "expected at least one value, found an empty list",
                    ));
                }
                Ok(Axis::List(values))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Axis, A::Error> {
                let range =
                    RangeFields::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                let (from, to) = (range.from.get(), range.to.get());
                if from > to {
                    return Err(A::Error::custom(format!(
                        "expected `from` not above `to`, found {from} above {to}"
                    )));
                }
                let count = (to - from) / range.step.get() + 1;
                if count > MOST_VALUES {
                    return Err(A::Error::custom(format!(
                        "expected a range of at most {MOST_VALUES} values, found {count}"
                    )));
                }
                Ok(Axis::Range {
                    from,
                    to,
                    step: range.step.get(),
                })
            }
        }
        deserializer.deserialize_any(AxisVisitor)
    }
}

impl JsonSchema for Axis {
    fn schema_name() -> Cow<'static, str> {
        "Axis".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Values of one axis: what was measured, a list, or a range.",
            "oneOf": [
                { "const": "measured" },
                {
                    "type": "array",
                    "minItems": 1,
                    "uniqueItems": true,
                    "items": { "type": "integer", "minimum": 1 }
                },
                {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["from", "to"],
                    "properties": {
                        "from": { "type": "integer", "minimum": 1 },
                        "to": { "type": "integer", "minimum": 1 },
                        "step": { "type": "integer", "minimum": 1 }
                    }
                }
            ]
        })
    }
}
