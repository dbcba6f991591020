//! Ranges in words.

use std::fmt::Display;
use std::ops::{Bound, RangeBounds};

/// The legal kind and size of a number: "a number of at least 0".
pub(super) fn legal<T: Display>(kind: &str, range: &impl RangeBounds<T>) -> String {
    let low = match range.start_bound() {
        Bound::Included(low) => Some(format!("of at least {low}")),
        Bound::Excluded(low) => Some(format!("above {low}")),
        Bound::Unbounded => None,
    };
    let high = match range.end_bound() {
        Bound::Included(high) => Some(format!("at most {high}")),
        Bound::Excluded(high) => Some(format!("below {high}")),
        Bound::Unbounded => None,
    };
    match (range.start_bound(), range.end_bound(), low, high) {
        (Bound::Included(low), Bound::Included(high), ..) => {
            format!("{kind} between {low} and {high}")
        }
        (.., Some(low), Some(high)) => format!("{kind} {low} and {high}"),
        (.., Some(low), None) => format!("{kind} {low}"),
        (_, Bound::Included(high), ..) => format!("{kind} of at most {high}"),
        (.., None, Some(high)) => format!("{kind} {high}"),
        (.., None, None) => kind.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_read_as_people_say_them() {
        let above_zero = (Bound::Excluded(0.0), Bound::Unbounded);
        let share = (Bound::Excluded(0.0), Bound::Included(1.0));
        assert_eq!(legal::<f64>("a number", &..), "a number");
        let whole = |range: &dyn Fn(&str) -> String, expected| {
            assert_eq!(range("a whole number"), expected)
        };
        assert_eq!(legal("a number", &(0.0..)), "a number of at least 0");
        assert_eq!(legal("a number", &(0.0..=1.0)), "a number between 0 and 1");
        assert_eq!(legal("a number", &above_zero), "a number above 0");
        assert_eq!(legal("a number", &share), "a number above 0 and at most 1");
        let below_one = legal("a number", &(0.5..1.0));
        assert_eq!(below_one, "a number of at least 0.5 and below 1");
        assert_eq!(legal("a number", &(..=9.5)), "a number of at most 9.5");
        whole(&|what| legal::<u64>(what, &(..9)), "a whole number below 9");
        whole(
            &|what| legal::<u64>(what, &(1..)),
            "a whole number of at least 1",
        );
    }
}
