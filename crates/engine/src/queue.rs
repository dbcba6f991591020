//! Event queue: a binary heap over (time, insertion counter), and a sorted lane for events that are scheduled together.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::interrupt::Interrupt;
use super::lane::Lane;
use scavsim_base::units::SimTime;

/// Pending events and the clock, which is the time of the last removed event. Events are small values, copied and not moved.
#[derive(Debug, Clone)]
pub struct Queue<E> {
    heap: BinaryHeap<QueueEntry<E>>,
    lane: Lane<E>,
    now: SimTime,
    inserted: u64,
    interrupt: Interrupt,
}

#[derive(Debug, Clone)]
struct QueueEntry<E> {
    at: SimTime,
    order: u64,
    event: E,
}

#[derive(Clone, Copy)]
enum EarliestEvent {
    Heap(SimTime),
    Lane(SimTime),
}

impl EarliestEvent {
    #[inline]
    fn time(self) -> SimTime {
        match self {
            EarliestEvent::Heap(at) | EarliestEvent::Lane(at) => at,
        }
    }
}

impl<E: Copy> Queue<E> {
    /// An empty queue at time zero, with the interrupt of the current thread.
    pub fn new() -> Self {
        Queue::heeding(Interrupt::of_current_thread())
    }

    /// An empty queue at time zero with this interrupt: once it is raised, nothing is due any more.
    pub fn heeding(interrupt: Interrupt) -> Self {
        Queue {
            heap: BinaryHeap::new(),
            lane: Lane::default(),
            now: SimTime::ZERO,
            inserted: 0,
            interrupt,
        }
    }

