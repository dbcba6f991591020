use serde::{Deserialize, Serialize};

/// How finely a run is simulated. Both agree in distribution; tests hold them to it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, schemars::JsonSchema,
)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Fidelity {
    /// Every worker's step is an event in the queue: the reference.
    Event,
    /// All steps between two changes of the cluster in one draw.
    #[default]
    Fast,
}

scavsim_base::named!(Fidelity: Event = "event", Fast = "fast");
