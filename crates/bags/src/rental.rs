use crate::job::{BagEvent, BagJob, BagRunSpec, Slot, State};
use crate::{Bag, BagSize, Loss};
use scavsim_base::units::SimTime;
use scavsim_data::usage::Phase;
use scavsim_sim::cluster::Pause;
use scavsim_sim::provider::{Vm, VmRequest};
use scavsim_sim::training::log::{Entry, Fate, LogEvent, Track};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strike {
    Market,
    /// One of a running job.
    One,
}

impl BagJob {
    /// A slot has no work: its VMs become spares.
    pub(crate) fn idle_slot(&mut self, slot: u32, of: BagRunSpec<'_>) {
        let now = self.queue.now();
        let own = &mut self.slots[slot as usize];
        own.state = State::Idle;
        if !std::mem::replace(&mut own.has_vms, false) {
            return;
        }
        for place in BagJob::places(of.size, slot) {
            let vm = self.vms[place];
            if of.bag.keep_spares > SimTime::ZERO && vm.lost > now {
                self.spares.push_back((vm, now))
            } else {
                self.release(&vm, now)
            }
        }
    }

    /// The spare that has waited longest and is worth a job; those that have waited too long are given back.
    pub(crate) fn take_spare(&mut self, of: BagRunSpec<'_>) -> Option<Vm> {
        let now = self.queue.now();
        while let Some((vm, since)) = self.spares.pop_front() {
            let until = since + of.bag.keep_spares;
            if vm.lost > now && until > now && is_worth(of.bag, of.size, &vm, now) {
                return Some(vm);
            }
            self.release(&vm, until.min(now));
        }
        None
    }

    pub(crate) fn request(&mut self, of: BagRunSpec<'_>, boot: &Pause) -> Vm {
        let (size, now) = (of.size, self.queue.now());
        let wanted = VmRequest {
            vm: size.vm,
            vm_type: size.vm_key,
            market: size.vm,
            on_spot: of.on_spot,
        };
        (self.provider).request(&wanted, boot, size.lifetime(of.bag), now)
    }

    pub(crate) fn next_strike(&self, of: BagRunSpec<'_>) -> Option<(SimTime, Strike)> {
        if of.size.life.is_some() {
            return None;
        }
        match &of.bag.loss {
            Loss::At(times) => {
                let at = self.began + SimTime::from_seconds(*times.get(self.passed)?);
                Some((at, Strike::One))
            }
            _ => Some((self.provider.market.as_ref()?.at, Strike::Market)),
        }
    }

    pub(crate) fn strike(&mut self, strike: Strike, of: BagRunSpec<'_>) {
        let BagRunSpec { bag, size, .. } = of;
        let now = self.queue.now();
        self.alive.clear();
        for (slot, own) in (0..).zip(&self.slots) {
            let counts = own.has_vms && (strike == Strike::Market || own.state == State::Runs);
            for place in BagJob::places(size, slot).filter(|_| counts) {
                let vm = &self.vms[place];
                if vm.runs <= now && vm.lost > now {
                    self.alive.push((Some(slot), place));
                }
            }
        }
        if strike == Strike::Market {
            let spares = self.spares.iter().enumerate();
            let there =
                spares.filter(|(_, (vm, since))| vm.lost > now && *since + bag.keep_spares > now);
            self.alive.extend(there.map(|(place, _)| (None, place)));
        }
        let (alive, slots) = (&self.alive, &mut self.slots);
        let (vms, spares, queue) = (&mut self.vms, &mut self.spares, &mut self.queue);
        let notice = &mut self.notice;
        let mut take = |place: usize| {
            let Some((slot, at)) = alive.get(place).copied() else {
                return;
            };
            let Some(slot) = slot else {
                spares[at].0.lost = now;
                return;
            };
            vms[at].lost = now;
            let own = &mut slots[slot as usize];
            if own.state == State::Runs && !own.is_lost {
                own.is_lost = true;
                // What was to happen at its end does not.
                own.attempt += 1;
                let heard = bag.notice.heard(own.began, now, notice);
                queue.after(heard - now, BagEvent::Over(slot, own.attempt));
            }
        };
        match strike {
            Strike::One => {
                self.passed += 1;
                take(self.hits.below(alive.len().max(1)));
            }
            Strike::Market => {
                let own = u32::try_from(alive.len()).unwrap_or(u32::MAX);
                if let (Some(market), Loss::Preemption(losses)) =
                    (&mut self.provider.market, &bag.loss)
                {
                    market.strike(losses, own, &mut |place| take(place as usize));
                }
            }
        }
    }

    pub(crate) fn release(&mut self, vm: &Vm, at: SimTime) {
        self.held.hold(vm.held_until(at), Phase::Waiting, 0);
        self.note_vm(vm, at);
    }

