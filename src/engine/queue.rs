//! Event queue: a binary heap over (time, insertion counter).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::interrupt::Interrupt;
use crate::units::SimTime;

/// Pending events of type `E` and the clock, which is the time of the last event taken out.
#[derive(Debug, Clone)]
pub struct Queue<E> {
    heap: BinaryHeap<Entry<E>>,
    now: SimTime,
    inserted: u64,
    interrupt: Interrupt,
}

#[derive(Debug, Clone)]
struct Entry<E> {
    at: SimTime,
    order: u64,
    event: E,
}

impl<E> Queue<E> {
    /// An empty queue at time zero.
    pub fn new() -> Self {
        Queue::heeding(Interrupt::NEVER)
    }

    /// The same; once `interrupt` is raised, nothing is due by any time.
    pub fn heeding(interrupt: Interrupt) -> Self {
        Queue {
            heap: BinaryHeap::new(),
            now: SimTime::ZERO,
            inserted: 0,
            interrupt,
        }
    }

    /// Whether it was stopped from outside: what came of it since is no result.
    #[inline]
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.is_raised()
    }

    /// What stops it.
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// The simulated time.
    #[inline]
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Schedules `event` after a delay: never in the past, so the clock cannot run back.
    #[inline]
    pub fn after(&mut self, delay: SimTime, event: E) {
        let order = self.inserted;
        self.inserted += 1;
        self.heap.push(Entry {
            at: self.now + delay,
            order,
            event,
        });
    }

    /// Takes the earliest event and moves the clock to it; `None` when nothing is pending.
    #[inline]
    pub fn advance(&mut self) -> Option<E> {
        let Entry { at, event, .. } = self.heap.pop()?;
        self.now = at;
        Some(event)
    }

    /// The same, but only up to `until`; `None` when nothing is pending by then.
    #[inline]
    pub fn advance_until(&mut self, until: SimTime) -> Option<E> {
        if self.heap.peek()?.at > until || self.is_interrupted() {
            return None;
        }
        self.advance()
    }

    /// The earliest event that is due by `until`, left in its place; the clock moves to it. It is
    /// taken out by [`Queue::advance`], or put off by [`Queue::put_off`].
    #[inline]
    pub fn look_until(&mut self, until: SimTime) -> Option<&E> {
        let earliest = self.heap.peek().filter(|entry| entry.at <= until)?;
        if self.interrupt.is_raised() {
            return None;
        }
        self.now = earliest.at;
        Some(&earliest.event)
    }

    /// Schedules the earliest event again, after a delay from now: [`Queue::advance`] and
    /// [`Queue::after`] at half the cost.
    #[inline]
    pub fn put_off(&mut self, delay: SimTime) {
        if let Some(mut earliest) = self.heap.peek_mut() {
            earliest.order = self.inserted;
            earliest.at = self.now + delay;
            self.inserted += 1;
        }
    }

    /// When the earliest event is due.
    #[inline]
    pub fn next_at(&self) -> Option<SimTime> {
        self.heap.peek().map(|entry| entry.at)
    }

    /// Moves the clock on to `at`, but not past a pending event, and never back.
    #[inline]
    pub fn rest_until(&mut self, at: SimTime) {
        let at = self.next_at().map_or(at, |next| at.min(next));
        self.now = self.now.max(at);
    }

    /// Drops the pending events that `keep` does not want. The others keep their order.
    pub fn retain(&mut self, mut keep: impl FnMut(&E) -> bool) {
        self.heap.retain(|entry| keep(&entry.event));
    }

    /// Makes room for `additional` pending events more than there are.
    pub fn reserve(&mut self, additional: usize) {
        self.heap.reserve(additional);
    }

    /// Number of pending events.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Back to time zero, keeping the memory for the next run.
    pub fn reset(&mut self) {
        self.heap.clear();
        self.now = SimTime::ZERO;
        self.inserted = 0;
    }
}

impl<E: Clone> Queue<E> {
    /// Becomes the same as `other`, keeping the memory.
    pub fn copy_from(&mut self, other: &Queue<E>) {
        self.heap.clone_from(&other.heap);
        (self.now, self.inserted) = (other.now, other.inserted);
    }
}

impl<E> Default for Queue<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> Entry<E> {
    /// Time, then order of insertion, as one number: compared without a branch, which a processor
    /// cannot predict inside a heap.
    #[inline]
    fn key(&self) -> u128 {
        (u128::from(self.at.nanoseconds()) << 64) | u128::from(self.order)
    }
}

