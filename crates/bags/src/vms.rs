use scavsim_base::units::SimTime;
use scavsim_data::usage::{EndedBy, Phase, Usage, VmInterval};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct BagVmUsage {
    pub intervals: Vec<VmInterval>,
    /// What some of them did meanwhile; the rest of the time they waited.
    pub work: Vec<(Phase, VmInterval)>,
}

impl BagVmUsage {
    pub fn clear(&mut self) {
        self.intervals.clear();
        self.work.clear();
    }

    /// VMs of a type from one moment to another, for `phase` alone.
    pub fn hold(&mut self, phase: Phase, (vm, vms): (u16, u32), from: SimTime, to: SimTime) {
        let held = VmInterval::given_back((vm, vms), from, to.max(from));
        self.intervals.push(held);
        self.did(phase, (vm, vms), (from, to));
    }

    pub fn did(&mut self, phase: Phase, vms: (u16, u32), (from, to): (SimTime, SimTime)) {
        if to > from && vms.1 > 0 {
            let done = VmInterval::given_back(vms, from, to);
            self.work.push((phase, done));
        }
    }

    pub fn lost_until(&self, end: SimTime) -> u32 {
        let taken = |i: &&VmInterval| i.ended_by == EndedBy::Provider && i.to <= end;
        self.intervals.iter().filter(taken).count() as u32
    }

    pub fn usage_until(&self, end: SimTime, usage: &mut Usage) {
        usage.clear();
        for interval in self.intervals.iter().filter(|i| i.from < end) {
            let held = interval.until(end);
            usage.intervals.push(held);
            (usage.phases).add_vms(Phase::Waiting, held.vm, held.vms, held.seconds());
        }
        for (phase, done) in self.work.iter().filter(|(_, done)| done.from < end) {
            let VmInterval { vm, vms, .. } = *done;
            let seconds = done.until(end).seconds();
            usage.phases.add_vms(*phase, vm, vms, seconds);
            // It did not wait meanwhile.
            (usage.phases).add_vms(Phase::Waiting, vm, vms, -seconds);
        }
        for (_, seconds) in &mut usage.phases.vm_seconds {
            seconds[Phase::Waiting as usize] = seconds[Phase::Waiting as usize].max(0.0);
        }
    }
}