    /// Gives back all VMs at `at`. Those of a finished slot train a surrogate until `trained`, if there is one.
    pub(crate) fn give_all_back(
        &mut self,
        of: BagRunSpec<'_>,
        (at, trained): (SimTime, Option<SimTime>),
    ) {
        let is_free = |slot: &u32| {
            let Slot { state, has_vms, .. } = self.slots[*slot as usize];
            let mut own = self.vms[BagJob::places(of.size, *slot)].iter();
            has_vms && state != State::Runs && own.all(|vm| vm.runs <= at && vm.lost > at)
        };
        let trains = trained.and_then(|_| (0..of.size.parallel_jobs).find(is_free));
        for slot in 0..of.size.parallel_jobs {
            let Slot {
                state,
                has_vms,
                began,
                ..
            } = self.slots[slot as usize];
            if !has_vms {
                continue;
            }
            if state == State::Runs {
                self.note_attempt(slot, (began, at), true);
            }
            for place in BagJob::places(of.size, slot) {
                let vm = self.vms[place];
                if state == State::Runs {
                    // Nobody waits for this job any more.
                    let to = vm.lost.min(at);
                    self.held
                        .work(of.lost_phase(), (of.size.vm, 1), (began, to));
                }
                if let Some(until) = trained.filter(|_| trains == Some(slot)) {
                    self.held.hold(vm.held_until(at), Phase::Waiting, 0);
                    let lost = SimTime::LAST;
                    self.note_vm(&Vm { lost, ..vm }, until);
                    continue;
                }
                self.release(&vm, at);
            }
            self.slots[slot as usize].has_vms = false;
        }
        while let Some((vm, since)) = self.spares.pop_front() {
            let until = since + of.bag.keep_spares;
            self.release(&vm, until.min(at));
        }
    }

    pub(crate) fn note_attempt(&mut self, slot: u32, span: (SimTime, SimTime), is_lost: bool) {
        if let Some(log) = &mut self.log {
            let fate = if is_lost { Fate::GivenUp } else { Fate::Done };
            log.push(Entry::span(
                span,
                Track::Worker(slot),
                LogEvent::Compute(fate),
            ));
        }
    }

    /// What a run did as a whole, and the head node for it.
    pub(crate) fn note_run(&mut self, of: BagRunSpec<'_>, from: SimTime) {
        let (span, track) = ((from, self.now), Track::Head);
        if let Some(head) = of.head {
            self.hold(of.phase, (head, 1), from, self.now);
        }
        let Some(log) = &mut self.log else { return };
        if let Some(head) = of.head {
            if !log.iter().any(|entry| entry.track == track) {
                log.push(Entry::instant(from, track, LogEvent::Requested(head)));
            }
            if self.now > from {
                log.push(Entry::span(span, track, LogEvent::Running(head)));
            }
        }
        log.push(Entry::span(span, Track::Job, LogEvent::Phase(of.phase)));
    }

    pub(crate) fn note_vm(&mut self, vm: &Vm, at: SimTime) {
        let Some(log) = &mut self.log else { return };
        let (held, track) = (vm.held_until(at), Track::Vm(vm.number));
        log.push(Entry::instant(vm.asked, track, LogEvent::Requested(vm.vm)));
        if vm.runs > vm.asked {
            let span = (vm.asked, vm.runs.min(held.to));
            log.push(Entry::span(span, track, LogEvent::Starting(vm.vm)));
        }
        let span = (vm.runs, held.to);
        log.extend(Entry::of_gone((track, vm.vm), span, held.ended_by));
    }
}

pub(crate) fn is_worth(bag: &Bag, size: &BagSize, vm: &Vm, now: SimTime) -> bool {
    let age_s = (now - vm.runs).seconds();
    bag.reuse.keeps(size.lifetime(bag), age_s, size.job_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Loss;
    use scavsim_base::rng::VmTypeKey;
    use scavsim_data::cloud::lifetimes::{Bathtub, Lifetime};
    use scavsim_sim::cluster::Losses;

    #[test]
    fn a_vm_is_as_old_as_the_time_that_it_has_run() {
        let hours = |h: f64| SimTime::from_seconds(3600.0 * h);
        let law = Bathtub::new(0.4137, 0.9, 0.76, 24.0).expect("a law");
        let bag = Bag {
            loss: Loss::Preemption(Losses::Alone(Lifetime::new(law, Some(24.0)))),
            ..Bag::default()
        };
        let size = BagSize {
            vm: 0,
            vms_per_job: 1,
            parallel_jobs: 1,
            job_s: 6.0 * 3600.0,
            life: None,
            vm_key: VmTypeKey::from_name("n1-highcpu-32"),
        };
        for runs_h in [0.0, 0.5, 7.0, 40.0] {
            let vm = Vm {
                vm: 0,
                number: 0,
                asked: SimTime::ZERO,
                runs: hours(runs_h),
                lost: SimTime::LAST,
            };
            let gets_a_job = |age_h: f64| is_worth(&bag, &size, &vm, hours(runs_h + age_h));
            assert!([0.0, 1.0, 5.0, 12.0].into_iter().all(gets_a_job));
            assert!(![18.5, 20.0, 23.9].into_iter().any(gets_a_job));
        }
    }
}
