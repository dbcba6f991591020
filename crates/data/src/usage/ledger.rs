use super::intervals::lost_vms;
use super::{EndedBy, Phase, Phases, Usage, VmInterval};
use scavsim_base::units::SimTime;

/// Some VMs of one type, taken at one time; none, where they are all gone.
#[derive(Debug, Clone, Copy, PartialEq)]
struct HeldVms {
    vm: u16,
    vms: u32,
    from: SimTime,
}

/// Entries without VMs beyond which they are closed up, besides as many as there are with some.
const SPARE_ENTRIES: usize = 64;

/// VMs that a job holds. Of one type the last taken are given back first, so a cluster that grows keeps its machines.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    /// By the time at which they were taken.
    held: Vec<HeldVms>,
    gone: usize,
    /// VMs held by type, of the types held since there were none at all.
    counts: Vec<(u16, u32)>,
    vms: u32,
    closed: Vec<VmInterval>,
    batch: u32,
    batch_since: SimTime,
    sample_seconds: f64,
    phase: Phase,
    phase_since: SimTime,
    /// Share of the seconds of training that it takes for want of VMs.
    slowness: f64,
    /// VMs that are held but not at work yet, whatever the others do.
    starting: Vec<(u16, u32)>,
    /// All phases until `phase_since`.
    phases: Phases,
    /// The phases when work was last safe.
    safe: Phases,
    /// When the job came to its mark, and its books then: what is lost later does not change their phases.
    mark: Option<SimTime>,
    at_mark: Option<Box<Ledger>>,
}

impl Ledger {
    pub fn vms(&self) -> u32 {
        self.vms
    }

    /// How many VMs their provider took away so far.
    pub fn lost_vms(&self) -> u32 {
        lost_vms(self.closed.iter())
    }

    pub fn is_only(&self, vm: u16) -> bool {
        self.counts.iter().all(|c| c.0 == vm || c.1 == 0)
    }

    fn count(&mut self, vm: u16, change: impl Fn(u32) -> u32) {
        let place = self.counts.iter().rposition(|c| c.0 == vm);
        let place = place.unwrap_or_else(|| {
            self.counts.push((vm, 0));
            self.counts.len() - 1
        });
        let known = &mut self.counts[place].1;
        let before = *known;
        *known = change(before);
        self.vms = self.vms - before + *known;
        if self.vms == 0 {
            // A search that goes from type to type holds thousands of them, one after the other. One that was held for no
            // time keeps its place among the phases.
            let known = &self.phases.vm_seconds;
            (self.counts).retain(|c| !known.iter().rev().any(|row| row.0 == c.0));
        }
    }

    fn take_from(&mut self, place: usize, count: u32) -> u32 {
        let held = &mut self.held[place].vms;
        let taken = count.min(*held);
        *held -= taken;
        self.gone += usize::from(*held == 0);
        if self.gone > self.held.len() / 2 + SPARE_ENTRIES {
            self.held.retain(|held| held.vms > 0);
            self.gone = 0;
        }
        taken
    }

    fn place(&self, vm: u16, from: SimTime) -> Option<usize> {
        let first = self.held.partition_point(|held| held.from < from);
        let alike = self.held[first..]
            .iter()
            .take_while(|held| held.from == from);
        let place = alike.clone().position(|held| held.vm == vm && held.vms > 0);
        place.map(|place| first + place)
    }

    /// Holds `vms` VMs of type `vm` and no others, sized for `batch`, from `now` on. Returns whether new VMs were needed.
    pub fn hold(&mut self, vm: u16, vms: u32, batch: u32, now: SimTime) -> bool {
        self.resize_batch(batch, now);
        if !self.is_only(vm) {
            self.give_back_all(now);
        }
        let before = self.vms();
        if vms > before {
            self.add_vms(vm, vms - before, now);
            return true;
        }
        self.give_back(vm, before - vms, now);
        false
    }

