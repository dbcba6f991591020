//! What the tests of several modules share.

use scavsim_base::rng::{Purpose, Stream, Streams};
use scavsim_read::input::Diagnostics;

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

/// Something is said against each of these places of a table.
#[track_caller]
pub fn is_told_at(file: &str, places: &str, told: &Diagnostics) {
    let shown = told.render(false);
    for place in places.split(' ') {
        assert!(
            shown.contains(&format!("{file}:{place}")),
            "{place}\n{shown}"
        );
    }
}
