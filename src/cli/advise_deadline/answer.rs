//! Questions about deadlines and policies, and their answers.

use std::sync::Arc;

use super::plan::{ON_DEMAND, Plan, PlanResult, Promise};
use super::rule::Rule;
use super::spot::{StatedSpotTimes, SubstituteMarket};
use super::when::Deadline;
use scavsim_data::cloud::Market;
use scavsim_measure::advise::offers::{Offer, PriceCaps};
use scavsim_measure::advise::rental::RentalAdvice;
use scavsim_provision::policy::Recipe;

#[derive(Debug)]
pub struct DeadlineQuestion {
    pub(super) deadline: Deadline,
    pub(super) policies: Vec<(String, Arc<dyn Recipe>)>,
    pub(super) said: StatedSpotTimes,
    /// Share of runs that may be longer than planned.
    pub(super) miss: f64,
}

#[derive(Debug)]
pub struct PlannedAnswer<'a> {
    pub(super) in_time: &'a DeadlineQuestion,
    pub(super) advice: &'a RentalAdvice,
    pub(super) caps: &'a PriceCaps,
    /// The promise that all plans share.
    pub(super) promise: &'a Promise,
    /// Replaces the data of spot markets without measurements.
    pub(super) stand_in: &'a SubstituteMarket,
    /// The plans, cheapest first; the first one is the recommendation.
    pub(super) plans: Vec<Plan<'a>>,
    pub(super) rule: Rule,
    /// Number of configurations that were run under policies.
    pub(super) candidates: usize,
    /// Number of lives of each plan with a spot market.
    pub(super) lives: u64,
}

impl DeadlineQuestion {
    pub fn hours(&self) -> f64 {
        self.deadline.hours
    }

    pub fn miss(&self) -> f64 {
        self.miss
    }
}

impl PlannedAnswer<'_> {
    /// What to rent first: the rank of the choice in its advice, and the offer.
    pub fn first(&self) -> Option<(usize, &Offer, &PlanResult)> {
        let plan = self.plans.first()?;
        let choice = plan.candidate.choice;
        let spot = plan
            .candidate
            .spot
            .as_ref()
            .filter(|_| self.rule.begins_on_spot);
        let offer = spot.map_or(&choice.offer, |spot| &spot.offer);
        Some((choice.at, offer, &plan.came))
    }

    pub(super) fn on_demand_only(&self) -> Option<&Plan<'_>> {
        self.plans.iter().find(|plan| plan.policy == ON_DEMAND)
    }
}

pub(super) fn in_words(market: Market) -> &'static str {
    match market {
        Market::OnDemand => "on demand",
        other => other.name(),
    }
}
