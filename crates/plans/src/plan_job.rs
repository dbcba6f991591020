//! A job on a parallel plan: VMs requested, training, checkpoints, losses and failures, and what the job does then.

mod failing;
mod form;
mod formation_state;
mod held;
mod losses;
mod train;

use failing::FailureClock;
use formation_state::FormationState;
use held::HeldVms;

use crate::Choices;
use crate::formation::Formation;
use crate::pace::PlanPace;
use crate::terms::{PlanWithTerms, Terms};
use std::ops::Range;

use scavsim_base::rng::{Streams, WorkloadKey};
use scavsim_base::units::SimTime;
use scavsim_data::usage::ledger::Ledger;
use scavsim_data::usage::{EndedBy, Phase, Usage};
use scavsim_engine::Interrupt;
use scavsim_sim::provider::{Capacity, Provider, Vm};
use scavsim_sim::training::UnfinishedJob;
use scavsim_sim::training::drift::DriftPath;
use scavsim_sim::training::log::{Entry, LogEvent, Track};

#[derive(Debug, Clone)]
pub struct PlanJob {
    provider: Provider,
    /// How many GPUs there are, where that is known: then the provider takes whatever is more.
    capacity: Option<Capacity>,
    interrupt: Interrupt,
    now: SimTime,
    ledger: Ledger,
    drift: DriftPath,
    /// The VMs held, in the order of requests.
    vms: HeldVms,
    failing: Option<FailureClock>,
    maintenance_at: SimTime,
    restarts: Restart,
    forming: FormationState,
    /// When each spare is ready: they are held beside.
    spares: Vec<SimTime>,
    held_spares: Option<HeldSpares>,
    next_spare: u32,
    pub log: Option<Vec<Entry>>,
}

/// What is held beside the plan from when it was asked for.
#[derive(Debug, Clone)]
struct HeldSpares {
    vm: u16,
    asked: SimTime,
    runs: SimTime,
    numbers: Range<u32>,
}

/// What all have to go on from before they train.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Restart {
    None,
    /// The last checkpoint.
    Storage,
    /// What the nodes beside those that went keep in memory.
    Memory,
}

/// The steps of what trains, made when they are asked for.
pub trait Paces {
    fn pace_of(&mut self, formation: Formation) -> &mut PlanPace;
}

impl PlanJob {
    pub fn new(
        choices: &Choices,
        terms: &Terms,
        streams: Streams,
        replica: u64,
        interrupt: Interrupt,
    ) -> PlanJob {
        let key = WorkloadKey::from_name(&choices.name);
        let losses = terms.spot.as_deref().map(|spot| &spot.losses);
        let capacity = losses
            .filter(|_| terms.is_capacity)
            .and_then(|losses| Capacity::new(losses, &streams, replica));
        let of_market = losses.filter(|_| capacity.is_none());
        PlanJob {
            provider: Provider::new(streams, replica, of_market),
            capacity,
            interrupt,
            now: SimTime::ZERO,
            ledger: Ledger::default(),
            drift: DriftPath::new(terms.variation.drift, streams, replica, key),
            vms: HeldVms::default(),
            failing: (terms.failures.as_ref()).map(|_| FailureClock::new(&streams, replica)),
            maintenance_at: (terms.failures.as_ref())
                .and_then(|failures| failures.maintenance)
                .map_or(SimTime::LAST, |(every, _)| every),
            restarts: Restart::None,
            forming: FormationState::default(),
            spares: Vec::new(),
            held_spares: None,
            next_spare: 0,
            log: None,
        }
    }

    pub fn now(&self) -> SimTime {
        self.now
    }

    pub fn usage_until(&self, end: SimTime, usage: &mut Usage) {
        self.ledger.usage_until(end, usage);
    }

    /// Holds the VMs of a plan, ready to train; those of another plan are kept as far as they are of use.
    pub fn hold(&mut self, on: PlanWithTerms<'_>) -> Result<(), UnfinishedJob> {
        let surplus = self.vms.take_surplus(|vm| on.vms_of(vm));
        for held in surplus {
            self.forming.free.extend(held.node);
            self.end(&held.vm, EndedBy::User);
        }
        self.ledger.resize_batch(on.way.draft.batch, self.now);
        self.hold_spares(on);
        self.meet_plan(on);
        self.forming.is_settled = false;
        self.form(on, &on.terms.start_up_of(on.way), on.way.calm_s())
    }

