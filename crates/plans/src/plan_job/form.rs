//! What trains next: VMs are asked for, and the reaction says what those that are there do.

use super::PlanJob;
use super::formation_state::FormationState;
use super::held::HeldVm;
use crate::forecast::{self, MarketView, SpanOf, Training};
use crate::formation::{Formation, NodeLayout};
use crate::reaction::{self, Moves, Prospect, Reaction, Situation};
use crate::terms::{PlanWithTerms, Terms};
use scavsim_base::units::SimTime;
use scavsim_data::usage::Phase;
use scavsim_sim::cluster::{Losses, Pause};
use scavsim_sim::provider::{Capacity, MOST_LOSSES, VmRequest};
use scavsim_sim::training::UnfinishedJob;
use scavsim_sim::training::log::{LogEvent, Track};

/// Rounds in which a horizon is found that the work left fills, and how nearly it does.
const HORIZON_ROUNDS: u32 = 6;
const HORIZON_ERROR: f64 = 0.01;

impl PlanJob {
    pub(super) fn meet_plan(&mut self, on: PlanWithTerms<'_>) {
        let whole = Formation::full_plan(on.choices, on.at);
        if self.forming.whole == Some(whole) {
            return;
        }
        let reaction = on.terms.reacting.reaction;
        self.forming = FormationState {
            whole: Some(whole),
            layout: NodeLayout::from_plan(on.choices, on.at),
            fastest: (reaction == Reaction::RePlan).then(|| on.choices.fastest_like(on.at)),
            ..FormationState::default()
        };
        if let (Some(capacity), Some(Losses::Trace(trace))) = (
            &self.capacity,
            on.terms.spot.as_ref().map(|spot| &spot.losses),
        ) && reaction == Reaction::RePlan
        {
            self.forming.training = Some(Training::before(trace, capacity.start_s));
        }
        self.deal();
    }

    /// Deals the nodes of the plan that trains to the VMs that run, those of the first replica first, then to the others.
    fn deal(&mut self) {
        let mut free = self.forming.of_now().by_replica();
        free.reverse();
        let now = self.now;
        self.vms.change(|all| {
            for runs in [true, false] {
                for held in all.iter_mut().filter(|held| (held.vm.runs <= now) == runs) {
                    held.node = free.pop();
                }
            }
        });
        self.forming.free = free;
    }

    /// Which nodes of the plan that trains run at a moment.
    pub(super) fn there(&self, now: SimTime) -> Vec<bool> {
        let mut there = vec![false; self.forming.of_now().nodes];
        for held in self.vms.all().iter().filter(|held| held.vm.runs <= now) {
            if let Some(place) = held.node.and_then(|node| there.get_mut(node as usize)) {
                *place = true;
            }
        }
        there
    }

    /// Waits until something can train, and says what; [`UnfinishedJob`] when nothing ever can. Missing VMs take `boot`;
    /// `left_s` of work is to come.
    pub(super) fn form(
        &mut self,
        on: PlanWithTerms<'_>,
        boot: &Pause,
        left_s: f64,
    ) -> Result<(), UnfinishedJob> {
        if self.forming.is_settled {
            return Ok(());
        }
        // Losses, and changes of what there is.
        let mut losses = 0;
        loop {
            if self.vms.all().is_empty() {
                self.catch_up(on.terms);
            }
            let is_short = self.request(on, boot);
            let more_at = self.more_at(on);
            let goes_on = on.terms.reacting.reaction.goes_on();
            let all_run = self.vms.last_runs <= self.now;
            if (goes_on || (!is_short && all_run))
                && let Some(formation) = self.next_formation(on, left_s, boot.mean_s())
            {
                self.change_to(on, formation);
                self.forming.is_settled = !is_short && all_run && more_at == SimTime::LAST;
                return Ok(());
            }
            let next = if goes_on {
                self.vms.next_runs(self.now).min(more_at)
            } else if is_short {
                // More may be had then, where there are not always enough.
                more_at
            } else {
                self.vms.last_runs.max(self.now)
            };
            if next >= SimTime::LAST {
                return Err(UnfinishedJob::NobodyLeft { at: self.now });
            }
            if self.interrupt.is_raised() {
                return Err(UnfinishedJob::Interrupted { at: self.now });
            }
            self.idle_until(on, next, Phase::Waiting);
            losses += 1;
            if losses > MOST_LOSSES {
                return Err(UnfinishedJob::TooManyLosses { at: self.now });
            }
        }
    }

