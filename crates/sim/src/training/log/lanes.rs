//! What each worker is at, and will be if nothing comes between.

use super::entry::{Entry, Fate, LogEvent, Track};
use scavsim_base::units::SimTime;

/// Most that lies ahead of a worker at once: its update, its next compute, its communication.
const AHEAD: usize = 3;

#[derive(Debug, Clone, Copy)]
struct WorkerLane {
    /// All before is noted.
    at: SimTime,
    /// What comes then, one behind the other, with its end.
    ahead: [(LogEvent, SimTime); AHEAD],
    count: usize,
}

impl WorkerLane {
    fn starting_at(at: SimTime) -> WorkerLane {
        WorkerLane {
            at,
            ahead: [(LogEvent::Wait, at); AHEAD],
            count: 0,
        }
    }

    fn due(&self) -> SimTime {
        match self.count {
            0 => self.at,
            n => self.ahead[n - 1].1,
        }
    }
}

pub(super) trait EntrySink {
    fn push_entry(&mut self, entry: Entry);
}

#[derive(Debug, Clone, Default)]
pub(super) struct Lanes(Vec<WorkerLane>);

impl Lanes {
    pub(super) fn begin(&mut self, workers: u32, now: SimTime) {
        self.0.clear();
        self.0
            .resize(workers as usize, WorkerLane::starting_at(now));
    }

    /// Behind all that lies ahead of it, `worker` does `what` until then.
    pub(super) fn does(&mut self, worker: u32, what: LogEvent, until: SimTime) {
        if let Some(lane) = self.0.get_mut(worker as usize)
            && lane.count < AHEAD
        {
            lane.ahead[lane.count] = (what, until);
            lane.count += 1;
        }
    }

    /// Notes what `worker` did until `now`. What outlasts that ends in `fate`; where nothing was to do it waited.
    pub(super) fn settle(
        &mut self,
        worker: u32,
        now: SimTime,
        fate: Fate,
        into: &mut impl EntrySink,
    ) {
        let Some(lane) = self.0.get_mut(worker as usize) else {
            return;
        };
        let mut note = |at: &mut SimTime, until: SimTime, what| {
            if until > *at {
                into.push_entry(Entry::span((*at, until), Track::Worker(worker), what));
                *at = until;
            }
        };
        for (what, until) in lane.ahead[..lane.count].iter().copied() {
            if until > now {
                note(&mut lane.at, now, what.with(fate));
                break;
            }
            note(&mut lane.at, until, what);
        }
        lane.count = 0;
        note(&mut lane.at, now, LogEvent::Wait);
    }

    pub(super) fn settle_all(&mut self, now: SimTime, fate: Fate, into: &mut impl EntrySink) {
        for worker in 0..self.0.len() as u32 {
            self.settle(worker, now, fate, into);
        }
    }

    /// The first `needed` to arrive have met; the others' work is dropped. All communicate until `complete`.
    pub(super) fn barrier(
        &mut self,
        needed: u32,
        now: SimTime,
        complete: SimTime,
        into: &mut impl EntrySink,
    ) {
        // Of those that arrive at the same time, the first by number count.
        let before = self.0.iter().filter(|lane| lane.due() < now).count();
        let mut left = (needed as usize).saturating_sub(before);
        for worker in 0..self.0.len() {
            let lane = &mut self.0[worker];
            if lane.count > 0 && lane.due() == now {
                match left {
                    0 => {
                        let last = &mut lane.ahead[lane.count - 1].0;
                        *last = last.with(Fate::Dropped);
                    }
                    _ => left -= 1,
                }
            }
            let worker = worker as u32;
            self.settle(worker, now, Fate::Dropped, into);
            self.does(worker, LogEvent::Communication(Fate::Done), complete);
        }
    }

    /// All stop at `now` to communicate until `complete`, and then go on.
    pub(super) fn pause(&mut self, now: SimTime, complete: SimTime, into: &mut impl EntrySink) {
        for worker in 0..self.0.len() as u32 {
            let lane = &self.0[worker as usize];
            // A worker has one gradient at a time.
            let last = lane.ahead[..lane.count].last().copied();
            self.settle(worker, now, Fate::Paused, into);
            self.does(worker, LogEvent::Communication(Fate::Done), complete);
            if let Some((what, until)) = last.filter(|last| last.1 > now) {
                self.does(worker, what, complete + (until - now));
            }
        }
    }
}
