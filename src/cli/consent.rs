//! Consent to a long or large run: asks the user at a terminal; without one, `--yes` is required.

use std::io::{self, BufRead, IsTerminal, Write as _};
use std::path::Path;

use super::estimate;
use super::exit::Failure;
use super::listener::heard;
use super::terminal;
use scavsim_base::text::words::{rough_size, rough_time};
use scavsim_engine::Interrupt;
use scavsim_experiment::Plan;
use scavsim_provision::subject::MarketPolicies;
use scavsim_scenario::Scenario;

/// A run with a longer estimate needs consent.
const LONG_S: f64 = 3600.0;

#[derive(Debug, Clone, Copy)]
pub struct Consent {
    /// Whether `--yes` was given.
    pub is_given: bool,
    /// Whether standard input is already in use.
    pub stdin_is_taken: bool,
}

pub struct PlannedRun<'a> {
    pub scenario: &'a Scenario,
    pub plan: &'a Plan,
    pub interrupt: &'a Interrupt,
    pub jobs: usize,
    /// The share of all cases that will be run.
    pub share: f64,
    /// Where `records.csv` is to be written.
    pub csv_in: Option<&'a Path>,
}

impl Consent {
    /// Allows a run that is short and fits on the disk, has `--yes`, or is confirmed; otherwise [`Failure::Declined`].
    pub fn ask(self, asked: &PlannedRun<'_>) -> Result<(), Failure> {
        if self.is_given {
            return Ok(());
        }
        // If the free space is unknown, it cannot be called too little.
        let free = asked
            .csv_in
            .and_then(|path| fs4::available_space(path).ok());
        let (jobs, share) = (asked.jobs, asked.share);
        let needed = MarketPolicies::study_of(asked.plan.subject())
            .map(|study| study.size().bytes * jobs as f64);
        if let Some((needed, free)) = needed
            .zip(estimate::free_memory())
            .filter(|(needed, free)| needed > free)
        {
            let [needed, free] = [needed, free].map(rough_size);
            let sentence = format!(
                "{}: it would take {needed} of memory where {free} are free",
                asked.scenario.name
            );
            let otherwise =
                "; it was not started. `--yes` starts it; fewer threads by `--jobs` take less";
            return ask_person(&sentence, "Start it?", self.stdin_is_taken, otherwise);
        }
        if !estimate::may_exceed(asked.plan, asked.interrupt, jobs, share, (LONG_S, free))? {
            return Ok(());
        }
        let estimate = estimate::estimate_run(asked.scenario, jobs)?;
        let seconds = estimate.seconds.map(|seconds| share * seconds);
        let bytes = estimate.bytes.map(|bytes| share * bytes);
        let Some(sentence) = sentence(seconds, bytes, free) else {
            return Ok(());
        };
        let sentence = format!("{}: {sentence}", asked.scenario.name);
        let otherwise = "; it was not started. `--yes` starts it; fewer `replicas` make it shorter, `--shard` parts it";
        ask_person(&sentence, "Start it?", self.stdin_is_taken, otherwise)
    }
}

/// Asks the user at the terminal; without a terminal, `otherwise` explains how to agree.
pub(super) fn ask_person(
    sentence: &str,
    question: &str,
    stdin_is_taken: bool,
    otherwise: &str,
) -> Result<(), Failure> {
    let is_asked_inside = heard(|_| ()).is_some();
    let is_person = !is_asked_inside && io::stdin().is_terminal() && io::stderr().is_terminal();
    if !is_person || stdin_is_taken {
        return Err(Failure::Declined(format!("{sentence}{otherwise}")));
    }
    if says_yes(sentence, question)? {
        Ok(())
    } else {
        Err(Failure::Declined("not started".to_owned()))
    }
}

/// The question; nothing if a run is short and fits on the disk.
fn sentence(seconds: Option<f64>, bytes: Option<f64>, free: Option<u64>) -> Option<String> {
    let long = seconds.filter(|seconds| *seconds > LONG_S);
    let long = long.map(|seconds| format!("it would take about {}", rough_time(seconds)));
    let large = bytes
        .zip(free)
        .filter(|(bytes, free)| *bytes > *free as f64);
    let large = large.map(|(bytes, free)| {
        format!(
            "it would write {} of records.csv where {} are free",
            rough_size(bytes),
            rough_size(free as f64)
        )
    });
    let parts: Vec<String> = long.into_iter().chain(large).collect();
    (!parts.is_empty()).then(|| parts.join(", and "))
}

fn says_yes(sentence: &str, question: &str) -> io::Result<bool> {
    terminal::error(sentence);
    let mut err = io::stderr().lock();
    write!(err, "{question} [y/N] ")?;
    err.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(is_yes(&answer))
}

/// Whether the answer is yes; no answer means no.
fn is_yes(answer: &str) -> bool {
    ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_long_or_has_no_room_is_asked_about() {
        assert_eq!(sentence(Some(3599.0), Some(1e9), Some(2_000_000_000)), None);
        assert_eq!(sentence(None, Some(1e12), None), None);
        let both = sentence(Some(180_000.0), Some(12e12), Some(40_000_000_000));
        let told = "it would take about 50 h, and it would write 12.0 TB of records.csv where 40.0 GB are free";
        assert_eq!(both.as_deref(), Some(told));
    }

    #[test]
    fn silence_is_no() {
        for no in ["", "\n", "n\n", "yeah no\n"] {
            assert!(!is_yes(no), "{no:?}");
        }
        for yes in ["y\n", "YES\r\n", " yes "] {
            assert!(is_yes(yes), "{yes:?}");
        }
    }
}
