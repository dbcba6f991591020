//! One search of a suite as a line of `transcripts.jsonl`.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::error::Category;

use crate::compare::CaseMetrics;
use scavsim_search::search::Objective;
use scavsim_search::testbed::transcript::TranscriptStep;

pub const FILE: &str = "transcripts.jsonl";

/// One search: what it was asked for, every question with its answer, the choice, and what all came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transcript {
    #[serde(rename = "search")]
    pub place: SearchPlace,
    pub asked: Vec<TranscriptStep>,
    /// Why there is no choice that works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// Choices that were run, one after the other; only the last may have come to the target.
    pub chose: Vec<String>,
    /// Search and R runs over R runs of the oracle, minus 1; what is charged where it failed.
    pub net: Option<f64>,
    /// Net overhead of a search that earns nothing.
    pub gross: Option<f64>,
    /// Expected value of the choice over the oracle's, minus 1.
    pub regret: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchPlace {
    pub grid: String,
    /// Which half of the configurations, from 1; 0: all.
    pub half: u32,
    pub job: String,
    pub objective: Objective,
    pub repeats: u64,
    pub seed: u64,
    /// Which of the searches of this kind, from 0.
    pub start: u64,
}

impl SearchPlace {
    pub fn description(&self) -> String {
        let half = match self.half {
            0 => String::new(),
            half => format!(", half {half}"),
        };
        format!(
            "{}{half}, {}, {}, R {}, start {}",
            self.grid,
            self.job,
            self.objective.name(),
            self.repeats,
            self.start
        )
    }
}

impl Transcript {
    pub(super) fn judged(mut self, seen: &CaseMetrics) -> Transcript {
        (self.net, self.gross, self.regret) = (seen.net, seen.gross, seen.regret);
        self
    }

    pub fn line(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }
}

/// What is wrong with a text that should be JSON, in words; `place` is its location.
pub(super) fn no_json(why: &serde_json::Error, place: &str) -> String {
    match why.classify() {
        Category::Eof => format!("it breaks off at {place}"),
        Category::Data => {
            let text = why.to_string();
            let text = text.split(" at line ").next().unwrap_or_default();
            format!("{text}, at {place}")
        }
        Category::Syntax | Category::Io => format!("no JSON at {place}"),
    }
}

/// The first difference between what is written and what is true, in words.
pub(super) fn difference<T: Serialize>(written: &T, truth: &T) -> Option<String> {
    let value = |of: &T| serde_json::to_value(of).unwrap_or_default();
    differs("", &value(written), &value(truth))
}

fn differs(path: &str, written: &Value, truth: &Value) -> Option<String> {
    let deeper = |key: &str| match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    };
    match (written, truth) {
        (Value::Object(own), Value::Object(other)) => {
            let keys = own
                .keys()
                .chain(other.keys().filter(|key| !own.contains_key(*key)));
            keys.map(|key| {
                let of = |object: &serde_json::Map<String, Value>| {
                    object.get(key).cloned().unwrap_or_default()
                };
                differs(&deeper(key), &of(own), &of(other))
            })
            .find_map(|found| found)
        }
        (Value::Array(own), Value::Array(other)) => {
            let pairs = own.iter().zip(other).enumerate();
            let found = pairs
                .map(|(at, (own, other))| differs(&deeper(&(at + 1).to_string()), own, other))
                .find_map(|found| found);
            found.or_else(|| {
                (own.len() != other.len()).then(|| {
                    format!(
                        "`{path}` has {} entries, the replay {}",
                        own.len(),
                        other.len()
                    )
                })
            })
        }
        _ if written == truth => None,
        _ => Some(format!("`{path}` is {written}, the replay has {truth}")),
    }
}
