//! Where a figure comes from, and how a result was obtained from figures.

use serde::{Deserialize, Serialize};

/// Where a figure of a table comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Measured, with the measurement at hand.
    Measured,
    /// Printed as a number in a publication.
    Stated,
    /// Read off a published figure.
    Figure,
    /// Computed from other figures of this list.
    Derived,
}

impl Origin {
    /// All origins with their names in data files.
    pub const ALL: [(&'static str, Origin); 4] = [
        ("measured", Origin::Measured),
        ("stated", Origin::Stated),
        ("figure", Origin::Figure),
        ("derived", Origin::Derived),
    ];

    /// The origin with this name in a data file.
    pub fn from_name(name: &str) -> Option<Origin> {
        Self::ALL.iter().find(|(n, _)| *n == name).map(|&(_, o)| o)
    }
}

/// A figure with its origin and source.
#[derive(Debug, Clone, PartialEq)]
pub struct Sourced {
    /// The figure.
    pub value: f64,
    /// Measured, stated, read off a figure, or derived.
    pub origin: Origin,
    /// Where exactly.
    pub source: String,
}

/// How a simulated figure relates to the measurements behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provenance {
    /// The configuration itself was measured.
    Measured,
    /// The figure lies between measured configurations.
    Interpolated,
    /// The figure lies outside, or on a VM type that was not measured: by the workload's laws.
    Extrapolated,
}

impl Provenance {
    /// Name in results.
    pub fn name(self) -> &'static str {
        match self {
            Provenance::Measured => "measured",
            Provenance::Interpolated => "interpolated",
            Provenance::Extrapolated => "extrapolated",
        }
    }
}
