//! A progress bar on stderr when that is a terminal.
//!
//! The workers add to one counter per task of many cases; one thread looks at it ten times a
//! second. A bar that is told of every case would cost more than the case.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressState, ProgressStyle};

/// A bar that follows a counter until it is dropped.
pub struct Progress {
    /// Finished cases.
    pub counter: Arc<AtomicU64>,
    done: Arc<AtomicBool>,
    watcher: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts to watch a run of `cases` cases.
    pub fn start(name: &str, cases: u64) -> Self {
        let counter = Arc::new(AtomicU64::new(0));
        let done = Arc::new(AtomicBool::new(false));
        let watcher = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(cases).with_message(name.to_owned());
            let style = "{msg} {bar:30} {human_pos}/{human_len} cases, {rate}, {eta} left";
            if let Ok(style) = ProgressStyle::with_template(style) {
                let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                    // A bar that cannot be drawn is no reason to stop.
                    let _ = write!(out, "{} cases/s", HumanCount(state.per_sec() as u64));
                };
                bar.set_style(style.with_key("rate", rate));
            }
            let (counter, done) = (Arc::clone(&counter), Arc::clone(&done));
            thread::spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    thread::park_timeout(Duration::from_millis(100));
                    bar.set_position(counter.load(Ordering::Relaxed));
                }
                bar.finish_and_clear();
            })
        });
        Progress {
            counter,
            done,
            watcher,
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        if let Some(watcher) = self.watcher.take() {
            watcher.thread().unpark();
            // A watcher that died took only its bar with it.
            let _ = watcher.join();
        }
    }
}
