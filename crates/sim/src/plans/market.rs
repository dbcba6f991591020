//! Which VMs of a job on a parallel plan are lost when, and how many GPUs there are.

use super::terms::Terms;
use crate::cluster::Losses;
use crate::job::market::Market;
use scavsim_base::rng::{Purpose, Streams, VmTypeKey};
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};
use scavsim_data::cloud::lifetimes::trace::{Change, Cursor};

/// One VM of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// Its number among all requests of the job.
    pub number: u32,
    /// Place of its type.
    pub vm: u16,
    /// GPUs that it has.
    pub gpus: u32,
    /// When it was asked for.
    pub asked: SimTime,
    /// When it runs.
    pub runs: SimTime,
    /// When it is lost, as far as that is known.
    pub lost: SimTime,
}

/// What the provider takes away, as the clock of one replica meets it.
#[derive(Debug, Clone)]
pub enum Fate {
    /// Nothing, or every VM by itself: told when it is asked for.
    Alone,
    /// Several at once.
    Together(Market),
    /// Whatever is more than there is.
    Capacity(Capacity),
}

/// How many GPUs there are, by a trace.
#[derive(Debug, Clone)]
pub struct Capacity {
    cursor: Cursor,
    /// Now.
    pub gpus: u32,
    next: Option<Change>,
}

impl Capacity {
    /// When that changes next.
    pub fn changes_at(&self) -> SimTime {
        (self.next).map_or(SimTime::LAST, |change| {
            SimTime::from_seconds(change.at_s as f64)
        })
    }

    fn go_on(&mut self, losses: &Losses) {
        if let (Some(change), Losses::Trace(trace)) = (self.next, losses) {
            self.gpus = (change.held + change.added).saturating_sub(change.removed);
            self.next = trace.next(&mut self.cursor);
        }
    }
}

impl Fate {
    /// That of a replica.
    pub fn new(terms: &Terms, streams: &Streams, replica: u64) -> Fate {
        let Some(spot) = &terms.spot else {
            return Fate::Alone;
        };
        match &spot.losses {
            Losses::Trace(trace) if terms.is_capacity => {
                let mut stream = streams.stream(replica, Purpose::MarketLosses);
                let start_s = (stream.uniform() * trace.length_s() as f64) as u64;
                let mut cursor = trace.cursor(start_s);
                let next = trace.next(&mut cursor);
                Fate::Capacity(Capacity {
                    cursor,
                    gpus: trace.held_at(start_s),
                    next,
                })
            }
            losses => Market::new(losses, streams, replica).map_or(Fate::Alone, Fate::Together),
        }
    }

    /// When a spot VM that runs from `runs` on is lost, where that is its own fate.
    pub fn life(
        terms: &Terms,
        runs: SimTime,
        (streams, replica): (&Streams, u64),
        (vm, number): (VmTypeKey, u64),
    ) -> SimTime {
        match terms.spot.as_deref().map(|spot| &spot.losses) {
            Some(Losses::Alone(life)) => {
                let mut stream = streams.stream(replica, Purpose::Life(vm, number));
                runs + SimTime::from_seconds(life.sample(&mut stream) * SECONDS_PER_HOUR)
            }
            _ => SimTime::LAST,
        }
    }

    /// What changed until `now` while nobody held spot VMs.
    pub fn catch_up(&mut self, terms: &Terms, now: SimTime) {
        if let (Fate::Capacity(capacity), Some(spot)) = (self, &terms.spot) {
            while capacity.changes_at() <= now {
                capacity.go_on(&spot.losses);
            }
        }
    }

    /// GPUs that there are now, where that is known.
    pub fn gpus(&self) -> Option<u32> {
        match self {
            Fate::Capacity(capacity) => Some(capacity.gpus),
            _ => None,
        }
    }

    /// When more may be had than now; never, where there are always enough.
    pub fn changes_at(&self) -> SimTime {
        match self {
            Fate::Capacity(capacity) => capacity.changes_at(),
            _ => SimTime::LAST,
        }
    }

    /// Decides what `nodes`, all on spot terms, lose until `until`: the first moment at which one is lost, if there is one.
    pub fn first_loss(
        &mut self,
        terms: &Terms,
        nodes: &mut [Node],
        until: SimTime,
    ) -> Option<SimTime> {
        let Some(spot) = &terms.spot else { return None };
        match self {
            Fate::Alone => {}
            Fate::Together(market) => {
                while market.at <= until {
                    let at = market.at;
                    let mut running: Vec<&mut Node> =
                        nodes.iter_mut().filter(|n| n.runs <= at).collect();
                    let mut hit = false;
                    market.strike(&spot.losses, running.len() as u32, &mut |place| {
                        running[place as usize].lost = at;
                        hit = true;
                    });
                    if hit {
                        break;
                    }
                }
            }
            Fate::Capacity(capacity) => {
                while capacity.changes_at() <= until {
                    let at = capacity.changes_at();
                    capacity.go_on(&spot.losses);
                    let mut held: u32 = nodes.iter().map(|node| node.gpus).sum();
                    // The newest are taken first.
                    let mut hit = false;
                    for node in nodes.iter_mut().rev() {
                        if held <= capacity.gpus {
                            break;
                        }
                        held -= node.gpus;
                        node.lost = at;
                        hit = true;
                    }
                    if hit {
                        break;
                    }
                }
            }
        }
        let first = nodes.iter().map(|node| node.lost).min()?;
        (first <= until && first < SimTime::LAST).then_some(first)
    }
}
