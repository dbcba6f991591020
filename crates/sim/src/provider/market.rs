//! Losses that take several VMs at once, as the clock of one replica meets them.

use crate::cluster::terms::{Losses, Spot};
use scavsim_base::rng::{Purpose, Stream, Streams};
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};
use scavsim_data::cloud::lifetimes::{share, trace::Cursor};

#[derive(Debug, Clone)]
pub struct Market {
    stream: Stream,
    hits: Stream,
    cursor: Cursor,
    pub at: SimTime,
    lost: u32,
    held: f64,
}

impl Market {
    /// The losses of `replica`, where VMs are not lost each by itself.
    pub fn new(losses: &Losses, streams: &Streams, replica: u64) -> Option<Market> {
        let mut stream = streams.stream(replica, Purpose::MarketLosses);
        let cursor = match losses {
            Losses::Alone(_) => return None,
            Losses::Batch(_) => Cursor::default(),
            Losses::Trace(trace) => {
                trace.cursor((stream.uniform() * trace.length_s() as f64) as u64)
            }
        };
        let mut market = Market {
            stream,
            hits: streams.stream(replica, Purpose::MarketHits),
            cursor,
            at: SimTime::ZERO,
            lost: 0,
            held: 1.0,
        };
        market.go_on(losses);
        Some(market)
    }

    /// When it is told which VMs it takes: at the provider's warning, where that is heeded.
    #[inline]
    pub fn told_at(&self, spot: Option<&Spot>) -> SimTime {
        let notice = spot.and_then(|s| s.notice);
        self.at - notice.unwrap_or(SimTime::ZERO)
    }

    fn go_on(&mut self, losses: &Losses) {
        match losses {
            Losses::Alone(_) => self.at = SimTime::from_seconds(f64::INFINITY),
            Losses::Batch(batch) => {
                let event = batch.next(&mut self.stream);
                self.at += SimTime::from_seconds(event.after_h * SECONDS_PER_HOUR);
                (self.lost, self.held) = (event.lost, batch.held_vms);
            }
            Losses::Trace(trace) => {
                // A trace without a loss is refused when it is read as a market.
                for _ in 0..=trace.changes().len() {
                    match trace.next(&mut self.cursor) {
                        Some(change) if change.removed > 0 => {
                            self.at = SimTime::from_seconds(change.at_s as f64);
                            (self.lost, self.held) = (change.removed, f64::from(change.held));
                            return;
                        }
                        Some(_) => {}
                        None => break,
                    }
                }
                self.at = SimTime::from_seconds(f64::INFINITY);
            }
        }
    }

    /// Meets the loss: which of `own` VMs it takes, told to `take` by their places in falling order.
    pub fn strike(&mut self, losses: &Losses, own: u32, take: &mut dyn FnMut(u32)) {
        let hit = share(self.lost, self.held, own, &mut self.hits);
        let mut left = hit;
        // Each VM is taken with the odds of the places left: every choice is equally likely.
        for place in (0..own).rev() {
            if left == 0 {
                break;
            }
            let odds = f64::from(left) / f64::from(place + 1);
            if self.hits.uniform() < odds {
                take(place);
                left -= 1;
            }
        }
        self.go_on(losses);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scavsim_data::cloud::lifetimes::Trace;

    #[test]
    fn a_change_that_only_adds_vms_is_no_loss() {
        let rows = [(0, 4, 0), (100, 2, 0), (300, 0, 1), (400, 1, 0)];
        let trace = Trace::new(&rows).expect("it is legal");
        let streams = Streams::new(1);
        let mut begun = [0; 3];
        for replica in 0..20 {
            let mut stream = streams.stream(replica, Purpose::MarketLosses);
            let start_s = (stream.uniform() * 400.0) as u64;
            // Behind the last loss the trace goes round.
            let loss_s = if start_s < 300 { 300 } else { 700 };
            let after = SimTime::from_seconds((loss_s - start_s) as f64);
            let losses = Losses::Trace(trace.clone());
            let market = Market::new(&losses, &streams, replica).expect("it is a market");
            assert_eq!(market.at, after, "{start_s}");
            assert_eq!((market.lost, market.held), (1, 6.0), "{start_s}");
            begun[[100, 300].partition_point(|at| *at <= start_s)] += 1;
        }
        assert!(begun.iter().all(|times| *times > 0), "{begun:?}");
    }
}
