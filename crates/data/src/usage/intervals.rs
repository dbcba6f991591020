use super::phases::{Phase, Phases};
use scavsim_base::units::SimTime;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VmInterval {
    pub vm: u16,
    pub vms: u32,
    pub from: SimTime,
    pub to: SimTime,
    pub ended_by: EndedBy,
}

impl VmInterval {
    pub fn given_back((vm, vms): (u16, u32), from: SimTime, to: SimTime) -> VmInterval {
        VmInterval {
            vm,
            vms,
            from,
            to,
            ended_by: EndedBy::User,
        }
    }

    /// This interval, with what is held at `end` given back then.
    #[must_use]
    pub fn until(self, end: SimTime) -> VmInterval {
        if self.to <= end {
            self
        } else {
            VmInterval::given_back((self.vm, self.vms), self.from, end)
        }
    }

    pub fn seconds(&self) -> f64 {
        (self.to - self.from).seconds()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EndedBy {
    /// Who rents it: it is given back.
    #[default]
    User,
    /// Who rents it out: a spot VM is taken away.
    Provider,
}

/// How many VMs of these intervals their provider took away.
pub(super) fn lost_vms<'i>(intervals: impl Iterator<Item = &'i VmInterval>) -> u32 {
    let lost = intervals.filter(|interval| interval.ended_by == EndedBy::Provider);
    lost.map(|interval| interval.vms).sum()
}

/// What one run used. Parameter servers are part of it only where the scenario names their VMs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Usage {
    pub intervals: Vec<VmInterval>,
    /// ∫ B dt: the global batch held in memory, in sample-seconds.
    pub sample_seconds: f64,
    /// What it was held for; empty where nobody asks for the parts of the bill.
    pub phases: Phases,
}

impl Usage {
    pub fn copy_from(&mut self, other: &Usage) {
        self.intervals.clone_from(&other.intervals);
        self.sample_seconds = other.sample_seconds;
        self.phases.copy_from(&other.phases);
    }

    /// VMs that are held for one phase, with a global batch.
    pub fn hold(&mut self, held: VmInterval, phase: Phase, batch: u32) {
        let seconds = held.seconds();
        self.intervals.push(held);
        self.sample_seconds += f64::from(batch) * seconds;
        self.phases.add_samples(phase, batch, seconds);
        (self.phases).add_vms(phase, held.vm, held.vms, seconds);
    }

    pub fn set_whole(&mut self, held: impl Iterator<Item = (u16, u32)>, batch: u32, seconds: f64) {
        self.clear();
        let (from, to) = (SimTime::ZERO, SimTime::from_seconds(seconds));
        (self.intervals).extend(held.map(|vms| VmInterval::given_back(vms, from, to)));
        self.sample_seconds = f64::from(batch) * seconds;
    }

    pub fn clear(&mut self) {
        self.intervals.clear();
        self.sample_seconds = 0.0;
        self.phases.clear();
    }
}
