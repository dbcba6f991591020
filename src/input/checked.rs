//! Numbers that are checked as they are read: a value of one of these types is legal.
//!
//! Because the check happens while reading, a wrong value is reported at its place in the file,
//! together with all other mistakes.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de::Error};

macro_rules! checked {
    ($(#[$doc:meta])* $name:ident($inner:ty), $what:literal, $legal:expr, $schema:tt) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
        pub struct $name($inner);

        impl $name {
            /// The value if it is legal.
            pub fn new(value: $inner) -> Option<Self> {
                let legal: fn($inner) -> bool = $legal;
                legal(value).then_some($name(value))
            }

            /// The number.
            pub fn get(self) -> $inner {
                self.0
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = <$inner>::deserialize(deserializer)?;
                $name::new(value)
                    .ok_or_else(|| D::Error::custom(format!("expected {}, found {value}", $what)))
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.serialize(serializer)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

checked!(
    /// A whole number of at least 1.
    Count(u32), "a whole number of at least 1", |v| v >= 1,
    { "type": "integer", "minimum": 1, "maximum": 4294967295u32 }
);
impl Count {
    /// One.
    pub const ONE: Count = Count(1);
}

checked!(
    /// A finite number of at least 0.
    NonNegative(f64), "a number of at least 0", |v| v.is_finite() && v >= 0.0,
    { "type": "number", "minimum": 0 }
);
checked!(
    /// A finite number above 0.
    Positive(f64), "a number above 0", |v| v.is_finite() && v > 0.0,
    { "type": "number", "exclusiveMinimum": 0 }
);
checked!(
    /// A spread (σ or coefficient of variation) from 0 to 2; above, a log-normal has no useful mean.
    Spread(f64), "a number from 0 to 2", |v| (0.0..=2.0).contains(&v),
    { "type": "number", "minimum": 0, "maximum": 2 }
);
checked!(
    /// A probability from 0 to 1, both excluded.
    Probability(f64), "a number between 0 and 1", |v| v > 0.0 && v < 1.0,
    { "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 }
);
checked!(
    /// A fraction of a whole, above 0 and at most 1.
    Fraction(f64), "a number above 0 and at most 1", |v| v > 0.0 && v <= 1.0,
    { "type": "number", "exclusiveMinimum": 0, "maximum": 1 }
);
checked!(
    /// A factor above 1.
    Slowdown(f64), "a number above 1 and at most 1000", |v| v > 1.0 && v <= 1000.0,
    { "type": "number", "exclusiveMinimum": 1, "maximum": 1000 }
);
