//! The VMs of a job that are there, the oldest first, with what is asked of them at every turn: who is lost next, who is
//! ready next, how many of each group take part. Each answer costs the logarithm of their number at most.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::cluster::groups::MOST_GROUPS;
use crate::provider::Vm;
use scavsim_base::units::SimTime;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Member {
    pub rented: Vm,
    pub group: u16,
    pub on_spot: bool,
    /// Number of the law of its life, as its group has it.
    pub market: u16,
    pub is_server: bool,
    /// Whether its first worker is the chief.
    pub is_chief: bool,
    /// When it takes part.
    pub ready: SimTime,
}

/// Places by a time, the earliest first. What is said of a VM that has gone, or that ends at another time by now, is
/// passed over when it comes to the top.
type ByTime = BinaryHeap<Reverse<(SimTime, u32)>>;

/// Places of VMs that have gone beyond which they are closed up, besides as many as there are VMs.
const SPARE_PLACES: usize = 64;

#[derive(Debug, Clone, Copy)]
struct VmPlace {
    vm: Member,
    is_gone: bool,
    /// Whether it takes part, as far as anybody has asked.
    is_ready: bool,
}

/// The VMs that are there. Times that it is asked about do not go back.
#[derive(Debug, Clone, Default)]
pub(super) struct PresentVms {
    places: Vec<VmPlace>,
    count: usize,
    /// Ends that are still to come, and VMs whose ends have come and that were not taken out yet.
    ends: ByTime,
    due: BinaryHeap<Reverse<u32>>,
    starting: ByTime,
    /// Since when those run that can be taken away, once that was asked for.
    running: Option<ByTime>,
    held: [u32; MOST_GROUPS],
    ready: [u32; MOST_GROUPS],
    has_chief: bool,
    staying: usize,
    /// All places before this one are of VMs that have gone.
    first: usize,
}

impl Member {
    /// Whether it is a worker's, and the provider does not take it away.
    fn stays(&self) -> bool {
        !self.is_server && !self.on_spot
    }
}

impl PresentVms {
    pub(super) fn copy_from(&mut self, other: &PresentVms) {
        self.places.clone_from(&other.places);
        self.count = other.count;
        self.ends.clone_from(&other.ends);
        self.due.clone_from(&other.due);
        self.starting.clone_from(&other.starting);
        self.running.clone_from(&other.running);
        (self.held, self.ready) = (other.held, other.ready);
        self.has_chief = other.has_chief;
        (self.staying, self.first) = (other.staying, other.first);
    }

