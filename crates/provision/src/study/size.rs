//! How much there is to run: said before it begins, and refused where no machine does it.

use super::{Lives, Setting, Study};

/// Most hours of a deadline, so that the clock holds two of them.
pub(super) const MOST_HOURS: f64 = 1e6;
/// Most ticks of a life: eleven days in seconds.
pub(super) const MOST_TICKS: usize = 1_000_000;
/// Most ticks of all lives of a setting under all policies.
pub(super) const MOST_DECISIONS: f64 = 1e12;
/// Most bytes of a life.
pub(super) const MOST_BYTES: f64 = 4e9;

/// How much there is to run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StudySize {
    /// Lives of all policies in all settings.
    pub lives: usize,
    /// Ticks that a life may take.
    pub ticks: usize,
    /// Bytes that a thread takes for a life, at most.
    pub bytes: f64,
}

impl Study {
    /// How much there is to run, in words.
    pub fn extent(&self) -> String {
        let StudySize { lives, ticks, .. } = self.size();
        format!("{lives} lives of up to {ticks} ticks")
    }

    /// How much there is to run.
    pub fn size(&self) -> StudySize {
        let bytes = self.settings.iter().map(Setting::bytes);
        StudySize {
            lives: self.cases(),
            ticks: (self.settings.iter().map(|one| one.ticks))
                .max()
                .unwrap_or(0),
            bytes: bytes.fold(0.0, f64::max),
        }
    }
}

impl Setting {
    /// Ticks of all lives under so many policies, and the clairvoyant.
    pub(super) fn decisions(&self, policies: usize) -> f64 {
        self.lives.count() as f64 * self.ticks as f64 * (policies + 1) as f64
    }

    /// Bytes of a life: machines and prices that are drawn, and the clairvoyant's costs by place and work.
    pub(super) fn bytes(&self) -> f64 {
        let (ticks, zones) = (self.ticks as f64, self.world.zones.len() as f64);
        let drawn = match self.lives {
            Lives::Drawn(..) => 10.0 * zones * ticks,
            Lives::Traces(_) => 0.0,
        };
        let modes = zones * (2.0 * self.job.forms.len() as f64 + 1.0);
        let work = self.job.work_s / self.world.tick_s;
        // It counts work in up to 20 parts of a tick, as long as these are no more than 50 million in all.
        let parts = (20.0 * work).min(work.max(5e7 / (ticks * modes)));
        drawn + 8.0 * modes * (parts + 1.0) * 2.0 * ticks.sqrt()
    }
}