    /// Whether it was interrupted from outside: later values are no results.
    #[inline]
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.is_raised()
    }

    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    #[inline]
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Schedules `event` after a delay: never in the past, so the clock cannot run back.
    #[inline]
    pub fn after(&mut self, delay: SimTime, event: E) {
        let order = self.inserted;
        self.inserted += 1;
        self.heap.push(QueueEntry {
            at: self.now + delay,
            order,
            event,
        });
    }

    /// Schedules each event after its delay, like [`Queue::after`], sorted once instead of pushed and popped.
    #[inline]
    pub fn together<I>(&mut self, events: I)
    where
        I: IntoIterator<Item = (SimTime, E), IntoIter: ExactSizeIterator>,
    {
        if !self.lane.is_empty() {
            for (delay, event) in events {
                self.after(delay, event);
            }
            return;
        }
        let events = events.into_iter();
        let first = self.inserted;
        self.lane.open(self.now, first, events.len());
        self.inserted += events.len() as u64;
        for (order, (delay, event)) in (first..).zip(events) {
            if !self.lane.add(delay, event) {
                let at = self.now + delay;
                self.heap.push(QueueEntry { at, order, event });
            }
        }
        self.lane.sort();
    }

    #[inline]
    fn head(&self) -> Option<EarliestEvent> {
        let Some(at) = self.lane.first_at() else {
            return self.heap.peek().map(|entry| EarliestEvent::Heap(entry.at));
        };
        match self.heap.peek() {
            Some(entry) if (entry.at, entry.order) < (at, self.lane.first_order()) => {
                Some(EarliestEvent::Heap(entry.at))
            }
            _ => Some(EarliestEvent::Lane(at)),
        }
    }

    #[inline]
    fn pop_head(&mut self, head: EarliestEvent) -> Option<E> {
        self.now = head.time();
        match head {
            EarliestEvent::Heap(_) => self.heap.pop().map(|entry| entry.event),
            EarliestEvent::Lane(_) => Some(self.lane.pop_first()),
        }
    }

    /// Advances the clock by `delay`, like an event that is due then, if nothing is pending; returns whether that was so.
    #[inline]
    pub fn pass(&mut self, delay: SimTime) -> bool {
        let is_idle = self.is_empty();
        if is_idle {
            self.inserted += 1;
            self.now += delay;
        }
        is_idle
    }

    /// Removes the earliest event and advances the clock to it; `None` if nothing is pending.
    #[inline]
    pub fn advance(&mut self) -> Option<E> {
        let head = self.head()?;
        self.pop_head(head)
    }

    /// Removes the earliest event up to `until` and advances the clock to it; `None` if nothing is pending until then.
    #[inline]
    pub fn advance_until(&mut self, until: SimTime) -> Option<E> {
        // Most events of a step come one after another from the lane, with an empty heap.
        let head = match (self.heap.is_empty(), self.lane.first_at()) {
            (true, at) => EarliestEvent::Lane(at?),
            _ => self.head()?,
        };
        if head.time() > until || self.is_interrupted() {
            return None;
        }
        self.pop_head(head)
    }

    /// The earliest event up to `until`, which stays in the queue; the clock advances to it. Follow with [`Queue::advance`]
    /// or [`Queue::put_off`].
    #[inline]
    pub fn look_until(&mut self, until: SimTime) -> Option<&E> {
        let head = self.head().filter(|head| head.time() <= until)?;
        if self.interrupt.is_raised() {
            return None;
        }
        self.now = head.time();
        match head {
            EarliestEvent::Heap(_) => self.heap.peek().map(|entry| &entry.event),
            EarliestEvent::Lane(_) => Some(self.lane.first_event()),
        }
    }

    /// Schedules the earliest event again, after a delay from now: [`Queue::advance`] and [`Queue::after`] at half the cost.
    #[inline]
    pub fn put_off(&mut self, delay: SimTime) {
        match self.head() {
            Some(EarliestEvent::Heap(_)) => {
                if let Some(mut earliest) = self.heap.peek_mut() {
                    earliest.order = self.inserted;
                    earliest.at = self.now + delay;
                    self.inserted += 1;
                }
            }
            Some(EarliestEvent::Lane(_)) => {
                let event = self.lane.pop_first();
                self.after(delay, event);
            }
            None => {}
        }
    }

    #[inline]
    pub fn next_at(&self) -> Option<SimTime> {
        self.head().map(EarliestEvent::time)
    }

    /// Advances the clock to `at`, but not past a pending event, and never back.
    #[inline]
    pub fn rest_until(&mut self, at: SimTime) {
        let at = self.next_at().map_or(at, |next| at.min(next));
        self.now = self.now.max(at);
    }

    /// Drops the pending events for which `keep` is false. The others keep their order.
    pub fn retain(&mut self, mut keep: impl FnMut(&E) -> bool) {
        self.heap.retain(|entry| keep(&entry.event));
        self.lane.retain(keep);
    }

    pub fn reserve(&mut self, additional: usize) {
        self.heap.reserve(additional);
    }

    pub fn len(&self) -> usize {
        self.heap.len() + self.lane.len()
    }

    pub fn is_empty(&self) -> bool {
        self.heap.is_empty() && self.lane.is_empty()
    }

    /// Back to time zero, keeping the memory for the next run.
    pub fn reset(&mut self) {
        self.heap.clear();
        self.lane.clear();
        self.now = SimTime::ZERO;
        self.inserted = 0;
    }

    pub fn copy_from(&mut self, other: &Queue<E>) {
        self.heap.clone_from(&other.heap);
        self.lane.clone_from(&other.lane);
        (self.now, self.inserted) = (other.now, other.inserted);
    }
}

impl<E: Copy> Default for Queue<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> QueueEntry<E> {
    /// Time, then order of insertion, as one number: compared without a branch, which is hard to predict inside a heap.
    #[inline]
    fn key(&self) -> u128 {
        (u128::from(self.at.nanoseconds()) << 64) | u128::from(self.order)
    }
}

