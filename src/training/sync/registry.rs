//! All protocols by name. A new one is its file and a line here.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use super::asp::Asp;
use super::backup::Backup;
use super::bsp::Bsp;
use super::flexible::Flexible;
use super::speculative::Speculative;
use super::ssp::Ssp;
use super::synchronisation::Synchronisation;

macro_rules! protocols {
    (
        without settings: { $($(#[$of_plain:meta])* $plain:ident,)* }
        with settings: { $($(#[$of:meta])* $name:ident,)* }
    ) => {
        /// A synchronisation protocol with its settings.
        #[derive(
            Debug, Clone, Copy, PartialEq, Default, Deserialize, Serialize, schemars::JsonSchema,
        )]
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        pub enum Protocol {
            $($(#[$of_plain])* $plain,)*
            $($(#[$of])* $name($name),)*
        }

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
        /// Every worker computes, all meet, the slowest ends the step.
        #[default]
        Bsp,
    }
    with settings: {
        /// The step ends without the last few.
        Backup,
        /// As `bsp`, with a second attempt at slow worker-steps.
        Speculative,
        /// A worker waits only when it is too far ahead of the slowest.
        Ssp,
        /// Nobody waits; parameter servers take updates one after the other.
        Asp,
        /// A barrier at fixed times that sums what is finished.
        Flexible,
    }
}
