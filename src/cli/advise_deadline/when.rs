//! Deadlines as people write them: how long, on which day of the week, or at which date.

use std::fmt;

use super::super::units::duration_h;
use jiff::civil::{self, Weekday};
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};
use scavsim_data::cloud::Date;
use scavsim_data::cloud::date::time_of_day;

/// Hours to a deadline, at most.
pub(super) const MOST_H: f64 = 1e5;
pub(super) const LEGAL: &str = "expected a duration, like `60h` or `2d 4h`, or a day and a time, like `Fri 18:00` or \
                                `2026-12-04 18:00`. A day alone, like `2026-12-04` or `tomorrow`, means its end. Days are in UTC, or end in an offset, like `+01:00`";

/// A time on a clock with its offset from UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClockTime {
    time: Timestamp,
    ahead: Offset,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Deadline {
    /// Hours from now.
    pub(super) hours: f64,
    /// The current time on the clock, if the question names clock times.
    pub(super) now: Option<ClockTime>,
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum NoDeadline {
    #[error("`{0}` is no deadline")]
    Unreadable(String),
    #[error("the deadline {at} is past: it was {hours:.1} h before {now}")]
    Past {
        at: ClockTime,
        /// Hours since then.
        hours: f64,
        now: ClockTime,
    },
}

impl Deadline {
    /// The deadline that `text` describes, relative to `now`; without `now`, relative to the system clock.
    pub(super) fn read(text: &str, now: Option<ClockTime>) -> Result<Deadline, NoDeadline> {
        let unreadable = || NoDeadline::Unreadable(text.to_owned());
        if let Some(hours) = duration_h(text) {
            return if hours > 0.0 && hours <= MOST_H {
                Ok(Deadline { hours, now })
            } else {
                Err(unreadable())
            };
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

    /// A day with a time. If `now` is known, the day may be a weekday, `today` or `tomorrow`; without a time it means the end of the day.
    pub(super) fn read(text: &str, now: Option<ClockTime>) -> Option<ClockTime> {
        let mut text = text.trim().to_owned();
        if text.get(10..11) == Some("T") {
            text.replace_range(10..11, " ");
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let (day, time, offset) = match words[..] {
            [day] => (day, None, "Z"),
            [day, offset] if utc_offset(offset).is_some() => (day, None, offset),
            [day, time] => match time.find(['+', '-', 'Z']) {
                Some(at) => (day, Some(&time[..at]), &time[at..]),
                None => (day, Some(time), "Z"),
            },
            [day, time, offset] => (day, Some(time), offset),
            _ => return None,
        };
        let ahead = utc_offset(offset)?;
        let time = match time {
            Some(time) => Some(time_of_day(time)?),
            None => None,
        };
        // The end of a day is the start of the next.
        let at = |date: civil::Date| match time {
            Some(time) => Some(date.to_datetime(time)),
            None => Some(date.tomorrow().ok()?.to_datetime(civil::Time::midnight())),
        };
        let today = now.map(|now| ahead.to_datetime(now.time));
        let local = match (Date::parse(day), today) {
            (Some(date), None) => date.at_time(time?),
            (Some(date), Some(_)) => at(date.at_time(civil::Time::midnight()).date())?,
            (None, Some(today)) => at(match (day, weekday(day)) {
                ("today", _) => today.date(),
                ("tomorrow", _) => today.date().tomorrow().ok()?,
                (_, Some(wanted)) => {
                    let is_ahead = time.is_none_or(|time| today.time() < time);
                    if today.weekday() == wanted && is_ahead {
                        today.date()
                    } else {
                        today.date().nth_weekday(1, wanted).ok()?
                    }
                }
                _ => return None,
            })?,
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

/// Offset of a clock from UTC, written `+01:00`, `Z` or `UTC`.
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
            ("today", 14.5),
            ("tomorrow", 38.5),
            ("tomorrow 18:00", 32.5),
            ("tomorrow +01:00", 37.5),
            ("2026-12-04", 158.5),
            ("2026-12-04 UTC", 158.5),
            ("Fri", 158.5),
            ("Sat", 14.5),
        ] {
            let read = hours(text).unwrap_or_else(|| panic!("{text}"));
            assert!((read - expected).abs() < 1e-9, "{text}: {read}");
        }
    }

    #[test]
    fn what_cannot_be_read_or_is_past_is_refused() {
        for text in
            "|60|h|-3h|0h|1e9h|60 weeks|18:00|yesterday|2026-11-27 x|Fri 24:00|Fri 18:60|Fri 18:00 +1|Fry 18:00|\
            2026-02-30 10:00|2026-02-30|200000h|Fri 18:00 UTC now|1e3h|Fri 1８:00"
                .split('|')
        {
            let unreadable = Err(NoDeadline::Unreadable(text.to_owned()));
            assert_eq!(Deadline::read(text, Some(now())), unreadable, "{text}");
        }
        assert!(
            ClockTime::read("2026-12-04", None).is_none(),
            "now is a time"
        );
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
