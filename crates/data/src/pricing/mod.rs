//! WHAT it costs: usage → bill.
//!
//! A run yields [`Usage`](crate::usage::Usage). A [`Policy`] is data; with the prices of the run's VM types looked up it is
//! a [`Tariff`], which turns usage into USD. So one simulation can be billed under many. Nothing here
//! knows training or strategies.
//!
//! - [`file`](mod@file): the form of a policy as data; [`spot_series_key`], [`price_day`]: two of its keys; [`builtin`]: the policies of `data/pricing.toml`.
//! - [`policy`]: base price and all that changes it.
//! - [`base`]: the base prices, one file per rule.
//! - [`reductions`]: what makes a base price less, one file per discount: a spot price, steady or in steps, a commitment,
//!   sustained use.
//! - [`billed_time`]: granularity and minimum of the billed duration.
//! - [`parameter_servers`]: servers on the bill.
//! - [`charges`]: what a job costs beside its VMs, one file per charge.
//! - [`stated_prices`]: what whoever measured has stated for each run.
//! - [`tariff`]: the bill, and its parts. [`wrong_policy`]: keys that do not make a policy.

pub mod base;
pub mod billed_time;
pub mod builtin;
pub mod charges;
pub mod file;
pub mod parameter_servers;
pub mod policy;
pub mod price_day;
pub mod reductions;
pub mod spot_series_key;
pub mod stated_prices;
pub mod tariff;
pub mod wrong_policy;

pub use base::{Base, ListedPrice, NoPrice, RentedVmType, VmPrice};
pub use billed_time::BilledTime;
pub use file::PolicyFile;
pub use policy::Policy;
pub use price_day::PriceDay;
pub use reductions::spot_series::SpotSeries;
pub use stated_prices::{AS_MEASURED, StatedPrices};
pub use tariff::{Parts, Tariff};
pub use wrong_policy::WrongPolicy;
