//! Numbers, durations and ranges in options, as people write them: `50k`, `5e4`, `50,000`, `30m`, `2d 4h`.

use scavsim_base::text::words::with_commas;

/// Why a text is not a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a whole number from {} to {}, like 50000, 50k or 5e4", with_commas(*least), with_commas(*most))]
pub struct CountError {
    least: u64,
    most: u64,
}

/// A number such as `1.5`, `50,000`, `5e4`, `50k`, `1.2M`, `20B` or `1T`; it may be negative.
pub(super) fn number(text: &str) -> Result<f64, &'static str> {
    let expected = "expected a number, like 50000, 50,000, 50k, 1.2M or 5e4";
    let text = text.trim();
    let (digits, scale) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 1e3),
        Some((at, 'M')) => (&text[..at], 1e6),
        Some((at, 'B' | 'G')) => (&text[..at], 1e9),
        Some((at, 'T')) => (&text[..at], 1e12),
        _ => (text, 1.0),
    };
    let whole = digits.split('.').next().unwrap_or_default();
    let mut groups = whole.split(',').skip(1);
    let are_thousands =
        groups.all(|group| group.len() == 3 && group.bytes().all(|b| b.is_ascii_digit()));
    let is_short = whole.find(',').is_none_or(|at| (1..=3).contains(&at));
    if !are_thousands || !is_short {
        return Err(expected);
    }
    let number: f64 = digits.replace(',', "").parse().map_err(|_| expected)?;
    Ok(number * scale)
}

/// A whole number as [`number`] reads it, from `LEAST` to `MOST`.
pub(super) fn count<const LEAST: u64, const MOST: u64>(text: &str) -> Result<u64, CountError> {
    let error = CountError {
        least: LEAST,
        most: MOST,
    };
    // Above 2^53 a floating-point number would round.
    let value = match text.parse() {
        Ok(value) => value,
        Err(_) => match number(text) {
            Ok(value) if value.fract() == 0.0 && (0.0..=9e15).contains(&value) => value as u64,
            _ => return Err(error),
        },
    };
    Some(value)
        .filter(|value| (LEAST..=MOST).contains(value))
        .ok_or(error)
}

/// A whole number as [`count`] reads it, of 32 bits.
pub(super) fn count32<const LEAST: u64, const MOST: u64>(text: &str) -> Result<u32, CountError> {
    let value = count::<LEAST, MOST>(text)?;
    u32::try_from(value).map_err(|_| CountError {
        least: LEAST,
        most: MOST,
    })
}

/// Hours of a duration with units, like `60h`, `2d 4h` or `90min`.
pub(super) fn duration_h(text: &str) -> Option<f64> {
    let mut hours = 0.0;
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
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
            "s" | "sec" | "seconds" => 1.0 / 3600.0,
            _ => return None,
        };
        hours += number * unit_h;
        rest = behind.trim_start();
    }
    Some(hours)
}

/// A duration with units, or a bare number in a unit of which an hour has `per_hour`.
fn duration(text: &str, per_hour: f64, expected: &'static str) -> Result<f64, &'static str> {
    let bare = number(text).ok();
    bare.or_else(|| duration_h(text).map(|hours| hours * per_hour))
        .ok_or(expected)
}

pub(super) fn hours(text: &str) -> Result<f64, &'static str> {
    duration(
        text,
        1.0,
        "expected hours, like 1.5, or a duration, like 30m or 2d 4h",
    )
}

pub(super) fn minutes(text: &str) -> Result<f64, &'static str> {
    duration(
        text,
        60.0,
        "expected minutes, like 5, or a duration, like 90s or 1h",
    )
}

pub(super) fn seconds(text: &str) -> Result<f64, &'static str> {
    duration(
        text,
        3600.0,
        "expected seconds, like 60, or a duration, like 5m or 1h",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas_exponents_and_suffixes() {
        for (text, expected) in [
            ("50000", 50_000.0),
            ("50,000", 50_000.0),
            ("1,250,000.5", 1_250_000.5),
            ("5e4", 50_000.0),
            ("1.2e6", 1_200_000.0),
            ("50k", 50_000.0),
            ("1.5M", 1_500_000.0),
            ("20B", 2e10),
            ("1T", 1e12),
            (" -3 ", -3.0),
            ("0", 0.0),
        ] {
            assert_eq!(number(text), Ok(expected), "{text}");
        }
        for text in "|k|5,0|5000,000|,000|50,00|50,000,0|1.5.2|5m|50 k|five".split('|') {
            assert!(number(text).is_err(), "{text}");
        }
    }

    #[test]
    fn counts_are_whole_and_within_their_range() {
        let read = count::<1, { u64::MAX }>;
        assert_eq!(read("1.2e6"), Ok(1_200_000));
        assert_eq!(read("18446744073709551615"), Ok(u64::MAX));
        for text in ["0", "-1", "1.5", "inf", "NaN", "1e16", "1.0005k"] {
            let text_of = count::<1, 100>(text).map_err(|e| e.to_string());
            let expected = "expected a whole number from 1 to 100, like 50000, 50k or 5e4";
            assert_eq!(text_of, Err(expected.to_owned()), "{text}");
        }
        assert_eq!(count32::<1, 100>("100"), Ok(100));
        assert!(count32::<1, 100>("101").is_err());
        assert!(count32::<0, { u64::MAX }>("4294967296").is_err());
    }

    #[test]
    fn a_bare_number_has_the_unit_of_its_option() {
        assert_eq!(hours("0.5"), Ok(0.5));
        assert_eq!(hours("30m"), Ok(0.5));
        assert_eq!(hours("2d 4h"), Ok(52.0));
        assert_eq!(minutes("5"), Ok(5.0));
        assert_eq!(minutes("1h30m"), Ok(90.0));
        assert_eq!(seconds("60"), Ok(60.0));
        assert_eq!(seconds("5min"), Ok(300.0));
        assert_eq!(seconds("90s").map(f64::round), Ok(90.0));
        assert_eq!(hours("-1"), Ok(-1.0));
        for text in ["", "h", "3 weeks", "1h x", "1..5h"] {
            assert!(hours(text).is_err(), "{text}");
        }
    }
}
