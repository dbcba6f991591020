//! Progress on stderr: a bar on a terminal, otherwise a line now and then. Workers add to a counter once per task of many cases, and one
//! thread reads it ten times a second: an update for every case would cost more than the case.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use console::{Term, truncate_str};
use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressState, ProgressStyle};

use super::terminal::{self, ARE_DRAWN, BARS};
use scavsim_read::input::foreign::visible;

/// Shorter work shows no bar.
const SOON: Duration = Duration::from_millis(500);
/// Time between two looks, and between two lines without a terminal.
const LOOK: Duration = Duration::from_millis(100);
const LINE: Duration = Duration::from_secs(30);

pub struct Progress {
    pub counter: Arc<AtomicU64>,
    done: Arc<AtomicBool>,
    watcher: Option<JoinHandle<()>>,
}

struct Work {
    name: String,
    unit: &'static str,
    /// The total; `None` if unknown.
    all: Option<u64>,
}

impl Progress {
    pub fn start(name: &str, cases: u64) -> Self {
        Progress::over(name, "cases", cases)
    }

    pub fn over(name: &str, unit: &'static str, all: u64) -> Self {
        Progress::watch(Work {
            name: name.to_owned(),
            unit,
            all: Some(all),
        })
    }

    /// Shows work of unknown size: its name and its duration.
    pub fn for_unbounded_work(name: &str) -> Self {
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
        Some(all) => (ProgressBar::new(all), "{name} {wide_bar} {figures}"),
        None => (ProgressBar::new_spinner(), "{spinner} {name}, {elapsed}"),
    };
    if let Ok(style) = ProgressStyle::with_template(style) {
        // A line that is wider than the terminal wraps, and each frame would leave one behind.
        let room = || usize::from(Term::stderr().size().1);
        let (name, unit) = (work.name.clone(), work.unit);
        let name_key = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            let room = match state.len() {
                Some(_) => room() / 3,
                None => room().saturating_sub(LEAST_BESIDE),
            };
            // A bar that cannot be drawn does not stop the work.
            let _ = out.write_str(&truncate_str(&name, room, "…"));
        };
        let figures_key = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            let all = state.len().unwrap_or(0);
            let pace = pace.lock().map(|pace| *pace).unwrap_or_default();
            let most = room().saturating_sub(room() / 3 + LEAST_BAR);
            let _ = out.write_str(&pace.figures(state.pos(), all, unit, most));
        };
        let style = style.with_key("name", name_key);
        bar.set_style(style.with_key("figures", figures_key));
    }
    bar
}

/// Minimum width of a bar in columns, including the blanks on both sides.
const LEAST_BAR: usize = 5;
/// Columns next to the name of work of unknown size: the spinner and the time.
const LEAST_BESIDE: usize = 16;

/// The rate of work, from the last look before the first progress. Preparation before it, and results of an earlier run, do not count.
#[derive(Debug, Clone, Copy, Default)]
struct Pace {
    /// The finished count at the last look before the first progress, and its time.
    since: (u64, Duration),
    last: (u64, Duration),
    has_begun: bool,
}

impl Pace {
    fn look(&mut self, finished: u64, elapsed: Duration) {
        if !self.has_begun {
            // Progress at the first look is since the beginning, or from an earlier run.
            self.has_begun = self.last.1 > Duration::ZERO && finished > self.last.0;
            self.since = if self.has_begun {
                self.last
            } else {
                (finished, elapsed)
            };
        }
        self.last = (finished, elapsed);
    }

    /// Things per second, and seconds left; nothing until there is a rate.
    fn rate_and_rest(&self, all: u64) -> Option<(f64, f64)> {
        let done = self.last.0 - self.since.0;
        let seconds = (self.last.1.saturating_sub(self.since.1)).as_secs_f64();
        if done == 0 || seconds == 0.0 {
            return None;
        }
        let rate = done as f64 / seconds;
        Some((rate, all.saturating_sub(self.last.0) as f64 / rate))
    }

    /// The text next to a bar in at most `most` columns, without the least important parts.
    fn figures(&self, finished: u64, all: u64, unit: &str, most: usize) -> String {
        let count = format!("{}/{}", HumanCount(finished), HumanCount(all));
        let named = format!("{count} {unit}");
        let percent = format!("{} %", 100 * finished / all.max(1));
        let forms = match self.rate_and_rest(all) {
            None => vec![named, count, percent],
            Some((rate, left)) => {
                let (rate, left) = (HumanCount(rate as u64), span(left));
                vec![
                    format!("{named}, {rate}/s, {left} left"),
                    format!("{named}, {left} left"),
                    format!("{count}, {left} left"),
                    format!("{percent}, {left} left"),
                    format!("{left} left"),
                    percent,
                ]
            }
        };
        let mut forms = forms.into_iter();
        let fits = forms.find(|form| form.chars().count() <= most);
        fits.unwrap_or_default()
    }
}

