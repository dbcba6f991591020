//! What came of all stretches of a job: the figures behind the statistical price.

use crate::training::sync::Stretch;

/// Sums over the stretches of a job, lost work included.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Totals {
    gradients: f64,
    dropped: f64,
    missed_steps: f64,
    wasted_s: f64,
    computed_s: f64,
    /// Whether any stretch was simulated event by event although another fidelity was asked for.
    pub fell_back: bool,
    /// Whether that was because many updates at once came out as no run of single events would.
    pub left_mean: bool,
}

impl Totals {
    /// Adds a stretch, in which a gradient was the share `gradient` of the global batch.
    pub fn add(&mut self, stretch: &Stretch, gradient: f64) {
        self.gradients += stretch.gradients as f64;
        self.dropped += stretch.dropped as f64;
        self.missed_steps += stretch.missed_gradients * gradient;
        self.wasted_s += stretch.wasted * stretch.computed_s;
        self.computed_s += stretch.computed_s;
    }

    /// Mean staleness of an applied gradient, in steps: samples of others over the global batch.
    pub fn staleness(&self) -> f64 {
        ratio(self.missed_steps, self.gradients)
    }

    /// Fraction of all gradients that the protocol dropped.
    pub fn dropped(&self) -> f64 {
        ratio(self.dropped, self.gradients + self.dropped)
    }

    /// Fraction of the machines' compute time spent on what was dropped or done twice.
    pub fn wasted(&self) -> f64 {
        ratio(self.wasted_s, self.computed_s)
    }
}

fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}
