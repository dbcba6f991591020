//! How much of a ranking's rows fits a terminal, and the format of its figures.

use scavsim_base::text::words::{self, NONE};

pub(super) const INTERVAL: &str = "90 %";

/// How much of a row is shown; each layout leaves out more than the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Layout {
    All,
    /// The provenance is a letter instead of a word.
    Letter,
    NoCostInterval,
    /// Fewer figures of parallel plans: memory, FLOPs and money.
    FewPlanFigures,
    /// No plan figures.
    NoPlanFigures,
    NoInterval,
    Stacked,
}

impl Layout {
    pub(super) const ALL: [Layout; 7] = [
        Layout::All,
        Layout::Letter,
        Layout::NoCostInterval,
        Layout::FewPlanFigures,
        Layout::NoPlanFigures,
        Layout::NoInterval,
        Layout::Stacked,
    ];

    pub(super) fn has_cost_interval(self) -> bool {
        self < Layout::NoCostInterval
    }

    pub(super) fn has_time_interval(self) -> bool {
        self < Layout::NoInterval
    }
}

/// An interval in words; empty if its ends are equal.
pub(super) fn interval(ends: [f64; 2], text: impl Fn(f64) -> String) -> String {
    if ends[0] == ends[1] {
        NONE.to_owned()
    } else {
        format!("{}–{}", text(ends[0]), text(ends[1]))
    }
}

/// Four digits, or all before the decimal point; a value that is not finite is a word.
pub(super) fn figure(value: f64) -> String {
    if value.is_finite() {
        words::figure(value)
    } else {
        "never".to_owned()
    }
}
