//! Which VMs are held, from when to when, and what for.

use crate::pricing::{EndedBy, Phase, Phases, Usage, VmInterval};
use crate::units::SimTime;

/// VMs that a job holds. They are added and given back last in, first out, so that a cluster that
/// grows keeps its machines.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    vm: u16,
    held: Vec<(u32, SimTime)>,
    closed: Vec<VmInterval>,
    batch: u32,
    batch_since: SimTime,
    sample_seconds: f64,
    phase: Phase,
    phase_since: SimTime,
    /// All phases until `phase_since`.
    phases: Phases,
}

impl Ledger {
    /// Number of VMs held now.
    pub fn vms(&self) -> u32 {
        self.held.iter().map(|h| h.0).sum()
    }

    /// Holds `vms` VMs of type `vm`, sized for `batch`, from `now` on. Returns whether new VMs
    /// were needed.
    pub fn hold(&mut self, vm: u16, vms: u32, batch: u32, now: SimTime) -> bool {
        self.enter(self.phase, now);
        self.sample_seconds += f64::from(self.batch) * (now - self.batch_since).seconds();
        (self.batch, self.batch_since) = (batch, now);
        if vm != self.vm {
            self.give_back(u32::MAX, now);
            self.vm = vm;
        }
        let before = self.vms();
        if vms > before {
            self.held.push((vms - before, now));
            return true;
        }
        self.give_back(before - vms, now);
        false
    }

    /// Index of the VM type held.
    pub fn vm(&self) -> u16 {
        self.vm
    }

    /// What it is held for.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// `seconds` that were counted as `from` were `to`, with all VMs held.
    pub fn relabel(&mut self, from: Phase, to: Phase, seconds: f64) {
        let vms = self.vms();
        (self.phases).relabel((from, to), self.vm, vms, self.batch, seconds);
    }

    /// The provider took away the VM at `place`, counted from the oldest, at `end`.
    pub fn lose(&mut self, place: usize, end: SimTime) {
        let mut before = 0;
        for index in 0..self.held.len() {
            let (vms, from) = self.held[index];
            before += vms as usize;
            if place >= before {
                continue;
            }
            self.closed.push(VmInterval {
                vm: self.vm,
                vms: 1,
                from,
                to: end.max(from),
                ended_by: EndedBy::Provider,
            });
            match vms {
                1 => drop(self.held.remove(index)),
                _ => self.held[index].0 = vms - 1,
            }
            return;
        }
    }

    /// Holds `vms` VMs again after losses, the new ones from `now` on.
    pub fn hold_again(&mut self, vms: u32, now: SimTime) {
        self.enter(self.phase, now);
        let missing = vms.saturating_sub(self.vms());
        if missing > 0 {
            self.held.push((missing, now));
        }
    }

    /// What is held serves `phase` from `now` on.
    pub fn enter(&mut self, phase: Phase, now: SimTime) {
        let seconds = (now - self.phase_since).seconds();
        let vms = self.vms();
        (self.phases).add(self.phase, self.vm, vms, self.batch, seconds);
        (self.phase, self.phase_since) = (phase, now);
    }

    fn give_back(&mut self, mut count: u32, now: SimTime) {
        while count > 0 {
            let Some((vms, from)) = self.held.pop() else {
                return;
            };
            let returned = vms.min(count);
            self.closed.push(VmInterval {
                vm: self.vm,
                vms: returned,
                from,
                to: now,
                ended_by: EndedBy::User,
            });
            if returned < vms {
                self.held.push((vms - returned, from));
            }
            count -= returned;
        }
    }

