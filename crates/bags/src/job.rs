use std::collections::VecDeque;

use crate::{Bag, BagSize, Loss};
use scavsim_base::rng::{Purpose, Stream, Streams, WorkloadKey};
use scavsim_base::units::SimTime;
use scavsim_data::usage::{Phase, UsageJournal, VmInterval};
use scavsim_engine::{Interrupt, Queue};
use scavsim_sim::provider::{Provider, Vm};
use scavsim_sim::training::log::Entry;

/// A job on a bag, which goes on from one run to the next: what is drawn for it, the VMs that it held, and the state of a run.
#[derive(Debug, Clone)]
pub struct BagJob {
    pub(crate) provider: Provider,
    pub(crate) jobs: Stream,
    pub(crate) notice: Stream,
    /// Which VM is lost, in which attempt, at which moment.
    pub(crate) hits: Stream,
    /// How many of the losses at given times have passed since the run began.
    pub(crate) passed: usize,
    pub held: UsageJournal,
    /// When the last run ended.
    pub now: SimTime,
    pub(crate) queue: Queue<BagEvent>,
    pub(crate) slots: Vec<Slot>,
    /// VMs of the slots, as many for each.
    pub(crate) vms: Vec<Vm>,
    /// VMs without work, and since when.
    pub(crate) spares: VecDeque<(Vm, SimTime)>,
    /// Factors of lost jobs that are to be run again.
    pub(crate) again: Vec<f64>,
    /// Slots of the VMs that a strike may take, and the places of these; spares behind.
    pub(crate) alive: Vec<(Option<u32>, usize)>,
    /// Jobs that may be submitted.
    pub(crate) most: u32,
    pub(crate) submitted: u32,
    pub(crate) done: u32,
    pub(crate) lost_since_done: u32,
    /// Attempts where some are drawn to be lost, and how many were.
    pub(crate) attempts: u64,
    pub(crate) drawn: u32,
    pub(crate) began: SimTime,
    pub log: Option<Vec<Entry>>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum BagEvent {
    Ready(u32),
    /// An attempt of a slot is over: its job is done, or its loss is noticed.
    Over(u32, u32),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    pub(crate) state: State,
    pub(crate) has_vms: bool,
    pub(crate) attempt: u32,
    /// When the last began.
    pub(crate) began: SimTime,
    /// Time of its job over the mean.
    pub(crate) factor: f64,
    pub(crate) is_lost: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing to do: no job is left for the slot, and none will come, for what is lost elsewhere runs again there.
    Idle,
    /// The slot is about to take a job.
    Waits,
    /// The slot has looked which of its VMs to keep, and waits for others.
    Boots,
    Runs,
}

#[derive(Debug, Clone, Copy)]
pub struct BagRunSpec<'a> {
    pub bag: &'a Bag,
    pub size: &'a BagSize,
    pub on_spot: bool,
    /// VM type of the head node.
    pub head: Option<u16>,
    pub phase: Phase,
}

impl BagRunSpec<'_> {
    /// What lost work counts as: that of a search is the search's.
    pub(crate) fn lost_phase(&self) -> Phase {
        if self.phase == Phase::Training {
            Phase::Lost
        } else {
            self.phase
        }
    }
}

impl BagJob {
    pub fn new(
        bag: &Bag,
        name: &str,
        streams: &Streams,
        replica: u64,
        interrupt: &Interrupt,
    ) -> BagJob {
        let key = WorkloadKey::from_name(name);
        let losses = match &bag.loss {
            Loss::Preemption(losses) => Some(losses),
            _ => None,
        };
        BagJob {
            provider: Provider::new(*streams, replica, losses),
            jobs: streams.stream(replica, Purpose::BagJobs(key)),
            notice: streams.stream(replica, Purpose::BagNotice(key)),
            hits: streams.stream(replica, Purpose::BagLosses(key)),
            passed: 0,
            held: UsageJournal::default(),
            now: SimTime::ZERO,
            queue: Queue::heeding(interrupt.clone()),
            slots: Vec::new(),
            vms: Vec::new(),
            spares: VecDeque::new(),
            again: Vec::new(),
            alive: Vec::new(),
            most: 0,
            submitted: 0,
            done: 0,
            lost_since_done: 0,
            attempts: 0,
            drawn: 0,
            began: SimTime::ZERO,
            log: None,
        }
    }

    pub(crate) fn begin(&mut self, of: BagRunSpec<'_>) {
        let (size, from) = (of.size, self.now);
        self.queue.reset();
        self.queue.rest_until(from);
        self.slots.clear();
        self.slots.resize(
            size.parallel_jobs as usize,
            Slot {
                state: State::Waits,
                has_vms: false,
                attempt: 0,
                began: from,
                factor: 1.0,
                is_lost: false,
            },
        );
        let none = Vm {
            number: 0,
            vm: size.vm,
            asked: from,
            runs: from,
            lost: SimTime::LAST,
        };
        self.vms.clear();
        self.vms.resize(size.vms() as usize, none);
        self.spares.clear();
        self.again.clear();
        (self.submitted, self.done, self.passed) = (0, 0, 0);
        (self.lost_since_done, self.began) = (0, from);
        (self.attempts, self.drawn) = (0, 0);
    }

    /// Holds VMs of a type from one moment to another for the phase of the run alone.
    pub(crate) fn hold(&mut self, phase: Phase, vms: (u16, u32), from: SimTime, to: SimTime) {
        let held = VmInterval::given_back(vms, from, to.max(from));
        self.held.hold(held, Phase::Waiting, 0);
        self.held.work(phase, vms, (from, to));
    }

    /// Jobs that nobody runs yet.
    pub(crate) fn pending(&self) -> usize {
        self.most.saturating_sub(self.submitted) as usize + self.again.len()
    }

    pub(crate) fn places(size: &BagSize, slot: u32) -> std::ops::Range<usize> {
        let each = size.vms_per_job as usize;
        slot as usize * each..(slot as usize + 1) * each
    }
}
