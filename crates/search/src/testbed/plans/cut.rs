//! A model cut over GPUs, and what luck makes of it.

use std::sync::{Arc, OnceLock};

use scavsim_sim::engine::{Hands, Interrupt};
use scavsim_sim::parallel::PathScratch;
use scavsim_sim::plans::pace::slot_nodes;
use scavsim_sim::plans::terms::On;
use scavsim_sim::plans::{Choices, Draft, Spread, Terms as JobTerms, TrialLuck};

/// Largest `step_cv` at which outlines were held against steps: within 0.5 % of their mean.
const MOST_OUTLINED_CV: f64 = 0.02;

/// Parallel plans as the ground of an arena.
#[derive(Debug)]
pub struct PlanGround {
    pub(super) choices: Arc<Choices>,
    pub(super) terms: Arc<JobTerms>,
    /// What luck makes of the steps of each plan.
    spreads: Vec<OnceLock<Spread>>,
    /// The luck that tells it.
    trials: OnceLock<TrialLuck>,
}

impl PlanGround {
    pub fn new(choices: Arc<Choices>, terms: Arc<JobTerms>) -> PlanGround {
        let count = choices.ways.len();
        PlanGround {
            choices,
            terms,
            spreads: (0..count).map(|_| OnceLock::new()).collect(),
            trials: OnceLock::new(),
        }
    }

    /// This ground, with what luck makes of all plans found out on the threads of `hands`.
    #[must_use]
    pub fn prepared(self, hands: Hands) -> PlanGround {
        if !Spread::is_none(&self.terms.variation) {
            hands.each(self.choices.ways.len(), 1, |at| self.spread(at));
        }
        self
    }

    pub(super) fn on(&self, at: usize) -> On<'_> {
        On {
            choices: &self.choices,
            way: &self.choices.ways[at],
            at,
            terms: &self.terms,
        }
    }

    pub(super) fn spread(&self, at: usize) -> Spread {
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
                    return Spread::of(self.trials(), plan.slots(), nodes, |factors| {
                        plan.step_with(factors, &mut scratch) / calm_s
                    });
                }
                let outline = plan.outline(&mut scratch);
                Spread::of(self.trials(), outline.slots(), nodes, |factors| {
                    outline.ratio(factors)
                })
            }
            Err(_) => Spread::NONE,
        })
    }

    fn trials(&self) -> &TrialLuck {
        self.trials.get_or_init(|| {
            let slots = |draft: &Draft| draft.replicas() as usize * draft.pipeline as usize;
            let most = self.choices.ways.iter().map(|way| slots(&way.draft)).max();
            TrialLuck::new(&self.terms.variation, most.unwrap_or(1))
        })
    }
}
