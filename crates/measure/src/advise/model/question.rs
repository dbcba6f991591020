//! What is asked of a model that nobody measured.

use super::tuning::{self, SampleSet, TuningQuestion};
use crate::advise::decision::Goal;
use crate::advise::offers::OfferFilter;
use scavsim_read::input::{Diagnostic, Diagnostics, nearest_or_all};

#[derive(Debug, Clone)]
pub struct ModelQuestion {
    /// A model's name, or the path of an architecture.
    pub model: String,
    /// Tokens that are computed; [`SampleSet`] says them otherwise.
    pub tokens: f64,
    /// Samples in place of tokens.
    pub data: Option<SampleSet>,
    /// What is trained; all, from nothing, when absent.
    pub tuning: Option<TuningQuestion>,
    /// Tokens of a sequence; what the model was made for, at most 8,192, when absent.
    pub sequence: Option<u32>,
    /// Sequences of a step; about a million tokens when absent.
    pub batch: Option<u32>,
    /// The runtime: a name, or the path of one; the best of those that most use when absent.
    pub runtime: Option<String>,
    /// Precision; the runtime's or fp8 when absent.
    pub precision: Option<String>,
    /// GPUs to choose from; all when empty.
    pub gpus: Vec<String>,
    pub most_gpus: Option<u32>,
    pub wanted: OfferFilter,
    pub goal: Goal,
    pub setup_min: f64,
    pub steps: u32,
    /// Simulated runs of each plan, where luck plays.
    pub runs: u64,
}

/// Most GPUs of who says nothing.
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
