//! Progress on stderr: a bar on a terminal, elsewhere a line now and then.
//!
//! The workers add to one counter per task of many cases; one thread looks at it ten times a
//! second. A bar that is told of every case would cost more than the case.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{HumanCount, MultiProgress, ProgressBar, ProgressState, ProgressStyle};

use super::terminal;

/// The bars that are drawn.
static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);
/// Whether there are some: a program that draws none does not ask how.
static ARE_DRAWN: AtomicBool = AtomicBool::new(false);

/// What is done sooner shows no bar.
const SOON: Duration = Duration::from_millis(500);
/// Between two looks, and between two lines where there is no terminal.
const LOOK: Duration = Duration::from_millis(100);
const LINE: Duration = Duration::from_secs(30);

/// Does what writes to the terminal while no bar stands in its way.
pub fn beside<T>(write: impl FnOnce() -> T) -> T {
    match ARE_DRAWN.load(Ordering::Relaxed) {
        true => BARS.suspend(write),
        false => write(),
    }
}

/// A sign of work that stays until it is dropped.
pub struct Progress {
    /// Finished cases.
    pub counter: Arc<AtomicU64>,
    done: Arc<AtomicBool>,
    watcher: Option<JoinHandle<()>>,
}

/// What is being done.
struct Work {
    name: String,
    unit: &'static str,
    /// How many there are; `None` where nobody knows.
    all: Option<u64>,
}

impl Progress {
    /// Watches a run of `cases` cases.
    pub fn start(name: &str, cases: u64) -> Self {
        Progress::watch(Work {
            name: name.to_owned(),
            unit: "cases",
            all: Some(cases),
        })
    }

    /// Watches work on so many things of a kind.
    pub fn over(name: &str, unit: &'static str, all: u64) -> Self {
        Progress::watch(Work {
            name: name.to_owned(),
            unit,
            all: Some(all),
        })
    }

    /// Watches work of which nobody knows how much it is: it is there, and for how long.
    pub fn of(name: &str) -> Self {
        Progress::watch(Work {
            name: name.to_owned(),
            unit: "",
            all: None,
        })
    }

    fn watch(work: Work) -> Self {
        let counter = Arc::new(AtomicU64::new(0));
        let done = Arc::new(AtomicBool::new(false));
        let watcher = (!terminal::is_quiet()).then(|| {
            let (counter, done) = (Arc::clone(&counter), Arc::clone(&done));
            let is_terminal = io::stderr().is_terminal();
            thread::spawn(move || match is_terminal {
                true => draw(&work, &counter, &done),
                false => tell(&work, &counter, &done),
            })
        });
        Progress {
            counter,
            done,
            watcher,
        }
    }
}

/// Draws a bar until the work is done.
fn draw(work: &Work, counter: &AtomicU64, done: &AtomicBool) {
    let begin = Instant::now();
    while !done.load(Ordering::Relaxed) && begin.elapsed() < SOON {
        thread::park_timeout(LOOK);
    }
    if done.load(Ordering::Relaxed) {
        return;
    }
    ARE_DRAWN.store(true, Ordering::Relaxed);
    let bar = BARS.add(bar(work).with_elapsed(begin.elapsed()));
    while !done.load(Ordering::Relaxed) {
        bar.set_position(counter.load(Ordering::Relaxed));
        bar.tick();
        thread::park_timeout(LOOK);
    }
    bar.finish_and_clear();
    BARS.remove(&bar);
}

fn bar(work: &Work) -> ProgressBar {
    let (bar, style) = match work.all {
        Some(all) => (
            ProgressBar::new(all),
            "{msg} {bar:30} {human_pos}/{human_len} {unit}, {rate}, {eta} left",
        ),
        None => (ProgressBar::new_spinner(), "{spinner} {msg}, {elapsed}"),
    };
    let bar = bar.with_message(work.name.clone());
    if let Ok(style) = ProgressStyle::with_template(style) {
        let unit = work.unit;
        let unit_key = move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
            // A bar that cannot be drawn is no reason to stop.
            let _ = out.write_str(unit);
        };
        let rate = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            let _ = write!(out, "{} {unit}/s", HumanCount(state.per_sec() as u64));
        };
        bar.set_style(style.with_key("rate", rate).with_key("unit", unit_key));
    }
    bar
}

/// Writes a line from time to time until the work is done.
fn tell(work: &Work, counter: &AtomicU64, done: &AtomicBool) {
    let begin = Instant::now();
    let mut next = LINE;
    while !done.load(Ordering::Relaxed) {
        if begin.elapsed() >= next {
            next += LINE;
            let line = work.line(counter.load(Ordering::Relaxed), begin.elapsed());
            let _ = writeln!(io::stderr(), "{}", terminal::visible(&line));
        }
        thread::park_timeout(LOOK);
    }
}

impl Work {
    /// How far it is after some time.
    fn line(&self, finished: u64, elapsed: Duration) -> String {
        let (name, seconds) = (&self.name, elapsed.as_secs());
        let mut line = match self.all {
            None => format!("{name}: {seconds} s so far"),
            Some(all) => format!(
                "{name}: {} of {} {} after {seconds} s",
                HumanCount(finished),
                HumanCount(all),
                self.unit
            ),
        };
        if let Some(all) = self.all.filter(|_| finished > 0) {
            let left =
                elapsed.as_secs_f64() * (all.saturating_sub(finished)) as f64 / finished as f64;
            let _ = write!(line, ", {left:.0} s left");
        }
        line
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_the_work_is_and_how_long_the_rest_takes() {
        let mut work = Work {
            name: "thousands".to_owned(),
            unit: "cases",
            all: Some(10_000),
        };
        let after = Duration::from_secs(30);
        assert_eq!(
            work.line(2_500, after),
            "thousands: 2,500 of 10,000 cases after 30 s, 90 s left"
        );
        assert_eq!(
            work.line(0, after),
            "thousands: 0 of 10,000 cases after 30 s"
        );
        work.all = None;
        assert_eq!(work.line(0, after), "thousands: 30 s so far");
    }
}
