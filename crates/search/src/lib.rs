//! Search strategies, and the grounds that they search on.
//!
//! - [`testbed`]: what a strategy can touch.
//! - [`search`]: tasks, strategies, the models they fit, objectives.

pub mod search;
pub mod testbed;

/// What users of the crate `scavsim` may rely on, of this floor and those below.
pub mod face {
    pub use scavsim_sim::face::*;
    pub use scavsim_talk::face::*;

    pub use crate::search::{
        ConversationStrategy, Depends, Forecast, Limits, Objective, Offer, Past, Prices, Recipe,
        Registry, Strategy, Task, UnusableStrategy, UsedPastRun,
    };
    pub use crate::testbed::{
        Extent, History, Observation, PastRun, SearchCost, Stop, Target, Testbed,
    };
}
