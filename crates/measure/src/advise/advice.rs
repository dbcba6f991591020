//! An answer: the best choices, what they rest on, and what to measure next.

use super::decision::{Goal, Measurement, MeasurementValue};
use super::machines::Basis;
use super::measurement_summary::MeasurementSummary;
use super::offers::{Offer, OfferList};
use scavsim_base::text::words::{short_time, small_usd};
use scavsim_data::cloud::Market;
use scavsim_data::configuration::Configuration;
use scavsim_data::workload::Provenance;
use scavsim_import::Report;
use scavsim_search::search::Objective;

#[derive(Debug, Clone)]
pub struct Advice {
    pub name: String,
    pub report: Report,
    /// The workload folder, as it would be written.
    pub files: Vec<(&'static str, String)>,
    pub offers: OfferList,
    pub catalogue: CatalogueSurvey,
    pub known: MeasurementSummary,
    pub goal: Goal,
    /// Minutes of set-up in all times.
    pub setup_min: f64,
    /// USD that an hour counts as, for the knee.
    pub usd_per_hour: f64,
    /// Configurations that keep to the limits, the best first.
    pub choices: Vec<Choice>,
    /// Where none does, the one that is likeliest to.
    pub nearest: Option<Choice>,
    /// Configurations that do not.
    pub beyond_limits: usize,
    /// What could be measured next, what is worth most above its price first.
    pub measurements: Vec<NextMeasurement>,
    pub times: f64,
    /// The best choice by the prices of the program, where a price pack is in use.
    pub by_shipped_prices: Option<Choice>,
}

/// A configuration in a market, and what is to be expected of it.
#[derive(Debug, Clone)]
pub struct Choice {
    pub configuration: Configuration,
    pub vms: u32,
    pub offer: Offer,
    /// Hours and their 90 % interval.
    pub time_h: [f64; 3],
    /// USD and their 90 % interval.
    pub cost_usd: [f64; 3],
    /// Chance to miss a limit; 0 without one.
    pub miss: f64,
    pub provenance: Provenance,
    /// Value of the choice by the objective over that of the best.
    pub over_best: f64,
    /// Chance that it is better than the best.
    pub chance: f64,
    /// Whether nothing is both faster and cheaper in expectation.
    pub is_on_front: bool,
    /// What it rests on where its machine was not measured.
    pub stands: Option<MeasuredCounterpart>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredCounterpart {
    /// The measured VM type.
    pub like: String,
    pub basis: Basis,
    /// What the machine computes with: its GPU, or its family.
    pub processor: String,
    /// Seconds of compute over those of the measured type, with the ends of the 90 % interval.
    pub compute_over_like: [f64; 3],
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct CatalogueSurvey {
    /// Whether anything beside what was measured was to be looked at.
    pub is_wanted: bool,
    /// VM types that were not measured and have a price.
    pub machines: usize,
    /// Types that have the GPUs of another for more money.
    pub dearer: usize,
    pub without_price: usize,
    /// Configurations that were left out because they are expected to be more than twice as far from the best.
    pub hopeless: usize,
}

#[derive(Debug, Clone)]
pub struct NextMeasurement {
    pub worth: MeasurementValue,
    pub configuration: Configuration,
    pub vms: u32,
    pub offer: Offer,
    pub was_measured: bool,
    /// What the machine has in common with a measured one, where it was not.
    pub basis: Option<Basis>,
}

impl Choice {
    /// Workers, batch and VMs.
    pub fn named(&self) -> String {
        let c = &self.configuration;
        format!("{} × {} on {} {}", c.workers, c.batch, self.vms, c.vm)
    }
}

impl NextMeasurement {
    /// What is measured, on which machines, in which market.
    pub fn description(&self) -> String {
        let c = &self.configuration;
        let again = if self.was_measured { " once more" } else { "" };
        let on = format!("{} {}", self.vms, c.vm);
        let terms = self.offer.terms();
        match self.worth.measurement {
            Measurement::Step(_) => {
                let machine = self.basis.map_or("", |_| " (not measured yet)");
                let what = format!("the step of {} × {} on {on}", c.workers, c.batch);
                format!("{what}{again}{machine}, {terms}")
            }
            Measurement::Epochs(_) => {
                let batch = c.batch;
                format!("the epochs of batch {batch}{again}, by a run on {on}, {terms}")
            }
        }
    }
}

impl Advice {
    /// How much better a measurement makes the choice, in what it is chosen by.
    pub fn worth_in_words(&self, value: f64) -> String {
        match self.goal.objective {
            Objective::Time => short_time(value),
            Objective::Cost => small_usd(value),
            Objective::Knee => format!("{} worth of cost and time", small_usd(value)),
        }
    }

    /// The best choice on a machine that was measured, where the best of all is not on one.
    pub fn best_measured(&self) -> Option<&Choice> {
        self.choices.first().filter(|best| best.stands.is_some())?;
        self.choices.iter().find(|choice| choice.stands.is_none())
    }

    pub fn has_spot(&self) -> bool {
        self.offers
            .all
            .iter()
            .any(|offer| offer.market == Market::Spot)
    }

    pub fn unit(&self) -> &'static str {
        match self.goal.objective {
            Objective::Time => "h",
            Objective::Cost | Objective::Knee => "USD",
        }
    }
}
