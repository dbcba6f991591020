//! All protocols by name. A new one is its file and a line here.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use super::asp::Asp;
use super::backup::Backup;
use super::bsp::Bsp;
use super::flexible::Flexible;
use super::local_sgd::LocalSgd;
use super::speculative::Speculative;
use super::ssp::Ssp;
use super::synchronisation::Synchronisation;
use scavsim_base::{Declaration, Declared};

macro_rules! protocols {
    (
        without settings: { $($(#[$of_plain:meta])* $plain:ident,)* }
        with settings: { $($name:ident,)* }
    ) => {
        /// A synchronisation protocol with its settings.
        #[derive(
            Debug, Clone, Copy, PartialEq, Default, Deserialize, Serialize, schemars::JsonSchema,
        )]
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        pub enum Protocol {
            $(
                #[doc = concat!("The protocol [`", stringify!($plain), "`].")]
                #[schemars(description = $plain::DECLARATION.what)]
                $(#[$of_plain])*
                $plain,
            )*
            $(
                #[doc = concat!("The protocol [`", stringify!($name), "`].")]
                #[schemars(description = $name::DECLARATION.what)]
                $name($name),
            )*
        }

        /// What all protocols say of themselves.
        pub const PROTOCOLS: &[Declaration] = &[$($plain::DECLARATION,)* $($name::DECLARATION,)*];

        impl Deref for Protocol {
            type Target = dyn Synchronisation;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Protocol::$plain => &$plain,)*
                    $(Protocol::$name(settings) => settings,)*
                }
            }
        }
    };
}

protocols! {
    without settings: {
        #[default]
        Bsp,
    }
    with settings: {
        Backup,
        Speculative,
        Ssp,
        Asp,
        Flexible,
        LocalSgd,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{near, stepping, stream, variation};
    use crate::training::drift::DriftPath;
    use crate::training::scratch::Scratch;
    use crate::training::sync::Goal;
    use crate::training::sync::fast::Pace;
    use scavsim_base::units::SimTime;
    use scavsim_data::workload::Staleness;

    #[derive(Deserialize)]
    struct SyncTable {
        sync: Protocol,
    }

    fn all() -> impl Iterator<Item = Protocol> {
        let written = |declared: &Declaration| toml::from_str::<SyncTable>(declared.example);
        PROTOCOLS.iter().map(move |declared| {
            let protocol = written(declared).expect(declared.example).sync;
            assert_eq!(protocol.name(), declared.name);
            protocol
        })
    }

    /// Updates after which workers of every protocol are out of step.
    const MANY: u64 = 10_000;

    #[test]
    fn a_protocol_that_is_valid_in_fast_can_be_simulated_in_it() {
        let stepping = stepping(4, [1.0, 0.1], variation(0.2, None).worker_time());
        let mut scratch = Scratch::default();
        let mut valid = 0;
        for protocol in all() {
            let is_valid = protocol.check_fast(&stepping, u64::MAX).is_ok();
            let (mut drift, mut stream) = (DriftPath::still(), stream(0));
            let (start, goal) = (SimTime::ZERO, Goal::updates(MANY));
            let pace = Pace::new(protocol, &stepping);
            let done = pace.advance(
                start,
                &mut drift,
                &stepping,
                goal,
                &mut stream,
                &mut scratch,
            );
            assert_eq!(done.is_ok(), is_valid, "{}", protocol.name());
            if let Ok((stretch, _)) = done {
                assert_eq!(stretch.updates, MANY);
                valid += 1;
            }
        }
        // All but `local-sgd`.
        assert_eq!(valid, 6);
    }

    #[test]
    fn names_are_those_that_a_scenario_writes() {
        for protocol in all() {
            let written = serde_json::to_string(&protocol).expect("it can be written");
            assert!(written.contains(&format!("\"{}\"", protocol.name())));
        }
    }

    #[test]
    fn stale_gradients_cost_what_the_penalty_says_and_nothing_without_one() {
        let penalty: Staleness = toml::from_str("per_missed_batch = 0.1").expect("legal");
        // `local-sgd` has a cost of its own in place of the penalty.
        for protocol in all().filter(|protocol| protocol.gradients_factor(0.0, None) == 1.0) {
            assert_eq!(protocol.gradients_factor(3.0, None), 1.0);
            near(protocol.gradients_factor(3.0, Some(penalty)), 1.3, 1e-12);
        }
    }
}
