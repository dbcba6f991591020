use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::{Policy, PolicyFile};
use scavsim_read::input::{self, Diagnostic, Diagnostics, Source};

/// What is charged where a scenario names no policy and its workloads none either: the listed price of each VM type.
pub const LISTED: &str = "list-2026";
/// What is charged where a scenario and its workloads name no policy and all VMs are spot VMs.
pub const LISTED_SPOT: &str = "list-2026-spot";

pub const TABLE: &str = include_str!("../../../../data/pricing.toml");

/// The built-in policies in alphabetical order, read once per process, and the mistakes of their table; a test keeps those
/// empty.
pub fn policies() -> (Vec<Policy>, Diagnostics) {
    static READ: OnceLock<(Vec<Policy>, Diagnostics)> = OnceLock::new();
    READ.get_or_init(read).clone()
}

fn read() -> (Vec<Policy>, Diagnostics) {
    let mut diagnostics = Diagnostics::default();
    let source = Source::new("data/pricing.toml", TABLE);
    let read: Option<BTreeMap<String, PolicyFile>> = input::toml::read(&source, &mut diagnostics);
    let mut policies = Vec::new();
    for (name, file) in read.iter().flatten() {
        match file.policy(name) {
            Ok(policy) => policies.push(policy),
            Err(why) => {
                let title = format!("{}: pricing policy `{name}`: {why}", source.name);
                diagnostics.push(Diagnostic::general(title));
            }
        }
    }
    (policies, diagnostics)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::Fleet;
    use crate::pricing::RentedVmType;

    #[test]
    fn the_embedded_policies_are_sound_described_and_priced() {
        let (policies, diagnostics) = policies();
        assert!(diagnostics.is_empty(), "{}", diagnostics.render(false));
        assert!(policies.len() >= 69, "{}", policies.len());
        let fleet = Fleet::listed();
        for policy in &policies {
            assert!(!policy.description.is_empty(), "{}", policy.name);
            // One VM type of each provider, with and without GPUs.
            let vms = ["e2-standard-4", "p2.xlarge", "Standard_NC4as_T4_v3"];
            let tariffs = vms.map(|vm| policy.tariff(&[RentedVmType::as_priced(vm)], &fleet));
            assert!(tariffs.iter().any(Result::is_ok), "{}", policy.name);
        }
        for name in "paper-fixed paper-memory per-second per-started-hour".split(' ') {
            assert!(policies.iter().any(|p| p.name == name), "{name}");
        }
    }
}