    pub fn resize_batch(&mut self, batch: u32, now: SimTime) {
        self.enter(self.phase, now);
        self.sample_seconds += f64::from(self.batch) * (now - self.batch_since).seconds();
        (self.batch, self.batch_since) = (batch, now);
    }

    pub fn add_vms(&mut self, vm: u16, vms: u32, now: SimTime) {
        self.enter(self.phase, now);
        if vms > 0 {
            self.held.push(HeldVms { vm, vms, from: now });
            self.count(vm, |held| held + vms);
        }
    }

    pub fn phase(&self) -> Phase {
        self.phase
    }

    pub fn end(&mut self, vm: u16, from: SimTime, end: SimTime, ended_by: EndedBy) {
        let Some(index) = self.place(vm, from) else {
            return;
        };
        self.enter(self.phase, end.max(self.phase_since));
        self.count(vm, |held| held.saturating_sub(1));
        let held = VmInterval::given_back((vm, 1), from, end.max(from));
        self.closed.push(VmInterval { ended_by, ..held });
        self.take_from(index, 1);
    }

    pub fn enter(&mut self, phase: Phase, now: SimTime) {
        if now == self.phase_since {
            self.phase = phase;
            return;
        }
        let mut phases = std::mem::take(&mut self.phases);
        self.add_phase(&mut phases, now);
        self.phases = phases;
        (self.phase, self.phase_since) = (phase, now);
    }

    /// Adds the time from the last entry until `now` to the phases before it; VMs that start wait meanwhile.
    fn add_phase(&self, phases: &mut Phases, now: SimTime) {
        let (phase, seconds) = (self.phase, (now - self.phase_since).seconds());
        if seconds == 0.0 {
            return;
        }
        phases.add_samples(phase, self.batch, seconds);
        if phase == Phase::Training {
            phases.slow_seconds += self.slowness * f64::from(self.batch) * seconds;
        }
        for &(vm, vms) in &self.counts {
            let mut waiting = 0;
            if phase != Phase::Waiting {
                let own = self.starting.iter().find(|s| s.0 == vm);
                waiting = own.map_or(0, |s| s.1.min(vms));
                phases.add_vms(Phase::Waiting, vm, waiting, seconds);
            }
            phases.add_vms(phase, vm, vms - waiting, seconds);
        }
    }

    /// From `now` on training takes longer for want of VMs: `share` of its seconds (0 to 1) are lost.
    pub fn set_slowness(&mut self, share: f64, now: SimTime) {
        self.enter(self.phase, now);
        self.slowness = share;
    }

    pub fn set_starting(&mut self, starting: impl Iterator<Item = u16>, now: SimTime) {
        self.enter(self.phase, now);
        self.starting.clear();
        for vm in starting {
            match self.starting.iter_mut().find(|s| s.0 == vm) {
                Some(known) => known.1 += 1,
                None => self.starting.push((vm, 1)),
            }
        }
    }

    pub fn work_is_safe(&mut self, now: SimTime) {
        self.enter(self.phase, now);
        self.safe.copy_from(&self.phases);
    }

    /// The phases so far, for [`Ledger::work_was_safe`].
    pub fn books(&mut self, now: SimTime) -> Phases {
        self.enter(self.phase, now);
        self.phases.clone()
    }

    /// Work until the books were taken is safe.
    pub fn work_was_safe(&mut self, books: Phases) {
        self.safe = books;
    }

    /// Work of the phase `from` since it was last safe was for nothing.
    pub fn lose_unsafe_work(&mut self, from: Phase, now: SimTime) {
        self.enter(self.phase, now);
        self.phases.relabel_since(&self.safe, (from, Phase::Lost));
        self.safe.copy_from(&self.phases);
    }

    pub fn keep_mark(&mut self, now: SimTime) {
        let mut books = self.at_mark.take().unwrap_or_default();
        books.copy_from(self);
        (self.mark, self.at_mark) = (Some(now), Some(books));
    }

    pub fn forget_mark(&mut self) {
        self.mark = None;
    }

