//! All strategies by name. A new strategy is one file with its settings, and one line here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Knowledge, Recipe, Strategy, Unusable};
use super::{fixed, full, no_search, partial, random, universal};

/// Name of the contender that knows the truth. It is not a strategy: it has nothing to search.
pub const ORACLE: &str = "oracle";

/// What the oracle is, for listings.
pub const ORACLE_SUMMARY: &str = "the best configuration by true expectation, from the start";

macro_rules! strategies {
    ($($field:ident = $name:literal: $settings:ty,)*) => {
        /// Settings of all strategies; a table per strategy in a scenario, all optional.
        #[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct Settings {
            $(
                #[doc = concat!("Settings of the strategy `", $name, "`.")]
                #[serde(rename = $name)]
                pub $field: $settings,
            )*
        }

        impl Settings {
            /// The names of all strategies but the oracle.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// Names and one-line summaries.
            pub fn summaries() -> impl Iterator<Item = (&'static str, &'static str)> {
                [$(($name, <$settings as Recipe>::SUMMARY)),*].into_iter()
            }

            /// Builds the strategy called `name`; `None` if there is none.
            pub fn build(
                &self,
                name: &str,
                knowledge: &Knowledge<'_>,
            ) -> Option<Result<Box<dyn Strategy>, Unusable>> {
                match name {
                    $($name => Some(self.$field.build(knowledge)),)*
                    _ => None,
                }
            }
        }
    };
}

strategies! {
    full = "full": full::FullSettings,
    partial = "partial": partial::PartialSettings,
    no_search = "no-search": no_search::NoSearchSettings,
    universal = "universal": universal::UniversalSettings,
    universal_leave_out = "universal-leave-out": universal::LeaveOutSettings,
    random = "random": random::RandomSettings,
    fixed = "default": fixed::DefaultSettings,
}
