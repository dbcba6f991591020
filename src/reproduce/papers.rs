//! The papers that can be reproduced. A new one is one line here.

/// A paper: its scenario and its expected figures, both embedded.
#[derive(Debug, Clone, Copy)]
pub struct Paper {
    /// Name on the command line.
    pub name: &'static str,
    /// What it is.
    pub citation: &'static str,
    /// Path and text of the scenario.
    pub scenario: (&'static str, &'static str),
    /// Path and text of the table of expected figures.
    pub expectations: (&'static str, &'static str),
}

macro_rules! paper {
    ($name:literal, $citation:literal) => {
        Paper {
            name: $name,
            citation: $citation,
            scenario: (
                concat!("scenarios/paper/", $name, ".toml"),
                include_str!(concat!("../../scenarios/paper/", $name, ".toml")),
            ),
            expectations: (
                concat!("data/papers/", $name, ".csv"),
                include_str!(concat!("../../data/papers/", $name, ".csv")),
            ),
        }
    };
}

/// All papers.
pub const PAPERS: &[Paper] = &[paper!(
    "scavenger",
    "Tyagi & Sharma, Scavenger: A Cloud Service for Optimizing Cost and Performance of ML Training, CCGrid 2023 (arXiv 2303.06659)"
)];
