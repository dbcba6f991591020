use super::intervals::lost_vms;
use super::{Phase, Usage, VmInterval};
use scavsim_base::units::SimTime;

/// VMs of which each is noted with the whole time that it was held, and what it did then.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UsageJournal {
    /// With the phase of all that time but for work, and the global batch.
    held: Vec<(VmInterval, Phase, u32)>,
    /// What some of them did while they waited.
    work: Vec<(VmInterval, Phase)>,
}

impl UsageJournal {
    pub fn clear(&mut self) {
        self.held.clear();
        self.work.clear();
    }

    /// VMs that were held for one phase, or waited but for their work.
    pub fn hold(&mut self, interval: VmInterval, phase: Phase, batch: u32) {
        self.held.push((interval, phase, batch));
    }

    /// Some of the VMs that waited did this meanwhile.
    pub fn work(&mut self, phase: Phase, vms: (u16, u32), (from, to): (SimTime, SimTime)) {
        if to > from && vms.1 > 0 {
            (self.work).push((VmInterval::given_back(vms, from, to), phase));
        }
    }

    /// How many of them their provider took away.
    pub fn lost_vms(&self) -> u32 {
        lost_vms(self.held.iter().map(|(interval, ..)| interval))
    }

    /// Writes into `usage` what was used if all is released at `end`.
    pub fn usage_until(&self, end: SimTime, usage: &mut Usage) {
        usage.clear();
        for (interval, phase, batch) in self.held.iter().filter(|(i, ..)| i.from < end) {
            usage.hold(interval.until(end), *phase, *batch);
        }
        for (done, phase) in self.work.iter().filter(|(done, _)| done.from < end) {
            let seconds = done.until(end).seconds();
            (usage.phases).add_vms(*phase, done.vm, done.vms, seconds);
            (usage.phases).add_vms(Phase::Waiting, done.vm, done.vms, -seconds);
        }
        for (_, seconds) in &mut usage.phases.vm_seconds {
            seconds[Phase::Waiting as usize] = seconds[Phase::Waiting as usize].max(0.0);
        }
    }
}