    /// Holds as many spares as the terms say, of the type of the plan's first VMs.
    fn hold_spares(&mut self, on: PlanWithTerms<'_>) {
        let (count, vm) = (
            on.terms.reacting.spares,
            on.way.nodes.first().map(|node| node.0),
        );
        let (Some(vm), None, true) = (vm, &self.held_spares, count > 0) else {
            return;
        };
        self.ledger.add_vms(vm, count, self.now);
        let boot = on.terms.start_up_of(on.way).mean_s();
        let (asked, runs) = (self.now, self.now + SimTime::from_seconds(boot));
        self.spares = vec![runs; count as usize];
        let numbers = self.next_spare..self.next_spare + count;
        self.next_spare = numbers.end;
        for track in numbers.clone().map(Track::Spare) {
            self.note_request(track, vm, runs);
        }
        self.held_spares = Some(HeldSpares {
            vm,
            asked,
            runs,
            numbers,
        });
    }

    pub fn release_all(&mut self) {
        for vm in self.vms.take_all() {
            self.end(&vm, EndedBy::User);
        }
        if let Some(failing) = &mut self.failing {
            failing.release_all();
        }
        // Nobody is a node of anything any more.
        self.forming = FormationState::default();
        self.spares.clear();
        if let Some(held) = self.held_spares.take() {
            for track in held.numbers.map(Track::Spare) {
                self.ledger
                    .end(held.vm, held.asked, self.now, EndedBy::User);
                self.note_gone((track, held.vm), (held.runs, self.now), EndedBy::User);
            }
        }
    }

    pub fn restart_before_training(&mut self) {
        self.restarts = Restart::Storage;
    }

    /// Passes so many seconds of training on what is held, for nothing but what they show.
    pub fn look(&mut self, seconds: f64, phase: Phase) {
        self.ledger.enter(phase, self.now);
        self.pass_until(self.now + SimTime::from_seconds(seconds), phase);
    }

    fn pass_until(&mut self, until: SimTime, phase: Phase) {
        let from = std::mem::replace(&mut self.now, until);
        if let Some(failing) = &mut self.failing {
            failing.pass((until - from).seconds());
        }
        self.ledger.enter(phase, until);
        self.note((from, until), Track::Job, LogEvent::Phase(phase));
    }

    fn note(&mut self, span: (SimTime, SimTime), track: Track, what: LogEvent) {
        if let Some(log) = &mut self.log {
            log.push(Entry::span(span, track, what));
        }
    }

    fn note_request(&mut self, track: Track, vm: u16, runs: SimTime) {
        self.note((self.now, self.now), track, LogEvent::Requested(vm));
        self.note((self.now, runs), track, LogEvent::Starting(vm));
    }

    fn end(&mut self, vm: &Vm, by: EndedBy) {
        self.end_at(vm, self.now, by);
    }

    fn end_at(&mut self, vm: &Vm, at: SimTime, by: EndedBy) {
        self.ledger.end(vm.vm, vm.asked, at, by);
        self.note_gone((Track::Vm(vm.number), vm.vm), (vm.runs, at), by);
    }

    fn note_gone(&mut self, vm: (Track, u16), ran: (SimTime, SimTime), by: EndedBy) {
        if let Some(log) = &mut self.log {
            log.extend(Entry::of_gone(vm, ran, by));
        }
    }

    /// VMs that are held run until `at`, for those who look on.
    pub fn note_still_running(&mut self, at: SimTime) {
        let Some(log) = &mut self.log else { return };
        let of_plan = self.vms.all().iter().map(|held| held.vm);
        let of_plan = of_plan.map(|vm| (Track::Vm(vm.number), vm.vm, vm.runs));
        let spares = self.held_spares.iter().flat_map(|held| {
            let tracks = held.numbers.clone().map(Track::Spare);
            tracks.map(|track| (track, held.vm, held.runs))
        });
        for (track, vm, runs) in of_plan.chain(spares).filter(|(.., runs)| *runs < at) {
            log.push(Entry::span((runs, at), track, LogEvent::Running(vm)));
        }
    }
}
