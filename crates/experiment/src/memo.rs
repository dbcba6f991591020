//! Runs that were made before: the oracle's choice, and that of strategies without search, runs once for all strategies. A hit
//! changes how long a result takes, nothing else. Memory is bounded.

use std::collections::HashMap;
use std::mem::size_of;
use std::sync::{Arc, Mutex};

use super::billed::Run;
use scavsim_data::usage::VmInterval;
use scavsim_data::usage::phases::PHASES;
use scavsim_sim::training::UnfinishedJob;

/// Search problem, replica, configuration.
pub(super) type Key = (usize, u64, usize);

/// A run, or why it does not end.
pub(super) type RunResult = Result<Arc<Run>, UnfinishedJob>;

/// Drawers of the memo, so many that threads seldom wait.
const DRAWERS: usize = 64;
const MOST_BYTES: usize = 64 << 20;

pub(super) struct Memo {
    drawers: Vec<Mutex<Drawer>>,
    most_bytes: usize,
}

#[derive(Default)]
struct Drawer {
    runs: HashMap<Key, RunResult>,
    bytes: usize,
    /// The first search problem that may be asked for again.
    arena: usize,
}

impl Default for Memo {
    fn default() -> Memo {
        Memo::with_most_bytes(MOST_BYTES)
    }
}

impl Memo {
    fn with_most_bytes(most_bytes: usize) -> Memo {
        Memo {
            drawers: (0..DRAWERS).map(|_| Mutex::default()).collect(),
            most_bytes,
        }
    }

    fn drawer(&self, key: &Key) -> &Mutex<Drawer> {
        &self.drawers[(key.1 as usize ^ key.0) % DRAWERS]
    }

    pub(super) fn get(&self, key: &Key) -> Option<RunResult> {
        // What a thread left that panicked is whole.
        let drawer = self.drawer(key).lock();
        let drawer = drawer.unwrap_or_else(std::sync::PoisonError::into_inner);
        drawer.runs.get(key).cloned()
    }

    /// Keeps a run, if there is room. The first stay: strategies visit replicas in the same order.
    pub(super) fn keep(&self, key: Key, ran: RunResult) {
        let bytes = bytes(&ran);
        let drawer = self.drawer(&key).lock();
        let mut drawer = drawer.unwrap_or_else(std::sync::PoisonError::into_inner);
        let most = self.most_bytes / DRAWERS;
        if drawer.bytes + bytes > most && key.0 > drawer.arena {
            // Cases come in the order of search problems.
            drawer.arena = key.0;
            drawer.runs.retain(|(arena, ..), _| *arena >= key.0);
            drawer.bytes = drawer.runs.values().map(self::bytes).sum();
        }
        if drawer.bytes + bytes <= most && drawer.runs.insert(key, ran).is_none() {
            drawer.bytes += bytes;
        }
    }
}

fn bytes(ran: &RunResult) -> usize {
    let own = 2 * size_of::<(Key, RunResult)>();
    let Ok(run) = ran else { return own };
    let usages = [&run.net, &run.gross, &run.search];
    let lists = usages.map(|usage| {
        usage.intervals.capacity() * size_of::<VmInterval>()
            + usage.phases.vm_seconds.capacity() * size_of::<(u16, [f64; PHASES])>()
    });
    own + size_of::<Run>() + lists.iter().sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use scavsim_base::units::SimTime;
    use scavsim_sim::training::StalledJob;

    fn ran(at: u64) -> RunResult {
        Err(UnfinishedJob::Stalled(StalledJob {
            at: SimTime::from_seconds(at as f64),
        }))
    }

    #[test]
    fn it_finds_what_it_has_room_for_and_forgets_arenas_that_lie_behind() {
        let one = bytes(&ran(0));
        let memo = Memo::with_most_bytes(DRAWERS * 3 * one);
        let drawers = DRAWERS as u64;
        for replica in 0..5 * drawers {
            memo.keep((0, replica, 7), ran(replica));
        }
        for replica in 0..5 * drawers {
            let known = memo.get(&(0, replica, 7));
            let expected = (replica < 3 * drawers).then(|| ran(replica));
            assert_eq!(
                known.map(Result::err),
                expected.map(Result::err),
                "{replica}"
            );
        }
        assert!(memo.get(&(0, 0, 8)).is_none());
        memo.keep((1, 0, 2), ran(9));
        assert!(memo.get(&(1, 0, 2)).is_some() && memo.get(&(0, 1, 7)).is_none());
    }
}
