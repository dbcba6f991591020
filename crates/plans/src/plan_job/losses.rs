//! When VMs of a job go: taken by their provider, or by a failure.

use super::{PlanJob, Restart};
use crate::formation::NodeLayout;
use crate::reaction::StateSaving;
use crate::terms::{PlanWithTerms, Terms};
use scavsim_base::units::SimTime;
use scavsim_data::usage::{EndedBy, Phase};
use scavsim_sim::training::log::{LogEvent, Track};

impl PlanJob {
    pub(super) fn known_loss(&self, on: PlanWithTerms<'_>) -> SimTime {
        if on.way.on_spot {
            self.vms.first_lost
        } else {
            SimTime::LAST
        }
    }

    /// Decides what the job loses until a moment: when the first VM is lost or something fails, if it does.
    pub(super) fn first_loss(&mut self, on: PlanWithTerms<'_>, until: SimTime) -> Option<SimTime> {
        loop {
            let failure = (self.failing.as_ref()).map_or(SimTime::LAST, |own| own.next(self.now));
            let taken = self.first_taken(on, until.min(failure));
            let is_later = failure > until || failure == SimTime::LAST;
            if is_later || taken.is_some_and(|taken| taken < failure) {
                return taken;
            }
            let is_hit = (self.failing.as_mut()).is_none_or(|own| own.hits(&self.vms, failure));
            if is_hit {
                return Some(failure);
            }
        }
    }

    /// When the provider takes the first VM until a moment.
    fn first_taken(&mut self, on: PlanWithTerms<'_>, until: SimTime) -> Option<SimTime> {
        let losses = &on.spot()?.losses;
        let mut idle = Vec::new();
        if let Some(capacity) = &mut self.capacity {
            let mut is_hit = false;
            while !is_hit && capacity.changes_at() <= until {
                let at = capacity.changes_at();
                capacity.go_on(losses);
                let gpus = capacity.gpus;
                let mut held = self.vms.gpus(SimTime::LAST);
                if held <= gpus {
                    continue;
                }
                self.vms.change(|all| {
                    for vm in all.iter_mut().rev() {
                        if held <= gpus {
                            break;
                        }
                        held -= vm.gpus;
                        vm.vm.lost = at;
                        is_hit |= vm.node.is_some();
                    }
                });
                if !is_hit {
                    // Who only idles goes without a word.
                    for held in self.vms.take_lost(at) {
                        idle.push((held.vm, at));
                    }
                }
            }
        } else if let Some(market) = &mut self.provider.market {
            let mut is_hit = false;
            while !is_hit && market.at <= until {
                let at = market.at;
                let all = self.vms.all();
                let runs = |place: &usize| all[*place].vm.runs <= at;
                let running: Vec<usize> = (0..all.len()).filter(runs).collect();
                let mut hit = Vec::new();
                market.strike(losses, running.len() as u32, &mut |place| {
                    hit.push(running[place as usize]);
                });
                is_hit = !hit.is_empty();
                if is_hit {
                    self.vms.change(|all| {
                        for place in hit {
                            all[place].vm.lost = at;
                        }
                    });
                }
            }
        }
        for (vm, at) in idle {
            self.end_at(&vm, at, EndedBy::Provider);
        }
        let first = self.vms.first_lost;
        (first <= until && first < SimTime::LAST).then_some(first)
    }

    /// Takes away VMs lost by now, and decides what the others go on from. Seconds until the restart of the job begins.
    pub(super) fn take_lost(&mut self, on: PlanWithTerms<'_>, phase: Phase) -> f64 {
        let mut response_s = 0.0;
        if let (Some(failing), Some(failures)) = (&mut self.failing, &on.terms.failures)
            && let Some(seconds) = failing.strike(failures, &mut self.vms, self.now)
        {
            response_s = seconds;
            let what = LogEvent::Failure;
            self.note((self.now, self.now), Track::Job, what);
        }
        let mut gone = self.vms.take_struck();
        gone.extend(self.vms.take_lost(self.now));
        let is_broken =
            response_s > 0.0 || gone.is_empty() || gone.iter().any(|held| held.node.is_some());
        for held in gone {
            self.forming.free.extend(held.node);
            self.end(&held.vm, EndedBy::Provider);
        }
        self.watch(on.terms);
        self.forming.is_settled = false;
        if !is_broken {
            return response_s;
        }
        self.forming.is_broken = true;
        // Who only waits has nothing to lose that was not lost before, unless others keep it.
        let goes_on = on.terms.reacting.reaction.goes_on();
        if self.forming.now.is_some() && (phase != Phase::Waiting || goes_on) {
            self.restarts = self.left_after_loss(on);
        }
        response_s
    }

    fn left_after_loss(&self, on: PlanWithTerms<'_>) -> Restart {
        // Who was to go on from storage has nothing else.
        if self.restarts == Restart::Storage {
            return Restart::Storage;
        }
        let reacting = &on.terms.reacting;
        if !reacting.reaction.goes_on() && reacting.saves != StateSaving::InMemory {
            return Restart::Storage;
        }
        let there = self.there(self.now);
        let has_copies = reacting.reaction.goes_on() && self.forming.survives(&there);
        if has_copies {
            return Restart::None;
        }
        match reacting.saves {
            StateSaving::InMemory if NodeLayout::neighbours_survive(&there) => Restart::Memory,
            _ => Restart::Storage,
        }
    }

    pub(super) fn watch(&mut self, terms: &Terms) {
        if let (Some(failing), true) = (&mut self.failing, terms.failures.is_some()) {
            failing.watch(&self.vms);
        }
    }

    /// Lets so much time pass in which nobody trains; whether no VM was lost in it.
    pub(super) fn pause(&mut self, on: PlanWithTerms<'_>, time: SimTime) -> bool {
        !self.idle_until(on, self.now + time, Phase::Restoring)
    }

    /// Lets time pass until a moment or the first loss; whether that came before.
    pub(super) fn idle_until(
        &mut self,
        on: PlanWithTerms<'_>,
        until: SimTime,
        phase: Phase,
    ) -> bool {
        self.ledger.enter(phase, self.now);
        let loss = self.first_loss(on, until);
        self.pass_until(loss.unwrap_or(until), phase);
        if loss.is_some() {
            self.forming.response_s += self.take_lost(on, phase);
        }
        loss.is_some()
    }
}
