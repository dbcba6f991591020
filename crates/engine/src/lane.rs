//! Events that were scheduled together, sorted once. A key is one word, the delay in nanoseconds and then the insertion
//! index, so that equal times leave first in, first out.

use super::sort::sort;
use scavsim_base::units::SimTime;

#[derive(Debug)]
pub(super) struct Lane<E> {
    /// Delay, then index into `events`, sorted from `next` on.
    keys: Vec<u64>,
    /// In the order of insertion.
    events: Vec<E>,
    spare: Vec<u64>,
    next: usize,
    /// The start time of the delays.
    start: SimTime,
    /// The insertion counter of the first event.
    order: u64,
    /// Bits of an index, and these bits.
    bits: u32,
    mask: u64,
    /// The longest delay in nanoseconds that fits into a key.
    longest: u64,
}

impl<E: Copy> Lane<E> {
    /// Prepares `count` events from `start` on, the first with this insertion counter. The lane must be empty.
    #[inline]
    pub(super) fn open(&mut self, start: SimTime, order: u64, count: usize) {
        self.clear();
        (self.start, self.order) = (start, order);
        self.bits = usize::BITS - count.leading_zeros();
        self.mask = (1 << self.bits) - 1;
        self.longest = (u64::MAX >> self.bits).min((SimTime::LAST - start).nanoseconds());
        self.keys.reserve(count);
        self.events.reserve(count);
    }

    /// Adds the next event, unsorted; `false` if its delay does not fit into a word with its index. The index is used up in
    /// any case.
    #[inline]
    pub(super) fn add(&mut self, delay: SimTime, event: E) -> bool {
        let (index, delay) = (self.events.len() as u64, delay.nanoseconds());
        self.events.push(event);
        if delay > self.longest {
            return false;
        }
        self.keys.push(delay << self.bits | index);
        true
    }

    #[inline]
    pub(super) fn sort(&mut self) {
        sort(&mut self.keys, &mut self.spare);
    }

    #[inline]
    fn index(&self, key: u64) -> usize {
        (key & self.mask) as usize
    }

    #[inline]
    pub(super) fn first_at(&self) -> Option<SimTime> {
        let key = *self.keys.get(self.next)?;
        Some(SimTime::from_nanoseconds(
            self.start.nanoseconds() + (key >> self.bits),
        ))
    }

    /// The insertion counter of the earliest event, which must exist.
    #[inline]
    pub(super) fn first_order(&self) -> u64 {
        self.order + self.index(self.keys[self.next]) as u64
    }

    #[inline]
    pub(super) fn first_event(&self) -> &E {
        &self.events[self.index(self.keys[self.next])]
    }

    #[inline]
    pub(super) fn pop_first(&mut self) -> E {
        let event = *self.first_event();
        self.next += 1;
        event
    }

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
            longest: 0,
        }
    }
}

impl<E: Clone> Clone for Lane<E> {
    fn clone(&self) -> Self {
        let mut lane = Lane::default();
        lane.clone_from(self);
        lane
    }

    fn clone_from(&mut self, other: &Self) {
        self.keys.clone_from(&other.keys);
        self.events.clone_from(&other.events);
        (self.next, self.start) = (other.next, other.start);
        (self.order, self.longest) = (other.order, other.longest);
        (self.bits, self.mask) = (other.bits, other.mask);
    }
}
