//! Progress on stderr: a bar on a terminal, elsewhere a line now and then.
//!
//! The workers add to one counter per task of many cases; one thread looks at it ten times a
//! second. A bar that is told of every case would cost more than the case.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressState, ProgressStyle};

use super::bars::{ARE_DRAWN, BARS};
use super::terminal;
use scavsim_read::input::foreign::visible;

/// What is done sooner shows no bar.
const SOON: Duration = Duration::from_millis(500);
/// Between two looks, and between two lines where there is no terminal.
const LOOK: Duration = Duration::from_millis(100);
const LINE: Duration = Duration::from_secs(30);

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
        let watcher = terminal::is_watched().then(|| {
            let (counter, done) = (Arc::clone(&counter), Arc::clone(&done));
            let is_terminal = io::stderr().is_terminal();
            thread::spawn(move || {
                if is_terminal {
                    draw(&work, &counter, &done)
                } else {
                    tell(&work, &counter, &done)
                }
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
    let shown: Arc<Mutex<Pace>> = Arc::default();
    let bar = BARS.add(bar(work, Arc::clone(&shown)).with_elapsed(begin.elapsed()));
    while !done.load(Ordering::Relaxed) {
        let finished = counter.load(Ordering::Relaxed);
        if let Ok(mut pace) = shown.lock() {
            pace.look(finished, begin.elapsed());
        }
        bar.set_position(finished);
        bar.tick();
        thread::park_timeout(LOOK);
    }
    bar.finish_and_clear();
    BARS.remove(&bar);
}

fn bar(work: &Work, pace: Arc<Mutex<Pace>>) -> ProgressBar {
    let (bar, style) = match work.all {
        Some(all) => (
            ProgressBar::new(all),
            "{msg} {wide_bar} {human_pos}/{human_len} {unit}{pace}",
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
        let pace_key = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            let text = pace.lock().map(|pace| pace.text(state.len().unwrap_or(0)));
            let _ = out.write_str(&text.unwrap_or_default());
        };
        bar.set_style(style.with_key("pace", pace_key).with_key("unit", unit_key));
    }
    bar
}

/// How fast work is done, from the look before the first of it was seen to be finished: what is prepared before, or was there
/// from an earlier run, is no work of this time.
#[derive(Debug, Clone, Copy, Default)]
struct Pace {
    /// What was finished at the last look before more was, and when.
    since: (u64, Duration),
    last: (u64, Duration),
    has_begun: bool,
}

impl Pace {
    fn look(&mut self, finished: u64, elapsed: Duration) {
        if !self.has_begun {
            // What is finished at the first look was finished since the beginning, or found there.
            self.has_begun = self.last.1 > Duration::ZERO && finished > self.last.0;
            self.since = if self.has_begun {
                self.last
            } else {
                (finished, elapsed)
            };
        }
        self.last = (finished, elapsed);
    }

    /// Rate and rest, behind a comma; empty until there is a rate.
    fn text(&self, all: u64) -> String {
        let done = self.last.0 - self.since.0;
        let seconds = (self.last.1.saturating_sub(self.since.1)).as_secs_f64();
        if done == 0 || seconds == 0.0 {
            return String::new();
        }
        let rate = done as f64 / seconds;
        let left = all.saturating_sub(self.last.0) as f64 / rate;
        format!(", {}/s, {} left", HumanCount(rate as u64), span(left))
    }
}

/// Seconds as people say them.
fn span(seconds: f64) -> String {
    // A rest of centuries is no figure either.
    HumanDuration(Duration::from_secs(seconds.min(1e10).round() as u64)).to_string()
}

/// Writes a line from time to time until the work is done.
fn tell(work: &Work, counter: &AtomicU64, done: &AtomicBool) {
    let begin = Instant::now();
    let mut next = LINE;
    while !done.load(Ordering::Relaxed) {
        if begin.elapsed() >= next {
            next += LINE;
            let line = work.line(counter.load(Ordering::Relaxed), begin.elapsed());
            let _ = writeln!(io::stderr(), "{}", visible(&line));
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
            let _ = write!(line, ", {} left", span(left));
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
        let after = Duration::from_secs(28);
        assert_eq!(
            work.line(2_500, after),
            "thousands: 2,500 of 10,000 cases after 28 s, 84 seconds left"
        );
        assert_eq!(
            work.line(0, after),
            "thousands: 0 of 10,000 cases after 28 s"
        );
        work.all = None;
        assert_eq!(work.line(0, after), "thousands: 28 s so far");
    }

    /// What a bar showed that took all cases of its first half second for those of one tick: "136,215,681 cases/s, 0s left".
    #[test]
    fn first_rates_are_those_of_the_work_and_leave_out_what_was_there() {
        let ms = Duration::from_millis;
        let mut pace = Pace::default();
        // The bar is drawn half a second after the beginning, when 50,000 cases are done.
        pace.look(50_000, ms(500));
        assert_eq!(pace.text(1_010_000), "");
        pace.look(60_000, ms(600));
        assert_eq!(pace.text(1_010_000), ", 100,000/s, 10 seconds left");
        // A run that goes on behind what an earlier one left.
        let mut pace = Pace::default();
        pace.look(900_000, ms(500));
        pace.look(900_000, ms(5_500));
        assert_eq!(pace.text(1_000_000), "");
        pace.look(901_000, ms(5_600));
        assert_eq!(pace.text(1_000_000), ", 10,000/s, 10 seconds left");
    }
}
