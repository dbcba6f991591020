//! Who hears what a command prints, where that is not a terminal but a program that asked it from inside.

use std::cell::RefCell;

thread_local! {
    /// Who listens to the command of this thread.
    static LISTENER: RefCell<Option<Listener>> = const { RefCell::new(None) };
}

#[derive(Debug, Default)]
pub(super) struct Listener {
    /// What it finds on standard input.
    pub(super) given: Option<String>,
    pub(super) printed: String,
    /// What it said beside that, each by itself.
    pub(super) notes: Vec<String>,
}

impl Listener {
    /// Hears what `work` prints on this thread.
    pub(super) fn during<T>(self, work: impl FnOnce() -> T) -> (T, Listener) {
        /// Puts back the one before, also where the work panics.
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

/// What the listener of this thread makes of something; `None` where nobody listens.
pub(super) fn heard<T>(tell: impl FnOnce(&mut Listener) -> T) -> Option<T> {
    LISTENER.with_borrow_mut(|listener| listener.as_mut().map(tell))
}
