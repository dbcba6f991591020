use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::{ThreadPool, ThreadPoolBuilder};

thread_local! {
    /// What stops the work of this thread.
    static HERE: RefCell<Interrupt> = const { RefCell::new(Interrupt::NEVER) };
}

/// Stops a run from outside, from a signal or another thread; clones are the same flag, which never falls.
///
/// Every simulated event looks at it. What is stopped has no result: nothing of it is handed out.
#[derive(Debug, Clone)]
pub struct Interrupt(Option<Arc<AtomicBool>>);

impl Interrupt {
    /// A flag that nobody can raise.
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

    /// Does `work` so that whatever in it takes long can be stopped: what is deep inside asks for that of its thread.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        /// Puts back the one before, also where the work panics.
        struct InterruptBefore(Interrupt);
        impl Drop for InterruptBefore {
            fn drop(&mut self) {
                HERE.replace(std::mem::replace(&mut self.0, Interrupt::NEVER));
            }
        }
        let _before = InterruptBefore(HERE.replace(self.clone()));
        work()
    }

    /// The one that stops the work of this thread.
    pub fn of_current_thread() -> Interrupt {
        HERE.with_borrow(Interrupt::clone)
    }

    /// Whether the work of this thread is to stop.
    pub fn is_raised_here() -> bool {
        HERE.with_borrow(Interrupt::is_raised)
    }

    /// A pool of `threads` threads whose work this interrupt stops.
    ///
    /// # Errors
    /// Whatever keeps them from being started.
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