    pub(super) fn clear(&mut self) {
        self.places.clear();
        self.index();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn vms(&self) -> impl Iterator<Item = &Member> {
        let there = self.places.iter().filter(|place| !place.is_gone);
        there.map(|place| &place.vm)
    }

    pub(super) fn add(&mut self, vm: Member) {
        let at = self.places.len() as u32;
        self.places.push(VmPlace {
            vm,
            is_gone: false,
            is_ready: false,
        });
        self.count += 1;
        self.staying += usize::from(vm.stays());
        self.held[usize::from(vm.group)] += 1;
        self.starting.push(Reverse((vm.ready, at)));
        if vm.rented.lost != SimTime::LAST {
            self.ends.push(Reverse((vm.rented.lost, at)));
        }
        if let (Some(running), true) = (&mut self.running, vm.on_spot) {
            running.push(Reverse((vm.rented.runs, at)));
        }
    }

    /// Keeps those that `keeps` says, asked from the oldest to the newest; it may change their groups.
    pub(super) fn retain(&mut self, mut keeps: impl FnMut(&mut Member) -> bool) {
        (self.places).retain_mut(|place| !place.is_gone && keeps(&mut place.vm));
        self.index();
    }

    /// VMs of a group, whether ready or not.
    pub(super) fn held_in_group(&self, group: usize) -> u32 {
        self.held.get(group).copied().unwrap_or(0)
    }

    /// VMs of each group that take part at `now`.
    pub(super) fn ready(&mut self, now: SimTime) -> &[u32; MOST_GROUPS] {
        while let Some(Reverse((ready, at))) = self.starting.peek() {
            let place = &mut self.places[*at as usize];
            if !place.is_gone {
                if *ready > now {
                    break;
                }
                place.is_ready = true;
                self.ready[usize::from(place.vm.group)] += 1;
            }
            self.starting.pop();
        }
        &self.ready
    }

    /// When the next VM takes part that does not at `now`.
    pub(super) fn next_ready(&mut self, now: SimTime) -> SimTime {
        self.ready(now);
        (self.starting.peek()).map_or(SimTime::LAST, |Reverse((ready, _))| *ready)
    }

    /// VMs that do not take part at `now`, in any order.
    pub(super) fn starting(&mut self, now: SimTime) -> impl Iterator<Item = &Member> {
        self.ready(now);
        let places = self.starting.iter().map(|Reverse((_, at))| *at as usize);
        let places = places.map(|at| &self.places[at]);
        places.filter(|place| !place.is_gone).map(|place| &place.vm)
    }

    /// Since when the oldest VM runs, or will, that can be taken away.
    pub(super) fn oldest_runs(&mut self) -> Option<SimTime> {
        let places = &self.places;
        let there = |at: u32| !places[at as usize].is_gone;
        let running = self.running.get_or_insert_with(|| {
            let all = (0..).zip(places);
            let on_spot = all.filter(|(_, place)| !place.is_gone && place.vm.on_spot);
            on_spot
                .map(|(at, place)| Reverse((place.vm.rented.runs, at)))
                .collect()
        });
        while let Some(Reverse((runs, at))) = running.peek() {
            if there(*at) {
                return Some(*runs);
            }
            running.pop();
        }
        None
    }

    pub(super) fn next_end(&self) -> SimTime {
        let next = (self.ends.peek()).map_or(SimTime::LAST, |Reverse((end, _))| *end);
        // Nobody is due but where a run was given up between two losses at once.
        let due = self
            .due
            .iter()
            .map(|Reverse(at)| &self.places[*at as usize]);
        due.filter(|place| !place.is_gone)
            .fold(next, |next, place| next.min(place.vm.rented.lost))
    }

    pub(super) fn take_lost(&mut self, now: SimTime) -> Option<Member> {
        while let Some(Reverse((end, at))) = self.ends.peek().copied()
            && end <= now
        {
            self.ends.pop();
            if self.ends_at(at, end) {
                self.due.push(Reverse(at));
            }
        }
        while let Some(Reverse(at)) = self.due.pop() {
            if !self.places[at as usize].is_gone {
                return Some(self.remove_at(at as usize));
            }
        }
        None
    }

    pub(super) fn take_newest(&mut self, group: usize) -> Option<Member> {
        let is_it = |place: &VmPlace| !place.is_gone && usize::from(place.vm.group) == group;
        let at = self.places.iter().rposition(is_it)?;
        Some(self.remove_at(at))
    }

    /// Ends some of the running VMs at `at`: `strike` gets their number and gives the places among them to take.
    pub(super) fn end_some(
        &mut self,
        at: SimTime,
        is_running: impl Fn(&Member) -> bool,
        strike: impl FnOnce(u32, &mut dyn FnMut(u32)),
    ) {
        let all = self.places.iter().enumerate();
        let running: Vec<usize> = all
            .filter(|(_, place)| !place.is_gone && is_running(&place.vm))
            .map(|(index, _)| index)
            .collect();
        let (places, ends) = (&mut self.places, &mut self.ends);
        strike(running.len() as u32, &mut |place| {
            if let Some(&index) = running.get(place as usize) {
                places[index].vm.rented.lost = at;
                ends.push(Reverse((at, index as u32)));
            }
        });
        self.tidy();
    }

    /// The newest VM for which `is_it` ends at `at`, and no other ends.
    pub(super) fn end_only(&mut self, at: SimTime, is_it: impl Fn(&Member) -> bool) {
        self.ends.clear();
        self.due.clear();
        let mut newest = None;
        for (index, place) in self.places.iter_mut().enumerate() {
            place.vm.rented.lost = SimTime::LAST;
            if !place.is_gone && is_it(&place.vm) {
                newest = Some(index);
            }
        }
        if let Some(index) = newest {
            self.places[index].vm.rented.lost = at;
            self.ends.push(Reverse((at, index as u32)));
        }
    }

    /// The oldest worker is the chief, one on demand before all others, if there is none.
    pub(super) fn appoint_chief(&mut self) {
        if self.has_chief {
            return;
        }
        // Where the oldest are lost first, they are the ones that are lost with every chief.
        let gone = self.places[self.first..].iter();
        self.first += gone.take_while(|place| place.is_gone).count();
        let must_stay = self.staying > 0;
        let mut there = self.places[self.first..].iter_mut();
        let chief = there.find(|place| {
            if must_stay {
                !place.is_gone && place.vm.stays()
            } else {
                !place.is_gone && !place.vm.is_server
            }
        });
        if let Some(place) = chief {
            place.vm.is_chief = true;
            self.has_chief = true;
        }
    }

    fn ends_at(&self, at: u32, end: SimTime) -> bool {
        let place = &self.places[at as usize];
        !place.is_gone && place.vm.rented.lost == end
    }

    fn remove_at(&mut self, at: usize) -> Member {
        let place = &mut self.places[at];
        place.is_gone = true;
        let (vm, is_ready) = (place.vm, place.is_ready);
        self.count -= 1;
        self.staying -= usize::from(vm.stays());
        let group = usize::from(vm.group);
        self.held[group] -= 1;
        self.ready[group] -= u32::from(is_ready);
        self.has_chief &= !vm.is_chief;
        if self.places.len() > 2 * self.count + SPARE_PLACES {
            self.retain(|_| true)
        } else {
            self.tidy()
        }
        vm
    }

    /// The next end is one that comes.
    fn tidy(&mut self) {
        while let Some(Reverse((end, at))) = self.ends.peek()
            && !self.ends_at(*at, *end)
        {
            self.ends.pop();
        }
    }

    fn index(&mut self) {
        let PresentVms {
            places,
            ends,
            starting,
            held,
            ready,
            ..
        } = self;
        ends.clear();
        starting.clear();
        (*held, *ready) = ([0; MOST_GROUPS], [0; MOST_GROUPS]);
        for (at, VmPlace { vm, is_ready, .. }) in (0..).zip(&*places) {
            held[usize::from(vm.group)] += 1;
            if *is_ready {
                ready[usize::from(vm.group)] += 1
            } else {
                starting.push(Reverse((vm.ready, at)))
            }
            if vm.rented.lost != SimTime::LAST {
                ends.push(Reverse((vm.rented.lost, at)));
            }
        }
        self.count = self.places.len();
        self.staying = self.places.iter().filter(|p| p.vm.stays()).count();
        self.first = 0;
        self.has_chief = self.places.iter().any(|place| place.vm.is_chief);
        self.due.clear();
        self.running = None;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Default)]
    struct NaivePresentVms(Vec<Member>);

