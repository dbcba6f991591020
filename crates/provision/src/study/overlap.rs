//! Lives that overlap in time meet the same market, and are not independent.

/// Fewest lives side by side in a trace for an interval.
const LEAST_DISJOINT: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    pub lives: usize,
    /// Lives that fit into the whole time without an overlap.
    pub disjoint: usize,
    /// Independent lives whose mean is as uncertain.
    effective: f64,
}

impl Sample {
    /// Draws of a process, each of which is independent.
    pub fn of_draws(lives: usize) -> Sample {
        Sample {
            lives,
            disjoint: lives,
            effective: lives as f64,
        }
    }

    /// Lives of `ticks` from starts in one trace, correlated by the share of time in common: n of them count as
    /// n² / Σ Σ (1 − |difference of starts| / ticks)₊ independent ones (Kish 1965). For dense starts that is the variance of overlapping
    /// batch means (Meketon and Schmeiser 1984).
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

    /// Independent lives that each counts as; 0 where they are too few for an interval.
    pub fn independence(&self) -> f64 {
        self.effective / self.lives.max(1) as f64
    }

    /// Independent values that `lives` count as; below two where the sample is too small.
    pub fn effective(&self, lives: u64) -> f64 {
        self.effective.min(lives as f64)
    }
}
