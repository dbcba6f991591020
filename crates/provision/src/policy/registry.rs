//! All policies by name. A new one is a file with its settings, and a line here.

use serde::Deserialize;

use super::Recipe;
use super::cost_to_go::CostToGoSettings;
use super::greedy::GreedySettings;
use super::keep_pace::KeepPaceSettings;
use super::on_demand::OnDemandSettings;
use super::price_threshold::PriceThresholdSettings;
use super::skynomad::{SkyNomadSettings, SkyNomadTrueLifetimesSettings};
use super::spot_only::SpotOnlySettings;
use super::time_sliced::TimeSlicedSettings;
use super::uniform_progress::{UniformProgressFailoverSettings, UniformProgressSettings};
use scavsim_base::{Declaration, Declared};

/// Name of the contender that knows what comes.
pub const CLAIRVOYANT: &str = "clairvoyant";

macro_rules! policies {
    ($($field:ident = $name:literal: $settings:ty,)*) => {
        /// Settings of all policies: a table for each, all optional.
        #[derive(Debug, Clone, Default, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Settings {
            /// Policies to run.
            pub names: Option<toml::Spanned<Vec<toml::Spanned<String>>>>,
            $(
                #[serde(rename = $name)]
                $field: $settings,
            )*
        }

        impl Settings {
            /// The policy called `name`, with its settings.
            pub fn recipe(&self, name: &str) -> Option<Box<dyn Recipe>> {
                match name {
                    $($name => Some(Box::new(self.$field.clone())),)*
                    _ => None,
                }
            }
        }

        /// What the policies say of themselves, in the order of listings.
        pub const POLICIES: &[Declaration] = &[$(<$settings>::DECLARATION),*];
    };
}

policies! {
    on_demand = "on-demand": OnDemandSettings,
    spot_only = "spot-only": SpotOnlySettings,
    greedy = "greedy": GreedySettings,
    time_sliced = "time-sliced": TimeSlicedSettings,
    price_threshold = "price-threshold": PriceThresholdSettings,
    keep_pace = "keep-pace": KeepPaceSettings,
    uniform_progress = "uniform-progress": UniformProgressSettings,
    uniform_progress_failover = "uniform-progress-failover": UniformProgressFailoverSettings,
    skynomad = "skynomad": SkyNomadSettings,
    skynomad_true_lifetimes = "skynomad-true-lifetimes": SkyNomadTrueLifetimesSettings,
    cost_to_go = "cost-to-go": CostToGoSettings,
}
