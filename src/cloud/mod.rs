//! WHERE it runs: VM types.
//!
//! - [`vm_types`]: the VM types that measurements and prices refer to, from `data/clouds/vms.csv`.

pub mod vm_types;

pub use vm_types::VmType;
