use std::fmt;

use jiff::Span;
use jiff::civil::{self, DateTime, Time};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use scavsim_read::schema_of;

/// A day, written `2026-07-30`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date(pub(super) civil::Date);

impl Default for Date {
    fn default() -> Self {
        Date::FIRST
    }
}

impl Date {
    pub const FIRST: Date = Date(civil::date(0, 1, 1));

    pub fn parse(text: &str) -> Option<Date> {
        // Of the forms of ISO 8601 this one alone.
        let is_plain = text.len() == 10 && text.as_bytes()[4] == b'-';
        text.parse().ok().filter(|_| is_plain).map(Date)
    }

    pub fn year(self) -> i16 {
        self.0.year()
    }

    /// The day so many months earlier, or the last of that month if it is shorter.
    pub(super) fn months_before(self, months: i32) -> Date {
        Date(self.0.saturating_sub(Span::new().months(months)))
    }

    pub fn at_time(self, time: Time) -> DateTime {
        self.0.to_datetime(time)
    }
}

/// A time of day, written `18:00`, `18:00:30` or `18:00:30.5`.
pub fn time_of_day(text: &str) -> Option<Time> {
    let is_plain = (text.bytes()).all(|b| b.is_ascii_digit() || b == b':' || b == b'.');
    let parse = |form| Time::strptime(form, text).ok().filter(|_| is_plain);
    parse("%H:%M").or_else(|| parse("%H:%M:%S%.f"))
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Date::parse(&text).ok_or_else(|| {
            D::Error::custom(format!(
                "expected a day like \"2026-07-30\", found \"{text}\""
            ))
        })
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

schema_of!(Date, is_inline: true, { "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_days_that_exist_are_read_and_they_are_in_order() {
        let day = |text| Date::parse(text);
        for wrong in "2026-02-29|2100-02-29|2026-13-01|2026-00-10|2026-04-31|2026-4-1|26-04-01|\
            2026-04|2026-04-01-|+026-04-01|20260401|2026-W14-3|2026-04-01T10:00|"
            .split('|')
        {
            assert_eq!(day(wrong), None, "{wrong}");
        }
        assert!(day("2024-02-29") < day("2024-03-01"));
        assert!(day("2023-12-31") < day("2024-01-01"));
        let leap = day("2000-02-29").map(|d| d.to_string());
        assert_eq!(leap.as_deref(), Some("2000-02-29"));
    }
}
