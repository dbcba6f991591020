//! Policies: each decides, tick by tick, where a job goes on. One file and one line in [`registry`] each.

pub mod cost_to_go;
pub mod external;
pub mod follow_noise;
pub mod keep_pace;
pub mod one_rule;
mod order;
pub mod registry;
pub mod search_strategy;
pub mod skynomad;
pub mod stay;
pub mod time_sliced;
pub mod uniform_progress;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::policy_run::policy_view::PolicyView;
use crate::world::Window;
use scavsim_base::Declared;

/// Decides where a job goes on. It is asked as each tick begins, after losses.
pub trait Policy: fmt::Debug {
    /// Decides.
    fn decide(&mut self, view: &mut PolicyView<'_, '_>);

    /// What keeps the deadline, whatever the policy says.
    fn net(&self) -> Net {
        Net::Patient
    }

    /// Where the net goes on demand.
    fn on_demand_zone(&self) -> OnDemandZone {
        OnDemandZone::Cheapest
    }

    /// Hears that the life is over; what is wrong with it after all can still be [said](PolicyView::fail).
    fn over(&mut self, _desk: &mut PolicyView<'_, '_>) {}
}

/// What happens at the last moment that keeps a deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Net {
    /// Nothing.
    None,
    /// The job goes on demand, unless it has spot machines that work: when they are lost there is still time.
    #[default]
    Patient,
    /// The job goes on demand, from whatever it has.
    Strict,
}

/// Where a job goes on demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnDemandZone {
    /// Where it costs least and the deadline is kept, start and egress included.
    #[default]
    Cheapest,
    /// Where it ran last, if that keeps the deadline: as SkyNomad's artifact does
    /// (`sky_spot/strategies/multi_region_rc_cr_threshold.py`).
    Last,
}

/// What a policy is made from: its settings.
pub trait Recipe: fmt::Debug + Send + Sync {
    /// A policy for one life.
    fn policy(&self) -> Box<dyn Policy>;

    /// A policy for one life with a seed of its own, below 2³¹, for those that draw something.
    fn seeded(&self, _seed: usize) -> Box<dyn Policy> {
        self.policy()
    }

    /// Why nothing is expected of it any more: ten of its lives failed in this way.
    fn hopeless(&self) -> Option<String> {
        None
    }

    /// A recipe with a flag that ends the wait for its policies, if they are waited for.
    fn stopped_by(&self, _flag: Option<Arc<AtomicBool>>) -> Option<Arc<dyn Recipe>> {
        None
    }

    /// The program that a policy is, and where it is started.
    fn program(&self) -> Option<String> {
        None
    }

    /// A policy that is told what comes, where it is one of those; it is a bound, and nobody can have it.
    fn knowing(&self, _future: Window<'_>) -> Option<Box<dyn Policy>> {
        None
    }
}

pub type NamedRecipe = (String, Arc<dyn Recipe>);

/// A policy without a past is its own settings.
impl<T: Policy + Declared + Clone + Send + Sync + 'static> Recipe for T {
    fn policy(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}