    fn next_formation(&self, on: PlanWithTerms<'_>, left_s: f64, boot_s: f64) -> Option<Formation> {
        let reacting = &on.terms.reacting;
        let whole = self.forming.whole?;
        if reacting.reaction == Reaction::Wait {
            return Some(whole);
        }
        let re_plans = reacting.reaction == Reaction::RePlan;
        // What trained last and lost a node does so no more.
        let there = self.there(self.now);
        let is_whole = |now: &Formation| {
            !re_plans || self.forming.of_now().whole_replicas(&there) >= now.replicas
        };
        let moves = self.moves(on, whole, true);
        let mut situation = Situation {
            whole,
            layout: &self.forming.layout,
            there: &there,
            prospect: Prospect {
                gpus: self.vms.gpus(self.now),
                trained: self.forming.now.filter(is_whole).map(|now| now.at),
                fastest: self.forming.fastest.as_deref().unwrap_or_default(),
                path: &[],
                pause_s: reacting.costs.pause_s(&moves),
                is_start: self.forming.now.is_none(),
                aim: reacting.aim,
            },
        };
        if !re_plans {
            return reacting.reaction.next(&situation);
        }
        // As far as the work that is left goes: found in some rounds, as it depends on what is done meanwhile.
        let left = left_s / on.way.step_s;
        let mut horizon_s = left
            * situation
                .prospect
                .fastest
                .last()
                .map_or(on.way.step_s, |f| f.step_s);
        let [mut path, mut usable] = [Vec::new(), Vec::new()];
        for _ in 0..HORIZON_ROUNDS {
            self.foretell(on, horizon_s, &mut path);
            forecast::usable(&path, situation.prospect.gpus, boot_s, &mut usable);
            let steps = reaction::worth::steps(&Prospect {
                path: &usable,
                ..situation.prospect
            });
            if steps <= 0.0 || !horizon_s.is_finite() || (steps / left - 1.0).abs() < HORIZON_ERROR
            {
                break;
            }
            horizon_s *= left / steps;
        }
        situation.prospect.path = &usable;
        reacting.reaction.next(&situation)
    }

    /// How many GPUs there will be, as far as the work that is left needs it.
    fn foretell(&self, on: PlanWithTerms<'_>, horizon_s: f64, path: &mut Vec<SpanOf>) {
        path.clear();
        let losses = on.terms.spot.as_ref().map(|spot| &spot.losses);
        let (Some(capacity), Some(losses @ Losses::Trace(trace))) = (&self.capacity, losses) else {
            // Where VMs can always be had, there will be those that were asked for.
            path.push(SpanOf {
                seconds: horizon_s.max(1.0),
                gpus: self.vms.gpus(SimTime::LAST),
            });
            return;
        };
        on.terms.reacting.forecast.foretell(
            &MarketView {
                capacity,
                losses,
                trace,
                now_s: self.now.seconds(),
                horizon_s: horizon_s.max(1.0),
                training: self.forming.training.as_ref(),
            },
            path,
        );
    }

    /// What moves when a formation takes over from the last.
    fn moves(&self, on: PlanWithTerms<'_>, next: Formation, adds: bool) -> Moves {
        let way = &on.choices.ways[next.at];
        let layers = on.choices.formed(&way.draft).profile.layers;
        let stages = way.draft.pipeline;
        let is_same_plan = self.forming.now.is_some_and(|now| now.at == next.at);
        let builds = adds || !is_same_plan;
        Moves {
            data: next.replicas,
            pipeline: stages,
            layers: if builds { layers.div_ceil(stages) } else { 0 },
            bytes: if builds {
                way.state_bytes / f64::from(stages)
            } else {
                0.0
            },
            adds,
        }
    }

