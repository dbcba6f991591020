//! The event loop compared with other simulators, on equal draws: K workers compute, the last one begins a communication of
//! constant time, and all begin again.
//!
//! `cargo bench -p scavsim-peers`. All agree on the simulated time, to the rounding of their clocks; it is checked.

// The ratios of the paths use all of both.
#[allow(dead_code)]
#[path = "../../reference/loops.rs"]
mod loops;
#[allow(dead_code)]
#[path = "../../table/mod.rs"]
mod table;

mod desque_loop;
mod nexosim_loop;
mod simcore_loop;

use std::hint::black_box;

use scavsim::rng::{LargestLogNormal, Stream, Streams};
use scavsim::training::Fidelity;
use table::{Goal, Path};

/// The source of draws of every peer.
pub struct Luck {
    law: LargestLogNormal,
    stream: Stream,
}

impl Luck {
    fn new() -> Self {
        Luck {
            law: loops::compute(),
            stream: loops::stream(Streams::new(1)),
        }
    }

    /// A worker's compute time.
    fn nanoseconds(&mut self) -> u64 {
        loops::nanoseconds(&self.law, &mut self.stream)
    }
}

/// Number of workers, and the goals relative to the loop by hand and to desque.
const SIZES: [(u32, f64, f64); 4] = [
    (4, 0.9, 0.9),
    (16, 0.7, 0.6),
    (64, 0.6, 0.6),
    (1024, 0.55, 0.45),
];

fn main() {
    let trial = !std::env::args().any(|a| a == "--bench");
    let (rounds, share) = if trial { (1, 100) } else { (9, 1) };
    let mut paths = Vec::new();
    for (workers, hand, desque) in SIZES {
        paths.extend(size(paths.len(), workers, [hand, desque], share));
    }
    table::measure(&mut paths, rounds);
    table::header(rounds);
    table::print(&paths);
}

/// The paths of one size; the first is at place `first` of the table.
fn size(first: usize, workers: u32, goals: [f64; 2], share: u64) -> Vec<Path<'static>> {
    let steps = 320_000 / u64::from(workers) / share;
    let units = (steps * u64::from(workers), "worker-step");
    let law = loops::compute();
    let expected = loops::by_hand(&law, workers, steps);
    let mut event = loops::Training::new(workers, Fidelity::Event);
    let mut again = loops::Training::new(workers, Fidelity::Event);
    type Run = Box<dyn FnMut() -> f64>;
    let each: Vec<(&str, Goal, Run)> = vec![
        (
            "loop by hand",
            Goal::None,
            Box::new(move || loops::by_hand(&law, workers, steps)),
        ),
        (
            "desque 0.4",
            Goal::None,
            Box::new(move || desque_loop::run(workers, steps)),
        ),
        (
            "event",
            Goal::Ratio(goals[0], first),
            Box::new(move || event.run(steps)),
        ),
        (
            "event again",
            Goal::Ratio(goals[1], first + 1),
            Box::new(move || again.run(steps)),
        ),
        (
            "simcore 0.1",
            Goal::None,
            Box::new(move || simcore_loop::run(workers, steps)),
        ),
        (
            "nexosim 1.0, one thread",
            Goal::None,
            Box::new(move || nexosim_loop::run(workers, steps)),
        ),
    ];
    (each.into_iter())
        .map(|(name, goal, mut run)| {
            // Seconds in floating point are rounded at each event.
            let ratio = run() / expected;
            assert!((ratio - 1.0).abs() < 1e-6, "{name}, K = {workers}: {ratio}");
            let work = move || {
                black_box(run());
            };
            Path::new(format!("{name}, K = {workers}"), units, goal, work)
        })
        .collect()
}
