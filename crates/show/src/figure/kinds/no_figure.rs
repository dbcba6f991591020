//! Why a result has no figure of a kind.

use scavsim_experiment::PlanError;

#[derive(Debug, Clone, thiserror::Error)]
pub enum NoFigure {
    #[error("{0}: name the scenario with `--scenario FILE`")]
    NeedsScenario(&'static str),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error("it has no {what} `{asked}`, but {known}")]
    Unknown {
        what: &'static str,
        asked: String,
        known: String,
    },
    #[error("it has no such workload")]
    NoSuchWorkload,
    #[error("it has no cases")]
    NoCases,
    #[error("no case has a result")]
    NoResult,
    #[error("no strategy besides the oracle has a result")]
    OracleAlone,
    #[error("none of its strategies predicts times")]
    NoPredictions,
    #[error("it sweeps fewer than two axes of numbers")]
    FewAxes,
    #[error("its axes have more pairs of values than a map has room for")]
    ManyPairs,
    #[error("it has one pricing policy only")]
    OnePolicy,
    #[error("no {0} was measured of its workloads")]
    NotMeasured(&'static str),
    #[error("its workloads have too few measurements to leave any out")]
    FewMeasurements,
    #[error("no counted lives have a model")]
    NoLives,
    #[error("it searches {0} times; `--workload` shows one workload")]
    ManySearches(usize),
    #[error("a map has room for {most} configurations; `{workload}` has {count}")]
    ManyPlaces {
        most: usize,
        workload: String,
        count: usize,
    },
    #[error("its workloads have no table of at most {0} worker counts")]
    ManyLines(usize),
}
