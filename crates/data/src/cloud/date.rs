//! A calendar day.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// A day, written `2026-07-30`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// A day before all others.
    pub const FIRST: Date = Date {
        year: 0,
        month: 1,
        day: 1,
    };

    /// The day that `text` writes as year, month and day, if there is one.
    pub fn parse(text: &str) -> Option<Date> {
        let digits = |part: &str, count: usize| {
            let plain = part.len() == count && part.bytes().all(|b| b.is_ascii_digit());
            plain.then(|| part.parse::<u16>().ok()).flatten()
        };
        let mut parts = text.split('-');
        let year = digits(parts.next()?, 4)?;
        let month = digits(parts.next()?, 2)? as u8;
        let day = digits(parts.next()?, 2)? as u8;
        let leap =
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match month {
            2 => 28 + u8::from(leap),
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        let exists = parts.next().is_none() && (1..=days).contains(&day);
        exists.then_some(Date { year, month, day })
    }

    /// The year.
    pub fn year(self) -> u16 {
        self.year
    }

    /// Days since a day long ago, so that two can be compared.
    pub fn number(self) -> i64 {
        // Years begin in March, so that the leap day is their last.
        let (year, month) = match self.month {
            1 | 2 => (i64::from(self.year) - 1, i64::from(self.month) + 9),
            _ => (i64::from(self.year), i64::from(self.month) - 3),
        };
        let before = (153 * month + 2) / 5 + i64::from(self.day) - 1;
        365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + before
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
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

impl JsonSchema for Date {
    fn schema_name() -> Cow<'static, str> {
        "Date".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_days_that_exist_are_read_and_they_are_in_order() {
        let day = |text| Date::parse(text);
        for wrong in [
            "2026-02-29",
            "2100-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-04-31",
            "2026-4-1",
            "26-04-01",
            "2026-04",
            "2026-04-01-",
            "+026-04-01",
            "",
        ] {
            assert_eq!(day(wrong), None, "{wrong}");
        }
        assert!(day("2024-02-29") < day("2024-03-01"));
        let number = |text| day(text).map_or(0, Date::number);
        for (earlier, later, days) in [
            ("2024-02-28", "2024-03-01", 2),
            ("2023-02-28", "2023-03-01", 1),
            ("2100-02-28", "2100-03-01", 1),
            ("2025-12-31", "2026-01-01", 1),
            ("2000-01-01", "2026-11-22", 9822),
        ] {
            assert_eq!(number(later) - number(earlier), days, "{earlier} {later}");
        }
        assert!(day("2023-12-31") < day("2024-01-01"));
        assert_eq!(
            day("2000-02-29").map(|d| d.to_string()),
            Some("2000-02-29".into())
        );
    }
}
