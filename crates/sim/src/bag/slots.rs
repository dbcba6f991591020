use std::collections::VecDeque;

use super::vms::BagVmUsage;
use super::{Bag, BagSize, Loss};
use crate::engine::{Interrupt, Queue};
use crate::provider::{Provider, Vm};
use crate::training::log::Entry;
use scavsim_base::rng::{Purpose, Stream, Streams, WorkloadKey};
use scavsim_base::units::SimTime;
use scavsim_data::usage::Phase;

/// A job on a bag, which goes on from one run to the next: what is drawn for it, and the VMs that it held.
#[derive(Debug, Clone)]
pub struct BagJob {
    pub(super) provider: Provider,
    pub(super) jobs: Stream,
    pub(super) notice: Stream,
    /// Which VM is lost, in which attempt, at which moment.
    pub(super) hits: Stream,
    /// How many of the losses at given times have passed.
    pub(super) passed: usize,
    pub held: BagVmUsage,
}

impl BagJob {
    pub fn new(bag: &Bag, name: &str, streams: &Streams, replica: u64) -> BagJob {
        let key = WorkloadKey::from_name(name);
        let losses = match &bag.loss {
            Loss::Together(losses) => Some(losses),
            _ => None,
        };
        BagJob {
            provider: Provider::new(*streams, replica, losses),
            jobs: streams.stream(replica, Purpose::BagJobs(key)),
            notice: streams.stream(replica, Purpose::BagNotice(key)),
            hits: streams.stream(replica, Purpose::BagLosses(key)),
            passed: 0,
            held: BagVmUsage::default(),
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum BagEvent {
    Ready(u32),
    /// An attempt of a slot is over: its job is done, or its loss is noticed.
    Over(u32, u32),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    pub(super) state: State,
    pub(super) has_vms: bool,
    pub(super) attempt: u32,
    /// When the last began.
    pub(super) began: SimTime,
    /// Time of its job over the mean.
    pub(super) factor: f64,
    pub(super) is_lost: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing to do: no job is left for the slot, and none will come, for what is lost elsewhere runs again there.
    Idle,
    /// The slot is about to take a job.
    Waits,
    /// The slot has looked which of its VMs to keep, and waits for others.
    Boots,
    Runs,
}

#[derive(Debug, Default)]
pub struct Run {
    pub(super) queue: Queue<BagEvent>,
    pub(super) slots: Vec<Slot>,
    /// VMs of the slots, as many for each.
    pub(super) vms: Vec<Vm>,
    /// VMs without work, and since when.
    pub(super) spares: VecDeque<(Vm, SimTime)>,
    /// Factors of lost jobs that are to be run again.
    pub(super) again: Vec<f64>,
    /// Slots of the VMs that a strike may take, and the places of these; spares behind.
    pub(super) alive: Vec<(Option<u32>, usize)>,
    /// Jobs that may be submitted.
    pub(super) most: u32,
    pub(super) submitted: u32,
    pub(super) done: u32,
    pub(super) lost_since_done: u32,
    /// Attempts where some are drawn to be lost, and how many were.
    pub(super) attempts: u64,
    pub(super) drawn: u32,
    pub(super) began: SimTime,
    pub log: Option<Vec<Entry>>,
}

#[derive(Debug, Clone, Copy)]
pub struct BagRunSpec<'a> {
    pub bag: &'a Bag,
    pub size: &'a BagSize,
    pub on_spot: bool,
    pub phase: Phase,
}

impl BagRunSpec<'_> {
    /// What lost work counts as: that of a search is the search's.
    pub(super) fn lost_phase(&self) -> Phase {
        if self.phase == Phase::Training {
            Phase::Lost
        } else {
            self.phase
        }
    }
}

impl Run {
    pub fn new(interrupt: &Interrupt) -> Run {
        Run {
            queue: Queue::heeding(interrupt.clone()),
            ..Run::default()
        }
    }

    pub(super) fn begin(&mut self, of: &BagRunSpec<'_>, from: SimTime) {
        let size = of.size;
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
        (self.submitted, self.done) = (0, 0);
        (self.lost_since_done, self.began) = (0, from);
        (self.attempts, self.drawn) = (0, 0);
    }

    /// Jobs that nobody runs yet.
    pub(super) fn pending(&self) -> usize {
        self.most.saturating_sub(self.submitted) as usize + self.again.len()
    }

    pub(super) fn places(size: &BagSize, slot: u32) -> std::ops::Range<usize> {
        let each = size.vms_per_job as usize;
        slot as usize * each..(slot as usize + 1) * each
    }
}
