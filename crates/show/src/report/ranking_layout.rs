//! How much of a ranking's rows fits on a terminal, and how its figures are written.

use scavsim_base::text::words::{self, NONE};

pub(super) const INTERVAL: &str = "90 %";

/// How much of a row fits; each leaves out more than the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Layout {
    All,
    /// How it was obtained as a letter, not as a word.
    Letter,
    NoCostInterval,
    /// Fewer figures of parallel plans: memory, FLOPs and money.
    FewPlanFigures,
    /// Without any.
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

/// An interval in words; none where its ends are one.
pub(super) fn interval(ends: [f64; 2], text: impl Fn(f64) -> String) -> String {
    if ends[0] == ends[1] {
        NONE.to_owned()
    } else {
        format!("{}–{}", text(ends[0]), text(ends[1]))
    }
}

/// Four digits or all before the point; what never ends says so.
pub(super) fn figure(value: f64) -> String {
    if value.is_finite() {
        words::figure(value)
    } else {
        "never".to_owned()
    }
}
