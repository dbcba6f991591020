//! The reference loop for other protocols: written by hand for one workload and one protocol each, without units, checks,
//! drift, mixed machines or figures other than the time. And the engine's versions.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use scavsim::engine::Queue;
use scavsim::rng::{LargestLogNormal, Stream, Streams};
use scavsim::training::drift::DriftPath;
use scavsim::training::progress::Event;
use scavsim::training::sync::{Goal, Protocol, Scratch};
use scavsim::training::{Floor, Log, Stepping};

use crate::reference::{WORKERS, communication_ns, compute, nanoseconds, stepping, stream};

/// Workers that no step of `backup` waits for.
pub const SPARE: u32 = 2;
/// Slack of `ssp`.
pub const SLACK: u32 = 3;
/// Seconds of an update on the server of `asp`: busy for half the time.
pub const SERVICE_S: f64 = 0.04;

/// Pending events and their draws: keys are nanoseconds, then the worker.
struct Loop {
    law: LargestLogNormal,
    stream: Stream,
    heap: BinaryHeap<Reverse<u64>>,
    now: u64,
    communication: u64,
}

/// Bits of a key that hold the worker.
const BITS: u32 = 4;
/// Array length of all workers.
const ALL: usize = WORKERS as usize;

impl Loop {
    fn new() -> Self {
        Loop {
            law: compute(),
            stream: stream(Streams::new(1)),
            heap: BinaryHeap::new(),
            now: 0,
            communication: communication_ns(),
        }
    }

    /// All workers begin together, and communicate after each step for `after`.
    fn begin(&mut self, after: u64) {
        let Loop {
            law, stream, now, ..
        } = self;
        let key = |worker| Reverse((*now + after + nanoseconds(law, stream)) << BITS | worker);
        self.heap.extend((0..u64::from(WORKERS)).map(key));
    }

    /// `worker` computes, from `delay` after now on.
    fn start(&mut self, worker: usize, delay: u64) {
        let compute = nanoseconds(&self.law, &mut self.stream);
        let key = (self.now + delay + compute) << BITS | worker as u64;
        self.heap.push(Reverse(key));
    }

    fn next(&mut self) -> Option<usize> {
        let Reverse(key) = self.heap.pop()?;
        self.now = key >> BITS;
        Some((key & ((1 << BITS) - 1)) as usize)
    }

    fn seconds(&self) -> f64 {
        self.now as f64 / 1e9
    }
}

/// `backup`: simulated seconds of `steps` steps.
pub fn backup(steps: u64) -> f64 {
    let mut at = Loop::new();
    for _ in 0..steps {
        at.begin(0);
        for _ in 0..WORKERS - SPARE {
            at.next();
        }
        at.heap.clear();
        at.now += at.communication;
    }
    at.seconds()
}

/// `ssp`: simulated seconds of `updates` updates.
pub fn ssp(updates: u64) -> f64 {
    let mut at = Loop::new();
    let mut done = [0u64; ALL];
    let mut waits = [false; ALL];
    let communication = at.communication;
    at.begin(communication);
    let (mut seen, mut least) = (0, 0);
    while let Some(worker) = at.next() {
        done[worker] += 1;
        seen += 1;
        if seen == updates {
            break;
        }
        if done[worker] - least > u64::from(SLACK) {
            waits[worker] = true;
        } else {
            at.start(worker, communication);
        }
        let slowest = done.iter().copied().min().unwrap_or(0);
        if slowest > least {
            least = slowest;
            for worker in 0..ALL {
                if waits[worker] && done[worker] - least <= u64::from(SLACK) {
                    waits[worker] = false;
                    at.start(worker, communication);
                }
            }
        }
    }
    at.seconds()
}

/// `asp` with one server: simulated seconds of `updates` updates.
pub fn asp(updates: u64) -> f64 {
    let mut at = Loop::new();
    let (communication, service) = (at.communication, (SERVICE_S * 1e9) as u64);
    let mut free = 0;
    at.begin(communication);
    for _ in 1..updates {
        let Some(worker) = at.next() else { break };
        free = at.now.max(free) + service;
        at.start(worker, free - at.now + communication);
    }
    at.next();
    (at.now.max(free) + service) as f64 / 1e9
}

/// The protocols in the engine, from time zero, again and again.
pub struct Engine {
    protocol: Protocol,
    stepping: Stepping,
    streams: Streams,
    queue: Queue<Event>,
    scratch: Scratch,
    log: Log,
}

impl Engine {
    /// The protocol as written in a scenario.
    pub fn new(sync: &str) -> Self {
        let mut file: std::collections::BTreeMap<String, Protocol> =
            toml::from_str(&format!("sync = {sync}")).expect("a protocol");
        Engine {
            protocol: file.remove("sync").expect("it is there"),
            stepping: stepping(WORKERS),
            streams: Streams::new(1),
            queue: Queue::new(),
            scratch: Scratch::default(),
            log: Log::default(),
        }
    }

    /// Simulated seconds of `updates` updates.
    pub fn run(&mut self, updates: u64) -> f64 {
        self.queue.reset();
        let mut network = DriftPath::still();
        let mut floor = Floor {
            queue: &mut self.queue,
            drift: &mut network,
            stepping: &self.stepping,
            stream: &mut stream(self.streams),
            scratch: &mut self.scratch,
            log: &mut self.log,
        };
        self.protocol
            .advance(&mut floor, Goal::updates(updates))
            .expect("a training without stops does not stall");
        self.queue.now().seconds()
    }
}
