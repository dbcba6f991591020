//! All policies by name. A new one is a file with its settings, and a line here.

use schemars::JsonSchema;

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
use scavsim_base::Declaration;
use scavsim_read::input::Spanned;
use scavsim_read::settings_by_name;

/// The contender that knows what comes.
pub const CLAIRVOYANT: &str = "clairvoyant";

/// What the policies say of themselves, in the order of listings.
pub const POLICIES: &[Declaration] = Settings::DECLARED;

fn refused(name: &str) -> Option<&'static str> {
    (name == CLAIRVOYANT).then_some("knows what comes, and has no settings")
}

settings_by_name! {
    /// Settings of all policies: a table for each, all optional.
    #[derive(Debug, Clone, Default, JsonSchema)]
    #[schemars(rename = "PolicySettings")]
    pub struct Settings of a "policy" {
        own: ExternalPolicySettings,
        /// Policies to run; all that keep deadlines when absent.
        #[schemars(length(min = 1))]
        names: Option<Spanned<Vec<Spanned<String>>>>,
    }

    pub fn recipe -> dyn Recipe;

    refuses refused;

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
