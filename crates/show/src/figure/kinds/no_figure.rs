//! Why a result has no figure of a kind.

use scavsim_lab::experiment::PlanError;

/// Why a result has no figure of a kind.
#[derive(Debug, Clone, thiserror::Error)]
pub enum NoFigure {
    /// Records alone do not say enough.
    #[error("{0}: name the scenario with `--scenario FILE`")]
    NeedsScenario(&'static str),
    /// The scenario cannot be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The result has not what was asked for.
    #[error("it has no {what} `{asked}`, but {known}")]
    Unknown {
        /// What was asked for.
        what: &'static str,
        /// Name that was asked for.
        asked: String,
        /// What there is instead.
        known: String,
    },
    /// No workload of the result has the name that was asked for.
    #[error("it has no such workload")]
    NoSuchWorkload,
    /// The result has no cases.
    #[error("it has no cases")]
    NoCases,
    /// None of its cases has a result.
    #[error("no case has a result")]
    NoResult,
    /// Only the oracle has results.
    #[error("no strategy besides the oracle has a result")]
    OracleAlone,
    /// Strategies of the result do not predict.
    #[error("none of its strategies predicts times")]
    NoPredictions,
    /// Nothing is there to compare prices with.
    #[error("it has one pricing policy only")]
    OnePolicy,
    /// Nothing of the kind was measured.
    #[error("no {0} was measured of its workloads")]
    NotMeasured(&'static str),
    /// Measurements are too few to hold some back.
    #[error("its workloads have too few measurements to leave any out")]
    FewMeasurements,
    /// Lives were counted that no model is of.
    #[error("no counted lives have a model")]
    NoLives,
    /// The figure would take too many searches.
    #[error("it searches {0} times; `--workload` shows one workload")]
    ManySearches(usize),
    /// More configurations than a map has room for.
    #[error("a map has room for {most} configurations; `{workload}` has {count}")]
    ManyPlaces {
        /// What it has room for.
        most: usize,
        /// The workload.
        workload: String,
        /// How many there are.
        count: usize,
    },
    /// More lines than a panel has room for, in every table.
    #[error("its workloads have no table of at most {0} worker counts")]
    ManyLines(usize),
}
