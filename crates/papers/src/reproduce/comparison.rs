//! A published figure and ours, with the verdict.

use std::collections::BTreeMap;

use serde::Serialize;

use super::evidence::Evidence;
use super::expectations::OURS;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    pub figure: String,
    pub quantity: String,
    /// Which cell the figure is of, in words.
    pub selector: String,
    /// The expression that ours is.
    pub expression: String,
    pub paper: f64,
    pub simulated: f64,
    /// For a claim, half of the 95 % interval of ours; 0 where nothing is drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<f64>,
    /// For a claim, what its words leave open, as it is read here.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reading: BTreeMap<String, String>,
    /// Ours minus the published one: as a fraction of it where the tolerance is relative, else in its unit.
    pub difference: f64,
    /// How large the difference may be, in the same terms.
    pub tolerance: f64,
    pub relative: bool,
    /// `at least` or `at most` where the published figure is a bound.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub bound: &'static str,
    pub unit: String,
    /// Printed, read off a figure, derived from such; or a goal or comparison of this project.
    pub kind: String,
    pub evidence: Evidence,
    pub verdict: Verdict,
    pub note: String,
    /// Why ours lies outside the tolerance, where it does and the reason is known.
    pub reason: String,
}

impl Comparison {
    /// Whether it is a goal or comparison of this project, and not a figure of the paper.
    pub fn is_ours(&self) -> bool {
        OURS.contains(&self.kind.as_str())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Ok,
    /// Within it because parameters were chosen so: no evidence.
    Calibrated,
    /// Outside, and the table of expectations says why.
    Explained,
    /// Outside, and nobody knows why.
    Outside,
    /// A reading of a claim of the paper that ours bear out.
    Holds,
    /// One whose bound lies within the interval of ours.
    Open,
    /// One that they do not bear out.
    DoesNotHold,
}

scavsim_base::named! {
    Verdict:
    Ok = "ok", Calibrated = "calibrated", Explained = "explained", Outside = "OUTSIDE",
    Holds = "holds", Open = "open", DoesNotHold = "does not hold",
}

impl Verdict {
    pub fn is_of_claim(self) -> bool {
        matches!(self, Verdict::Holds | Verdict::Open | Verdict::DoesNotHold)
    }
}
