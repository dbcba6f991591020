//! Bars on the terminal, and what is written beside them.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::MultiProgress;

pub(super) static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);
/// Whether there are some: a program that draws none does not ask how.
pub(super) static ARE_DRAWN: AtomicBool = AtomicBool::new(false);

/// Does what writes to the terminal while no bar stands in its way.
pub fn with_bars_hidden<T>(write: impl FnOnce() -> T) -> T {
    if ARE_DRAWN.load(Ordering::Relaxed) {
        BARS.suspend(write)
    } else {
        write()
    }
}
