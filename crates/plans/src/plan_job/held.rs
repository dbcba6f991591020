//! The VMs that a job holds, in the order of requests, with what is asked of all of them again and again.

use scavsim_base::units::SimTime;
use scavsim_sim::provider::Vm;

#[derive(Debug, Clone, Copy)]
pub(super) struct HeldVm {
    pub(super) vm: Vm,
    /// The node of the plan that it is; none where it idles.
    pub(super) node: Option<u32>,
    pub(super) gpus: u32,
    pub(super) failures_h: f64,
}

#[derive(Debug, Clone)]
pub(super) struct HeldVms {
    all: Vec<HeldVm>,
    /// The first moment at which one is lost, as far as that is known.
    pub(super) first_lost: SimTime,
    pub(super) last_runs: SimTime,
    pub(super) failures_h: f64,
    are_alike: bool,
    /// Places of those that a failure has hit.
    struck: Vec<usize>,
}

impl Default for HeldVms {
    fn default() -> HeldVms {
        HeldVms {
            all: Vec::new(),
            first_lost: SimTime::LAST,
            last_runs: SimTime::ZERO,
            failures_h: 0.0,
            are_alike: true,
            struck: Vec::new(),
        }
    }
}

impl HeldVms {
    pub(super) fn all(&self) -> &[HeldVm] {
        &self.all
    }

    /// VMs of a type.
    pub(super) fn count(&self, vm: u16) -> u32 {
        self.all.iter().filter(|held| held.vm.vm == vm).count() as u32
    }

    /// GPUs of those that run by a moment.
    pub(super) fn gpus(&self, by: SimTime) -> u32 {
        let running = self.all.iter().filter(|held| held.vm.runs <= by);
        running.map(|held| held.gpus).sum()
    }

    /// When the next of those that do not run yet does.
    pub(super) fn next_runs(&self, now: SimTime) -> SimTime {
        if self.last_runs <= now {
            return SimTime::LAST;
        }
        let coming = self
            .all
            .iter()
            .map(|held| held.vm.runs)
            .filter(|runs| *runs > now);
        coming.min().unwrap_or(SimTime::LAST)
    }

    pub(super) fn push(&mut self, held: HeldVm) {
        self.are_alike &= (self.all.first()).is_none_or(|one| one.failures_h == held.failures_h);
        self.all.push(held);
        self.include(held);
    }

    /// Forgets what is known of all.
    fn forget(&mut self) {
        self.failures_h = 0.0;
        (self.first_lost, self.last_runs) = (SimTime::LAST, SimTime::ZERO);
    }

    #[inline]
    fn include(&mut self, held: HeldVm) {
        self.first_lost = self.first_lost.min(held.vm.lost);
        self.last_runs = self.last_runs.max(held.vm.runs);
        self.failures_h += held.failures_h;
    }

    /// The one at which failures per hour add up to so many; where all fail as often, without a look at them.
    pub(super) fn place_at(&self, failures_h: f64) -> Option<usize> {
        let last = self.all.len().checked_sub(1)?;
        let each = self.failures_h / self.all.len() as f64;
        let near = ((failures_h / each) as usize).min(last);
        if self.are_alike {
            return Some(near);
        }
        let mut left = failures_h;
        let hit = self.all.iter().position(|held| {
            left -= held.failures_h;
            left < 0.0
        });
        Some(hit.unwrap_or(last))
    }

    /// VMs at some places, as far as there are any that run, are lost now.
    pub(super) fn strike(&mut self, places: std::ops::Range<usize>, now: SimTime) {
        let end = places.end.min(self.all.len());
        for place in places.start.min(end)..end {
            if self.all[place].vm.runs <= now {
                self.all[place].vm.lost = now;
                self.struck.push(place);
            }
        }
    }

    /// Takes out those that were struck; the last take their places.
    pub(super) fn take_struck(&mut self) -> Vec<HeldVm> {
        let places = std::mem::take(&mut self.struck);
        let gone: Vec<HeldVm> = (places.into_iter().rev())
            .map(|place| self.all.swap_remove(place))
            .collect();
        for held in &gone {
            self.failures_h -= held.failures_h;
        }
        if self.first_lost < SimTime::LAST && !gone.is_empty() {
            let lost = self.all.iter().map(|held| held.vm.lost).min();
            self.first_lost = lost.unwrap_or(SimTime::LAST);
        }
        gone
    }

    pub(super) fn change(&mut self, change: impl FnOnce(&mut Vec<HeldVm>)) {
        change(&mut self.all);
        self.forget();
        for place in 0..self.all.len() {
            self.include(self.all[place]);
        }
    }

    /// Takes out those that are lost by a moment, the newest first.
    pub(super) fn take_lost(&mut self, now: SimTime) -> Vec<HeldVm> {
        if self.first_lost > now {
            return Vec::new();
        }
        let (mut taken, mut kept) = (Vec::new(), 0);
        self.forget();
        for place in 0..self.all.len() {
            let held = self.all[place];
            if held.vm.lost <= now {
                taken.push(held);
            } else {
                self.all[kept] = held;
                kept += 1;
                self.include(held);
            }
        }
        self.all.truncate(kept);
        taken.reverse();
        taken
    }

    /// Takes out those beyond how many of each type are wanted, the newest first.
    pub(super) fn take_surplus(&mut self, wanted: impl Fn(u16) -> u32) -> Vec<HeldVm> {
        let mut taken = Vec::new();
        for place in (0..self.all.len()).rev() {
            let vm = self.all[place].vm.vm;
            let before = self.all[..place].iter();
            if before.filter(|other| other.vm.vm == vm).count() as u32 >= wanted(vm) {
                taken.push(self.all.remove(place));
            }
        }
        if !taken.is_empty() {
            self.change(|_| ());
        }
        taken
    }

    pub(super) fn take_all(&mut self) -> Vec<Vm> {
        let all = std::mem::take(self);
        all.all.into_iter().map(|held| held.vm).collect()
    }
}
