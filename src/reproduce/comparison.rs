//! A figure beside a figure, and the verdict.

use serde::Serialize;

/// One published figure beside ours.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Where it stands in the paper.
    pub figure: String,
    /// What it is.
    pub quantity: String,
    /// Of which cell, in words.
    pub selector: String,
    /// The expression that ours is.
    pub expression: String,
    /// The published figure.
    pub paper: f64,
    /// Ours.
    pub simulated: f64,
    /// Ours under the condition of a claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub then: Option<f64>,
    /// Ours minus the published one: as a fraction of it where the tolerance is relative, else in
    /// its unit.
    pub difference: f64,
    /// How large the difference may be, in the same terms.
    pub tolerance: f64,
    /// Whether difference and tolerance are fractions.
    pub relative: bool,
    /// `at least` or `at most` where the published figure is a bound.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub bound: &'static str,
    /// Unit of the figures.
    pub unit: String,
    /// Printed, read off a figure, derived from such, or used for calibration.
    pub kind: String,
    /// How it came out.
    pub verdict: Verdict,
    /// What the figure means.
    pub note: String,
    /// Why ours lies outside the tolerance, where it does and the reason is known; of a claim, when it holds.
    pub reason: String,
}

/// How a comparison came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Within the tolerance.
    Ok,
    /// Within it because parameters were chosen so: no evidence.
    Calibrated,
    /// Outside, and the table of expectations says why.
    Explained,
    /// Outside, and nobody knows why.
    Outside,
    /// A claim of the paper that ours bear out.
    Holds,
    /// One that they bear out under a condition.
    HoldsOnlyIf,
    /// One that they do not.
    DoesNotHold,
}

impl Verdict {
    /// Whether it is on a claim.
    pub fn is_of_claim(self) -> bool {
        matches!(
            self,
            Verdict::Holds | Verdict::HoldsOnlyIf | Verdict::DoesNotHold
        )
    }

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::Calibrated => "calibrated",
            Verdict::Explained => "explained",
            Verdict::Outside => "OUTSIDE",
            Verdict::Holds => "holds",
            Verdict::HoldsOnlyIf => "holds only if",
            Verdict::DoesNotHold => "does not hold",
        }
    }
}
