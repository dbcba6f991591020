//! WHAT it costs: usage → bill.
//!
//! A run yields [`Usage`]; a [`Policy`] turns it into USD. Policies are data, so one simulation can
//! be billed under many. Nothing here knows training or strategies.
//!
//! - [`usage`]: which VMs were held when.
//! - [`policy`]: base price × billed duration.
//! - [`builtin`]: the policies of `data/pricing.toml`, and the form of a policy as data.
//! - [`billed_time`]: granularity and minimum of the billed duration.

pub mod billed_time;
pub mod builtin;
pub mod policy;
pub mod usage;

pub use billed_time::BilledTime;
pub use policy::{Base, Policy};
pub use usage::{Usage, VmInterval};
