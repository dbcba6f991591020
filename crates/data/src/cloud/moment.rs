//! A time of a day.

use super::Date;

/// A day and an hour of it, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Moment {
    pub(super) day: Date,
    pub(super) hour: f64,
}

impl Moment {
    /// The beginning of a day.
    pub fn start_of(day: Date) -> Moment {
        Moment { day, hour: 0.0 }
    }

    /// A day, `2026-11-20`, or a time of it in UTC, `2026-11-20T06:30` or `2026-11-20 06:30:00+00:00`.
    pub(super) fn parse(text: &str) -> Option<Moment> {
        let (day, rest) = text.split_at_checked(10)?;
        let day = Date::parse(day)?;
        if rest.is_empty() {
            return Some(Moment::start_of(day));
        }
        let clock = rest.strip_prefix(['T', ' '])?;
        let clock = ["Z", "+00:00", "+0000"]
            .iter()
            .find_map(|zone| clock.strip_suffix(zone))
            .unwrap_or(clock);
        let mut parts = clock.split(':');
        let mut part = |most: f64| {
            let text = parts.next()?;
            let is_plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            let value: f64 = text.parse().ok().filter(|_| is_plain)?;
            (value < most).then_some(value)
        };
        let (hours, minutes) = (part(24.0)?, part(60.0)?);
        let seconds = match clock.matches(':').count() {
            1 => 0.0,
            2 => part(60.0)?,
            _ => return None,
        };
        let hour = hours + minutes / 60.0 + seconds / 3600.0;
        Some(Moment { day, hour })
    }

    /// Hours from `earlier` on.
    pub(super) fn hours_since(self, earlier: Moment) -> f64 {
        let days = self.day.number() - earlier.day.number();
        24.0 * days as f64 + self.hour - earlier.hour
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_utc_or_not_at_all() {
        let hour = |text: &str| Moment::parse(text).map(|moment| moment.hour);
        assert_eq!(hour("2026-11-20"), Some(0.0));
        for noon in [
            "T12:00",
            " 12:00:00",
            "T12:00:00Z",
            " 12:00:00+00:00",
            "T12:00+0000",
        ] {
            assert_eq!(hour(&format!("2026-11-20{noon}")), Some(12.0), "{noon}");
        }
        assert_eq!(hour("2026-11-20T00:00:01.8"), Some(1.8 / 3600.0));
        for wrong in [
            "2026-11-31",
            "2026-11-20T",
            "2026-11-20T12",
            "2026-11-20T24:00",
            "2026-11-20T12:60",
            "2026-11-20T12:00+02:00",
            "2026-11-20T-1:00",
            "2026-11-20T1e1:00",
            "2026-11-20 12:00:00:00",
            "20",
        ] {
            assert_eq!(hour(wrong), None, "{wrong}");
        }
    }
}
