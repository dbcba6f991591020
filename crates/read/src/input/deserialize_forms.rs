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
