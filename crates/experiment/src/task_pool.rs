//! Threads that work through tasks together while results are handed out in task order. No thread waits at the end of a block: it
//! takes the next tasks while they are close enough to the last result handed out, and whoever finds that result ready hands it out.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Most tasks that a thread takes at once; neighbours share a search problem.
const MOST_AT_ONCE: usize = 8;

pub(super) struct TaskPool<D> {
    board: Mutex<Board<D>>,
    /// Signals that something was handed out or the work is over.
    moved: Condvar,
    count: usize,
    threads: usize,
    /// How far ahead of the results handed out a task may begin.
    ahead: usize,
    at_once: usize,
}

struct Board<D> {
    /// First task that no thread took.
    next: usize,
    handed: usize,
    /// First result that was not handed out, and the results from there on.
    first: usize,
    done: VecDeque<Option<D>>,
    is_open: bool,
    is_over: bool,
}

enum ThreadAction<D> {
    Work(Range<usize>),
    HandOut(Vec<D>),
    Leave,
}

impl<D: Send> TaskPool<D> {
    /// `count` tasks for `threads` threads, begun at most `ahead` before the results handed out.
    pub(super) fn new(count: usize, threads: usize, ahead: usize) -> TaskPool<D> {
        let (threads, ahead) = (threads.max(1), ahead.max(1));
        TaskPool {
            board: Mutex::new(Board {
                next: 0,
                handed: 0,
                first: 0,
                done: VecDeque::new(),
                is_open: false,
                is_over: false,
            }),
            moved: Condvar::new(),
            count,
            threads,
            ahead,
            // No thread takes all that the others could begin.
            at_once: (ahead / (8 * threads)).clamp(1, MOST_AT_ONCE),
        }
    }

    /// One thread's part, until nothing is left: `work` on single tasks, and `hand_out` results in order, until that returns that it
    /// was the last.
    pub(super) fn join(&self, mut work: impl FnMut(usize) -> D, hand_out: impl Fn(Vec<D>) -> bool) {
        let _guard = Alarm(self);
        let mut board = self.board();
        loop {
            match self.next(board) {
                ThreadAction::Work(tasks) => {
                    for task in tasks {
                        let done = work(task);
                        self.board().put(task, done);
                    }
                    board = self.board();
                }
                ThreadAction::HandOut(ready) => {
                    let count = ready.len();
                    let is_last = hand_out(ready);
                    board = self.board();
                    board.handed += count;
                    board.is_open = false;
                    board.is_over |= is_last;
                    self.moved.notify_all();
                }
                ThreadAction::Leave => return,
            }
        }
    }

    /// The board, also after a panic: results of a thread that panicked are not there.
    fn board(&self) -> MutexGuard<'_, Board<D>> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self, mut board: MutexGuard<'_, Board<D>>) -> ThreadAction<D> {
        loop {
            if board.is_over {
                return ThreadAction::Leave;
            }
            if !board.is_open {
                let ready = board.take_ready();
                if !ready.is_empty() {
                    board.is_open = true;
                    return ThreadAction::HandOut(ready);
                }
            }
            let end = self.count.min(board.handed + self.ahead);
            if board.next < end {
                // Fewer at the end, so that all come there together.
                let share = (self.count - board.next) / (2 * self.threads);
                let from = board.next;
                board.next = end.min(from + share.clamp(1, self.at_once));
                return ThreadAction::Work(from..board.next);
            }
            if board.next == self.count {
                // What is not done yet is handed out by those who do it.
                return ThreadAction::Leave;
            }
            let waited = self.moved.wait(board);
            board = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Calls off the work if its thread panics, so that others do not wait for its tasks.
struct Alarm<'c, D: Send>(&'c TaskPool<D>);

impl<D: Send> Drop for Alarm<'_, D> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.board().is_over = true;
            self.0.moved.notify_all();
        }
    }
}

impl<D> Board<D> {
    fn put(&mut self, task: usize, done: D) {
        let place = task - self.first;
        if self.done.len() <= place {
            self.done.resize_with(place + 1, || None);
        }
        self.done[place] = Some(done);
    }

    fn take_ready(&mut self) -> Vec<D> {
        let count = self.done.iter().take_while(|done| done.is_some()).count();
        self.first += count;
        self.done.drain(..count).flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    /// Results handed out of `count` tasks, some slower; and the most that were begun and not handed out.
    fn handed(count: usize, threads: usize, ahead: usize, last: usize) -> (Vec<usize>, usize) {
        let crew = TaskPool::new(count, threads, ahead);
        let out = Mutex::new(Vec::new());
        let (begun, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = |task: usize| {
            let begun = begun.fetch_add(1, Ordering::SeqCst) + 1;
            let handed = out.lock().expect("no panic").len();
            most.fetch_max(begun.saturating_sub(handed), Ordering::SeqCst);
            if task.is_multiple_of(7) {
                std::thread::sleep(Duration::from_micros(300));
            }
            task
        };
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    crew.join(work, |ready| {
                        let mut out = out.lock().expect("no panic");
                        out.extend(ready);
                        out.len() > last
                    });
                });
            }
        });
        let most = most.load(Ordering::SeqCst);
        (out.into_inner().expect("no panic"), most)
    }

    #[test]
    fn all_is_handed_out_once_and_in_order_and_nobody_runs_too_far_ahead() {
        for (count, threads, ahead) in
            [(0, 2, 4), (1, 3, 1), (200, 1, 1), (300, 4, 9), (500, 3, 64)]
        {
            let (out, most) = handed(count, threads, ahead, usize::MAX);
            assert!(
                out.iter().copied().eq(0..count),
                "{count} {threads} {ahead}: {out:?}"
            );
            assert!(most <= ahead, "{count} {threads} {ahead}: {most}");
        }
    }

    #[test]
    fn behind_the_last_nothing_is_handed_out() {
        let (out, _) = handed(300, 4, 9, 20);
        assert!(out.iter().copied().eq(0..out.len()));
        assert!((21..=21 + 9).contains(&out.len()), "{}", out.len());
    }

    #[test]
    fn who_panics_leaves_nobody_waiting() {
        let crew = TaskPool::new(100, 3, 4);
        let ended = std::thread::scope(|scope| {
            let join = || {
                crew.join(|task| assert!(task != 5, "the fifth"), |_| false);
            };
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(join)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().is_ok())
                .filter(|ok| *ok)
                .count()
        });
        assert_eq!(ended, 2);
    }
}