// The heap is a maximum heap, so the order is reversed: earliest first, then first in.
impl<E> Ord for QueueEntry<E> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl<E> PartialOrd for QueueEntry<E> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for QueueEntry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl<E> Eq for QueueEntry<E> {}

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
        assert_eq!(queue.now(), seconds(2.0));
        assert_eq!(queue.next_at(), Some(seconds(3.0)));
        assert_eq!(queue.advance(), Some('c'));
        queue.rest_until(seconds(9.0));
        assert_eq!(queue.now(), seconds(9.0));
    }

    #[test]
    fn an_idle_clock_passes_as_if_an_event_were_due_and_a_busy_one_does_not() {
        let seconds = SimTime::from_seconds;
        let (mut idle, mut slow) = (Queue::new(), Queue::new());
        assert!(idle.pass(seconds(2.0)));
        slow.after(seconds(2.0), 'a');
        assert_eq!(slow.advance(), Some('a'));
        assert_eq!((idle.now, idle.inserted), (slow.now, slow.inserted));
        idle.after(seconds(1.0), 'b');
        assert!(!idle.pass(seconds(3.0)) && idle.now() == seconds(2.0));
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

    #[derive(Debug, Clone)]
    enum QueueCommand {
        After(u64),
        Together(Vec<u64>),
        Advance,
        AdvanceUntil(u64),
        PutOff(u64),
        DropEvery(usize),
    }

    fn queue_commands() -> impl Strategy<Value = QueueCommand> {
        // Short delays, so that many are equal; and delays too long for one word with an index.
        let delay = || prop_oneof![20 => 0u64..6, 1 => Just(u64::MAX / 8), 1 => Just(u64::MAX)];
        prop_oneof![
            4 => delay().prop_map(QueueCommand::After),
            2 => prop::collection::vec(delay(), 0..40).prop_map(QueueCommand::Together),
            12 => Just(QueueCommand::Advance),
            4 => (0u64..9).prop_map(QueueCommand::AdvanceUntil),
            4 => delay().prop_map(QueueCommand::PutOff),
            1 => (2usize..5).prop_map(QueueCommand::DropEvery),
        ]
    }

    proptest! {
        /// Against the obvious model: a list, sorted by time and stable.
        #[test]
        fn events_come_out_in_stable_time_order(told in prop::collection::vec(queue_commands(), 0..60)) {
            let nanoseconds = SimTime::from_nanoseconds;
            let mut queue = Queue::new();
            let mut model: Vec<(SimTime, usize)> = Vec::new();
            let (mut now, mut named) = (SimTime::ZERO, 0);
            for told in told {
                // The minimum of equal ones is the first.
                let first = (0..model.len()).min_by_key(|&at| model[at].0);
                match told {
                    QueueCommand::After(delay) => {
                        queue.after(nanoseconds(delay), named);
                        model.push((now + nanoseconds(delay), named));
                        named += 1;
                    }
                    QueueCommand::Together(delays) => {
                        let events = || {
                            let each = delays.iter().enumerate();
                            each.map(|(at, &delay)| (nanoseconds(delay), named + at))
                        };
                        queue.together(events());
                        model.extend(events().map(|(delay, name)| (now + delay, name)));
                        named += delays.len();
                    }
                    QueueCommand::Advance => {
                        let expected = first.map(|at| model.remove(at));
                        prop_assert_eq!(queue.advance(), expected.map(|(_, name)| name));
                        now = expected.map_or(now, |(at, _)| at);
                    }
                    QueueCommand::AdvanceUntil(delay) => {
                        let until = now + nanoseconds(delay);
                        let due = first.filter(|&at| model[at].0 <= until);
                        let expected = due.map(|at| model.remove(at));
                        prop_assert_eq!(queue.advance_until(until), expected.map(|(_, name)| name));
                        now = expected.map_or(now, |(at, _)| at);
                    }
                    QueueCommand::PutOff(delay) => {
                        let expected = first.map(|at| model.remove(at));
                        let seen = queue.look_until(SimTime::from_seconds(f64::INFINITY)).copied();
                        prop_assert_eq!(seen, expected.map(|(_, name)| name));
                        if let Some((at, name)) = expected {
                            now = at;
                            queue.put_off(nanoseconds(delay));
                            model.push((now + nanoseconds(delay), name));
                        }
                    }
                    QueueCommand::DropEvery(nth) => {
                        queue.retain(|name| name % nth != 0);
                        model.retain(|(_, name)| name % nth != 0);
                    }
                }
                prop_assert_eq!(queue.now(), now);
                prop_assert_eq!(queue.len(), model.len());
                prop_assert_eq!(queue.next_at(), model.iter().map(|&(at, _)| at).min());
                let mut copy = Queue::new();
                copy.copy_from(&queue);
                queue = copy;
            }
            model.sort_by_key(|&(at, _)| at);
            let rest: Vec<usize> = std::iter::from_fn(|| queue.advance()).collect();
            prop_assert_eq!(rest, model.into_iter().map(|(_, name)| name).collect::<Vec<_>>());
        }
    }
}
