//! The question, and why there may be no answer.

use super::decision::Goal;
use super::offers::OfferFilter;
use scavsim_experiment::ranking::NoRanking;
use scavsim_import::profile;
use scavsim_read::input::Diagnostics;

#[derive(Debug, Clone)]
pub struct Question {
    pub import: profile::ProfileOptions,
    pub wanted: OfferFilter,
    pub goal: Goal,
    /// Minutes until VMs train, in a measurement and in the job.
    pub setup_min: f64,
    pub steps: u32,
    /// Number of times that the job is trained.
    pub times: f64,
    /// Simulated runs of each configuration.
    pub runs: u64,
}

#[derive(Debug)]
pub enum NoAdvice {
    Wrong(Diagnostics),
    Failed(NoRanking),
}

impl From<NoRanking> for NoAdvice {
    fn from(why: NoRanking) -> NoAdvice {
        NoAdvice::Failed(why)
    }
}
