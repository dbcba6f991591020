//! WHERE it runs: VM types, what they cost on which day, how long they live and how long they take to start.
//!
//! - [`vm_types`]: the VM types that measurements and prices refer to, from `data/clouds/vms.csv`.
//! - [`prices`]: dated prices per region and market, from `data/clouds/prices/`.
//! - [`price_table`]: the same of one's own.
//! - [`sources`]: where both come from, from `data/clouds/sources.csv`.
//! - [`pack`]: prices and VM types that a user brings beside them; [`pack_notes`]: what is odd about them.
//! - [`catalogue`]: all together, and what to say about a price that is missing.
//! - [`fleet`]: the catalogue beside the VM types that a scenario defines.
//! - [`date`]: a calendar day, and a time of it.
//! - [`lifetimes`]: how long VMs live, from `data/clouds/lifetimes/`.
//! - [`delays`]: how long starts, restarts and checkpoints take, from `data/clouds/delays/`.

pub mod catalogue;
pub mod date;
pub mod delays;
pub mod fleet;
pub mod lifetimes;
pub mod pack;
pub mod pack_notes;
pub mod price_table;
pub mod prices;
pub mod sources;
pub mod vm_types;

pub use catalogue::{Catalogue, Offer};
pub use date::Date;
pub use fleet::{Fleet, Machine, OwnVm};
pub use pack::Pack;
pub use price_table::{PriceTable, RentalPlace};
pub use prices::{Market, Price};
pub use vm_types::{Gpus, VmType};