    pub fn give_back_all(&mut self, now: SimTime) {
        while let Some(&HeldVms { vm, vms, .. }) = self.held.last() {
            if vms == 0 {
                self.held.pop();
                self.gone -= 1;
            } else {
                self.give_back(vm, vms, now);
            }
        }
    }

    /// Gives back `count` VMs of the type `vm`, the newest first.
    pub fn give_back(&mut self, vm: u16, mut count: u32, now: SimTime) {
        self.enter(self.phase, now);
        while count > 0 {
            let Some(index) = self.held.iter().rposition(|h| h.vm == vm && h.vms > 0) else {
                return;
            };
            let from = self.held[index].from;
            let returned = self.take_from(index, count);
            (self.closed).push(VmInterval::given_back((vm, returned), from, now));
            self.count(vm, |held| held.saturating_sub(returned));
            count -= returned;
        }
    }

    /// Writes into `usage` what was used if all is released at `end`. The ledger goes on; its phases are those of now.
    pub fn usage_until(&self, end: SimTime, usage: &mut Usage) {
        if let Some(books) = self.at_mark.as_ref().filter(|_| self.mark == Some(end)) {
            return books.usage_until(end, usage);
        }
        usage.intervals.clear();
        let closed = self.closed.iter().filter(|i| i.from <= end);
        (usage.intervals).extend(closed.map(|interval| interval.until(end)));
        let held = (self.held.iter()).filter(|h| h.vms > 0 && h.from <= end);
        let held = held.map(|h| VmInterval::given_back((h.vm, h.vms), h.from, end));
        usage.intervals.extend(held);
        usage.sample_seconds =
            self.sample_seconds + f64::from(self.batch) * (end - self.batch_since).seconds();
        usage.phases.copy_from(&self.phases);
        self.add_phase(&mut usage.phases, end.max(self.phase_since));
    }

