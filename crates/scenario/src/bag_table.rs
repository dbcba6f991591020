//! The form of `[bag]`: a bag of independent jobs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::axis::Axis;
use scavsim_bags::Reuse;
use scavsim_read::input::Spanned;
use scavsim_read::input::checked::{Delay, Fraction, Interval, Machines, Spread};

/// A bag of independent jobs of one kind on VMs that may be lost.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BagTable {
    /// What it is called in results, in place of a workload; `bag` when absent.
    pub name: Option<Spanned<String>>,
    /// Jobs that are submitted.
    pub jobs: Option<Machines>,
    /// Share of them that has to be done; 1 when absent.
    pub sufficient_share: Option<Fraction>,
    /// Mean time of a job, for each VM type and number of VMs that it may run on.
    #[schemars(length(min = 1))]
    pub job_times: Option<Spanned<Vec<Spanned<JobTime>>>>,
    /// Jobs side by side: slots; 1 when absent.
    pub parallel_jobs: Option<Spanned<Axis>>,
    /// Coefficient of variation of the time of a job, which is log-normal; 0 when absent.
    pub job_cv: Option<Spread>,
    /// Seconds from the end of a job until the next begins on its slot; 0 when absent.
    pub dispatch_lag_s: Option<Delay>,
    /// Seconds by which each slot begins after the one before; 0 when absent.
    pub start_stagger_s: Option<Delay>,
    /// Whether a job that lost a VM is run again; `true` when absent.
    pub rerun: Option<bool>,
    /// Whether a VM that has run a job gets the next.
    pub reuse: Reuse,
    /// Seconds that a VM without work is kept; 3600 when absent.
    pub keep_spares_s: Option<Delay>,
    /// When a loss is noticed.
    pub notice: NoticeChoice,
    /// Losses that are given, in place of those by `[spot]`.
    pub losses: Option<Spanned<GivenLosses>>,
    /// Names of models of `scavsim list lifetimes` by VM type, in place of that of `[spot]`.
    pub lifetimes: BTreeMap<Spanned<String>, Spanned<String>>,
    /// VM type of a head node, rented on demand for the whole bag; none when absent.
    pub head_vm: Option<String>,
    /// A model that takes the place of jobs once it has learned from some: a formula, nothing measured.
    pub surrogate: Option<SurrogateTable>,
}

/// Mean time of a job on VMs of a type.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobTime {
    /// The type.
    pub vm: String,
    /// VMs of a job.
    pub vms_per_job: Machines,
    /// Mean seconds.
    pub mean_s: Interval,
}

/// When the loss of a VM is noticed: until then its job's slot is blocked.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum NoticeChoice {
    /// At once.
    #[default]
    AtOnce,
    /// Delays as in the logs of 2019 (`data/bags/`): 317 to 1,051 s after the attempt began, 677 s in the mean, never
    /// before the loss.
    Logged,
    /// This many seconds after the loss.
    AfterLossS(Delay),
    /// One of these seconds after the attempt began, each as likely, but never before the loss.
    AfterStartS(Vec<Delay>),
}

/// Losses that are given.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum GivenLosses {
    /// This many attempts are lost, each as likely, at any moment of them.
    Attempts(u32),
    /// A VM of a running job, each as likely, is lost this many seconds after the bag began.
    AtS(Vec<Delay>),
}

/// A model that takes the place of jobs.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SurrogateTable {
    /// Jobs that it learns from.
    pub after_jobs: Machines,
    /// Seconds that it then takes to train, on the VMs of one job.
    pub train_s: Delay,
    /// Seconds of each result that it gives.
    pub result_s: Delay,
}
