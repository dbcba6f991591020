//! What the tests of several modules and crates share.

use crate::rng::{Purpose, Stream, Streams};

/// Both are the same but for a share of less than `within`.
#[track_caller]
pub fn close(found: f64, expected: f64, within: f64) {
    let off = (found / expected - 1.0).abs();
    assert!(off < within, "{found}, expected {expected}: off by {off}");
}

/// Both are the same but for less than `within`.
#[track_caller]
pub fn near(found: f64, expected: f64, within: f64) {
    let off = (found - expected).abs();
    assert!(off < within, "{found}, expected {expected}: off by {off}");
}

pub fn stream(root: u64) -> Stream {
    Streams::new(root).stream(0, Purpose::Trial(0))
}
