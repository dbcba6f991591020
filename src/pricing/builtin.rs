//! The built-in policies, and the form in which a policy is written as data.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Base, BilledTime, Policy};
use crate::checked::{NonNegative, Positive};
use crate::input::{self, Diagnostics, Source};

const TABLE: &str = include_str!("../../data/pricing.toml");

/// A pricing policy as data. Exactly one base price must be given.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyFile {
    /// One line for people.
    pub description: String,
    /// USD per worker VM and hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd_per_vm_hour: Option<Positive>,
    /// USD per sample of global batch and hour, whatever the worker count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd_per_sample_hour: Option<Positive>,
    /// Billing unit in seconds, started units counting whole; exact time when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub granularity_s: Option<NonNegative>,
    /// Least billed seconds per VM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum_s: Option<NonNegative>,
}

impl PolicyFile {
    /// The policy called `name`, or what is wrong with its base price.
    pub fn policy(&self, name: &str) -> Result<Policy, &'static str> {
        let base = match (self.usd_per_vm_hour, self.usd_per_sample_hour) {
            (Some(usd), None) => Base::VmHour(usd.get()),
            (None, Some(usd)) => Base::SampleHour(usd.get()),
            (None, None) => {
                return Err("give `usd_per_vm_hour` or `usd_per_sample_hour`: there is no price");
            }
            (Some(_), Some(_)) => {
                return Err("give only one of `usd_per_vm_hour` and `usd_per_sample_hour`");
            }
        };
        let billed_time = BilledTime {
            granularity_s: self.granularity_s.map_or(0.0, NonNegative::get),
            minimum_s: self.minimum_s.map_or(0.0, NonNegative::get),
        };
        if matches!(base, Base::SampleHour(_)) && billed_time != BilledTime::default() {
            return Err("`granularity_s` and `minimum_s` go with `usd_per_vm_hour` only");
        }
        Ok(Policy {
            name: name.to_owned(),
            description: self.description.clone(),
            base,
            billed_time,
        })
    }
}

/// The built-in policies in alphabetical order. The second part holds what is wrong with the
/// table; a test keeps it empty.
pub fn policies() -> (Vec<Policy>, Diagnostics) {
    let mut diagnostics = Diagnostics::default();
    let source = Source::new("data/pricing.toml", TABLE);
    let read: Option<BTreeMap<String, PolicyFile>> = input::toml::read(&source, &mut diagnostics);
    let policies = (read.iter().flatten())
        .filter_map(|(name, file)| file.policy(name).ok())
        .collect();
    (policies, diagnostics)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_policies_are_sound_and_all_there() {
        let (policies, diagnostics) = policies();
        assert!(diagnostics.is_empty(), "{}", diagnostics.render(false));
        let names: Vec<&str> = policies.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "paper-fixed",
                "paper-memory",
                "per-second",
                "per-started-hour"
            ]
        );
    }

    #[test]
    fn a_policy_without_a_price_or_with_two_is_refused() {
        let usd = Positive::new(1.0);
        let mut file = PolicyFile::default();
        assert!(file.policy("none").is_err());
        file.usd_per_vm_hour = usd;
        assert!(file.policy("one").is_ok());
        file.usd_per_sample_hour = usd;
        assert!(file.policy("two").is_err());
    }
}
