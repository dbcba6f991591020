//! Base prices: what a policy charges for, before any discount.
//!
//! In: the form of a policy. Out: a [`Base`], or what is wrong with it. One file per rule; a new one
//! is a file here, its keys in [`PolicyFile`], and a line in [`RULES`].
//!
//! - [`per_vm`]: one price for every VM.
//! - [`per_type`]: a price for each VM type.
//! - [`per_sample`]: memory sized to the batch.
//! - [`per_resource`]: so much per vCPU, GiB and GPU of the VM type.
//! - [`catalogue_price`]: the listed price of the VM type in a region, on a day.

pub mod catalogue_price;
pub mod per_resource;
pub mod per_sample;
pub mod per_type;
pub mod per_vm;

use std::fmt::Debug;
use std::sync::Arc;

use super::file::PolicyFile;
use crate::cloud::{Fleet, Market};
pub use crate::usage::Rented;

/// What a policy charges for.
#[derive(Debug, Clone)]
pub enum Base {
    /// USD per VM and hour.
    Vm(Arc<dyn VmPrice>),
    /// USD per sample of global batch and hour, whatever the worker count.
    Sample(f64),
    /// What was stated with each measured run.
    Stated,
}

/// A price per VM and hour. It is looked up before a run, never during one.
///
/// ```
/// # use scavsim_data::face as scavsim;
/// use scavsim::{Fleet, NoPrice, Rented, VmPrice};
///
/// /// So much per vCPU.
/// #[derive(Debug)]
/// struct PerVcpu(f64);
///
/// impl VmPrice for PerVcpu {
///     fn usd_per_hour(&self, rented: Rented<'_>, fleet: &Fleet<'_>) -> Result<f64, NoPrice> {
///         match fleet.vm_type(rented.vm) {
///             Some(vm) => Ok(self.0 * vm.vcpu as f64),
///             None => Err(NoPrice {
///                 what: format!("the vCPUs of `{}` are not known", rented.vm),
///                 help: "name a VM type of the catalogue".to_owned(),
///             }),
///         }
///     }
/// }
///
/// let fleet = Fleet::listed();
/// assert_eq!(PerVcpu(0.05).usd_per_hour(Rented::as_priced("e2-standard-4"), &fleet), Ok(0.2));
/// assert!(PerVcpu(0.05).usd_per_hour(Rented::as_priced("abacus"), &fleet).is_err());
/// ```
///
/// `Options::price` gives it to a scenario; `examples/own_price.rs` is a whole program.
pub trait VmPrice: Debug + Send + Sync {
    /// USD per hour of a VM.
    fn usd_per_hour(&self, rented: Rented<'_>, fleet: &Fleet<'_>) -> Result<f64, NoPrice>;

    /// Whether all VM types cost the same.
    fn is_flat(&self) -> bool {
        false
    }

    /// On which terms; a discount on any but on demand excludes others.
    fn market(&self) -> Market {
        Market::OnDemand
    }
}

/// A price that does not exist.
///
/// ```
/// # use scavsim_data::face as scavsim;
/// use scavsim::NoPrice;
///
/// let missing = NoPrice {
///     what: "no price for `abacus`".to_owned(),
///     help: "name a VM type of the catalogue".to_owned(),
/// };
/// assert_eq!(missing.to_string(), "no price for `abacus`; name a VM type of the catalogue");
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{what}; {help}")]
pub struct NoPrice {
    /// What there is no price of, and where it was looked for.
    pub what: String,
    /// What there is instead.
    pub help: String,
}

/// A rule for a base price.
pub struct Rule {
    /// Key of the base price, or the keys that belong together.
    pub keys: &'static str,
    /// Reads it; `None` where none of its keys is given.
    read: fn(&PolicyFile) -> Option<Result<Base, String>>,
}

/// All rules for a base price.
pub const RULES: &[Rule] = &[
    per_vm::RULE,
    per_type::RULE,
    per_sample::RULE,
    per_resource::RULE,
    catalogue_price::RULE,
];

/// The base price of a policy, of which there must be exactly one.
pub fn read(file: &PolicyFile) -> Result<Base, String> {
    let mut given = RULES
        .iter()
        .filter_map(|rule| Some((rule, (rule.read)(file)?)));
    match (given.next(), given.next()) {
        (None, _) => {
            let keys: Vec<&str> = RULES.iter().map(|rule| rule.keys).collect();
            Err(format!("there is no price: give {}", keys.join(", or ")))
        }
        (Some((one, _)), Some((other, _))) => {
            Err(format!("give only one of {} and {}", one.keys, other.keys))
        }
        (Some((_, base)), None) => base,
    }
}
