use schemars::JsonSchema;
use serde::Deserialize;

use scavsim_read::input::checked::Interval;

/// When checkpoints are written.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum CheckpointChoice {
    /// Never.
    None,
    /// After so many seconds of training.
    PeriodicS(Interval),
    /// After Young's interval for the cluster's losses and the time to write.
    Young,
    /// After Daly's interval for them, which is of higher order.
    YoungDaly,
    /// After the interval that takes least by Daly's run time.
    Searched,
    /// When it suits the age of the VMs best, by dynamic programming.
    Dynamic,
}
