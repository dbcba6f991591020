/// A protocol, strategy, schedule, price, charge or law, as its own file declares it for `scavsim explain`, lists, schema and
/// documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Declaration {
    pub name: &'static str,
    /// What it does, in one sentence.
    pub what: &'static str,
    /// Formula, or what it takes for each quantity.
    pub formula: &'static str,
    /// Publication or documentation that it follows; may be empty.
    pub source: &'static str,
    /// Line of a scenario that uses it; empty where other tables name it.
    pub example: &'static str,
}

pub trait Declared {
    const DECLARATION: Declaration;
}

impl Declaration {
    /// The declaration as lines of text: what it does, then its formula under the head `how`, source and example as far as there are some.
    pub fn text(&self, how: &str) -> String {
        let mut text = self.what.to_owned();
        for (head, said) in [
            (how, self.formula),
            ("Source", self.source),
            ("Example", self.example),
        ] {
            if !said.is_empty() {
                text += &format!("\n{head}: {said}");
            }
        }
        text
    }
}

/// Names of the values of an enum, in the order of listings.
#[macro_export]
macro_rules! named {
    ($type:ident: $($value:ident = $name:expr),+ $(,)?) => {
        impl $type {
            /// All values.
            pub const ALL: [$type; [$($name),+].len()] = [$($type::$value),+];

            /// Name as it is written.
            pub const fn name(self) -> &'static str {
                match self { $($type::$value => $name),+ }
            }

            /// The value that is written as `name`.
            pub fn named(name: &str) -> Option<$type> {
                $type::ALL.into_iter().find(|one| one.name() == name)
            }
        }
    };
}

/// Settings of a strategy or policy: the table of a scenario, and the declaration of what it sets.
///
/// A field is what stands behind its `=` when it is absent, or its type's default. The declaration follows, field by field.
#[macro_export]
macro_rules! settings {
    (
        $(#[$about:meta])*
        pub struct $settings:ident {
            $($(#[$doc:meta])* pub $field:ident: $type:ty $(= $default:expr)?),* $(,)?
        }
        $($said:ident: $text:expr),* $(,)?
    ) => {
        #[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
        $(#[$about])*
        #[serde(default, deny_unknown_fields)]
        pub struct $settings {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl Default for $settings {
            fn default() -> Self {
                $settings { $($field: $crate::settings!(@default $($default)?),)* }
            }
        }

        impl $crate::Declared for $settings {
            const DECLARATION: $crate::Declaration = $crate::Declaration {
                $($said: $text,)*
            };
        }
    };
    (@default) => { Default::default() };
    (@default $default:expr) => { $default };
}