    fn change_to(&mut self, on: PlanWithTerms<'_>, next: Formation) {
        let last = self.forming.now;
        let was_broken = std::mem::take(&mut self.forming.is_broken);
        if last == Some(next) && !was_broken {
            return;
        }
        if let Some(last) = last
            && on.terms.reacting.reaction.goes_on()
        {
            let adds = next.at == last.at && next.replicas > last.replicas
                || next.at != last.at
                    && on.choices.ways[next.at].draft.gpus()
                        > on.choices.ways[last.at].draft.gpus()
                || last.doubled.is_some() && next.doubled.is_none();
            let moves = self.moves(on, next, adds);
            // A pause that was broken off is begun anew.
            self.forming.pause_s = on.terms.reacting.costs.pause_s(&moves);
            self.note(
                (self.now, self.now),
                Track::Job,
                LogEvent::Replicas(next.replicas),
            );
        }
        if on.terms.reacting.reaction == Reaction::RePlan {
            let is_other = self.forming.whole.is_none_or(|whole| whole.at != next.at);
            let layout = NodeLayout::from_plan(on.choices, next.at);
            self.forming.other = is_other.then_some(layout);
            self.deal();
        }
        self.forming.now = Some(next);
    }

    /// When VMs come that the job uses at once, or there are more to be had.
    pub(super) fn next_offer(&self, on: PlanWithTerms<'_>) -> SimTime {
        if !on.terms.reacting.reaction.goes_on() {
            return SimTime::LAST;
        }
        self.vms.next_runs(self.now).min(self.more_at(on))
    }

    /// When there are more or fewer spot VMs to be had; never, for who rents on demand.
    fn more_at(&self, on: PlanWithTerms<'_>) -> SimTime {
        let capacity = self.capacity.as_ref().filter(|_| on.way.on_spot);
        capacity.map_or(SimTime::LAST, Capacity::changes_at)
    }

    /// Meets what changed so far while nobody held spot VMs.
    fn catch_up(&mut self, terms: &Terms) {
        if let (Some(capacity), Some(spot)) = (&mut self.capacity, &terms.spot) {
            while capacity.changes_at() <= self.now {
                capacity.go_on(&spot.losses);
            }
        }
    }

    /// Asks for what is missing, as far as there is some; whether there is not.
    fn request(&mut self, on: PlanWithTerms<'_>, boot: &Pause) -> bool {
        let capacity = self.capacity.as_ref().filter(|_| on.way.on_spot);
        let mut free = capacity.map_or(u32::MAX, |now| {
            now.gpus.saturating_sub(self.vms.gpus(SimTime::LAST))
        });
        let law = on.spot().and_then(|spot| spot.losses.lifetime());
        let mut is_short = false;
        for &(vm, count) in &on.way.nodes {
            let (gpus, vm_type) = on.choices.vm_types[usize::from(vm)];
            // Who re-plans takes as many as the largest of the fastest plans uses.
            let most = self.forming.fastest.as_ref().and_then(|all| all.last());
            let count = most.map_or(count, |most| (most.gpus / gpus.max(1)).max(count));
            let before = self.vms.count(vm);
            let mut taken = 0;
            for _ in before..count {
                if free < gpus {
                    is_short = true;
                    break;
                }
                free -= gpus;
                taken += 1;
                let wanted = VmRequest {
                    vm,
                    vm_type,
                    market: vm,
                    on_spot: on.way.on_spot,
                };
                let now = self.now;
                let boot = self.boot(on, boot);
                let asked = self.provider.request(&wanted, &boot, law, now);
                let failures_h = match (&mut self.failing, &on.terms.failures) {
                    (Some(failing), Some(failures)) => {
                        failing.of_machine_h(failures, gpus, asked.number)
                    }
                    _ => 0.0,
                };
                let held = HeldVm {
                    vm: asked,
                    node: self.forming.free.pop(),
                    gpus,
                    failures_h,
                };
                self.vms.push(held);
                self.note_request(Track::Vm(asked.number), vm, asked.runs);
            }
            self.ledger.add_vms(vm, taken, self.now);
        }
        self.watch(on.terms);
        is_short
    }

    /// Until a VM that is asked for runs: a spare is there at once, and is asked for anew.
    fn boot(&mut self, on: PlanWithTerms<'_>, boot: &Pause) -> Pause {
        // At the start of a job no spare is used up.
        let is_start = self.forming.now.is_none();
        let Some(first) = (0..self.spares.len()).min_by_key(|n| self.spares[*n]) else {
            return *boot;
        };
        if is_start {
            return *boot;
        }
        let ready = self.spares[first].max(self.now);
        let anew = SimTime::from_seconds(boot.mean_s());
        self.spares[first] = self.now + anew;
        Pause::Fixed(ready - self.now + on.terms.reacting.swap)
    }
}
