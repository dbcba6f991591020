//! How much the lives of a setting tell: those that overlap in time meet the same market, and are not independent.

use super::AvailabilitySource;
use scavsim_base::text::words::plural;

/// Fewer lives side by side in a trace are too few for an interval.
pub const LEAST_DISJOINT: usize = 6;

/// The lives of a setting as a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Lives.
    pub lives: usize,
    /// Lives that fit into the time of all of them without an overlap.
    pub disjoint: usize,
    /// Independent lives whose mean is as uncertain.
    effective: f64,
}

impl Sample {
    /// The sample that lives of so many ticks are. Each draw of a process is independent.
    pub fn of_lives(lives: &AvailabilitySource, ticks: usize) -> Sample {
        match lives {
            AvailabilitySource::Traces(starts) => Sample::of_starts(starts, ticks),
            AvailabilitySource::Drawn(..) => Sample {
                lives: lives.count(),
                disjoint: lives.count(),
                effective: lives.count() as f64,
            },
        }
    }

    /// Lives of so many ticks from starts in one trace. Two lives are correlated as the share of time that they have in common,
    /// so that n of them tell as much as n² / Σ Σ (1 − |difference of starts| / ticks)₊ independent ones (Kish 1965). Where starts
    /// are dense, that is the variance of overlapping batch means of a life's length (Meketon and Schmeiser 1984).
    pub fn of_starts(starts: &[usize], ticks: usize) -> Sample {
        let mut sorted = starts.to_vec();
        sorted.sort_unstable();
        let length = ticks.max(1);
        let (mut pairs, mut covered, mut first, mut sum) = (0.0, 0, 0, 0.0);
        for (at, &start) in sorted.iter().enumerate() {
            while sorted[first] + length <= start {
                sum -= sorted[first] as f64;
                first += 1;
            }
            let before = (at - first) as f64;
            pairs += before - (before * start as f64 - sum) / length as f64;
            sum += start as f64;
            let next = sorted.get(at + 1).map_or(length, |next| next - start);
            covered += next.min(length);
        }
        let lives = starts.len() as f64;
        let enough = Some(covered / length).filter(|&n| n >= LEAST_DISJOINT);
        Sample {
            lives: starts.len(),
            disjoint: covered / length,
            effective: enough.map_or(0.0, |_| lives * lives / (lives + 2.0 * pairs)),
        }
    }

    /// Whether it is too small for an interval.
    pub fn is_too_small(&self) -> bool {
        self.effective < 2.0
    }

    /// How many independent lives each of them counts as; 0 where they are too few for an interval.
    pub fn independence(&self) -> f64 {
        self.effective / self.lives.max(1) as f64
    }

    /// How many independent values as many of its lives tell as much as; fewer than two where it is too small.
    pub fn effective(&self, lives: u64) -> f64 {
        self.effective.min(lives as f64)
    }

    /// What is said of it, after the number of lives.
    pub fn description(&self) -> String {
        let lives = plural(self.lives as u64, "life");
        let in_time = format!(
            "{lives} in the time of {} that do not overlap",
            self.disjoint
        );
        if self.is_too_small() && self.lives > 1 {
            return format!(
                "{in_time}: not enough of this market for an interval, which takes {LEAST_DISJOINT}"
            );
        }
        if self.disjoint < self.lives {
            return in_time;
        }
        lives
    }
}
