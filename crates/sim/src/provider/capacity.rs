//! How many GPUs there are, by a trace: whoever holds more than that loses some.

use crate::cluster::terms::Losses;
use scavsim_base::rng::{Purpose, Streams};
use scavsim_base::units::SimTime;
use scavsim_data::cloud::lifetimes::trace::{Change, Cursor};

/// How many GPUs there are in one replica, from a random moment of a trace on.
#[derive(Debug, Clone)]
pub struct Capacity {
    cursor: Cursor,
    pub start_s: u64,
    pub gpus: u32,
    next: Option<Change>,
}

impl Capacity {
    pub fn new(losses: &Losses, streams: &Streams, replica: u64) -> Option<Capacity> {
        let Losses::Trace(trace) = losses else {
            return None;
        };
        let mut stream = streams.stream(replica, Purpose::MarketLosses);
        let start_s = (stream.uniform() * trace.length_s() as f64) as u64;
        let mut cursor = trace.cursor(start_s);
        let next = trace.next(&mut cursor);
        Some(Capacity {
            cursor,
            start_s,
            gpus: trace.held_at(start_s),
            next,
        })
    }

    #[inline]
    pub fn changes_at(&self) -> SimTime {
        (self.next).map_or(SimTime::LAST, |change| {
            SimTime::from_seconds(change.at_s as f64)
        })
    }

    pub fn go_on(&mut self, losses: &Losses) {
        if let (Some(change), Losses::Trace(trace)) = (self.next, losses) {
            self.gpus = (change.held + change.added).saturating_sub(change.removed);
            self.next = trace.next(&mut self.cursor);
        }
    }
}
