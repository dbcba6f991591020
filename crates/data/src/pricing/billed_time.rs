/// A nanosecond clock must not open or close a unit by its own rounding.
const CLOCK_S: f64 = 1e-9;

/// How the time a VM was held becomes the time that is billed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BilledTime {
    /// Billing unit in seconds, started units counting whole; 0 bills the exact time.
    pub granularity_s: f64,
    pub minimum_s: f64,
}

impl BilledTime {
    pub fn seconds(&self, held_s: f64) -> f64 {
        let at_least = held_s.max(self.minimum_s);
        if self.granularity_s == 0.0 {
            return at_least;
        }
        ((at_least - CLOCK_S) / self.granularity_s).ceil().max(1.0) * self.granularity_s
    }

    /// Seconds of the units that are complete after `held_s` seconds; the least time does not count.
    pub fn complete_units_s(&self, held_s: f64) -> f64 {
        if self.granularity_s == 0.0 {
            return held_s;
        }
        ((held_s + CLOCK_S) / self.granularity_s).floor() * self.granularity_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ten_seconds_are_billed_as_a_minute_and_a_started_hour_as_an_hour() {
        let rule = |granularity_s, minimum_s| BilledTime {
            granularity_s,
            minimum_s,
        };
        let (per_second, per_hour) = (rule(1.0, 60.0), rule(3600.0, 0.0));
        assert_eq!(per_second.seconds(10.0), 60.0);
        assert_eq!(per_second.seconds(60.2), 61.0);
        assert_eq!(per_hour.seconds(1.0), 3600.0);
        assert_eq!(per_hour.seconds(3600.0), 3600.0);
        assert_eq!(per_hour.seconds(3601.0), 7200.0);
        for (held, complete) in [(3599.0, 0.0), (3600.0, 3600.0), (7199.0, 3600.0)] {
            assert_eq!(per_hour.complete_units_s(held), complete);
        }
        // Asked for is begun, and a nanosecond is no unit.
        assert_eq!(per_hour.seconds(0.0), 3600.0);
        assert_eq!(per_hour.seconds(3600.0 + 0.9e-9), 3600.0);
        assert_eq!(per_hour.complete_units_s(3600.0 - 0.9e-9), 3600.0);
    }

    proptest! {
        #[test]
        fn the_bill_never_falls_with_time_and_never_undercuts_it(
            a in 0.0f64..1e6, more in 0.0f64..1e5, unit in 0.0f64..4000.0, least in 0.0f64..100.0,
        ) {
            let rule = BilledTime { granularity_s: unit.floor(), minimum_s: least };
            prop_assert!(rule.seconds(a + more) >= rule.seconds(a));
            prop_assert!(rule.seconds(a) >= a - 1e-8);
        }
    }
}
