//! Tables of a scenario with settings of all that it can name: strategies, policies. Beside them it names programs of one's own.

use serde::de::Error;

use super::closest;
use super::name::not_a_name;

/// A table with settings by name, read key by key. Its type has a list of all names, and makes a recipe of each.
#[macro_export]
macro_rules! settings_by_name {
    (
        $(#[$about:meta])*
        pub struct $settings:ident of a $kind:literal {
            own: $own:ty,
            $($(#[$meta:meta])* $key:ident: $value:ty,)*
        }
        $(#[$asked:meta])*
        $visibility:vis fn recipe -> $recipe:ty;
        refuses $refused:path;
        $($field:ident = $name:literal $(once $old:literal)?: $type:ty,)*
    ) => {
        $(#[$about])*
        #[serde(default)]
        pub struct $settings {
            $($(#[$meta])* pub $key: $value,)*
            $(
                #[doc = concat!("Settings of the ", $kind, " `", $name, "`.")]
                #[serde(rename = $name $(, alias = $old)?)]
                pub $field: $type,
            )*
            /// Programs of one's own, by the names that they are given here.
            #[serde(flatten)]
            pub own: std::collections::BTreeMap<String, $own>,
        }

        impl $settings {
            /// What all of them say of themselves, in the order of listings.
            const DECLARED: &'static [scavsim_base::Declaration] =
                &[$(<$type as scavsim_base::Declared>::DECLARATION),*];

            /// Names that some had before, each with the one that it has now.
            const RENAMED: &'static [(&'static str, &'static str)] = &[$($(($old, $name),)?)*];

            $(#[$asked])*
            $visibility fn recipe(&self, name: &str) -> Option<std::sync::Arc<$recipe>> {
                match name {
                    $($name => Some(std::sync::Arc::new(self.$field.clone())),)*
                    _ => Some(std::sync::Arc::new(self.own.get(name)?.clone())),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $settings {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                const KEYS: &[&str] = &[$(stringify!($key),)* $($name),*];

                struct Key(String);

                impl<'de> serde::Deserialize<'de> for Key {
                    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                        let key = String::deserialize(from)?;
                        if !$settings::RENAMED.iter().any(|(old, _)| *old == key) {
                            $crate::input::known_or_own(&key, KEYS, $refused)?;
                        }
                        Ok(Key(key))
                    }
                }

                struct Table;

                impl<'de> serde::de::Visitor<'de> for Table {
                    type Value = $settings;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("a table")
                    }

                    fn visit_map<A>(self, mut map: A) -> Result<$settings, A::Error>
                    where
                        A: serde::de::MapAccess<'de>,
                    {
                        let mut settings = $settings::default();
                        while let Some(Key(key)) = map.next_key()? {
                            match &*key {
                                $(stringify!($key) => settings.$key = map.next_value()?,)*
                                $($name $(| $old)? => settings.$field = map.next_value()?,)*
                                _ => {
                                    settings.own.insert(key, map.next_value()?);
                                }
                            }
                        }
                        Ok(settings)
                    }
                }

                from.deserialize_struct("Settings", KEYS, Table)
            }
        }
    };
}

/// Takes a known key, or a name for a program of one's own. One that is nearly a known name is taken for a slip.
pub fn known_or_own<E: Error>(
    key: &str,
    known: &'static [&'static str],
    refused: impl Fn(&str) -> Option<&'static str>,
) -> Result<(), E> {
    if known.contains(&key) {
        return Ok(());
    }
    if closest(key, known.iter().copied()).is_some() {
        return Err(E::unknown_field(key, known));
    }
    let why = not_a_name(key).or_else(|| refused(key));
    why.map_or(Ok(()), |why| Err(E::custom(why)))
}