// The heap is a maximum heap, so the order is turned round: earliest first, then first in.
impl<E> Ord for Entry<E> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl<E> PartialOrd for Entry<E> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl<E> Eq for Entry<E> {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_times_leave_first_in_first_out() {
        let mut queue = Queue::new();
        for name in ["a", "b", "c"] {
            queue.after(SimTime::from_seconds(1.0), name);
        }
        queue.after(SimTime::ZERO, "first");
        let order: Vec<_> = std::iter::from_fn(|| queue.advance()).collect();
        assert_eq!(order, ["first", "a", "b", "c"]);
        assert_eq!(queue.now(), SimTime::from_seconds(1.0));
    }

    #[test]
    fn the_clock_rests_where_it_is_told_but_passes_no_event_and_never_runs_back() {
        let seconds = SimTime::from_seconds;
        let mut queue = Queue::new();
        queue.after(seconds(2.0), 'a');
        queue.after(seconds(2.0), 'b');
        queue.after(seconds(3.0), 'c');
        assert_eq!(queue.advance_until(seconds(1.9)), None);
        queue.rest_until(seconds(5.0));
        assert_eq!(queue.now(), seconds(2.0));
        assert_eq!(queue.advance_until(seconds(2.0)), Some('a'));
        queue.retain(|&e| e != 'b');
        queue.rest_until(seconds(1.0));
        assert_eq!(
            (queue.now(), queue.next_at()),
            (seconds(2.0), Some(seconds(3.0)))
        );
        assert_eq!(queue.advance(), Some('c'));
        queue.rest_until(seconds(9.0));
        assert_eq!(queue.now(), seconds(9.0));
    }

    #[test]
    fn an_event_at_the_very_end_is_looked_at_and_one_behind_it_is_not() {
        let seconds = SimTime::from_seconds;
        let mut queue = Queue::new();
        queue.after(seconds(2.0), 'a');
        assert_eq!(queue.look_until(seconds(1.999_999_999)), None);
        assert_eq!(queue.now(), SimTime::ZERO);
        assert_eq!(queue.look_until(seconds(2.0)), Some(&'a'));
        assert_eq!(queue.now(), seconds(2.0));
    }

    #[test]
    fn a_copy_keeps_the_order_of_what_is_scheduled_later_for_the_same_time() {
        let mut original = Queue::new();
        for name in ["a", "b", "c"] {
            original.after(SimTime::from_seconds(1.0), name);
        }
        let mut copy = Queue::new();
        copy.copy_from(&original);
        for queue in [&mut original, &mut copy] {
            queue.after(SimTime::from_seconds(1.0), "late");
            let order: Vec<_> = std::iter::from_fn(|| queue.advance()).collect();
            assert_eq!(order, ["a", "b", "c", "late"]);
        }
    }

    #[test]
    fn an_event_put_off_is_one_taken_out_and_scheduled_again() {
        let seconds = |s: u32| SimTime::from_seconds(f64::from(s));
        let (mut taken, mut put_off) = (Queue::new(), Queue::new());
        for queue in [&mut taken, &mut put_off] {
            (0..9).for_each(|i| queue.after(seconds(i * 7 % 5), i));
        }
        for i in 0..50 {
            let event = taken.advance().expect("nothing is lost");
            taken.after(seconds(i * 11 % 6), event);
            assert_eq!(put_off.look_until(seconds(1000)), Some(&event));
            put_off.put_off(seconds(i * 11 % 6));
            assert_eq!(taken.now(), put_off.now());
        }
        assert_eq!(put_off.look_until(SimTime::ZERO), None);
        let rest = |mut queue: Queue<u32>| -> Vec<u32> {
            std::iter::from_fn(|| queue.advance()).collect()
        };
        assert_eq!(rest(taken), rest(put_off));
    }

    proptest! {
        /// Against the obvious model: a stable sort by time.
        #[test]
        fn events_come_out_in_stable_time_order(delays in prop::collection::vec(0u32..50, 0..200)) {
            let mut queue = Queue::new();
            for (i, &delay) in delays.iter().enumerate() {
                queue.after(SimTime::from_seconds(f64::from(delay)), i);
            }
            let mut expected: Vec<usize> = (0..delays.len()).collect();
            expected.sort_by_key(|&i| delays[i]);
            let seen: Vec<usize> = std::iter::from_fn(|| queue.advance()).collect();
            prop_assert_eq!(seen, expected);
        }
    }
}
