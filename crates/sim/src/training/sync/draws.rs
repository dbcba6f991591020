//! Compute times, drawn from tables that a thread keeps.

use std::cell::RefCell;
use std::sync::Arc;

use crate::training::slowest;
use crate::training::stepping::Stepping;
use crate::training::variation::{Family, Straggler};
use scavsim_base::rng::{LargestLogNormal, Stream};
use scavsim_base::units::SimTime;

thread_local! {
    /// Tables of laws that jobs of this thread drew from. A table is a function of its count and σ alone, so that no draw
    /// depends on whether it is found; clusters that differ by a factor share one, which takes 0.1 ms to make.
    static TABLES: RefCell<Tables> = const { RefCell::new(Tables(Vec::new())) };
}

#[derive(Debug)]
struct Tables(Vec<(u32, f64, Arc<LargestLogNormal>)>);

/// Most tables that a thread keeps, 18 kB each.
const MOST_TABLES: usize = 64;

impl Tables {
    fn get_or_make(&mut self, count: u32, sigma: f64) -> Option<Arc<LargestLogNormal>> {
        let known = self
            .0
            .iter()
            .position(|&(k, s, _)| (k, s) == (count, sigma));
        if let Some(at) = known {
            // Those that are asked for move to the front, where they are found first and dropped last.
            self.0.swap(at, at / 2);
            return Some(Arc::clone(&self.0[at / 2].2));
        }
        let law = Arc::new(LargestLogNormal::new(count, sigma)?);
        self.0.truncate(MOST_TABLES - 1);
        self.0.push((count, sigma, Arc::clone(&law)));
        Some(law)
    }
}

/// How times relative to a worker's mean are drawn.
#[derive(Debug, Clone)]
pub(super) enum Law {
    /// A table, times a scale.
    Table(Arc<LargestLogNormal>),
    /// A table, times a scale, for one worker that now and then takes longer.
    Straggling(Arc<LargestLogNormal>, Straggler, f64),
    Formula,
}

impl Law {
    fn for_largest(count: u32, stepping: &Stepping) -> Law {
        let time = stepping.time;
        let table = match time.family {
            Family::LogNormal => {
                TABLES.with_borrow_mut(|known| known.get_or_make(count, time.sigma))
            }
            Family::Exponential => None,
        };
        match (table, time.straggler) {
            (Some(table), None) => Law::Table(table),
            (Some(table), Some(straggler)) if count == 1 => {
                let scale = 1.0 / (1.0 + straggler.probability * (straggler.factor - 1.0));
                Law::Straggling(table, straggler, scale)
            }
            _ => Law::Formula,
        }
    }

    #[inline]
    fn draw(&self, count: u32, stepping: &Stepping, stream: &mut Stream) -> f64 {
        match self {
            Law::Table(table) => table.sample(stream),
            Law::Straggling(table, straggler, scale) => {
                let time = scale * table.sample(stream);
                if stream.uniform() < straggler.probability {
                    time * straggler.factor
                } else {
                    time
                }
            }
            Law::Formula => slowest::draw(count, stepping.time, stream),
        }
    }
}

/// Compute times of single workers, in the order of the stream.
#[derive(Debug, Clone)]
pub(super) struct Draws<'s> {
    stepping: &'s Stepping,
    law: Law,
}

impl<'s> Draws<'s> {
    pub(super) fn new(stepping: &'s Stepping) -> Self {
        Draws {
            stepping,
            law: Law::for_largest(1, stepping),
        }
    }

    #[inline]
    pub(super) fn seconds(&self, worker: u32, stream: &mut Stream) -> f64 {
        let mean_s = match &self.stepping.machines {
            None => self.stepping.worker_s,
            Some(factors) => self.stepping.worker_s * factors[worker as usize],
        };
        mean_s * self.law.draw(1, self.stepping, stream)
    }

    /// The next step's compute of `worker` on the clock.
    #[inline]
    pub(super) fn worker(&mut self, worker: u32, stream: &mut Stream) -> SimTime {
        SimTime::from_seconds(self.seconds(worker, stream))
    }
}

/// Compute seconds of whole steps.
#[derive(Debug, Clone)]
pub(super) enum StepComputeDraws<'s> {
    Alike(&'s Stepping, Law),
    Unequal(Draws<'s>, &'s [f64]),
}

impl<'s> StepComputeDraws<'s> {
    pub(super) fn new(stepping: &'s Stepping) -> Self {
        match &stepping.machines {
            None => StepComputeDraws::Alike(stepping, Law::for_largest(stepping.workers, stepping)),
            Some(factors) => StepComputeDraws::Unequal(Draws::new(stepping), factors),
        }
    }

    #[inline]
    pub(super) fn draw_s(&self, stream: &mut Stream) -> f64 {
        match self {
            StepComputeDraws::Alike(stepping, law) => {
                stepping.worker_s * law.draw(stepping.workers, stepping, stream)
            }
            StepComputeDraws::Unequal(draws, factors) => {
                let slowest = (factors.iter())
                    .map(|factor| factor * draws.law.draw(1, draws.stepping, stream))
                    .fold(0.0, f64::max);
                draws.stepping.worker_s * slowest
            }
        }
    }
}
