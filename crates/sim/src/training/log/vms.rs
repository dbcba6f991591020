use super::entry::{Entry, LogEvent, Track};
use scavsim_base::units::SimTime;
use scavsim_data::usage::EndedBy;

#[derive(Debug, Clone, Copy)]
struct ShownVm {
    number: u32,
    vm: u16,
    requested: SimTime,
    ready: SimTime,
}

/// VMs in the order of the job's ledger.
#[derive(Debug, Clone, Default)]
pub(super) struct LedgerVms {
    held: Vec<ShownVm>,
    requested: u32,
    /// Changes of their number, and when.
    changes: Vec<(SimTime, i32)>,
}

impl LedgerVms {
    /// `vms` of type `vm` are held from `now` on, the newest given back first; new ones run from `ready` on.
    pub(super) fn hold(
        &mut self,
        vm: u16,
        vms: u32,
        now: SimTime,
        ready: SimTime,
        into: &mut Vec<Entry>,
    ) {
        let same = self.held.iter().all(|held| held.vm == vm);
        let keep = if same { vms as usize } else { 0 };
        while self.held.len() > keep
            && let Some(vm) = self.held.pop()
        {
            self.close(vm, now, EndedBy::User, into);
        }
        while self.held.len() < vms as usize {
            let number = self.requested;
            self.requested += 1;
            self.request((number, vm), now, ready, into);
        }
    }

    pub(super) fn request(
        &mut self,
        (number, vm): (u32, u16),
        now: SimTime,
        ready: SimTime,
        into: &mut Vec<Entry>,
    ) {
        self.held.push(ShownVm {
            number,
            vm,
            requested: now,
            ready,
        });
        self.changes.push((now, 1));
        into.push(Entry::instant(
            now,
            Track::Vm(number),
            LogEvent::Requested(vm),
        ));
    }

    pub(super) fn gone(
        &mut self,
        number: u32,
        end: SimTime,
        ended_by: EndedBy,
        into: &mut Vec<Entry>,
    ) {
        if let Some(place) = self.held.iter().position(|vm| vm.number == number) {
            let vm = self.held.remove(place);
            self.close(vm, end, ended_by, into);
        }
    }

    pub(super) fn give_back_all(&mut self, now: SimTime, into: &mut Vec<Entry>) {
        while let Some(vm) = self.held.pop() {
            self.close(vm, now, EndedBy::User, into);
        }
    }

    /// All are given back; how many were held from when on.
    pub(super) fn end(&mut self, now: SimTime, into: &mut Vec<Entry>) {
        self.give_back_all(now, into);
        for change in &mut self.changes {
            // What came after the end changes nothing.
            change.0 = change.0.min(now);
        }
        self.changes.sort_unstable_by_key(|change| change.0);
        let mut held = 0;
        let mut changes = self.changes.drain(..).peekable();
        while let Some((at, change)) = changes.next() {
            held += change;
            // The last of a time says how it is from then on.
            if changes.peek().is_some_and(|next| next.0 == at) {
                continue;
            }
            let vms = LogEvent::Vms(held.max(0) as u32);
            into.push(Entry::instant(at, Track::Job, vms));
        }
    }

    fn close(&mut self, vm: ShownVm, end: SimTime, ended_by: EndedBy, into: &mut Vec<Entry>) {
        let end = end.max(vm.requested);
        let ready = vm.ready.min(end);
        if ready > vm.requested {
            let (span, what) = ((vm.requested, ready), LogEvent::Starting(vm.vm));
            into.push(Entry::span(span, Track::Vm(vm.number), what));
        }
        into.extend(Entry::of_gone(
            (Track::Vm(vm.number), vm.vm),
            (ready, end),
            ended_by,
        ));
        self.changes.push((end, -1));
    }
}
