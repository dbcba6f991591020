//! What is asked of deadlines and policies, and what is answered.

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
    /// Share of runs that may take longer than planned.
    pub(super) miss: f64,
}

#[derive(Debug)]
pub struct PlannedAnswer<'a> {
    pub(super) in_time: &'a DeadlineQuestion,
    pub(super) advice: &'a RentalAdvice,
    pub(super) caps: &'a PriceCaps,
    /// What all plans have in common.
    pub(super) promise: &'a Promise,
    /// What stands in for markets that nobody measured.
    pub(super) stand_in: &'a SubstituteMarket,
    /// The plans, the cheapest first; what is first is to be taken.
    pub(super) plans: Vec<Plan<'a>>,
    pub(super) rule: Rule,
    /// Configurations that were run under policies.
    pub(super) candidates: usize,
    /// Lives of each plan with a spot market.
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
    /// What to rent at first: the place of the choice in its advice, and the offer.
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
