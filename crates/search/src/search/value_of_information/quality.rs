//! Whether a configuration comes to the quality that is the target: the logarithm of what must be small is a Gaussian field, which goes
//! with configurations as steps to the target do.

use super::constants::Constants;
use super::experts::{Experts, LogObjective};
use super::field::Prior;
use crate::search::Goal;

pub(super) struct QualityBelief<'p> {
    goal: Goal,
    /// The target as an error.
    most: f64,
    experts: Experts<'p>,
    is_new: bool,
    /// The quality itself, of every configuration.
    itself: LogObjective,
}

impl<'p> QualityBelief<'p> {
    /// `None` for a target that no error above zero comes to.
    pub(super) fn new(prior: &'p Prior, goal: Goal, constants: &Constants) -> Option<Self> {
        let (Goal::AtLeast(limit) | Goal::AtMost(limit)) = goal;
        Some(QualityBelief {
            goal,
            most: error(goal, limit)?,
            experts: Experts::new(&[prior], &constants.scales, constants.caution),
            is_new: true,
            itself: LogObjective {
                power: 1.0,
                offset: vec![0.0; prior.mean.len()],
            },
        })
    }

    /// Learns the quality of a run; whether it shows anything.
    pub(super) fn learn(&mut self, at: usize, quality: f64) -> bool {
        let error = error(self.goal, quality);
        if let Some(error) = error {
            self.experts.look(at, &[libm::log(error)]);
            self.is_new = false;
        }
        error.is_some()
    }

    /// Odds that each configuration misses the target; `None` before a quality was seen.
    pub(super) fn odds_missed(&self) -> Option<Vec<f64>> {
        if self.is_new {
            return None;
        }
        let told = self.experts.predict_objective(&self.itself);
        let all = 0..self.itself.offset.len();
        Some(all.map(|at| told.until(at, self.most).1).collect())
    }
}

/// What must be small: a loss or latency itself, what a share lacks of 1, or else the inverse.
fn error(goal: Goal, quality: f64) -> Option<f64> {
    let error = match goal {
        Goal::AtMost(_) => quality,
        Goal::AtLeast(least) if least < 1.0 => 1.0 - quality,
        Goal::AtLeast(_) => 1.0 / quality,
    };
    (error > 0.0 && error.is_finite()).then_some(error)
}
