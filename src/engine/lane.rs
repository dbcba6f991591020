//! Events that were scheduled together, sorted once.
//!
//! A key is the delay in nanoseconds, then the place in the order of insertion, in one word: equal times leave first in,
//! first out without being asked.

use super::sort::sort;
use crate::units::SimTime;

/// Events in the order in which they are due.
#[derive(Debug)]
pub(super) struct Lane<E> {
    /// Delay, then index into `events`, sorted from `next` on.
    keys: Vec<u64>,
    /// In the order of insertion.
    events: Vec<E>,
    /// Memory of sorting.
    spare: Vec<u64>,
    /// The first that is still pending.
    next: usize,
    /// From when delays count.
    start: SimTime,
    /// The insertion counter of the first.
    order: u64,
    /// Bits of an index, and these bits.
    bits: u32,
    mask: u64,
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
        self.mask = (1 << self.bits) - 1;
        for (index, key) in self.keys.iter_mut().enumerate() {
            *key = *key << self.bits | index as u64;
        }
        sort(&mut self.keys, &mut self.spare);
        true
    }

    /// The events as they came.
    pub(super) fn unsorted(&self) -> impl Iterator<Item = (SimTime, E)> {
        let delays = self.keys.iter().copied().map(SimTime::from_nanoseconds);
        delays.zip(self.events.iter().copied())
    }

    #[inline]
    fn index(&self, key: u64) -> usize {
        (key & self.mask) as usize
    }

    /// When the earliest is due.
    #[inline]
    pub(super) fn first_at(&self) -> Option<SimTime> {
        let key = *self.keys.get(self.next)?;
        Some(SimTime::from_nanoseconds(
            self.start.nanoseconds() + (key >> self.bits),
        ))
    }

    /// The insertion counter of the earliest. There must be one.
    #[inline]
    pub(super) fn first_order(&self) -> u64 {
        self.order + self.index(self.keys[self.next]) as u64
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
            spare: Vec::new(),
            next: 0,
            start: SimTime::ZERO,
            order: 0,
            bits: 0,
            mask: 0,
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
        (self.order, self.bits, self.mask) = (other.order, other.bits, other.mask);
    }
}
