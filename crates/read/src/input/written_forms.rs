//! Values that are written in several forms: a word or a list, a number or a table.

/// Reads a type in whatever form its value has: what is expected, and a function of a [`Visitor`](serde::de::Visitor) for each form.
#[macro_export]
macro_rules! deserialize_forms {
    ($type:ty, $expected:literal; $($forms:tt)*) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct Forms;

                impl<'de> serde::de::Visitor<'de> for Forms {
                    type Value = $type;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($expected)
                    }

                    $($forms)*
                }

                from.deserialize_any(Forms)
            }
        }
    };
}

/// The JSON Schema of a type, stated; inline where it has no definition of its own.
#[macro_export]
macro_rules! schema_of {
    ($type:ident, is_inline: $is_inline:literal, $schema:tt) => {
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn inline_schema() -> bool {
                $is_inline
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!($schema)
            }
        }
    };
}
