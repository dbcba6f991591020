//! Events that were scheduled together, sorted once.
//!
//! A key is the delay in nanoseconds, then the place in the order of insertion, in one word: equal times leave first in,
//! first out without being asked.

use crate::units::SimTime;

/// Events in the order in which they are due.
#[derive(Debug)]
pub(super) struct Lane<E> {
    /// Delay, then index into `events`, sorted from `next` on.
    keys: Vec<u64>,
    /// In the order of insertion.
    events: Vec<E>,
    /// The first that is still pending.
    next: usize,
    /// From when delays count.
    start: SimTime,
    /// The insertion counter of the first.
    order: u64,
    /// Bits of an index.
    bits: u32,
}

impl<E: Copy> Lane<E> {
    /// Takes events in the order of insertion; they are not sorted yet.
    #[inline]
    pub(super) fn fill(
        &mut self,
        start: SimTime,
        order: u64,
        events: impl IntoIterator<Item = (SimTime, E)>,
    ) {
        self.clear();
        (self.start, self.order) = (start, order);
        let (keys, known) = (&mut self.keys, &mut self.events);
        keys.extend(events.into_iter().map(|(delay, event)| {
            known.push(event);
            delay.nanoseconds()
        }));
    }

    /// Sorts them, or says that a delay is too long to stand in one word with an index.
    #[inline]
    pub(super) fn sort(&mut self) -> bool {
        self.bits = (usize::BITS - self.keys.len().leading_zeros()).max(1);
        let all = self.keys.iter().fold(0, |all, delay| all | delay);
        let latest = self.start + SimTime::from_nanoseconds(all);
        if all >> (u64::BITS - self.bits) != 0 || latest > SimTime::LAST {
            return false;
        }
        for (index, key) in self.keys.iter_mut().enumerate() {
            *key = *key << self.bits | index as u64;
        }
        sort(&mut self.keys);
        true
    }

    /// The events as they came.
    pub(super) fn unsorted(&self) -> impl Iterator<Item = (SimTime, E)> {
        let delays = self.keys.iter().copied().map(SimTime::from_nanoseconds);
        delays.zip(self.events.iter().copied())
    }

    #[inline]
    fn index(&self, key: u64) -> usize {
        (key & ((1 << self.bits) - 1)) as usize
    }

    /// When the earliest is due, and its insertion counter.
    #[inline]
    pub(super) fn first(&self) -> Option<(SimTime, u64)> {
        let key = *self.keys.get(self.next)?;
        let at = self.start + SimTime::from_nanoseconds(key >> self.bits);
        Some((at, self.order + self.index(key) as u64))
    }

    /// The earliest. There must be one.
    #[inline]
    pub(super) fn first_event(&self) -> &E {
        &self.events[self.index(self.keys[self.next])]
    }

    /// Takes the earliest out. There must be one.
    #[inline]
    pub(super) fn take(&mut self) -> E {
        let event = *self.first_event();
        self.next += 1;
        event
    }

    /// Drops those that `keep` does not want.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(&E) -> bool) {
        let mut kept = self.next;
        for at in self.next..self.keys.len() {
            let key = self.keys[at];
            if keep(&self.events[self.index(key)]) {
                self.keys[kept] = key;
                kept += 1;
            }
        }
        self.keys.truncate(kept);
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len() - self.next
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.next == self.keys.len()
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.keys.clear();
        self.events.clear();
        self.next = 0;
    }
}

impl<E> Default for Lane<E> {
    fn default() -> Self {
        Lane {
            keys: Vec::new(),
            events: Vec::new(),
            next: 0,
            start: SimTime::ZERO,
            order: 0,
            bits: 0,
        }
    }
}

impl<E: Clone> Clone for Lane<E> {
    fn clone(&self) -> Self {
        let mut lane = Lane::default();
        lane.clone_from(self);
        lane
    }

    /// Keeps the memory.
    fn clone_from(&mut self, other: &Self) {
        self.keys.clone_from(&other.keys);
        self.events.clone_from(&other.events);
        (self.next, self.start) = (other.next, other.start);
        (self.order, self.bits) = (other.order, other.bits);
    }
}

/// Ascending. Up to 16 by a network without branches, which the library's sort of few is not: 4 to 7 ns less per worker.
#[inline]
fn sort(keys: &mut [u64]) {
    match keys.len() {
        0 | 1 => {}
        2..=4 => by_network::<4>(keys),
        5..=8 => by_network::<8>(keys),
        9..=16 => by_network::<16>(keys),
        _ => keys.sort_unstable(),
    }
}

/// Batcher's odd–even merge sort of at most `N` keys; the places behind them are filled with the largest.
#[inline]
fn by_network<const N: usize>(keys: &mut [u64]) {
    let mut all = [u64::MAX; N];
    all[..keys.len()].copy_from_slice(keys);
    let mut sorted = 1;
    while sorted < N {
        let mut apart = sorted;
        while apart >= 1 {
            let mut from = apart % sorted;
            while from + apart < N {
                for low in from..(from + apart).min(N - apart) {
                    if low / (2 * sorted) == (low + apart) / (2 * sorted) {
                        let (a, b) = (all[low], all[low + apart]);
                        (all[low], all[low + apart]) = (a.min(b), a.max(b));
                    }
                }
                from += 2 * apart;
            }
            apart /= 2;
        }
        sorted *= 2;
    }
    keys.copy_from_slice(&all[..keys.len()]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The 0–1 principle: a network that sorts all sequences of zeros and ones sorts everything.
    #[test]
    fn the_networks_sort() {
        for length in 0..=16usize {
            for pattern in 0..1u64 << length {
                let mut keys: Vec<u64> = (0..length).map(|at| pattern >> at & 1).collect();
                sort(&mut keys);
                assert!(keys.is_sorted(), "{length} {pattern:b}");
                assert_eq!(keys.iter().sum::<u64>(), u64::from(pattern.count_ones()));
            }
        }
    }
}
