//! Captures the output of a command that another program runs from inside, without a terminal.

use std::cell::RefCell;

thread_local! {
    /// The listener of this thread's command.
    static LISTENER: RefCell<Option<Listener>> = const { RefCell::new(None) };
}

#[derive(Debug, Default)]
pub(super) struct Listener {
    /// The text on standard input.
    pub(super) given: Option<String>,
    pub(super) printed: String,
    /// Messages other than its output, one per entry.
    pub(super) notes: Vec<String>,
}

impl Listener {
    /// Captures what `work` prints on this thread.
    pub(super) fn during<T>(self, work: impl FnOnce() -> T) -> (T, Listener) {
        /// Restores the previous listener, also after a panic.
        struct ListenerBefore(Option<Listener>);
        impl Drop for ListenerBefore {
            fn drop(&mut self) {
                LISTENER.replace(self.0.take());
            }
        }
        let _before = ListenerBefore(LISTENER.replace(Some(self)));
        let done = work();
        (done, LISTENER.take().unwrap_or_default())
    }
}

/// Applies `tell` to the listener of this thread; `None` if there is no listener.
pub(super) fn heard<T>(tell: impl FnOnce(&mut Listener) -> T) -> Option<T> {
    LISTENER.with_borrow_mut(|listener| listener.as_mut().map(tell))
}
