//! WHERE it runs: VM types, what they cost on which day, how long they live and how long they take to start.

pub mod catalogue;
pub mod date;
pub mod delays;
pub mod fleet;
pub mod lifetimes;
pub mod pack;
pub mod pack_notes;
pub mod price_age;
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
