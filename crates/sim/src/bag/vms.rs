//! The VMs that a bag holds, and what they were held for.

use crate::provider::Vm;
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

    /// A VM is given back at `at`, unless it was lost before.
    pub fn release(&mut self, vm: &Vm, at: SimTime) {
        let is_lost = vm.lost <= at;
        self.hold(vm.vm, 1, vm.asked, vm.lost.min(at));
        if let (true, Some(last)) = (is_lost, self.intervals.last_mut()) {
            last.ended_by = EndedBy::Provider;
        }
    }

    /// VMs of the type `of` from one moment to another.
    pub fn hold(&mut self, of: u16, vms: u32, from: SimTime, to: SimTime) {
        self.intervals.push(VmInterval {
            vm: of,
            vms,
            from,
            to: to.max(from),
            ended_by: EndedBy::User,
        });
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
        usage.intervals.clear();
        usage.phases.clear();
        usage.sample_seconds = 0.0;
        for interval in self.intervals.iter().filter(|i| i.from < end) {
            let to = interval.to.min(end);
            let ended_by = if to < interval.to {
                EndedBy::User
            } else {
                interval.ended_by
            };
            let seconds = (to - interval.from).seconds();
            usage.intervals.push(VmInterval {
                to,
                ended_by,
                ..*interval
            });
            (usage.phases).add_vms(Phase::Waiting, interval.vm, interval.vms, seconds);
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
