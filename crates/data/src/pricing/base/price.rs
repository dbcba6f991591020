use std::fmt::Debug;
use std::sync::Arc;

use crate::cloud::{Date, Fleet, Market};
use crate::pricing::file::PolicyFile;
use crate::pricing::wrong_policy::WrongPolicy;
use crate::usage::RentedVmType;
use scavsim_base::Declaration;

pub struct Rule {
    pub declaration: Declaration,
    pub keys: &'static str,
    /// Reads it; `None` where none of its keys is given.
    pub(super) read: fn(&PolicyFile) -> Option<Result<Base, WrongPolicy>>,
}

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
/// use scavsim::{Fleet, NoPrice, RentedVmType, VmPrice};
///
/// /// So much per vCPU.
/// #[derive(Debug)]
/// struct PerVcpu(f64);
///
/// impl VmPrice for PerVcpu {
///     fn usd_per_hour(&self, rented: RentedVmType<'_>, fleet: &Fleet<'_>) -> Result<f64, NoPrice> {
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
/// assert_eq!(PerVcpu(0.05).usd_per_hour(RentedVmType::as_priced("e2-standard-4"), &fleet), Ok(0.2));
/// assert!(PerVcpu(0.05).usd_per_hour(RentedVmType::as_priced("abacus"), &fleet).is_err());
/// ```
///
/// `Options::price` gives it to a scenario; `examples/own_price.rs` is a whole program.
pub trait VmPrice: Debug + Send + Sync {
    /// USD per hour of a VM.
    fn usd_per_hour(&self, rented: RentedVmType<'_>, fleet: &Fleet<'_>) -> Result<f64, NoPrice>;

    /// Whether all VM types cost the same.
    fn is_flat(&self) -> bool {
        false
    }

    /// Whether it is that of the market of a scenario with `[policy]`.
    fn is_of_market(&self) -> bool {
        false
    }

    /// On which terms; a discount on any but on demand excludes others.
    fn market(&self) -> Market {
        Market::OnDemand
    }

    /// Whether a list that has prices of others lacks that of a known VM type, which can be left out.
    fn is_gap(&self, _rented: RentedVmType<'_>, _fleet: &Fleet<'_>) -> bool {
        false
    }

    /// Which listed price it is, if it is one.
    fn listed(&self, _rented: RentedVmType<'_>, _fleet: &Fleet<'_>) -> Option<ListedPrice> {
        None
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListedPrice {
    pub provider: String,
    pub region: String,
    /// The day: the one that is asked for, or the last of which it is known.
    pub day: Date,
    pub is_of_pack: bool,
    /// The VM type, where the price is charged as the newest and is old.
    pub old_of: Option<String>,
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
