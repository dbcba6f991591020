//! Deadlines as people write them: how long, on which day of the week, or at which date.

use std::fmt;

use jiff::civil::Weekday;
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};
use scavsim_data::cloud::Date;
use scavsim_data::cloud::date::time_of_day;

/// Hours to a deadline, at most.
pub(super) const MOST_H: f64 = 1e5;
pub(super) const LEGAL: &str = "expected how long, like `60h` or `2d 4h`; a day of the week, like `Fri 18:00`; or a date, like \
                                `2026-12-04 18:00`; both may end in an offset from UTC, like `+01:00`";

/// A time on a clock that is ahead of UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClockTime {
    time: Timestamp,
    ahead: Offset,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Deadline {
    /// Hours from now.
    pub(super) hours: f64,
    /// What the clock shows now, where it is asked about times of a clock.
    pub(super) now: Option<ClockTime>,
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum NoDeadline {
    #[error("`{0}` is no deadline")]
    Unreadable(String),
    #[error("the deadline {at} is past: it was {hours:.1} h before {now}")]
    Past {
        at: ClockTime,
        /// How long ago.
        hours: f64,
        now: ClockTime,
    },
}

impl Deadline {
    /// The deadline that `text` writes, seen from `now`; from the clock of the machine where that is not given.
    pub(super) fn read(text: &str, now: Option<ClockTime>) -> Result<Deadline, NoDeadline> {
        let unreadable = || NoDeadline::Unreadable(text.to_owned());
        if let Some(hours) = duration_h(text) {
            return Ok(Deadline { hours, now });
        }
        let now = now.unwrap_or_else(ClockTime::now);
        let at = ClockTime::read(text, Some(now)).ok_or_else(unreadable)?;
        let hours = at.time.duration_since(now.time).as_secs_f64() / 3600.0;
        let now = ClockTime {
            ahead: at.ahead,
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

    pub(super) fn after(&self, hours: f64) -> String {
        match self.now {
            Some(now) => now.later(hours).to_string(),
            None => format!("{hours:.1} h from now"),
        }
    }
}

impl ClockTime {
    fn now() -> ClockTime {
        ClockTime {
            time: Timestamp::now(),
            ahead: Offset::UTC,
        }
    }

    /// A date with a time; or, where `now` is known, a day of the week with a time, the next one.
    pub(super) fn read(text: &str, now: Option<ClockTime>) -> Option<ClockTime> {
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
        let (time, ahead) = (time_of_day(time)?, utc_offset(offset)?);
        if words.next().is_some() {
            return None;
        }
        let local = match (Date::parse(day), now) {
            (Some(date), _) => date.at_time(time),
            (None, Some(now)) => {
                let (now, wanted) = (ahead.to_datetime(now.time), weekday(day)?);
                let is_today = now.weekday() == wanted && now.time() < time;
                let day = if is_today {
                    now.date()
                } else {
                    now.date().nth_weekday(1, wanted).ok()?
                };
                day.to_datetime(time)
            }
            (None, None) => return None,
        };
        Some(ClockTime {
            time: ahead.to_timestamp(local).ok()?,
            ahead,
        })
    }

    fn later(self, hours: f64) -> ClockTime {
        let delay = SignedDuration::from_secs((hours * 3600.0) as i64);
        ClockTime {
            time: self.time.checked_add(delay).unwrap_or(Timestamp::MAX),
            ..self
        }
    }
}

impl fmt::Display for ClockTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = match self.ahead {
            Offset::UTC => "%a %Y-%m-%d %H:%M UTC",
            _ => "%a %Y-%m-%d %H:%M%:z",
        };
        let shown = self.time.to_zoned(TimeZone::fixed(self.ahead));
        write!(f, "{}", shown.strftime(form))
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
    (hours > 0.0 && hours <= MOST_H).then_some(hours)
}

/// How far a clock is ahead of UTC, written `+01:00`, `Z` or `UTC`.
fn utc_offset(text: &str) -> Option<Offset> {
    if matches!(text, "Z" | "UTC") {
        return Some(Offset::UTC);
    }
    let time = time_of_day(text.strip_prefix(['+', '-'])?)?;
    let seconds = i32::from(time.hour()) * 3600 + i32::from(time.minute()) * 60;
    let is_behind = text.starts_with('-');
    Offset::from_seconds(if is_behind { -seconds } else { seconds }).ok()
}

/// A day of the week, written `Fri` or `Friday`.
fn weekday(text: &str) -> Option<Weekday> {
    let parse = |form| BrokenDownTime::parse(form, text).ok()?.weekday();
    parse("%a").or_else(|| parse("%A"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> ClockTime {
        // A Saturday.
        ClockTime::read("2026-11-28 09:30", None).expect("a date")
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
        for text in
            "|60|h|-3h|0h|1e9h|60 weeks|Fri|18:00|Fri 24:00|Fri 18:60|Fri 18:00 +1|Fry 18:00|\
            2026-02-30 10:00|2026-12-04|Fri 18:00 UTC now|1e3h|Fri 1８:00"
                .split('|')
        {
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
}
