//! The reference loop for other protocols: written by hand for one workload and one protocol each,
//! without units, checks, drift, unequal machines or figures besides the time. And what it is
//! compared with.

use std::collections::BinaryHeap;

use rand_distr::{Distribution, LogNormal};
use rand_pcg::Pcg64;

use rand::SeedableRng;
use scavsim::engine::Queue;
use scavsim::rng::Streams;
use scavsim::training::drift::DriftPath;
use scavsim::training::progress::Event;
use scavsim::training::sync::{Goal, Protocol, Scratch};
use scavsim::training::{Floor, Log, Stepping};

use crate::reference::{COMMUNICATION_S, Entry, SIGMA, WORKERS, stepping, stream};

/// Workers that no step of `backup` waits for.
pub const SPARE: u32 = 2;
/// Slack of `ssp`.
pub const SLACK: u32 = 3;
/// Seconds that the server of `asp` takes for an update: busy for half the time.
pub const SERVICE_S: f64 = 0.04;

/// Pending events and what draws them.
struct Loop {
    compute: LogNormal<f64>,
    streams: Vec<Pcg64>,
    heap: BinaryHeap<Entry>,
    sequence: u64,
    now_s: f64,
}

impl Loop {
    fn new() -> Self {
        Loop {
            compute: LogNormal::new(-0.5 * SIGMA * SIGMA, SIGMA).expect("a legal sigma"),
            streams: (0..u64::from(WORKERS)).map(Pcg64::seed_from_u64).collect(),
            heap: BinaryHeap::new(),
            sequence: 0,
            now_s: 0.0,
        }
    }

    /// `worker` computes, from `delay_s` after now on.
    fn start(&mut self, worker: u32, delay_s: f64) {
        let compute_s = self.compute.sample(&mut self.streams[worker as usize]);
        self.heap.push(Entry {
            time_s: self.now_s + delay_s + compute_s,
            sequence: self.sequence,
            worker,
        });
        self.sequence += 1;
    }

    fn next(&mut self) -> Option<u32> {
        let entry = self.heap.pop()?;
        self.now_s = entry.time_s;
        Some(entry.worker)
    }
}

/// `backup`: simulated seconds of `steps` steps.
pub fn backup(steps: u64) -> f64 {
    let mut at = Loop::new();
    for _ in 0..steps {
        for worker in 0..WORKERS {
            at.start(worker, 0.0);
        }
        for _ in 0..WORKERS - SPARE {
            at.next();
        }
        at.heap.clear();
        at.now_s += COMMUNICATION_S;
    }
    at.now_s
}

/// `ssp`: simulated seconds of `updates` updates.
pub fn ssp(updates: u64) -> f64 {
    let mut at = Loop::new();
    let mut done = [0u64; WORKERS as usize];
    let mut waits = [false; WORKERS as usize];
    for worker in 0..WORKERS {
        at.start(worker, COMMUNICATION_S);
    }
    let (mut seen, mut least) = (0, 0);
    while let Some(worker) = at.next() {
        done[worker as usize] += 1;
        seen += 1;
        if seen == updates {
            break;
        }
        if done[worker as usize] - least > u64::from(SLACK) {
            waits[worker as usize] = true;
        } else {
            at.start(worker, COMMUNICATION_S);
        }
        let slowest = done.iter().copied().min().unwrap_or(0);
        if slowest > least {
            least = slowest;
            for worker in 0..WORKERS {
                let i = worker as usize;
                if waits[i] && done[i] - least <= u64::from(SLACK) {
                    waits[i] = false;
                    at.start(worker, COMMUNICATION_S);
                }
            }
        }
    }
    at.now_s
}

/// `asp` with one server: simulated seconds of `updates` updates.
pub fn asp(updates: u64) -> f64 {
    let mut at = Loop::new();
    let mut free_s = 0.0f64;
    for worker in 0..WORKERS {
        at.start(worker, COMMUNICATION_S);
    }
    for _ in 1..updates {
        let Some(worker) = at.next() else { break };
        free_s = free_s.max(at.now_s) + SERVICE_S;
        at.start(worker, free_s - at.now_s + COMMUNICATION_S);
    }
    at.next();
    free_s.max(at.now_s) + SERVICE_S
}

/// The same in the engine, from time zero, again and again.
pub struct Engine {
    protocol: Protocol,
    stepping: Stepping,
    streams: Streams,
    queue: Queue<Event>,
    scratch: Scratch,
    log: Log,
}

impl Engine {
    /// By the protocol as a scenario writes it.
    pub fn new(sync: &str) -> Self {
        let mut file: std::collections::BTreeMap<String, Protocol> =
            toml::from_str(&format!("sync = {sync}")).expect("a protocol");
        Engine {
            protocol: file.remove("sync").expect("it is there"),
            stepping: stepping(),
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
