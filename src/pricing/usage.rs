//! What a run used, before any price.

use super::phases::Phases;
use crate::units::SimTime;

/// Some VMs of one type, held from one moment to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VmInterval {
    /// Index of the VM type in the run's list.
    pub vm: u16,
    /// How many.
    pub vms: u32,
    /// From when.
    pub from: SimTime,
    /// Until when.
    pub to: SimTime,
    /// Who ended it.
    pub ended_by: EndedBy,
}

/// Who ends the use of a VM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EndedBy {
    /// Who rents it: it is given back.
    #[default]
    User,
    /// Who rents it out: a spot VM is taken away.
    Provider,
}

/// What one run used. Parameter servers are not part of it: the measured clusters had them, their
/// number is not published, and the paper does not bill them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Usage {
    /// Worker VMs.
    pub intervals: Vec<VmInterval>,
    /// ∫ B dt: the global batch held in memory, in sample-seconds.
    pub sample_seconds: f64,
    /// What it was held for; empty where nobody asks for the parts of the bill.
    pub phases: Phases,
}

impl Usage {
    /// Becomes the usage of `workers` VMs of one type with global batch `batch` for `seconds`.
    pub fn set_single(&mut self, vm: u16, workers: u32, batch: u32, seconds: f64) {
        self.intervals.clear();
        self.intervals.push(VmInterval {
            vm,
            vms: workers,
            from: SimTime::ZERO,
            to: SimTime::from_seconds(seconds),
            ended_by: EndedBy::User,
        });
        self.sample_seconds = f64::from(batch) * seconds;
        self.phases.clear();
    }
}
