//! Which VMs of a bag are lost when.

use std::sync::Arc;

use super::{Bag, Size};
use crate::cluster::Losses;
use crate::job::market::Market;
use scavsim_base::rng::{Purpose, Stream, Streams};
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};
use scavsim_data::cloud::lifetimes::Lifetime;

/// How VMs of a bag are lost.
#[derive(Debug, Clone)]
pub enum Loss {
    /// Not at all.
    Never,
    /// Each by itself, by its age.
    Alone(Lifetime),
    /// Several at once, as the market takes them.
    Together(Losses),
    /// So many attempts, any of them as likely, at any moment of them: to compare with logs.
    Attempts(u32),
    /// One VM of a running job at each of these times since the bag began, in seconds, in their order.
    At(Arc<[f64]>),
}

impl Loss {
    /// Losses by the law of a scenario.
    pub fn of(losses: &Losses) -> Loss {
        match losses {
            Losses::Alone(life) => Loss::Alone(life.clone()),
            together => Loss::Together(together.clone()),
        }
    }

    /// Whether there are none.
    pub fn is_never(&self) -> bool {
        match self {
            Loss::Never | Loss::Attempts(0) => true,
            Loss::At(times) => times.is_empty(),
            _ => false,
        }
    }
}

/// The losses of one replica, as its clock meets them.
#[derive(Debug, Clone)]
pub struct Fate {
    market: Option<Market>,
    /// Which VM, which attempt, which moment.
    pub hits: Stream,
    /// How many of the times that are given have passed.
    passed: usize,
}

/// VMs that are lost at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strike {
    /// Those that the market takes.
    Market,
    /// One of a running job.
    One,
}

impl Fate {
    /// That of `replica`.
    pub fn new(bag: &Bag, streams: &Streams, replica: u64, key: Purpose) -> Fate {
        Fate {
            market: match &bag.loss {
                Loss::Together(losses) => Market::new(losses, streams, replica),
                _ => None,
            },
            hits: streams.stream(replica, key),
            passed: 0,
        }
    }

    /// The times that are given count from the begin of a bag.
    pub fn begin(&mut self) {
        self.passed = 0;
    }

    /// When a VM that runs from `runs` on is lost, as far as that is decided by then.
    pub fn life(bag: &Bag, size: &Size, runs: SimTime, stream: impl FnOnce() -> Stream) -> SimTime {
        size.lifetime(bag).map_or(SimTime::LAST, |life| {
            let hours = life.sample(&mut stream());
            runs + SimTime::from_seconds(hours * SECONDS_PER_HOUR)
        })
    }

    /// When VMs are lost at once next, and which.
    pub fn next(&self, bag: &Bag, size: &Size, began: SimTime) -> Option<(SimTime, Strike)> {
        if size.life.is_some() {
            return None;
        }
        match &bag.loss {
            Loss::At(times) => {
                let at = began + SimTime::from_seconds(*times.get(self.passed)?);
                Some((at, Strike::One))
            }
            _ => Some((self.market.as_ref()?.at, Strike::Market)),
        }
    }

    /// Which of `own` VMs the market takes now, told by their places in falling order.
    pub fn strike(&mut self, bag: &Bag, own: u32, mut take: impl FnMut(u32)) {
        if let (Some(market), Loss::Together(losses)) = (&mut self.market, &bag.loss) {
            market.strike(losses, own, &mut take);
        }
    }

    /// Which of `own` VMs is lost at a time that is given.
    pub fn one(&mut self, own: usize) -> usize {
        self.passed += 1;
        self.hits.below(own.max(1))
    }
}