fn span(seconds: f64) -> String {
    // Cap for absurdly long times.
    HumanDuration(Duration::from_secs(seconds.min(1e10).round() as u64)).to_string()
}

/// Writes a line from time to time until the work is done.
fn tell(work: &Work, counter: &AtomicU64, done: &AtomicBool) {
    let begin = Instant::now();
    let (mut next, mut pace) = (LINE, Pace::default());
    while !done.load(Ordering::Relaxed) {
        pace.look(counter.load(Ordering::Relaxed), begin.elapsed());
        if begin.elapsed() >= next {
            next += LINE;
            let _ = writeln!(io::stderr(), "{}", visible(&work.line(pace)));
        }
        thread::park_timeout(LOOK);
    }
}

impl Work {
    /// The progress at the last look.
    fn line(&self, pace: Pace) -> String {
        let (finished, elapsed) = pace.last;
        let (name, so_far) = (&self.name, span(elapsed.as_secs_f64()));
        let Some(all) = self.all else {
            return format!("{name}: {so_far} so far");
        };
        let mut line = format!(
            "{name}: {} of {} {} after {so_far}",
            HumanCount(finished),
            HumanCount(all),
            self.unit
        );
        if let Some((_, left)) = pace.rate_and_rest(all) {
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
            // A watcher that panicked affects only its bar.
            let _ = watcher.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pace after looks at these finished counts and milliseconds.
    fn pace(looks: &[(u64, u64)]) -> Pace {
        let mut pace = Pace::default();
        for (finished, ms) in looks {
            pace.look(*finished, Duration::from_millis(*ms));
        }
        pace
    }

    #[test]
    fn a_line_says_how_far_the_work_is_and_how_long_the_rest_takes() {
        let mut work = Work {
            name: "thousands".to_owned(),
            unit: "cases",
            all: Some(10_000),
        };
        let at = |finished| pace(&[(0, 0), (0, 100), (finished, 28_100)]);
        let quarter = "thousands: 2,500 of 10,000 cases after 28 seconds, 84 seconds left";
        assert_eq!(work.line(at(2_500)), quarter);
        let none = "thousands: 0 of 10,000 cases after 28 seconds";
        assert_eq!(work.line(at(0)), none);
        // Days are printed as days, and results of an earlier run do not count as speed of this one.
        work.all = Some(1_000_000);
        let resumed = pace(&[(900_000, 0), (900_000, 100), (900_050, 172_800_100)]);
        let most = "thousands: 900,050 of 1,000,000 cases after 2 days, 11 years left";
        assert_eq!(work.line(resumed), most);
        work.all = None;
        assert_eq!(work.line(at(0)), "thousands: 28 seconds so far");
    }

    /// Regression: a bar divided all cases of its first half second by one tick and showed "136,215,681 cases/s, 0s left".
    #[test]
    fn first_rates_are_those_of_the_work_and_leave_out_what_was_there() {
        let rate_and_rest = |looks: &[(u64, u64)], all| {
            let found = pace(looks).rate_and_rest(all);
            found.map(|(rate, left)| (rate.round() as u64, left.round() as u64))
        };
        // The bar is drawn half a second after the beginning, when 50,000 cases are done.
        assert_eq!(rate_and_rest(&[(50_000, 500)], 1_010_000), None);
        let begun = [(50_000, 500), (60_000, 600)];
        assert_eq!(rate_and_rest(&begun, 1_010_000), Some((100_000, 10)));
        // A run that continues after an earlier one.
        let resumed = [(900_000, 500), (900_000, 5_500), (901_000, 5_600)];
        assert_eq!(rate_and_rest(&resumed[..2], 1_000_000), None);
        assert_eq!(rate_and_rest(&resumed, 1_000_000), Some((10_000, 10)));
    }

    #[test]
    fn what_stands_beside_a_bar_has_room_at_any_width() {
        let pace = pace(&[(50_000, 500), (60_000, 600)]);
        let at = |most| pace.figures(60_000, 1_010_000, "cases", most);
        assert_eq!(at(60), "60,000/1,010,000 cases, 100,000/s, 10 seconds left");
        assert_eq!(at(40), "60,000/1,010,000 cases, 10 seconds left");
        assert_eq!(at(25), "5 %, 10 seconds left");
        for most in 0..70 {
            assert!(at(most).chars().count() <= most, "{most}");
        }
    }
}
