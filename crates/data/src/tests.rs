//! What the tests of several modules share.

pub use scavsim_base::tests::{close, near, stream};
use scavsim_read::input::Diagnostics;

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
