//! An advice: the best choices, their evidence, and what to measure next.

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
    /// The files of the workload folder.
    pub files: Vec<(&'static str, String)>,
    pub offers: OfferList,
    pub catalogue: CatalogueSurvey,
    pub known: MeasurementSummary,
    pub goal: Goal,
    /// Minutes of set-up that all times include.
    pub setup_min: f64,
    /// USD per hour of time, for the knee.
    pub usd_per_hour: f64,
    /// Configurations that meet the limits, the best first.
    pub choices: Vec<Choice>,
    /// If none does, the one that most likely does.
    pub nearest: Option<Choice>,
    /// Configurations that do not meet them.
    pub beyond_limits: usize,
    /// Possible next measurements, by value less price, the best first.
    pub measurements: Vec<NextMeasurement>,
    pub times: f64,
    /// The best choice at the prices of the program, if a price pack is in use.
    pub by_shipped_prices: Option<Choice>,
}

/// A configuration in a market, with its predictions.
#[derive(Debug, Clone)]
pub struct Choice {
    pub configuration: Configuration,
    pub vms: u32,
    pub offer: Offer,
    /// Hours, with the ends of their 90 % interval.
    pub time_h: [f64; 3],
    /// USD, with the ends of their 90 % interval.
    pub cost_usd: [f64; 3],
    /// Probability of missing a limit; 0 without one.
    pub miss: f64,
    pub provenance: Provenance,
    /// Value of the choice by the objective, relative to the best.
    pub over_best: f64,
    /// Probability that it is better than the best.
    pub chance: f64,
    /// Whether nothing is both faster and cheaper in expectation.
    pub is_on_front: bool,
    /// The measured counterpart of a machine that was not measured.
    pub stands: Option<MeasuredCounterpart>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredCounterpart {
    /// The measured VM type.
    pub like: String,
    pub basis: Basis,
    /// The processor of the machine: its GPU, or its family.
    pub processor: String,
    /// Seconds of compute relative to the measured type, with the ends of the 90 % interval.
    pub compute_over_like: [f64; 3],
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct CatalogueSurvey {
    /// Whether machines other than the measured ones were requested.
    pub is_wanted: bool,
    /// VM types that were not measured and have a price.
    pub machines: usize,
    /// Types with the GPUs of another type, but a higher price.
    pub dearer: usize,
    pub without_price: usize,
    /// Configurations that were left out because their predictions are more than twice the best.
    pub hopeless: usize,
}

#[derive(Debug, Clone)]
pub struct NextMeasurement {
    pub worth: MeasurementValue,
    pub configuration: Configuration,
    pub vms: u32,
    pub offer: Offer,
    pub was_measured: bool,
    /// What the machine has in common with a measured one, if it was not measured.
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
    /// The measurement, its machines and its market.
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
    /// The improvement of the choice by a measurement, in the unit of the objective.
    pub fn worth_in_words(&self, value: f64) -> String {
        match self.goal.objective {
            Objective::Time => short_time(value),
            Objective::Cost => small_usd(value),
            Objective::Knee => format!("{} worth of cost and time", small_usd(value)),
        }
    }

    /// The best choice on a measured machine, if the best of all is on another one.
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
