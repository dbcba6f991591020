use serde::{Deserialize, Serialize};

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

scavsim_base::named! {
    Origin:
    Measured = "measured", Stated = "stated", Figure = "figure", Derived = "derived",
}

#[derive(Debug, Clone, PartialEq)]
pub struct SourcedValue {
    pub value: f64,
    pub origin: Origin,
    pub source: String,
}

/// How a simulated figure relates to the measurements behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provenance {
    Measured,
    Interpolated,
    /// The figure lies outside, or on a VM type that was not measured: by the workload's laws.
    Extrapolated,
}

scavsim_base::named! {
    Provenance:
    Measured = "measured", Interpolated = "interpolated", Extrapolated = "extrapolated",
}
