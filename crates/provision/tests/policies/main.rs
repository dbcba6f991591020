//! Lives of jobs under policies.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod all_policies;
mod bills;
mod clairvoyant;
mod closed_forms;
mod common;
mod deadlines;
mod events;
mod exact_times;
mod external;
mod forms;
mod intervals;
mod on_demand_zones;
mod own;
mod timeline;
