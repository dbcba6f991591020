//! How much there is to run: shown before the run, and refused where it is too much.

use super::{AvailabilitySource, Setting, Study};

/// Most hours of a deadline, so that the clock holds two of them.
pub(super) const MOST_HOURS: f64 = 1e6;
/// Most ticks of a life: eleven days in seconds.
pub(super) const MOST_TICKS: usize = 1_000_000;
/// Most ticks of a setting's lives under all policies.
pub(super) const MOST_DECISIONS: f64 = 1e12;
pub(super) const MOST_BYTES: f64 = 4e9;

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StudySize {
    pub ticks: usize,
    /// Ticks of all lives under all policies and the clairvoyant.
    pub decisions: f64,
    /// Most bytes of a thread for a life.
    pub bytes: f64,
}

impl Study {
    pub fn size(&self) -> StudySize {
        let bytes = self.settings.iter().map(Setting::bytes);
        let decisions = (self.settings.iter()).map(|one| one.decisions(self.policies.len()));
        StudySize {
            ticks: (self.settings.iter().map(|one| one.ticks))
                .max()
                .unwrap_or(0),
            decisions: decisions.sum(),
            bytes: bytes.fold(0.0, f64::max),
        }
    }
}

impl Setting {
    /// Ticks of all lives under all policies and the clairvoyant.
    pub(super) fn decisions(&self, policies: usize) -> f64 {
        self.lives.count() as f64 * self.ticks as f64 * (policies + 1) as f64
    }

    /// Bytes of a life: drawn machines and prices, and the clairvoyant's bounds by tick and state, and labels.
    pub(super) fn bytes(&self) -> f64 {
        let (ticks, zones) = (self.ticks as f64, self.world.zones.len() as f64);
        let drawn = match self.lives {
            AvailabilitySource::Drawn(..) => 10.0 * zones * ticks,
            AvailabilitySource::Traces(_) => 0.0,
        };
        let job = &self.job;
        let stretches = job.forms.iter().map(|form| form.speed.speeds().count() - 1);
        let segments = 1.0 + stretches.sum::<usize>() as f64;
        // Ticks of a start, which the clairvoyant counts apart for each length of a move.
        let moving = &self.world.moving;
        let starts = (job.slowest_start(moving).seconds() / self.world.tick_s).ceil();
        let lengths = if moving.slowest_s_per_gb() > 0.0 {
            zones
        } else {
            1.0
        };
        let states = zones * (2.0 * job.forms.len() as f64 * (1.0 + lengths * starts) + 1.0) + 1.0;
        drawn + 400.0 * ticks * states * segments + 1e8
    }
}
