//! WHAT it costs. A [`Policy`] is data; with the prices of the run's VM types looked up it is a [`Tariff`], which turns
//! [`Usage`](crate::usage::Usage) into USD. So one simulation can be billed under many. Nothing here knows training or
//! strategies.

pub mod base;
pub mod billed_time;
pub mod builtin;
pub mod charges;
pub mod file;
pub mod policy;
pub mod price_day;
pub mod reductions;
pub mod spot_series_key;
pub mod tariff;
pub mod wrong_policy;

pub use base::{Base, ListedPrice, NoPrice, RentedVmType, VmPrice};
pub use billed_time::BilledTime;
pub use file::PolicyFile;
pub use policy::{MARKET, MarketRental, Policy};
pub use price_day::PriceDay;
pub use reductions::spot_series::SpotSeries;
pub use tariff::{AS_MEASURED, Parts, StatedPrices, Tariff};
pub use wrong_policy::WrongPolicy;
