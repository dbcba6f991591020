//! Why a function of the model has no value.

use std::io;

use scavsim_data::cloud::lifetimes::UnknownModel;
use scavsim_experiment::{NotSimulated, PlanError};
use scavsim_parallel::Misfit;
use scavsim_read::expression::Fault;
use scavsim_read::input::{Diagnostics, did_you_mean};
use scavsim_sim::cluster::checkpoint::ScheduleError;
use scavsim_sim::training::UnfinishedJob;

#[derive(Debug, thiserror::Error)]
pub enum NoValue {
    #[error(transparent)]
    Argument(#[from] Fault),
    #[error("there is no {what} `{name}`{help}")]
    Unknown {
        /// The kind of name that was expected.
        what: &'static str,
        name: String,
        /// The most similar name, or nothing.
        help: String,
    },
    #[error("no {what} was measured{help}")]
    NotMeasured {
        what: String,
        /// The place, or what was measured instead.
        help: String,
    },
    #[error("no {0} were measured")]
    NoneMeasured(&'static str),
    #[error(transparent)]
    Life(#[from] NoLifetime),
    /// An invalid word for odds, and the valid ones.
    #[error("`odds={0}` is {1}")]
    Odds(String, &'static str),
    #[error("`odds=since-start` is {0}")]
    SinceStart(&'static str),
    #[error("a start is `cold` or `warm`, not `{0}`")]
    Start(String),
    #[error("`{0}` is no day like '2020-05-29'")]
    Day(String),
    #[error("{0} above 0")]
    NotPositive(&'static str),
    #[error("{0} is out of range")]
    OutOfRange(&'static str),
    #[error("that many servers are not allowed")]
    Servers,
    #[error("no VM lives long enough")]
    LivesTooShort,
    #[error("the job is longer than the table of checkpoints")]
    JobTooLong,
    #[error("no price of `{vm}`; {instead}")]
    NoPrice { vm: String, instead: String },
    #[error("its law is given, not fitted")]
    LawIsGiven,
    #[error("it has no times")]
    NoTimes,
    #[error("no law of a worker's time comes from {0} times; it takes 4")]
    FewTimes(usize),
    #[error("batches of `{0}` change meanwhile: no law comes from them")]
    BatchesChange(String),
    #[error("the scenario has no `{vm}` with {workers} workers")]
    NoCluster { vm: String, workers: f64 },
    #[error("it is unknown")]
    NoFunction,
    #[error("its tables are wrong")]
    WrongWorkload,
    #[error("{}", .0.render(false))]
    WrongTables(Diagnostics),
    #[error(transparent)]
    Misfit(#[from] Misfit),
    #[error("no workers share a global batch of {batch}, of which they take at least {least}")]
    NoBatches { batch: f64, least: f64 },
    #[error("sizes, batches and law give no time above 0")]
    NoTime,
    #[error(transparent)]
    Refused(#[from] ScheduleError),
    #[error("serving takes longer than a step")]
    SlowServers,
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Run(#[from] io::Error),
    #[error(transparent)]
    NotSimulated(#[from] NotSimulated),
    #[error(transparent)]
    Unfinished(#[from] UnfinishedJob),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoLifetime {
    #[error("there is no lifetime `{name}`; {0}", name = .0.name)]
    Unknown(#[from] UnknownModel),
    /// A model of VMs that are lost together.
    #[error("`{0}` is not of single VMs")]
    NotAlone(String),
    #[error("no uniform lives")]
    Uniform,
    /// A law that loses more VMs than there are.
    #[error("a bathtub's `a` is at most 1")]
    Bathtub,
}

impl NoValue {
    /// Reports that `name` was not measured, and the most similar name, or all known ones.
    pub(crate) fn not_measured(what: String, name: &str, known: &[&str]) -> NoValue {
        let all = format!("known: {}", known.join(", "));
        let help = format!("; {}", did_you_mean(name, known.iter().copied(), all));
        NoValue::NotMeasured { what, help }
    }

    /// Reports an unknown name, and the most similar known one.
    pub(crate) fn unknown<'a>(
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> NoValue {
        let near = did_you_mean(name, known, "");
        NoValue::Unknown {
            what,
            name: name.to_owned(),
            help: if near.is_empty() {
                near
            } else {
                format!("; {near}")
            },
        }
    }
}
