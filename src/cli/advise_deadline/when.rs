//! Deadlines as people write them: how long, on which day of the week, or at which date.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use scavsim_data::cloud::Date;

const DAY_S: i64 = 86_400;
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONTHS: [i64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// What is legal where a deadline is read.
pub(super) const LEGAL: &str = "expected how long, like `60h` or `2d 4h`; a day of the week, like `Fri 18:00`; or a date, like \
                                `2026-12-04 18:00`; both may end in an offset from UTC, like `+01:00`";

/// A minute, and the clock that it is told by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    /// Seconds since 1970 in UTC.
    utc_s: i64,
    /// Seconds that the clock is ahead of UTC.
    ahead_s: i64,
}

/// When a job shall be done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Deadline {
    /// Hours from now.
    pub(super) hours: f64,
    /// What the clock shows now, where it is asked about times of a clock.
    pub(super) now: Option<Moment>,
}

/// Why a text is no deadline.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum NoDeadline {
    /// Nothing that can be read.
    #[error("`{0}` is no deadline")]
    Unreadable(String),
    /// A time before now.
    #[error("the deadline {at} is past: it was {hours:.1} h before {now}")]
    Past {
        /// The deadline.
        at: Moment,
        /// How long ago.
        hours: f64,
        /// What was taken for now.
        now: Moment,
    },
}

impl Deadline {
    /// The deadline that `text` writes, seen from `now`; from the clock of the machine where that is not given.
    ///
    /// # Errors
    /// It cannot be read, or is past.
    pub(super) fn read(text: &str, now: Option<Moment>) -> Result<Deadline, NoDeadline> {
        let unreadable = || NoDeadline::Unreadable(text.to_owned());
        if let Some(hours) = duration_h(text) {
            return Ok(Deadline { hours, now });
        }
        let now = now.or_else(Moment::of_machine).ok_or_else(unreadable)?;
        let at = Moment::read(text, Some(now)).ok_or_else(unreadable)?;
        let hours = (at.utc_s - now.utc_s) as f64 / 3600.0;
        let now = Moment {
            ahead_s: at.ahead_s,
            ..now
        };
        if hours > 0.0 {
            Ok(Deadline {
                hours,
                now: Some(now),
            })
        } else {
            Err(NoDeadline::Past {
                at,
                hours: -hours,
                now,
            })
        }
    }

    /// The time so many hours from now, in words.
    pub(super) fn after(&self, hours: f64) -> String {
        match self.now {
            Some(now) => now.later(hours).to_string(),
            None => format!("{hours:.1} h from now"),
        }
    }
}

impl Moment {
    /// What the clock of the machine shows.
    fn of_machine() -> Option<Moment> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        Some(Moment {
            utc_s: i64::try_from(since.as_secs()).ok()?,
            ahead_s: 0,
        })
    }

    /// A date with a time; or, where `now` is known, a day of the week with a time, the next one.
    pub(super) fn read(text: &str, now: Option<Moment>) -> Option<Moment> {
        let mut text = text.trim().to_owned();
        if text.get(10..11) == Some("T") {
            text.replace_range(10..11, " ");
        }
        let mut words = text.split_whitespace();
        let (day, time) = (words.next()?, words.next()?);
        let (time, offset) = match time.find(['+', '-', 'Z']) {
            Some(at) => time.split_at(at),
            None => (time, words.next().unwrap_or("Z")),
        };
        let (second, ahead_s) = (second_of_day(time)?, offset_s(offset)?);
        if words.next().is_some() {
            return None;
        }
        let day = match (Date::parse(day), now) {
            (Some(date), _) => date.number() - epoch(),
            (None, Some(now)) => {
                let wanted = weekday(day)?;
                let local_s = now.utc_s + ahead_s;
                let today = local_s.div_euclid(DAY_S);
                let ahead = (wanted - weekday_of(today)).rem_euclid(7);
                let is_over = ahead == 0 && second <= local_s.rem_euclid(DAY_S);
                today + ahead + if is_over { 7 } else { 0 }
            }
            (None, None) => return None,
        };
        Some(Moment {
            utc_s: day * DAY_S + second - ahead_s,
            ahead_s,
        })
    }

    /// So many hours later, to the minute before.
    fn later(self, hours: f64) -> Moment {
        Moment {
            utc_s: self.utc_s + (hours * 3600.0) as i64,
            ..self
        }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let local_s = self.utc_s + self.ahead_s;
        let (day, second) = (local_s.div_euclid(DAY_S), local_s.rem_euclid(DAY_S));
        let weekday = WEEKDAYS[weekday_of(day) as usize];
        let (year, month, of_month) = date_of(day);
        let (hour, minute) = (second / 3600, second % 3600 / 60);
        write!(
            f,
            "{weekday} {year:04}-{month:02}-{of_month:02} {hour:02}:{minute:02}"
        )?;
        let ahead = self.ahead_s.abs() / 60;
        match self.ahead_s {
            0 => write!(f, " UTC"),
            s => {
                let sign = if s < 0 { '-' } else { '+' };
                write!(f, "{sign}{:02}:{:02}", ahead / 60, ahead % 60)
            }
        }
    }
}

/// Hours of a text like `60h`, `2d 4h` or `90min`.
fn duration_h(text: &str) -> Option<f64> {
    let mut hours = 0.0;
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let number: f64 = rest[..end].parse().ok()?;
        rest = rest[end..].trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphabetic());
        let (unit, behind) = rest.split_at(end.unwrap_or(rest.len()));
        let unit_h = match unit {
            "d" | "day" | "days" => 24.0,
            "h" | "hour" | "hours" => 1.0,
            "m" | "min" | "minutes" => 1.0 / 60.0,
            _ => return None,
        };
        hours += number * unit_h;
        rest = behind.trim_start();
    }
    (hours > 0.0 && hours <= 1e5).then_some(hours)
}

