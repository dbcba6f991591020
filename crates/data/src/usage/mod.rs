//! What was used: which VMs were held from when to when, and what for. Jobs write it, prices read it.
//!
//! - [`intervals`]: VMs held; [`phases`]: what they did meanwhile.
//! - [`rented_vm_type`]: a VM type on the terms that it is rented on.
//! - [`ledger`]: which VMs are held now, and were before.

pub mod intervals;
pub mod ledger;
pub mod phases;
pub mod rented_vm_type;

pub use intervals::{EndedBy, Usage, VmInterval};
pub use phases::{Phase, Phases};
pub use rented_vm_type::{RentedVm, RentedVmType, RentedVms};
