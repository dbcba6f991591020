//! What was used: which VMs were held from when to when, and what for. Jobs write it, prices read it.

pub mod intervals;
pub mod journal;
pub mod ledger;
pub mod phases;
pub mod rented_vm_type;

pub use intervals::{EndedBy, Usage, VmInterval};
pub use journal::UsageJournal;
pub use phases::{Phase, Phases};
pub use rented_vm_type::{RentedVm, RentedVmType, RentedVms};
