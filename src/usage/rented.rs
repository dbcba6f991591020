//! A VM type on the terms that a job rents it on.

use std::sync::Arc;

/// A VM type on the terms that a job rents it on.
///
/// ```
/// use scavsim::Rented;
///
/// let vm = Rented::as_priced("e2-standard-4");
/// assert_eq!((vm.vm, vm.on_spot), ("e2-standard-4", None));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rented<'a> {
    /// The type.
    pub vm: &'a str,
    /// Whether as a spot VM; `None` where only the policy says on which terms.
    pub on_spot: Option<bool>,
}

impl<'a> Rented<'a> {
    /// On the terms of the policy.
    pub fn as_priced(vm: &'a str) -> Self {
        Rented { vm, on_spot: None }
    }
}

/// The same, kept with the configurations that rent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RentedVm {
    /// The type.
    pub name: Arc<str>,
    /// Whether as a spot VM; `None` where only the price says on which terms.
    pub on_spot: Option<bool>,
}
