//! A model cut over GPUs, and what luck makes of it.

use std::sync::{Arc, OnceLock};

use crate::pace::slot_nodes;
use crate::terms::PlanWithTerms;
use crate::{Choices, Draft, Spread, Terms as JobTerms, TrialEffects};
use scavsim_engine::{Interrupt, Parallelism};
use scavsim_parallel::PathScratch;

/// Largest `step_cv` at which outlines were held against steps: within 0.5 % of their mean.
const MOST_OUTLINED_CV: f64 = 0.02;

#[derive(Debug)]
pub struct PlanEnvironment {
    pub choices: Arc<Choices>,
    pub(super) terms: Arc<JobTerms>,
    spreads: Vec<OnceLock<Spread>>,
    /// The luck that tells it.
    trials: OnceLock<TrialEffects>,
}

impl PlanEnvironment {
    pub fn new(choices: Arc<Choices>, terms: Arc<JobTerms>) -> PlanEnvironment {
        let count = choices.ways.len();
        PlanEnvironment {
            choices,
            terms,
            spreads: (0..count).map(|_| OnceLock::new()).collect(),
            trials: OnceLock::new(),
        }
    }

    /// This environment, with what luck makes of all plans found out on the threads of `hands`.
    #[must_use]
    pub fn prepared(self, hands: Parallelism) -> PlanEnvironment {
        if !Spread::is_none(&self.terms.variation) {
            hands.each(self.choices.ways.len(), 1, |at| self.step_spread(at));
        }
        self
    }

    pub(super) fn on(&self, at: usize) -> PlanWithTerms<'_> {
        PlanWithTerms {
            choices: &self.choices,
            way: &self.choices.ways[at],
            at,
            terms: &self.terms,
        }
    }

    pub(super) fn step_spread(&self, at: usize) -> Spread {
        let variation = &self.terms.variation;
        if Spread::is_none(variation) {
            return Spread::NONE;
        }
        if Interrupt::is_raised_here() {
            return Spread::NONE;
        }
        *self.spreads[at].get_or_init(|| match self.choices.prepared(at) {
            Ok(plan) => {
                let nodes = || slot_nodes(&self.choices, at);
                let mut scratch = PathScratch::default();
                // Outlines tell serial messages and little luck; for others, steps themselves.
                let is_little = variation.step_cv <= MOST_OUTLINED_CV
                    && variation.vm_sigma <= 0.0
                    && variation.straggler.is_none();
                if !(plan.has_outline() && is_little) {
                    let calm_s = plan.step_s();
                    return Spread::from_trials(self.trials(), plan.slots(), nodes, |factors| {
                        plan.step_with(factors, &mut scratch) / calm_s
                    });
                }
                let outline = plan.outline(&mut scratch);
                Spread::from_trials(self.trials(), outline.slots(), nodes, |factors| {
                    outline.ratio(factors)
                })
            }
            Err(_) => Spread::NONE,
        })
    }

    fn trials(&self) -> &TrialEffects {
        self.trials.get_or_init(|| {
            let slots = |draft: &Draft| draft.replicas() as usize * draft.pipeline as usize;
            let most = self.choices.ways.iter().map(|way| slots(&way.draft)).max();
            TrialEffects::new(&self.terms.variation, most.unwrap_or(1))
        })
    }
}
