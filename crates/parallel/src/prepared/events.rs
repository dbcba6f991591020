//! A whole step, event by event. Every stage of every replica is a process: busy until an event, or waiting for the previous
//! or next stage, or for the other replicas of its stage.

use std::collections::VecDeque;

use super::{PassCost, PreparedPlan, Span, StageCost, Work};
use crate::runtime::Activations;
use crate::schedule::{Exchange, Operation, StageOrder};
use scavsim_base::units::SimTime;
use scavsim_engine::{Interrupt, Queue};

/// Memory for the events of a step, reused between steps.
#[derive(Debug, Clone, Default)]
pub struct Room {
    queue: Queue<StepEvent>,
    /// At `replica × stages + stage`.
    processes: Vec<Process>,
    /// Messages in flight from each process to the next stage, and to the one before.
    under_way: Vec<[ExchangeWay; 2]>,
    /// Per stage.
    meetings: Vec<ReplicaBarrier>,
    /// Per stage: the order of its operations.
    orders: Vec<StageOrder>,
}

impl Room {
    /// For steps that end early, without a result, once `interrupt` is raised.
    pub fn heeding(interrupt: Interrupt) -> Room {
        Room {
            queue: Queue::heeding(interrupt),
            ..Room::default()
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum StepEvent {
    Done(u32),
    /// A process and the one of the next stage have exchanged.
    Exchanged(u32),
    /// A message arrived: a process that waits for it continues, if it is the next one.
    Arrived(u32),
    Reduced(u32),
    Updated(u32),
}

#[derive(Debug, Clone, Copy, Default)]
struct Process {
    next: u32,
    /// When its host is idle.
    host: SimTime,
    /// Start of its current action.
    since: SimTime,
    /// Whether it waits for the other end of an exchange.
    waits: bool,
    sent: bool,
    last_backward: SimTime,
}

#[derive(Debug, Clone, Default)]
struct ExchangeWay {
    free: SimTime,
    arrivals: VecDeque<SimTime>,
}

#[derive(Debug, Clone, Copy, Default)]
struct ReplicaBarrier {
    there: u32,
    /// When all present replicas have their first bucket of gradients, in seconds.
    first_bucket: f64,
}

struct Step<'a, L, S> {
    plan: &'a PreparedPlan,
    room: &'a mut Room,
    luck: &'a mut L,
    on_span: S,
}

impl PreparedPlan {
    /// The timeline of one step without randomness, sorted by the ends of its pieces.
    pub fn timeline(&self) -> Vec<Span> {
        let mut spans = Vec::new();
        self.step_events(&mut |_| 1.0, &mut Room::default(), |span| spans.push(span));
        spans
    }

    /// Seconds of a step if each pass needs `luck(slot)` times as long; each piece of work is reported at its end.
    pub fn step_events(
        &self,
        luck: &mut impl FnMut(usize) -> f64,
        room: &mut Room,
        on_span: impl FnMut(Span),
    ) -> f64 {
        let slots = self.slots();
        room.queue.reset();
        room.processes.clear();
        room.processes.resize(slots, Process::default());
        room.orders.clear();
        let orders = (0..self.stages()).map(|stage| self.schedule.order(self.place(stage)));
        room.orders.extend(orders);
        room.meetings.clear();
        room.meetings
            .resize(self.stages(), ReplicaBarrier::default());
        if self.activations == Activations::Overlapped {
            room.under_way.resize(slots, Default::default());
            for way in room.under_way.iter_mut().flatten() {
                way.free = SimTime::ZERO;
                way.arrivals.clear();
            }
        }
        let mut step = Step {
            plan: self,
            room,
            luck,
            on_span,
        };
        for process in 0..slots {
            step.go_on(process);
        }
        while let Some(event) = step.room.queue.advance_until(SimTime::LAST) {
            step.handle(event);
        }
        step.room.queue.now().seconds()
    }
}

impl<L: FnMut(usize) -> f64, S: FnMut(Span)> Step<'_, L, S> {
    fn handle(&mut self, event: StepEvent) {
        match event {
            StepEvent::Done(process) => {
                let process = process as usize;
                let operation = self.operation(process);
                let (work, micro_batch) = match operation {
                    Some(Operation::Forward(m)) => (Work::Forward, m),
                    Some(Operation::Backward(m)) => (Work::Backward, m),
                    Some(Operation::Weights(m)) => (Work::Weights, m),
                    // No other operation is local.
                    _ => return,
                };
                self.tell(process, work, micro_batch % self.plan.micro_batches);
                self.ended(process);
            }
            StepEvent::Exchanged(process) => {
                for (process, work) in [(process, Work::Send), (process + 1, Work::Receive)] {
                    let process = process as usize;
                    if let Some(Operation::Next(e) | Operation::Previous(e)) =
                        self.operation(process)
                    {
                        self.tell(process, work, e.activations.or(e.gradients).unwrap_or(0));
                    }
                    self.ended(process);
                }
            }
            StepEvent::Arrived(process) => {
                if self.room.processes[process as usize].waits {
                    self.go_on(process as usize);
                }
            }
            StepEvent::Reduced(stage) => {
                for replica in 0..self.plan.replicas() {
                    let process = replica * self.plan.stages() + stage as usize;
                    if self.plan.replicas() > 1 {
                        self.tell(process, Work::Reduce, 0);
                    }
                    let own = &mut self.room.processes[process];
                    own.since = self.room.queue.now();
                    let update = self.cost(process).update * (self.luck)(process);
                    let (delay, event) = (
                        SimTime::from_seconds(update),
                        StepEvent::Updated(process as u32),
                    );
                    self.room.queue.after(delay, event);
                }
            }
            StepEvent::Updated(process) => self.tell(process as usize, Work::Update, 0),
        }
    }

    fn cost(&self, process: usize) -> StageCost {
        let stages = self.plan.stages();
        let lane = self.plan.lane_of[process / stages] as usize;
        self.plan.lanes[lane][process % stages]
    }

    fn operation(&self, process: usize) -> Option<Operation> {
        let order = &self.room.orders[process % self.plan.stages()];
        let number = self.room.processes[process].next;
        (number < order.operations()).then(|| order.operation(number))
    }

    fn tell(&mut self, process: usize, work: Work, micro_batch: u32) {
        let stages = self.plan.stages();
        (self.on_span)(Span {
            replica: (process / stages) as u32,
            stage: (process % stages) as u32,
            work,
            micro_batch,
            start_s: self.room.processes[process].since.seconds(),
            end_s: self.room.queue.now().seconds(),
        });
    }

    fn ended(&mut self, process: usize) {
        let own = &mut self.room.processes[process];
        own.next += 1;
        own.waits = false;
        self.go_on(process);
    }

    /// Begins the next operation of a process, unless something blocks it.
    fn go_on(&mut self, process: usize) {
        loop {
            let now = self.room.queue.now();
            match self.operation(process) {
                Some(
                    operation @ (Operation::Forward(_)
                    | Operation::Backward(_)
                    | Operation::Weights(_)),
                ) => {
                    let stages = self.plan.stages();
                    let lane = self.plan.lane_of[process / stages] as usize;
                    let cost = &self.plan.lanes[lane][process % stages];
                    let at = (lane, process % stages);
                    if let Some(pass) = self.plan.pass(cost, at, operation) {
                        self.pass(process, pass);
                    }
                    return;
                }
                Some(Operation::Next(Exchange::NOTHING)) => self.room.processes[process].next += 1,
                Some(operation @ (Operation::Next(exchange) | Operation::Previous(exchange))) => {
                    let is_ahead = matches!(operation, Operation::Next(_));
                    if self.plan.activations == Activations::Overlapped {
                        if !self.pass_on(process, exchange, is_ahead) {
                            return;
                        }
                        continue;
                    }
                    let other = if is_ahead { process + 1 } else { process - 1 };
                    let is_met = match self.operation(other) {
                        Some(Operation::Previous(_)) => is_ahead,
                        Some(Operation::Next(_)) => !is_ahead,
                        _ => false,
                    };
                    self.room.processes[process].waits = true;
                    if is_met && self.room.processes[other].waits {
                        self.exchange(process.min(other), exchange);
                    }
                    return;
                }
                None => {
                    self.room.processes[process].since = now;
                    self.meet(process);
                    return;
                }
            }
        }
    }

    fn pass(&mut self, process: usize, PassCost { seconds, busy }: PassCost) {
        let luck = (self.luck)(process);
        let now = self.room.queue.now();
        let own = &mut self.room.processes[process];
        own.host += SimTime::from_seconds(seconds * luck);
        let end = (now + SimTime::from_seconds(busy * luck)).max(own.host);
        own.since = now;
        // Only that of the last pass remains.
        own.last_backward = SimTime::from_seconds(seconds * luck);
        self.room
            .queue
            .after(end - now, StepEvent::Done(process as u32));
    }

    fn exchange(&mut self, process: usize, exchange: Exchange) {
        let now = self.room.queue.now();
        for end in [process, process + 1] {
            self.room.processes[end].since = now;
            // It is in progress, and must not begin again.
            self.room.processes[end].waits = false;
        }
        let seconds = self
            .plan
            .exchange_s(exchange.messages(), self.cost(process).message);
        self.room.queue.after(
            SimTime::from_seconds(seconds),
            StepEvent::Exchanged(process as u32),
        );
    }

    /// Sends without waiting to the next stage, or to the one before, and receives from there; returns whether the message has arrived.
    fn pass_on(&mut self, process: usize, exchange: Exchange, is_ahead: bool) -> bool {
        let (activations, gradients) = (exchange.activations, exchange.gradients);
        let stage = process % self.plan.stages();
        let (other, out, send, receive) = if is_ahead {
            (self.plan.behind(stage), 0, activations, gradients)
        } else {
            (self.plan.before(stage), 1, gradients, activations)
        };
        let other = process - stage + other;
        let message = self.cost(if is_ahead { process } else { other }).message;
        let now = self.room.queue.now();
        if !self.room.processes[process].sent && send.is_some() {
            let way = &mut self.room.under_way[process][out];
            way.free = way.free.max(now) + SimTime::from_seconds(message);
            let is_awaited = way.arrivals.is_empty() && self.room.processes[other].waits;
            way.arrivals.push_back(way.free);
            // A process that does not wait for it looks when it needs it.
            if is_awaited {
                let delay = way.free - now;
                self.room
                    .queue
                    .after(delay, StepEvent::Arrived(other as u32));
            }
        }
        self.room.processes[process].sent = true;
        if receive.is_some() {
            let arrivals = &mut self.room.under_way[other][1 - out].arrivals;
            match arrivals.front() {
                Some(at) if *at <= now => {
                    arrivals.pop_front();
                }
                front => {
                    if let Some(at) = front {
                        let event = StepEvent::Arrived(process as u32);
                        self.room.queue.after(*at - now, event);
                    }
                    self.room.processes[process].waits = true;
                    return false;
                }
            }
        }
        let own = &mut self.room.processes[process];
        own.sent = false;
        own.waits = false;
        own.next += 1;
        true
    }

    /// A process has finished its last operation: the last replica of its stage starts the reduction of gradients.
    fn meet(&mut self, process: usize) {
        let stage = process % self.plan.stages();
        let now = self.room.queue.now().seconds();
        let last = self.room.processes[process].last_backward.seconds();
        let reduction = self.plan.reductions[stage];
        let first = reduction.first_bucket(now, last);
        let meeting = &mut self.room.meetings[stage];
        meeting.there += 1;
        meeting.first_bucket = meeting.first_bucket.max(first);
        if meeting.there < self.plan.lane_of.len() as u32 {
            return;
        }
        let done = self.plan.reduced(reduction, now, meeting.first_bucket) - now;
        let delay = SimTime::from_seconds(done);
        self.room
            .queue
            .after(delay, StepEvent::Reduced(stage as u32));
    }
}
