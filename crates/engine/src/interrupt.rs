use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::{ThreadPool, ThreadPoolBuilder};

thread_local! {
    /// The interrupt of this thread's work.
    static HERE: RefCell<Interrupt> = const { RefCell::new(Interrupt::NEVER) };
}

/// Stops a run from outside, from a signal or another thread; clones share one flag, which is never cleared.
///
/// Every simulated event checks it. A stopped computation has no result: nothing of it is returned.
#[derive(Debug, Clone)]
pub struct Interrupt(Option<Arc<AtomicBool>>);

impl Interrupt {
    /// A flag that is never raised.
    pub const NEVER: Interrupt = Interrupt(None);

    /// Raises the flag.
    pub fn raise(&self) {
        if let Some(flag) = &self.0 {
            flag.store(true, Ordering::Relaxed);
        }
    }

    /// Whether it is raised.
    #[inline]
    pub fn is_raised(&self) -> bool {
        (self.0.as_ref()).is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Does `work` with this interrupt for the current thread, so that slow parts deep inside can be stopped.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        /// Restores the previous interrupt, also after a panic.
        struct InterruptBefore(Interrupt);
        impl Drop for InterruptBefore {
            fn drop(&mut self) {
                HERE.replace(std::mem::replace(&mut self.0, Interrupt::NEVER));
            }
        }
        let _before = InterruptBefore(HERE.replace(self.clone()));
        work()
    }

    /// The interrupt of the current thread's work.
    pub fn of_current_thread() -> Interrupt {
        HERE.with_borrow(Interrupt::clone)
    }

    /// Whether the current thread's work must stop.
    pub fn is_raised_here() -> bool {
        HERE.with_borrow(Interrupt::is_raised)
    }

    /// A pool of `threads` threads whose work this interrupt stops.
    ///
    /// # Errors
    /// If the threads cannot be started.
    pub fn pool(&self, threads: usize) -> io::Result<ThreadPool> {
        let own = self.clone();
        let pool = ThreadPoolBuilder::new().num_threads(threads);
        pool.start_handler(move |_| drop(HERE.replace(own.clone())))
            .build()
            .map_err(io::Error::other)
    }

    /// The flag itself, for a signal.
    pub fn flag(&self) -> Option<Arc<AtomicBool>> {
        self.0.clone()
    }
}

impl Default for Interrupt {
    fn default() -> Self {
        Interrupt(Some(Arc::default()))
    }
}
