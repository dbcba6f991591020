//! All policies by name. A new one is a file with its settings, and a line here.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::Recipe;
use super::cost_to_go::CostToGoSettings;
use super::external::ExternalPolicySettings;
use super::follow_noise::FollowNoiseSettings;
use super::keep_pace::KeepPace;
use super::one_rule::{Greedy, OnDemandOnly, PriceThreshold, SpotOnly};
use super::skynomad::{SkyNomadSettings, SkyNomadTrueLifetimesSettings};
use super::stay::StaySettings;
use super::time_sliced::TimeSliced;
use super::uniform_progress::{UniformProgressFailoverSettings, UniformProgressSettings};
use scavsim_base::{Declaration, Declared};
use scavsim_read::input::Spanned;
use scavsim_read::input::closest;
use scavsim_read::input::name::not_a_name;

/// The contender that knows what comes.
pub const CLAIRVOYANT: &str = "clairvoyant";

macro_rules! policies {
    ($($field:ident = $name:literal: $settings:ty,)*) => {
        /// Settings of all policies: a table for each, all optional.
        #[derive(Debug, Clone, Default, JsonSchema)]
        #[serde(default)]
        #[schemars(rename = "PolicySettings")]
        pub struct Settings {
            /// Policies to run; all that keep deadlines when absent.
            #[schemars(length(min = 1))]
            pub names: Option<Spanned<Vec<Spanned<String>>>>,
            $(
                #[doc = concat!("Settings of the policy `", $name, "`.")]
                #[serde(rename = $name)]
                $field: $settings,
            )*
            /// Programs of one's own, by the names that they are given here.
            #[serde(flatten)]
            pub own: BTreeMap<String, ExternalPolicySettings>,
        }

        impl<'de> Visitor<'de> for SettingsTable {
            type Value = Settings;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Settings, A::Error> {
                let mut settings = Settings::default();
                while let Some(key) = map.next_key::<SettingsKey>()? {
                    match &*key.0 {
                        NAMES => settings.names = Some(map.next_value()?),
                        $($name => settings.$field = map.next_value()?,)*
                        _ => {
                            settings.own.insert(key.0, map.next_value()?);
                        }
                    }
                }
                Ok(settings)
            }
        }

        impl Settings {
            pub fn recipe(&self, name: &str) -> Option<Arc<dyn Recipe>> {
                match name {
                    $($name => Some(Arc::new(self.$field.clone())),)*
                    _ => Some(Arc::new(self.own.get(name)?.clone())),
                }
            }
        }

        /// What the policies say of themselves, in the order of listings.
        pub const POLICIES: &[Declaration] = &[$(<$settings>::DECLARATION),*];

        /// Reserved keys of the table.
        const KEYS: &[&str] = &[NAMES, $($name),*];
    };
}

/// Key of the list of policies to run.
const NAMES: &str = "names";

struct SettingsTable;

impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Settings, D::Error> {
        deserializer.deserialize_struct("Settings", KEYS, SettingsTable)
    }
}

/// A key of the table: a policy of scavsim, or a name for one's own program, unless it looks like a misspelt policy.
struct SettingsKey(String);

impl<'de> Deserialize<'de> for SettingsKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SettingsKey, D::Error> {
        let key = String::deserialize(deserializer)?;
        if KEYS.contains(&&*key) {
            return Ok(SettingsKey(key));
        }
        if key == CLAIRVOYANT {
            return Err(Error::custom("knows what comes, and has no settings"));
        }
        if closest(&key, KEYS.iter().copied()).is_some() {
            return Err(Error::unknown_field(&key, KEYS));
        }
        match not_a_name(&key) {
            Some(why) => Err(Error::custom(why)),
            None => Ok(SettingsKey(key)),
        }
    }
}

policies! {
    on_demand = "on-demand": OnDemandOnly,
    spot_only = "spot-only": SpotOnly,
    stay = "stay": StaySettings,
    follow_noise = "follow-noise": FollowNoiseSettings,
    greedy = "greedy": Greedy,
    time_sliced = "time-sliced": TimeSliced,
    price_threshold = "price-threshold": PriceThreshold,
    keep_pace = "keep-pace": KeepPace,
    uniform_progress = "uniform-progress": UniformProgressSettings,
    uniform_progress_failover = "uniform-progress-failover": UniformProgressFailoverSettings,
    skynomad = "skynomad": SkyNomadSettings,
    skynomad_true_lifetimes = "skynomad-true-lifetimes": SkyNomadTrueLifetimesSettings,
    cost_to_go = "cost-to-go": CostToGoSettings,
}
