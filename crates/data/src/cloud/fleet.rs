//! The VM types that can be rented in a scenario: those of the catalogue, and its own.

use std::collections::HashMap;

use super::{Catalogue, VmType};

/// Looks VM types up, those of a scenario first.
///
/// ```
/// # use scavsim_data::face as scavsim;
/// use scavsim::Fleet;
///
/// let fleet = Fleet::listed();
/// let vm = fleet.vm_type("e2-standard-4").expect("it is in the catalogue");
/// assert_eq!((vm.vcpu, vm.memory_gib, vm.gpu_count()), (4, 16.0, 0));
/// ```
#[derive(Debug, Clone)]
pub struct Fleet<'a> {
    /// The embedded catalogue.
    pub catalogue: &'static Catalogue,
    own: HashMap<&'a str, OwnVm<'a>>,
}

/// A VM type that a scenario defines, as far as it says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OwnVm<'a> {
    /// Name of its table, which the catalogue may know it by.
    pub table: &'a str,
    /// The measured VM type that it stands in for.
    pub like: &'a str,
    pub vcpu: Option<f64>,
    pub memory_gib: Option<f64>,
    pub gpus: Option<u32>,
    /// USD per hour on demand, whatever the region and day.
    pub usd_per_hour: Option<f64>,
}

/// What a VM of a type has.
///
/// ```
/// # use scavsim_data::face as scavsim;
/// use scavsim::Fleet;
///
/// let machine = Fleet::listed().machine("e2-standard-4").expect("it is in the catalogue");
/// assert_eq!(machine.memory_gib / machine.vcpu, 4.0);
/// assert!(Fleet::listed().machine("abacus").is_none());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Machine {
    /// Virtual processors.
    pub vcpu: f64,
    /// Memory in GiB.
    pub memory_gib: f64,
    /// Accelerators.
    pub gpus: u32,
}

impl Machine {
    /// A machine of so many virtual processors, so much memory and so many accelerators.
    pub fn new(vcpu: f64, memory_gib: f64, gpus: u32) -> Machine {
        Machine {
            vcpu,
            memory_gib,
            gpus,
        }
    }
}

impl<'a> Fleet<'a> {
    /// The catalogue, and the VM types of a scenario by name.
    pub fn new(own: impl IntoIterator<Item = (&'a str, OwnVm<'a>)>) -> Fleet<'a> {
        Fleet {
            catalogue: Catalogue::current(),
            own: own.into_iter().collect(),
        }
    }

    /// The catalogue alone.
    pub fn listed() -> Fleet<'static> {
        Fleet::new([])
    }

    /// What the scenario says about the VM type called `vm`.
    pub fn own(&self, vm: &str) -> Option<&OwnVm<'a>> {
        self.own.get(vm)
    }

    /// The name of the table that defines `vm`, or its own where the scenario has none.
    pub fn table<'n>(&'n self, vm: &'n str) -> &'n str {
        self.own.get(vm).map_or(vm, |own| own.table)
    }

    /// What `vm` stands in for and is priced as: nothing where the catalogue knows it by its own name, or the scenario its price.
    pub fn like(&self, vm: &str) -> Option<&'a str> {
        let own = self.own.get(vm)?;
        let is_known = own.usd_per_hour.is_some() || self.catalogue.vm_type(own.table).is_some();
        (!is_known).then_some(own.like)
    }

    /// This fleet where nothing is priced as what it is like.
    pub fn without_likes(&self) -> Fleet<'a> {
        let alone = |(name, own): (&&'a str, &OwnVm<'a>)| {
            let like = own.table;
            (*name, OwnVm { like, ..*own })
        };
        Fleet::new(self.own.iter().map(alone))
    }

    /// The name under which the catalogue has `vm`, if it is there at all: its own, or that of what it stands in for.
    pub fn listed_as<'n>(&'n self, vm: &'n str) -> &'n str {
        self.like(vm).unwrap_or_else(|| self.table(vm))
    }

    /// What the catalogue says about `vm`.
    pub fn vm_type(&self, vm: &str) -> Option<&'static VmType> {
        self.catalogue.vm_type(self.listed_as(vm))
    }

    /// What the catalogue says of the size of `vm`. A stand-in has that of what it is like, unless the scenario says any of it.
    pub fn described(&self, vm: &str) -> Option<&'static VmType> {
        let says_itself =
            |own: &OwnVm<'_>| own.vcpu.is_some() || own.memory_gib.is_some() || own.gpus.is_some();
        match self.like(vm).and_then(|_| self.own(vm)) {
            Some(own) if says_itself(own) => None,
            _ => self.vm_type(vm),
        }
    }

    /// What a VM of the type `vm` has, by the scenario and else by the catalogue; `None` where neither says it all.
    pub fn machine(&self, vm: &str) -> Option<Machine> {
        let (own, listed) = (self.own(vm), self.described(vm));
        let vcpu = own.and_then(|own| own.vcpu);
        let memory_gib = own.and_then(|own| own.memory_gib);
        let gpus = own.and_then(|own| own.gpus);
        Some(Machine {
            vcpu: vcpu.or(listed.map(|vm| vm.vcpu as f64))?,
            memory_gib: memory_gib.or(listed.map(|vm| vm.memory_gib))?,
            gpus: gpus.unwrap_or(listed.map_or(0, |vm| vm.gpu_count() as u32)),
        })
    }
}