    impl NaivePresentVms {
        fn next_end(&self) -> SimTime {
            self.0
                .iter()
                .map(|vm| vm.rented.lost)
                .fold(SimTime::LAST, SimTime::min)
        }

        fn next_ready(&self, now: SimTime) -> SimTime {
            let starting = self.0.iter().filter(|vm| vm.ready > now);
            starting
                .map(|vm| vm.ready)
                .fold(SimTime::LAST, SimTime::min)
        }

        fn ready(&self, now: SimTime) -> [u32; MOST_GROUPS] {
            let mut ready = [0; MOST_GROUPS];
            for vm in self.0.iter().filter(|vm| vm.ready <= now) {
                ready[usize::from(vm.group)] += 1;
            }
            ready
        }

        fn oldest_runs(&self) -> Option<SimTime> {
            let spot = self.0.iter().filter(|vm| vm.on_spot);
            spot.map(|vm| vm.rented.runs).min()
        }

        fn appoint_chief(&mut self) {
            if self.0.iter().any(|vm| vm.is_chief) {
                return;
            }
            let stays = self.0.iter().position(|vm| !vm.is_server && !vm.on_spot);
            let first = stays.or(self.0.iter().position(|vm| !vm.is_server));
            if let Some(at) = first {
                self.0[at].is_chief = true;
            }
        }

        fn take_lost(&mut self, now: SimTime) -> Option<Member> {
            let at = self.0.iter().position(|vm| vm.rented.lost <= now)?;
            Some(self.0.remove(at))
        }

        fn take_newest(&mut self, group: u16) -> Option<Member> {
            let at = self.0.iter().rposition(|vm| vm.group == group)?;
            Some(self.0.remove(at))
        }
    }

    #[derive(Debug, Clone)]
    enum Act {
        Add {
            group: u16,
            kind: u8,
            times: [u64; 3],
        },
        Pass(u64),
        Take,
        Newest(u16),
        Strike(u64, u32),
        Only(u64),
        Fit(u16),
        Chief,
        Copy,
    }

    fn act() -> impl Strategy<Value = Act> {
        let add = (0u16..3, 0u8..8, [0u64..4, 0u64..4, 0u64..40]);
        prop_oneof![
            8 => add.prop_map(|(group, kind, times)| Act::Add { group, kind, times }),
            6 => (0u64..6).prop_map(Act::Pass),
            6 => Just(Act::Take),
            1 => (0u16..3).prop_map(Act::Newest),
            1 => (0u64..5, 1u32..4).prop_map(|(after, each)| Act::Strike(after, each)),
            1 => (0u64..9).prop_map(Act::Only),
            1 => (0u16..9).prop_map(Act::Fit),
            2 => Just(Act::Chief),
            1 => Just(Act::Copy),
        ]
    }

