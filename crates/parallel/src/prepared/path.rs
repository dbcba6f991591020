//! The critical path of one pipeline: when each stage has finished its last operation. A stage has two clocks: the host
//! launches passes one after another without waiting for messages; the GPU computes a pass once it is launched and all
//! earlier ones are done.

use std::collections::VecDeque;

use super::{PreparedPlan, StageCost};
use crate::runtime::Activations;
use crate::schedule::{Exchange, Operation, Rounds, StageOrder};

/// Differences below this share of the time are rounding.
const ROUNDING: f64 = 1e-13;

#[derive(Debug, Clone, Default)]
pub struct PathScratch {
    /// Costs of the stages of the current pipeline.
    pub(super) costs: Vec<StageCost>,
    clocks: Vec<Clock>,
    /// Per stage: the order of its operations, their number, and the rounds in it.
    orders: Vec<(StageOrder, u32)>,
    rounds: Vec<[Rounds; 2]>,
    before: Vec<Clock>,
    /// Per stage: messages in flight to the next stage, and to the one before.
    under_way: Vec<[MessageWay; 2]>,
    /// Per stage, over all pipelines so far.
    pub(super) met: Vec<StageCompletion>,
    /// Per pipeline and stage: when it ended, if that is recorded.
    pub(super) ended: Vec<f64>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StageCompletion {
    pub(super) end: f64,
    /// When all have their first bucket of gradients.
    pub(super) first_bucket: f64,
    pub(super) update: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Clock {
    gpu: f64,
    host: f64,
    next: u32,
    /// Whether the GPU waited for the host in this round.
    late: bool,
    waits: bool,
    /// Whether the message of the next operation is in flight.
    sent: bool,
}

#[derive(Debug, Clone, Default)]
struct MessageWay {
    free: f64,
    arrivals: VecDeque<f64>,
}

impl MessageWay {
    fn send(&mut self, at: f64, seconds: f64) {
        self.free = self.free.max(at) + seconds;
        self.arrivals.push_back(self.free);
    }
}

impl PathScratch {
    pub(super) fn begin(&mut self, stages: usize) {
        self.met.clear();
        self.met.resize(stages, StageCompletion::default());
    }

    pub(super) fn end(&self, stage: usize) -> f64 {
        self.clocks[stage].gpu
    }

    /// Whether a round equals the one before, every stage `by` later; hosts that are not late may fall behind less.
    fn repeats(&self) -> Option<f64> {
        let mut pairs = self.clocks.iter().zip(&self.before);
        let by = self.clocks.first()?.gpu - self.before.first()?.gpu;
        let same = pairs.all(|(now, then)| {
            let rounding = now.gpu * ROUNDING;
            let host = now.host - then.host;
            (now.gpu - then.gpu - by).abs() <= rounding
                && (host - by <= rounding)
                && (!now.late || (host - by).abs() <= rounding)
        });
        same.then_some(by)
    }

    /// Skips `rounds` rounds of `every` operations each, which would all equal the last.
    fn skip(&mut self, rounds: u32, by: f64, mut every: impl FnMut(usize) -> u32) {
        let times = f64::from(rounds);
        for (stage, (now, then)) in self.clocks.iter_mut().zip(&self.before).enumerate() {
            now.host += times * (now.host - then.host);
            now.gpu += times * by;
            now.next += rounds * every(stage);
        }
    }
}

impl PreparedPlan {
    /// Adds the results of the last pipeline, which equals `lane`.
    pub(super) fn meet(&self, lane: usize, scratch: &mut PathScratch) {
        let stages = scratch
            .clocks
            .iter()
            .zip(&scratch.costs)
            .zip(&self.reductions);
        for (stage, (met, ((clock, cost), reduction))) in
            scratch.met.iter_mut().zip(stages).enumerate()
        {
            let last = self.last_backward(cost, (lane, stage));
            met.end = met.end.max(clock.gpu);
            met.first_bucket = met
                .first_bucket
                .max(reduction.first_bucket(clock.gpu, last));
            met.update = met.update.max(cost.update);
        }
    }

    /// Walks a pipeline like `lane` whose costs are in `scratch`, to its end.
    pub(super) fn walk(&self, lane: usize, scratch: &mut PathScratch) {
        let stages = self.stages();
        scratch.clocks.clear();
        scratch.clocks.resize(stages, Clock::default());
        scratch.orders.clear();
        scratch.orders.extend((0..stages).map(|stage| {
            let order = self.schedule.order(self.place(stage));
            (order, order.operations())
        }));
        let overlapped = self.activations == Activations::Overlapped;
        if overlapped {
            scratch.under_way.resize(stages, Default::default());
            for way in scratch.under_way.iter_mut().flatten() {
                way.free = 0.0;
                way.arrivals.clear();
            }
        }
        let mut rounds = std::mem::take(&mut scratch.rounds);
        rounds.clear();
        rounds.extend((0..stages).map(|stage| self.schedule.rounds(self.place(stage))));
        #[expect(clippy::needless_range_loop, reason = "a phase of all stages")]
        for phase in 0..2 {
            let count = rounds[0][phase].count;
            // Messages in flight are part of the repeated state: with them, all rounds are walked.
            if count < 2 || overlapped {
                continue;
            }
            let until = |stage: usize, round: u32| {
                let own = &rounds[stage][phase];
                own.first + round * own.every
            };
            self.advance(lane, scratch, |stage| until(stage, 0));
            for round in 1..=count {
                scratch.before.clone_from(&scratch.clocks);
                for clock in &mut scratch.clocks {
                    clock.late = false;
                }
                self.advance(lane, scratch, |stage| until(stage, round));
                if let Some(by) = scratch.repeats() {
                    scratch.skip(count - round, by, |stage| rounds[stage][phase].every);
                    break;
                }
            }
        }
        scratch.rounds = rounds;
        self.advance(lane, scratch, |_| u32::MAX);
    }

    /// Advances every stage through its operations up to number `until(stage)`, which does not depend on later ones of others.
    fn advance(&self, lane: usize, scratch: &mut PathScratch, until: impl Fn(usize) -> u32) {
        loop {
            let mut moved = false;
            for stage in 0..self.stages() {
                let (order, operations) = scratch.orders[stage];
                let until = until(stage).min(operations);
                while scratch.clocks[stage].next < until {
                    let cost = scratch.costs[stage];
                    let number = scratch.clocks[stage].next;
                    let clock = &mut scratch.clocks[stage];
                    let waited = clock.waits;
                    let operation = order.operation(number);
                    let done = match operation {
                        Operation::Next(exchange) => self.next(scratch, stage, exchange),
                        Operation::Previous(exchange) => self.previous(scratch, stage, exchange),
                        _ => match self.pass(&cost, (lane, stage), operation) {
                            Some(pass) => clock.pass(pass.seconds, pass.busy),
                            None => true,
                        },
                    };
                    if !done {
                        // A stage that begins to wait unblocks the other one.
                        moved |= !waited && scratch.clocks[stage].waits;
                        break;
                    }
                    scratch.clocks[stage].next += 1;
                    moved = true;
                }
            }
            if !moved {
                return;
            }
        }
    }

    /// An exchange with the next stage; returns whether it was possible.
    fn next(&self, scratch: &mut PathScratch, stage: usize, exchange: Exchange) -> bool {
        let message = scratch.costs[stage].message;
        if self.activations == Activations::Overlapped {
            let (send, receive) = (exchange.activations, exchange.gradients);
            let back = (self.behind(stage), 1);
            return scratch.pass_on(stage, (stage, 0), back, (send, receive), message);
        }
        let [own, other] = &mut scratch.clocks[stage..stage + 2] else {
            return false;
        };
        if !other.waits {
            return false;
        }
        let done = own.gpu.max(other.gpu) + self.exchange_s(exchange.messages(), message);
        (own.gpu, other.gpu) = (done, done);
        other.waits = false;
        other.next += 1;
        true
    }

    /// An exchange with the previous stage; if both wait, that one does it.
    fn previous(&self, scratch: &mut PathScratch, stage: usize, exchange: Exchange) -> bool {
        if self.activations == Activations::Overlapped {
            let before = self.before(stage);
            let message = scratch.costs[before].message;
            let (send, receive) = (exchange.gradients, exchange.activations);
            return scratch.pass_on(stage, (stage, 1), (before, 0), (send, receive), message);
        }
        scratch.clocks[stage].waits = true;
        false
    }
}

impl Clock {
    fn pass(&mut self, seconds: f64, busy: f64) -> bool {
        self.host += seconds;
        let computed = self.gpu + busy;
        // The host is late itself, not because it and the GPU end together.
        self.late |= self.host > computed || seconds > busy && self.host == computed;
        self.gpu = computed.max(self.host);
        true
    }
}

impl PathScratch {
    /// Sends on `out` and waits for messages on `back`.
    fn pass_on(
        &mut self,
        stage: usize,
        out: (usize, usize),
        back: (usize, usize),
        (send, receive): (Option<u32>, Option<u32>),
        message: f64,
    ) -> bool {
        if !self.clocks[stage].sent && send.is_some() {
            let at = self.clocks[stage].gpu;
            self.under_way[out.0][out.1].send(at, message);
        }
        self.clocks[stage].sent = true;
        if receive.is_some() {
            let Some(at) = self.under_way[back.0][back.1].arrivals.pop_front() else {
                return false;
            };
            self.clocks[stage].gpu = self.clocks[stage].gpu.max(at);
        }
        self.clocks[stage].sent = false;
        true
    }
}
