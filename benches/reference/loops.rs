//! The reference loop, and its workload in the engine.
//!
//! - [`by_hand`]: the reference, the best discrete-event loop that was found for only one workload: K workers draw a
//!   log-normal compute time, a barrier, a constant communication time. Time and worker are one integer key; the times of a
//!   step are drawn at once, and the heap is made of them; draws are those of the engine.
//! - [`stepping`]: the workload as the engine sees it.
//! - [`Training`]: a job that trains it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use scavsim::job::Job;
use scavsim::rng::{LargestLogNormal, Purpose, Stream, Streams};
use scavsim::training::drift::DriftPath;
use scavsim::training::sync::fast::Pace;
use scavsim::training::sync::{Goal, Protocol};
use scavsim::training::variation::{Family, WorkerTime};
use scavsim::training::{Fidelity, Stepping, slowest};
use scavsim::units::SimTime;

/// σ of the logarithm of one worker's compute time; the mean is 1 s.
pub const SIGMA: f64 = 0.3;
/// Seconds of communication after each barrier.
pub const COMMUNICATION_S: f64 = 0.25;

/// Bits of a key that hold the worker; the time is above, in nanoseconds.
const WORKER_BITS: u32 = 11;
/// The key of the end of the communication.
const NOBODY: u64 = (1 << WORKER_BITS) - 1;

/// The draws of the engine.
pub fn compute() -> LargestLogNormal {
    LargestLogNormal::new(1, SIGMA).expect("a moderate sigma")
}

/// A draw on the clock.
#[inline]
pub fn nanoseconds(law: &LargestLogNormal, stream: &mut Stream) -> u64 {
    (law.sample(stream) * 1e9 + 0.5) as u64
}

/// Nanoseconds of communication after each barrier.
pub fn communication_ns() -> u64 {
    (COMMUNICATION_S * 1e9) as u64
}

/// The reference: trains `steps` steps on `workers` workers and returns the simulated seconds.
pub fn by_hand(law: &LargestLogNormal, workers: u32, steps: u64) -> f64 {
    assert!(u64::from(workers) < NOBODY);
    let mut stream = stream(Streams::new(1));
    let communication = communication_ns();
    let mut heap = BinaryHeap::with_capacity(workers as usize + 1);
    let (mut now, mut done) = (0, 0);
    while done < steps {
        heap.extend(
            (0..u64::from(workers)).map(|worker| {
                Reverse((now + nanoseconds(law, &mut stream)) << WORKER_BITS | worker)
            }),
        );
        let mut finished = 0;
        while let Some(Reverse(key)) = heap.pop() {
            now = key >> WORKER_BITS;
            if key & NOBODY == NOBODY {
                done += 1;
                break;
            }
            finished += 1;
            if finished == workers {
                heap.push(Reverse((now + communication) << WORKER_BITS | NOBODY));
            }
        }
    }
    now as f64 / 1e9
}

/// The workload of the reference as the engine sees it.
pub fn stepping(workers: u32) -> Stepping {
    let time = WorkerTime {
        sigma: SIGMA,
        straggler: None,
        family: Family::LogNormal,
    };
    Stepping {
        workers,
        worker_s: 1.0,
        communication_s: COMMUNICATION_S,
        time,
        slowest: slowest::moments(workers, time),
        machines: None,
    }
}

/// A job that trains the workload of the reference from time zero, again and again.
pub struct Training {
    streams: Streams,
    job: Job,
    stepping: Stepping,
    pace: Pace,
}

impl Training {
    /// A job in one fidelity.
    pub fn new(workers: u32, fidelity: Fidelity) -> Self {
        let streams = Streams::new(1);
        let stepping = stepping(workers);
        Training {
            streams,
            pace: Pace::new(Protocol::Bsp, &stepping),
            job: Job::new(fidelity, SimTime::ZERO, DriftPath::still(), streams),
            stepping,
        }
    }

    /// Trains `steps` steps, including the creation of the random stream, and returns the simulated seconds.
    pub fn run(&mut self, steps: u64) -> f64 {
        self.job.restart(DriftPath::still(), 0, None);
        let mut stream = stream(self.streams);
        self.job
            .stretch(
                &self.pace,
                &self.stepping,
                Goal::updates(steps),
                &mut stream,
            )
            .expect("a training without stops does not stall");
        self.job.now().seconds()
    }

    /// The expected seconds of a step.
    pub fn mean_step_s(&self) -> f64 {
        self.stepping.mean_step_s(1.0)
    }
}

/// A random stream.
pub fn stream(streams: Streams) -> Stream {
    streams.stream(0, Purpose::Trial(1))
}