    /// Writes into `usage` what was used when everything is released at `end`. The ledger itself
    /// goes on, so one run can be billed at several ends; its phases are those of now, whatever the end.
    pub fn usage_until(&self, end: SimTime, usage: &mut Usage) {
        usage.intervals.clear();
        let until_end = |interval: &VmInterval| VmInterval {
            to: interval.to.min(end),
            // Whoever releases everything before the provider comes has ended it himself.
            ended_by: match interval.to <= end {
                true => interval.ended_by,
                false => EndedBy::User,
            },
            ..*interval
        };
        let begun = |from: SimTime| from <= end;
        usage.intervals.extend(
            (self.closed.iter())
                .filter(|i| begun(i.from))
                .map(until_end),
        );
        let held = self.held.iter().filter(|(_, from)| begun(*from));
        usage.intervals.extend(held.map(|&(vms, from)| VmInterval {
            vm: self.vm,
            vms,
            from,
            to: end,
            ended_by: EndedBy::User,
        }));
        usage.sample_seconds =
            self.sample_seconds + f64::from(self.batch) * (end - self.batch_since).seconds();
        usage.phases.copy_from(&self.phases);
        let seconds = (end.max(self.phase_since) - self.phase_since).seconds();
        let vms = self.vms();
        (usage.phases).add(self.phase, self.vm, vms, self.batch, seconds);
    }

    /// Becomes the same as `other`, keeping the memory.
    pub fn copy_from(&mut self, other: &Ledger) {
        self.held.clone_from(&other.held);
        self.closed.clone_from(&other.closed);
        (self.vm, self.batch, self.batch_since) = (other.vm, other.batch, other.batch_since);
        self.sample_seconds = other.sample_seconds;
        (self.phase, self.phase_since) = (other.phase, other.phase_since);
        self.phases.copy_from(&other.phases);
    }

    /// Empty again, keeping the memory.
    pub fn reset(&mut self) {
        self.held.clear();
        self.closed.clear();
        (self.vm, self.batch, self.batch_since) = (0, 0, SimTime::ZERO);
        self.sample_seconds = 0.0;
        (self.phase, self.phase_since) = (Phase::default(), SimTime::ZERO);
        self.phases.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(seconds: f64) -> SimTime {
        SimTime::from_seconds(seconds)
    }

    #[test]
    fn growing_keeps_machines_and_shrinking_gives_back_the_newest() {
        let mut ledger = Ledger::default();
        assert!(ledger.hold(0, 8, 100, at(0.0)));
        assert!(ledger.hold(0, 12, 100, at(10.0)));
        assert!(!ledger.hold(0, 10, 200, at(20.0)));
        let mut usage = Usage::default();
        ledger.usage_until(at(30.0), &mut usage);
        let seconds = |i: &VmInterval| (i.vms, i.from.seconds(), i.to.seconds());
        let held: Vec<_> = usage.intervals.iter().map(seconds).collect();
        assert_eq!(held, [(2, 10.0, 20.0), (8, 0.0, 30.0), (2, 10.0, 30.0)]);
        assert_eq!(usage.sample_seconds, 100.0 * 20.0 + 200.0 * 10.0);
    }

    #[test]
    fn another_vm_type_replaces_all_machines() {
        let mut ledger = Ledger::default();
        ledger.hold(0, 4, 1, at(0.0));
        assert!(ledger.hold(1, 4, 1, at(5.0)));
        let mut usage = Usage::default();
        ledger.usage_until(at(9.0), &mut usage);
        assert_eq!(usage.intervals.len(), 2);
        assert_eq!((usage.intervals[0].vm, usage.intervals[1].vm), (0, 1));
    }

    proptest! {
        /// Every VM-second held is in the usage exactly once, and in one phase.
        #[test]
        fn vm_seconds_are_conserved(sizes in prop::collection::vec(0u32..20, 1..20)) {
            let mut ledger = Ledger::default();
            let mut expected = 0.0;
            for (i, &size) in sizes.iter().enumerate() {
                let vm = u16::from(size > 12);
                ledger.hold(vm, size, 1, at(i as f64));
                ledger.enter(Phase::Searching, at(i as f64 + 0.25));
                expected += f64::from(size);
            }
            let mut usage = Usage::default();
            ledger.usage_until(at(sizes.len() as f64), &mut usage);
            let billed: f64 = usage.intervals.iter()
                .map(|i| f64::from(i.vms) * (i.to - i.from).seconds()).sum();
            prop_assert!((billed - expected).abs() < 1e-9);
            let phases: f64 = usage.phases.vm_seconds.iter().flat_map(|row| row.1).sum();
            prop_assert!((phases - expected).abs() < 1e-9);
            let samples: f64 = usage.phases.sample_seconds.iter().sum();
            prop_assert!((samples - usage.sample_seconds).abs() < 1e-9);
        }
    }
}
