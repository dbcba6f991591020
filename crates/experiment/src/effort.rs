//! How well expectations that are means over runs are to be known.

/// Runs of every configuration where only the best are of interest.
pub(super) const SCREENING_RUNS: u64 = 8;
/// Runs without a result after which no more are made.
pub(super) const HOPELESS: u64 = 8;

/// How well expectations are to be known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Wanted relative standard error of time and cost for configurations that may be chosen.
    pub fine: f64,
    /// Wanted relative standard error for configurations that cannot be chosen.
    pub coarse: f64,
    /// Runs of a configuration to begin with: to choose by, and to value.
    pub first_runs: [u64; 2],
    /// VMs that may be lost in the runs of a configuration; then no run is added.
    pub most_losses: u64,
}

impl Default for Effort {
    /// The losses are about a tenth of a second of compute.
    fn default() -> Self {
        Effort {
            fine: 0.007,
            coarse: 0.01,
            first_runs: [64, 100],
            most_losses: 50_000,
        }
    }
}

impl Effort {
    /// For what is predicted to 10 % and worse.
    pub const ROUGH: Effort = Effort {
        fine: 0.02,
        coarse: 0.02,
        first_runs: [SCREENING_RUNS; 2],
        most_losses: 2_000,
    };

    /// Relative standard error to choose by, where configurations are not told apart and runs can be outlined cheaply.
    pub(super) fn close(self) -> f64 {
        self.fine / 2.0
    }

    /// Whether so many losses in so many runs cost too much for another run.
    pub(super) fn is_spent(self, runs: u64, losses: u64) -> bool {
        runs >= HOPELESS && losses >= self.most_losses
    }
}
