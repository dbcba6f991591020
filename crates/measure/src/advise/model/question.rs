//! Questions about a model without measurements.

use super::tuning::{self, SampleSet, TuningQuestion};
use crate::advise::decision::Goal;
use crate::advise::offers::OfferFilter;
use scavsim_read::input::{Diagnostic, Diagnostics, nearest_or_all};

#[derive(Debug, Clone)]
pub struct ModelQuestion {
    /// A model's name, or the path of an architecture.
    pub model: String,
    /// Tokens that are computed; [`SampleSet`] is an alternative.
    pub tokens: f64,
    /// Samples instead of tokens.
    pub data: Option<SampleSet>,
    /// What is trained; by default everything, from scratch.
    pub tuning: Option<TuningQuestion>,
    /// Tokens of a sequence; by default the model's own length, at most 8,192.
    pub sequence: Option<u32>,
    /// Sequences of a step; by default about a million tokens.
    pub batch: Option<u32>,
    /// The runtime: a name, or a path; by default the best of the most common ones.
    pub runtime: Option<String>,
    /// Precision; by default the runtime's, or fp8.
    pub precision: Option<String>,
    /// GPUs to choose from; all if empty.
    pub gpus: Vec<String>,
    pub most_gpus: Option<u32>,
    pub wanted: OfferFilter,
    pub goal: Goal,
    pub setup_min: f64,
    pub steps: u32,
    /// Simulated runs of each plan with randomness.
    pub runs: u64,
}

/// Default maximum number of GPUs.
const MOST_GPUS: u32 = 64;

impl ModelQuestion {
    pub fn most_gpus(&self) -> u32 {
        self.most_gpus.unwrap_or(match self.tuning {
            Some(_) => tuning::MOST_GPUS,
            None => MOST_GPUS,
        })
    }
}

pub(super) fn is_path(word: &str) -> bool {
    word.contains('/') || word.starts_with('.')
}

pub(super) fn unknown(what: &str, word: &str, legal: &[&str], d: &mut Diagnostics) {
    let help = nearest_or_all(word, legal.iter().copied());
    d.push(Diagnostic::general(format!("unknown {what} `{word}`")).with_help(help));
}
