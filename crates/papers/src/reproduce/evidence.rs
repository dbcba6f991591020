//! What a row says for the model: kinds of evidence.

use serde::Serialize;

/// What it says for the model that a row is within its tolerance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// The row could have failed: nothing of the published figure is in the model.
    Prediction,
    /// The model was made by solving the published figure for its inputs.
    Replay,
    /// The row holds by construction, follows from other rows, or is a difference of zero with a wide tolerance.
    Identity,
    /// Both sides are ours: a simulation beside a formula, a law beside the data that it was fitted to.
    #[serde(rename = "self")]
    Own,
    /// A constant was chosen on it.
    Calibrated,
}

impl Evidence {
    /// All kinds, the strongest first.
    pub const ALL: [Evidence; 5] = [
        Evidence::Prediction,
        Evidence::Replay,
        Evidence::Identity,
        Evidence::Own,
        Evidence::Calibrated,
    ];

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Evidence::Prediction => "prediction",
            Evidence::Replay => "replay",
            Evidence::Identity => "identity",
            Evidence::Own => "self",
            Evidence::Calibrated => "calibrated",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Evidence> {
        Evidence::ALL.into_iter().find(|own| own.name() == name)
    }
}
