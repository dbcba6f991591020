//! A paper that can be reproduced.

use super::comparison::Comparison;
use crate::input::Diagnostics;

/// A paper: what its figures are computed from and the figures themselves, both embedded.
#[derive(Debug, Clone, Copy)]
pub struct Paper {
    /// Name on the command line.
    pub name: &'static str,
    /// What it is.
    pub citation: &'static str,
    /// Where the tolerances come from.
    pub tolerances: &'static str,
    /// Path and text of the file that our figures are computed from.
    pub source: (&'static str, &'static str),
    /// Path and text of the table of expected figures.
    pub expectations: (&'static str, &'static str),
    /// Compares with the kind of figures that the file is for.
    pub(super) compare: fn(&Paper) -> Result<Vec<Comparison>, Diagnostics>,
}

/// Compares all figures of `paper` with ours.
///
/// # Errors
/// All mistakes in the paper's scenario and table.
pub fn compare(paper: &Paper) -> Result<Vec<Comparison>, Diagnostics> {
    (paper.compare)(paper)
}
