//! Why a function of the model has no value.

use std::io;

use scavsim_data::cloud::lifetimes::UnknownModel;
use scavsim_lab::experiment::{NotSimulated, PlanError};
use scavsim_read::expression::Fault;
use scavsim_read::input::{Diagnostics, closest};
use scavsim_sim::cluster::batching::Impossible;
use scavsim_sim::cluster::checkpoint::Refused;
use scavsim_sim::parallel::Misfit;
use scavsim_sim::training::Unfinished;
use scavsim_sim::training::sync::NoSpeed;

/// Why a function of the model has no value.
#[derive(Debug, thiserror::Error)]
pub enum NoValue {
    /// An argument that is missing or of another kind.
    #[error(transparent)]
    Argument(#[from] Fault),
    /// A name that nothing has.
    #[error("there is no {what} `{name}`{help}")]
    Unknown {
        /// What it should be a name of.
        what: &'static str,
        /// The name.
        name: String,
        /// The name that may be meant, or nothing.
        help: String,
    },
    /// Something that was never measured.
    #[error("no {what} was measured{help}")]
    NotMeasured {
        /// What it is.
        what: String,
        /// Where, or what was measured instead.
        help: String,
    },
    /// A kind of thing of which nothing was measured.
    #[error("no {0} were measured")]
    NoneMeasured(&'static str),
    /// A life that there is not.
    #[error(transparent)]
    Life(#[from] NoLife),
    /// A word for odds that is not legal, and the legal ones.
    #[error("`odds={0}` is {1}")]
    Odds(String, &'static str),
    /// What checkpoints by the time since the start cannot give.
    #[error("`odds=since-start` is {0}")]
    SinceStart(&'static str),
    /// A kind of start that there is not.
    #[error("a start is `cold` or `warm`, not `{0}`")]
    Start(String),
    /// A day in another form.
    #[error("`{0}` is no day like '2020-05-29'")]
    Day(String),
    /// A number that has to be above 0.
    #[error("{0} above 0")]
    NotPositive(&'static str),
    /// A number that is too large or too small.
    #[error("{0} is out of range")]
    OutOfRange(&'static str),
    /// A number of servers that is not legal.
    #[error("so many servers are not legal")]
    Servers,
    /// A job that no VM lives long enough for.
    #[error("no VM lives long enough")]
    LivesTooShort,
    /// A job beyond its table of checkpoints.
    #[error("the job is longer than the table of checkpoints")]
    JobTooLong,
    /// A VM type without a price, and what has one.
    #[error("no price of `{vm}`; {instead}")]
    NoPrice {
        /// The VM type.
        vm: String,
        /// What is known instead.
        instead: String,
    },
    /// A job whose times no law was fitted to.
    #[error("its law is given, not fitted")]
    LawIsGiven,
    /// A job without times.
    #[error("it has no times")]
    NoTimes,
    /// Too few times for a law.
    #[error("no law of a worker's time comes from {0} times; it takes 4")]
    FewTimes(usize),
    /// Batches that change during a job, under a policy.
    #[error("batches of `{0}` change meanwhile: no law comes from them")]
    BatchesChange(String),
    /// A cluster that is not in the space of a scenario.
    #[error("the scenario has no `{vm}` with {workers} workers")]
    NoCluster {
        /// The VM type.
        vm: String,
        /// How many of it.
        workers: f64,
    },
    /// A function that there is not.
    #[error("it is unknown")]
    NoFunction,
    /// Tables of a workload that cannot be read.
    #[error("its tables are wrong")]
    WrongWorkload,
    /// Other tables that cannot be read.
    #[error("{}", .0.render(false))]
    WrongTables(Diagnostics),
    /// A plan of a model that does not fit.
    #[error(transparent)]
    Misfit(#[from] Misfit),
    /// A job of unequal workers that cannot run.
    #[error(transparent)]
    Impossible(#[from] Impossible),
    /// A table of checkpoints that cannot be made.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// Asynchronous workers that have no speed.
    #[error(transparent)]
    NoSpeed(#[from] NoSpeed),
    /// A scenario that cannot be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A scenario whose cases cannot be run.
    #[error(transparent)]
    Run(#[from] io::Error),
    /// A workload without a simulated world.
    #[error(transparent)]
    NotSimulated(#[from] NotSimulated),
    /// A job that does not come to its end.
    #[error(transparent)]
    Unfinished(#[from] Unfinished),
}

/// Why there is no such life.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoLife {
    /// A name that no model has.
    #[error("there is no lifetime `{name}`; {0}", name = .0.name)]
    Unknown(#[from] UnknownModel),
    /// A model of VMs that live and die together.
    #[error("`{0}` is not of single VMs")]
    NotAlone(String),
    /// A uniform law without an end.
    #[error("no uniform lives")]
    Uniform,
    /// A law by which more VMs are lost than there are.
    #[error("a bathtub's `a` is at most 1")]
    Bathtub,
}

impl NoValue {
    /// Says that something was never measured, and what was.
    pub(crate) fn not_measured(what: String, known: &[&str]) -> NoValue {
        let help = format!("; known: {}", known.join(", "));
        NoValue::NotMeasured { what, help }
    }

    /// Says that a name is none of those that are known, and which of them may be meant.
    pub(crate) fn unknown<'a>(
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> NoValue {
        let near = closest(name, known);
        NoValue::Unknown {
            what,
            name: name.to_owned(),
            help: near.map_or(String::new(), |near| format!("; did you mean `{near}`?")),
        }
    }
}
