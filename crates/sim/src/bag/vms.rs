//! The VMs that a bag holds, and what they were held for.

use scavsim_base::units::SimTime;
use scavsim_data::usage::{EndedBy, Phase, Usage, VmInterval};

/// VMs that did something from one moment to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// What.
    pub phase: Phase,
    /// Index of their type.
    pub vm: u16,
    /// How many.
    pub vms: u32,
    /// From when.
    pub from: SimTime,
    /// Until when.
    pub to: SimTime,
}

/// What was held, and what for; what is in no segment waited.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Held {
    /// VMs.
    pub intervals: Vec<VmInterval>,
    /// What they did.
    pub segments: Vec<Segment>,
}

impl Held {
    /// Nothing, keeping the memory.
    pub fn clear(&mut self) {
        self.intervals.clear();
        self.segments.clear();
    }

    /// VMs of a type from one moment to another, for `phase` alone.
    pub fn hold(&mut self, phase: Phase, (vm, vms): (u16, u32), from: SimTime, to: SimTime) {
        let held = VmInterval::given_back((vm, vms), from, to.max(from));
        self.intervals.push(held);
        self.did(phase, vm, vms, (from, to));
    }

    /// VMs of the type `of` did something.
    pub fn did(&mut self, phase: Phase, of: u16, vms: u32, (from, to): (SimTime, SimTime)) {
        if to > from && vms > 0 {
            self.segments.push(Segment {
                phase,
                vm: of,
                vms,
                from,
                to,
            });
        }
    }

    /// VMs that the provider took until `end`.
    pub fn lost_until(&self, end: SimTime) -> u32 {
        let taken = |i: &&VmInterval| i.ended_by == EndedBy::Provider && i.to <= end;
        self.intervals.iter().filter(taken).count() as u32
    }

    /// `usage` becomes what was held until `end`.
    pub fn usage_until(&self, end: SimTime, usage: &mut Usage) {
        usage.clear();
        for interval in self.intervals.iter().filter(|i| i.from < end) {
            let held = interval.until(end);
            usage.intervals.push(held);
            (usage.phases).add_vms(Phase::Waiting, held.vm, held.vms, held.seconds());
        }
        for segment in self.segments.iter().filter(|s| s.from < end) {
            let seconds = (segment.to.min(end) - segment.from).seconds();
            (usage.phases).add_vms(segment.phase, segment.vm, segment.vms, seconds);
            // It did not wait meanwhile.
            (usage.phases).add_vms(Phase::Waiting, segment.vm, segment.vms, -seconds);
        }
        for (_, seconds) in &mut usage.phases.vm_seconds {
            seconds[Phase::Waiting as usize] = seconds[Phase::Waiting as usize].max(0.0);
        }
    }
}