    fn vm(request: u32, now: u64, (group, kind): (u16, u8), times: [u64; 3]) -> Member {
        let at = SimTime::from_nanoseconds;
        let (runs, on_spot) = (now + times[0], kind & 1 == 0);
        let lives = on_spot.then(|| at(runs + times[2]));
        Member {
            rented: Vm {
                number: request,
                vm: group,
                asked: at(now),
                runs: at(runs),
                lost: lives.unwrap_or(SimTime::LAST),
            },
            group,
            on_spot,
            market: 0,
            is_server: kind & 6 == 6,
            is_chief: false,
            ready: at(runs + times[1]),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        /// Whatever comes and goes, and in whatever order, all answers are those of a look at every VM.
        #[test]
        fn answers_are_those_of_a_look_at_all(acts in prop::collection::vec(act(), 1..400)) {
            let (mut present, mut plain) = (PresentVms::default(), NaivePresentVms::default());
            let (mut now, mut request) = (0, 0);
            for act in acts {
                let at = SimTime::from_nanoseconds;
                match act {
                    Act::Add { group, kind, times } => {
                        let vm = vm(request, now, (group, kind), times);
                        request += 1;
                        present.add(vm);
                        plain.0.push(vm);
                    }
                    Act::Pass(time) => now += time,
                    Act::Take => loop {
                        let lost = present.take_lost(at(now));
                        prop_assert_eq!(lost, plain.take_lost(at(now)));
                        if lost.is_none() {
                            break;
                        }
                    },
                    Act::Newest(group) => {
                        let newest = present.take_newest(usize::from(group));
                        prop_assert_eq!(newest, plain.take_newest(group));
                    }
                    Act::Strike(after, each) => {
                        let (told, then) = (at(now), at(now + after));
                        let running = |vm: &Member| vm.on_spot && vm.rented.runs <= told && vm.rented.lost > then;
                        let mut own = 0;
                        present.end_some(then, running, |count, take| {
                            own = count;
                            (0..count).rev().filter(|place| place % each == 0).for_each(take);
                        });
                        prop_assert_eq!(own, plain.0.iter().filter(|vm| running(vm)).count() as u32);
                        let mut hit: Vec<&mut Member> =
                            plain.0.iter_mut().filter(|vm| running(vm)).collect();
                        hit.iter_mut().step_by(each as usize).for_each(|vm| vm.rented.lost = then);
                    }
                    Act::Only(after) => {
                        let is_it = |vm: &Member| vm.on_spot && !vm.is_server && !vm.is_chief;
                        present.end_only(at(now + after), is_it);
                        plain.0.iter_mut().for_each(|vm| vm.rented.lost = SimTime::LAST);
                        if let Some(vm) = plain.0.iter_mut().rev().find(|vm| is_it(vm)) {
                            vm.rented.lost = at(now + after);
                        }
                    }
                    Act::Fit(seed) => {
                        let keeps = |vm: &mut Member| {
                            vm.group = (vm.group + seed) % 3;
                            !(vm.rented.number + u32::from(seed)).is_multiple_of(3)
                        };
                        present.retain(keeps);
                        plain.0.retain_mut(keeps);
                    }
                    Act::Chief => {
                        present.appoint_chief();
                        plain.appoint_chief();
                    }
                    Act::Copy => {
                        let mut copy = PresentVms::default();
                        copy.add(vm(9, 0, (1, 0), [1, 2, 3]));
                        copy.copy_from(&present);
                        present = copy;
                    }
                }
                prop_assert_eq!(present.next_end(), plain.next_end());
                prop_assert_eq!(present.is_empty(), plain.0.is_empty());
                prop_assert!(present.vms().eq(plain.0.iter()));
                for group in 0..3u16 {
                    let held = plain.0.iter().filter(|vm| vm.group == group).count();
                    prop_assert_eq!(present.held_in_group(usize::from(group)), held as u32);
                }
                prop_assert_eq!(present.next_ready(at(now)), plain.next_ready(at(now)));
                prop_assert_eq!(*present.ready(at(now)), plain.ready(at(now)));
                let starting = plain.0.iter().filter(|vm| vm.ready > at(now)).count();
                prop_assert_eq!(present.starting(at(now)).count(), starting);
                if request % 3 == 0 {
                    prop_assert_eq!(present.oldest_runs(), plain.oldest_runs());
                }
            }
        }
    }
}