    pub fn copy_from(&mut self, other: &Ledger) {
        self.held.clone_from(&other.held);
        (self.gone, self.vms) = (other.gone, other.vms);
        self.counts.clone_from(&other.counts);
        self.closed.clone_from(&other.closed);
        (self.batch, self.batch_since) = (other.batch, other.batch_since);
        self.sample_seconds = other.sample_seconds;
        (self.phase, self.phase_since) = (other.phase, other.phase_since);
        self.slowness = other.slowness;
        self.starting.clone_from(&other.starting);
        self.phases.copy_from(&other.phases);
        self.safe.copy_from(&other.safe);
        self.forget_mark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn time_at(seconds: f64) -> SimTime {
        SimTime::from_seconds(seconds)
    }

    fn usage_until(ledger: &Ledger, seconds: f64) -> Usage {
        let mut usage = Usage::default();
        ledger.usage_until(time_at(seconds), &mut usage);
        usage
    }

    /// A ledger of so many VMs with samples of ten each that train from the beginning.
    fn training(vms: u32) -> Ledger {
        let mut ledger = Ledger::default();
        ledger.hold(0, vms, 10, time_at(0.0));
        ledger.enter(Phase::Training, time_at(0.0));
        ledger
    }

    /// VM-seconds of the first type in a phase.
    fn vm_seconds(usage: &Usage, phase: Phase) -> f64 {
        usage.phases.vm_seconds[0].1[phase as usize]
    }

    #[test]
    fn growing_keeps_machines_and_shrinking_gives_back_the_newest() {
        let mut ledger = Ledger::default();
        assert!(ledger.hold(0, 8, 100, time_at(0.0)));
        assert!(ledger.hold(0, 12, 100, time_at(10.0)));
        assert!(!ledger.hold(0, 10, 200, time_at(20.0)));
        let usage = usage_until(&ledger, 30.0);
        let seconds = |i: &VmInterval| (i.vms, i.from.seconds(), i.to.seconds());
        let held: Vec<_> = usage.intervals.iter().map(seconds).collect();
        assert_eq!(held, [(2, 10.0, 20.0), (8, 0.0, 30.0), (2, 10.0, 30.0)]);
        assert_eq!(usage.sample_seconds, 100.0 * 20.0 + 200.0 * 10.0);
    }

    #[test]
    fn as_many_vms_as_before_are_no_new_ones() {
        let mut ledger = Ledger::default();
        assert!(ledger.hold(0, 8, 100, time_at(0.0)));
        assert!(!ledger.hold(0, 8, 200, time_at(10.0)));
        assert!(!ledger.hold(0, 8, 200, time_at(10.0)));
        assert_eq!(ledger.vms(), 8);
    }

    #[test]
    fn a_vm_that_is_taken_away_at_the_end_was_taken_away_and_behind_it_was_given_back() {
        let mut ledger = Ledger::default();
        ledger.add_vms(0, 2, time_at(0.0));
        ledger.end(0, time_at(0.0), time_at(10.0), EndedBy::Provider);
        let mut usage = Usage::default();
        for (end, ended_by) in [
            (10.0, EndedBy::Provider),
            (12.0, EndedBy::Provider),
            (9.5, EndedBy::User),
        ] {
            ledger.usage_until(time_at(end), &mut usage);
            let [taken, kept] = usage.intervals[..] else {
                panic!("{usage:?}");
            };
            assert_eq!(taken.to, time_at(end.min(10.0)));
            assert_eq!(taken.ended_by, ended_by);
            assert_eq!((kept.to, kept.ended_by), (time_at(end), EndedBy::User));
        }
    }

    /// It was asked for: a bill may have a least time.
    #[test]
    fn a_vm_that_is_taken_at_the_very_end_is_on_the_bill_and_a_later_one_is_not() {
        let mut ledger = Ledger::default();
        ledger.add_vms(0, 1, time_at(0.0));
        ledger.add_vms(0, 4, time_at(10.0));
        ledger.add_vms(0, 5, time_at(11.0));
        ledger.give_back(0, 5, time_at(12.0));
        let usage = usage_until(&ledger, 10.0);
        let vms: Vec<u32> = usage.intervals.iter().map(|i| i.vms).collect();
        assert_eq!(vms, [1, 4]);
        assert_eq!(usage.intervals[1].from, usage.intervals[1].to);
    }

    #[test]
    fn work_is_lost_once_and_only_what_was_not_safe() {
        let mut ledger = training(1);
        ledger.work_is_safe(time_at(4.0));
        ledger.enter(Phase::Searching, time_at(7.0));
        // 5 s of a probe are lost; the 3 s of training before it are not, then or later.
        ledger.lose_unsafe_work(Phase::Searching, time_at(12.0));
        ledger.lose_unsafe_work(Phase::Searching, time_at(12.0));
        ledger.lose_unsafe_work(Phase::Training, time_at(12.0));
        ledger.enter(Phase::Training, time_at(12.0));
        ledger.lose_unsafe_work(Phase::Training, time_at(14.0));
        let usage = usage_until(&ledger, 14.0);
        assert_eq!(vm_seconds(&usage, Phase::Training), 7.0);
        assert_eq!(vm_seconds(&usage, Phase::Searching), 0.0);
        assert_eq!(vm_seconds(&usage, Phase::Lost), 5.0 + 2.0);
        assert_eq!(usage.phases.sample_seconds[Phase::Lost as usize], 70.0);
    }

    #[test]
    fn slow_seconds_are_those_of_training_that_is_kept() {
        let mut ledger = training(2);
        ledger.set_slowness(0.25, time_at(3.0));
        ledger.enter(Phase::Restoring, time_at(7.0));
        ledger.enter(Phase::Training, time_at(8.0));
        ledger.work_is_safe(time_at(9.0));
        ledger.lose_unsafe_work(Phase::Training, time_at(12.0));
        ledger.set_slowness(0.5, time_at(12.0));
        let usage = usage_until(&ledger, 13.0);
        let slow = 10.0 * (0.25 * (4.0 + 1.0) + 0.5);
        assert_eq!(usage.phases.slow_seconds, slow);
        assert_eq!(usage.phases.sample_seconds[Phase::Training as usize], 90.0);
    }

    #[test]
    fn vms_that_start_wait_while_the_others_work() {
        let mut ledger = training(3);
        ledger.set_starting([0, 0].into_iter(), time_at(10.0));
        // One of the two that start is left, and one of those at work is gone.
        ledger.give_back(0, 2, time_at(12.0));
        let usage = usage_until(&ledger, 13.0);
        assert_eq!(vm_seconds(&usage, Phase::Training), 3.0 * 10.0 + 2.0);
        assert_eq!(vm_seconds(&usage, Phase::Waiting), 2.0 * 2.0 + 1.0);
    }

    /// A loss can be told late, or of a VM that never ran: no second counts twice, and none is negative.
    #[test]
    fn a_loss_in_the_past_counts_no_second_twice() {
        let mut ledger = Ledger::default();
        ledger.add_vms(0, 2, time_at(0.0));
        ledger.enter(Phase::Training, time_at(10.0));
        ledger.end(0, time_at(0.0), time_at(8.0), EndedBy::Provider);
        ledger.add_vms(0, 1, time_at(12.0));
        ledger.end(0, time_at(12.0), time_at(11.0), EndedBy::Provider);
        let usage = usage_until(&ledger, 14.0);
        let phases: f64 = usage.phases.vm_seconds[0].1.iter().sum();
        assert_eq!(phases, 2.0 * 10.0 + 4.0);
        let of_lost = &usage.intervals[1];
        assert_eq!((of_lost.from, of_lost.to), (time_at(12.0), time_at(12.0)));
    }

    #[test]
    fn a_copy_is_the_same_in_everything_and_a_reset_leaves_nothing() {
        let mut ledger = Ledger::default();
        ledger.hold(0, 3, 64, time_at(1.0));
        ledger.enter(Phase::Training, time_at(2.0));
        ledger.work_is_safe(time_at(3.0));
        ledger.set_starting([0].into_iter(), time_at(4.0));
        ledger.set_slowness(0.25, time_at(4.5));
        ledger.give_back(0, 1, time_at(5.0));
        ledger.resize_batch(128, time_at(6.0));
        let shown = |ledger: &Ledger| format!("{ledger:?}");
        let mut copy = Ledger::default();
        copy.hold(1, 7, 3, time_at(9.0));
        copy.copy_from(&ledger);
        assert_eq!(shown(&copy), shown(&ledger));
        copy.copy_from(&Ledger::default());
        assert_eq!(shown(&copy), shown(&Ledger::default()));
    }

    #[test]
    fn types_that_are_no_longer_held_are_forgotten_but_not_their_order() {
        let mut ledger = Ledger::default();
        ledger.add_vms(2, 1, time_at(0.0));
        ledger.end(2, time_at(0.0), time_at(0.0), EndedBy::User);
        ledger.add_vms(0, 1, time_at(0.0));
        ledger.add_vms(2, 1, time_at(0.0));
        let mut usage = Usage::default();
        ledger.usage_until(time_at(5.0), &mut usage);
        let types: Vec<u16> = usage.phases.vm_seconds.iter().map(|row| row.0).collect();
        assert_eq!(types, [2, 0]);
        for vm in 0..1000 {
            ledger.hold(vm, 3, 1, time_at(6.0 + f64::from(vm)));
        }
        assert_eq!((ledger.counts.len(), ledger.vms()), (1, 3));
        ledger.usage_until(time_at(2000.0), &mut usage);
        assert_eq!(usage.phases.vm_seconds.len(), 1000);
    }

    #[test]
    fn another_vm_type_replaces_all_machines() {
        let mut ledger = Ledger::default();
        ledger.hold(0, 4, 1, time_at(0.0));
        assert!(ledger.hold(1, 4, 1, time_at(5.0)));
        let usage = usage_until(&ledger, 9.0);
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
                ledger.hold(vm, size, 1, time_at(i as f64));
                ledger.enter(Phase::Searching, time_at(i as f64 + 0.25));
                expected += f64::from(size);
            }
            let usage = usage_until(&ledger, sizes.len() as f64);
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