/// Seconds since midnight of a text like `18:00` or `18:00:30`.
fn second_of_day(text: &str) -> Option<i64> {
    let part = |text: &str, below: i64| {
        let plain = text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit());
        let value: i64 = plain.then(|| text.parse().ok())??;
        (value < below).then_some(value)
    };
    let mut parts = text.split(':');
    let (hour, minute) = (part(parts.next()?, 24)?, part(parts.next()?, 60)?);
    let second = parts.next().map_or(Some(0), |text| part(text, 60))?;
    parts
        .next()
        .is_none()
        .then_some(hour * 3600 + minute * 60 + second)
}

/// Seconds ahead of UTC of a text like `+01:00`, `Z` or `UTC`.
fn offset_s(text: &str) -> Option<i64> {
    if matches!(text, "Z" | "UTC") {
        return Some(0);
    }
    let sign = match text.chars().next()? {
        '+' => 1,
        '-' => -1,
        _ => return None,
    };
    Some(sign * second_of_day(&text[1..])?)
}

/// Number of a day of the week, Monday the first.
fn weekday(text: &str) -> Option<i64> {
    let full = [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
    ];
    let word = text.to_ascii_lowercase();
    let is_it = |day: &&str| *day == word || (word.len() == 3 && day.starts_with(&word));
    full.iter().position(is_it).map(|at| at as i64)
}

/// Day of the week of a day since 1970, which began on a Thursday.
fn weekday_of(day: i64) -> i64 {
    (day + 3).rem_euclid(7)
}

/// The number of 1970-01-01 among dates.
fn epoch() -> i64 {
    Date::parse("1970-01-01").map_or(0, Date::number)
}

/// Year, month and day of the month of a day since 1970.
fn date_of(day: i64) -> (i64, usize, i64) {
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let mut rest = day.max(0);
    let mut year = 1970;
    while rest >= 365 + i64::from(is_leap(year)) {
        rest -= 365 + i64::from(is_leap(year));
        year += 1;
    }
    let mut month = 0;
    for (at, days) in MONTHS.iter().enumerate() {
        let days = days + i64::from(at == 1 && is_leap(year));
        month = at;
        if rest < days {
            break;
        }
        rest -= days;
    }
    (year, month + 1, rest + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Moment {
        // A Saturday.
        Moment::read("2026-11-28 09:30", None).expect("a date")
    }

    fn hours(text: &str) -> Option<f64> {
        Deadline::read(text, Some(now())).ok().map(|one| one.hours)
    }

    #[test]
    fn lengths_days_of_the_week_and_dates_are_read() {
        for (text, expected) in [
            ("60h", 60.0),
            ("2d 4h", 52.0),
            ("2d4h", 52.0),
            ("1.5 h", 1.5),
            ("90min", 1.5),
            ("Fri 18:00", 152.5),
            ("friday 18:00", 152.5),
            ("Fri 18:00+01:00", 151.5),
            ("Fri 18:00 -05:30", 158.0),
            ("Sat 09:30", 168.0),
            ("Sat 09:31", 1.0 / 60.0),
            ("2026-12-04 18:00", 152.5),
            ("2026-12-04T18:00:00Z", 152.5),
            ("2027-03-01 09:30 UTC", 93.0 * 24.0),
        ] {
            let read = hours(text).unwrap_or_else(|| panic!("{text}"));
            assert!((read - expected).abs() < 1e-9, "{text}: {read}");
        }
    }

    #[test]
    fn what_cannot_be_read_or_is_past_is_refused() {
        for text in [
            "",
            "60",
            "h",
            "-3h",
            "0h",
            "1e9h",
            "60 weeks",
            "Fri",
            "18:00",
            "Fri 24:00",
            "Fri 18:60",
            "Fri 18:00 +1",
            "Fry 18:00",
            "2026-02-30 10:00",
            "2026-12-04",
            "Fri 18:00 UTC now",
            "1e3h",
            "Fri 1８:00",
        ] {
            let unreadable = Err(NoDeadline::Unreadable(text.to_owned()));
            assert_eq!(Deadline::read(text, Some(now())), unreadable, "{text}");
        }
        let past = Deadline::read("2026-11-28 08:00", Some(now())).expect_err("it is past");
        let told = "the deadline Sat 2026-11-28 08:00 UTC is past: it was 1.5 h before Sat 2026-11-28 09:30 UTC";
        assert_eq!(past.to_string(), told);
    }

    #[test]
    fn times_are_told_by_the_clock_of_the_deadline() {
        let told = |text: &str, hours: f64| {
            let deadline = Deadline::read(text, Some(now())).expect("a deadline");
            deadline.after(hours)
        };
        assert_eq!(told("Fri 18:00+01:00", 0.0), "Sat 2026-11-28 10:30+01:00");
        assert_eq!(told("Fri 18:00", 2208.0), "Sun 2027-02-28 09:30 UTC");
        assert_eq!(told("Fri 18:00", 2232.0), "Mon 2027-03-01 09:30 UTC");
        let without = Deadline::read("60h", None).expect("a deadline");
        assert_eq!(without.after(41.26), "41.3 h from now");
    }

    #[test]
    fn days_and_dates_go_both_ways() {
        for day in (0..40_000).step_by(17) {
            let (year, month, of_month) = date_of(day);
            let text = format!("{year:04}-{month:02}-{of_month:02}");
            let date = Date::parse(&text).expect("a date");
            assert_eq!(date.number() - epoch(), day, "{text}");
        }
    }
}
