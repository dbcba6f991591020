//! Figures as people write them: shares in percent, times, money, counts.

/// What stands where there is no figure.
pub const NONE: &str = "–";

pub fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| NONE.to_owned())
}

/// A fraction in percent with so many digits behind the point: `12.3 %`.
pub fn percent(fraction: f64, digits: usize) -> String {
    format!("{:.digits$} %", 100.0 * fraction)
}

/// A share in two digits, or in whole percent where it has more: `0 %`, `< 0.1 %`, `1.2 %`, `31 %`.
pub fn share(share: f64) -> String {
    match 100.0 * share {
        p if p == 0.0 || p >= 9.95 => format!("{p:.0} %"),
        p if p < 0.05 => "< 0.1 %".to_owned(),
        p => format!("{p:.1} %"),
    }
}

/// A share in whole percent, where all and nothing are told from nearly so: `0 %`, `< 1 %`, `31 %`, `> 99 %`.
pub fn whole_share(share: f64) -> String {
    match 100.0 * share {
        0.0 => "0 %".to_owned(),
        p if p < 1.0 => "< 1 %".to_owned(),
        p if p > 99.0 && p < 100.0 => "> 99 %".to_owned(),
        p => format!("{p:.0} %"),
    }
}

/// Percent with a sign and without `%`; beyond ten times as much, tenths say nothing.
pub fn signed(fraction: f64) -> String {
    if is_many_times(fraction) {
        format!("{:+.0}", 100.0 * fraction)
    } else {
        // Minus zero is zero.
        format!("{:+.1}", (1000.0 * fraction).round() / 10.0 + 0.0)
    }
}

/// Percent with a sign: `+12.3 %`.
pub fn signed_percent(fraction: f64) -> String {
    format!("{} %", signed(fraction))
}

/// Whether a fraction is so many times that its tenths of a percent say nothing.
pub fn is_many_times(fraction: f64) -> bool {
    fraction.abs() >= 10.0
}

/// Hours, or minutes where they are few: `1.50 h`, `5.4 min`.
pub fn hours(hours: f64) -> String {
    if is_in_minutes(hours) {
        format!("{:.1} min", 60.0 * hours)
    } else {
        format!("{hours:.2} h")
    }
}

pub fn is_in_minutes(hours: f64) -> bool {
    hours < 0.1
}

/// Hours, minutes or seconds: `2.00 h`, `30.0 min`, `15 s`, `less than 1 s`.
pub fn short_time(hours: f64) -> String {
    match hours {
        v if v > 0.0 && v < 1.0 / 3600.0 => "less than 1 s".to_owned(),
        v if v < 1.0 / 60.0 => format!("{:.0} s", 3600.0 * v),
        v if v < 1.0 => format!("{:.1} min", 60.0 * v),
        v => format!("{v:.2} h"),
    }
}

/// How long something takes, roughly: `a second`, `75 s`, `20 min`, `2 h`, `5 days`.
pub fn rough_time(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "a second".to_owned(),
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s if s < 72.0 * 3600.0 => format!("{:.0} h", s / 3600.0),
        s => format!("{:.0} days", s / 86_400.0),
    }
}

/// How large a file is, roughly: `1 kB`, `434 MB`, `2.5 GB`, `12.0 TB`.
pub fn rough_size(bytes: f64) -> String {
    match bytes {
        b if b < 1e6 => format!("{:.0} kB", (b / 1e3).max(1.0)),
        b if b < 1e9 => format!("{:.0} MB", b / 1e6),
        b if b < 1e12 => format!("{:.1} GB", b / 1e9),
        b => format!("{:.1} TB", b / 1e12),
    }
}

/// USD to the cent.
pub fn usd(amount: f64) -> String {
    format!("${amount:.2}")
}

/// USD to the cent, and what is less than half of one as such.
pub fn small_usd(amount: f64) -> String {
    if amount > 0.0 && amount < 0.005 {
        "less than $0.01".to_owned()
    } else {
        usd(amount)
    }
}

/// USD per hour, to a tenth of a cent at least.
pub fn rate(usd: f64) -> String {
    let digits = if usd < 0.1 { 4 } else { 3 };
    format!("${usd:.digits$}")
}

/// Four digits, or all before the point.
pub fn figure(value: f64) -> String {
    let digits = match value.abs() {
        v if v >= 999.95 => 0,
        v if v >= 99.995 => 1,
        _ => 2,
    };
    format!("{value:.digits$}")
}

/// Two digits behind the point, and no point where there is nothing behind it.
pub fn short_figure(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A count with a comma before every three digits.
pub fn with_commas(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count of something that takes an `s` where it is not one: `1 repeat`, `2000 repeats`, `2 lives`.
pub fn plural(count: u64, what: &str) -> String {
    match (count, what.strip_suffix("fe")) {
        (1, _) => format!("1 {what}"),
        (_, Some(stem)) => format!("{count} {stem}ves"),
        (_, None) if what.ends_with(['s', 'h']) => format!("{count} {what}es"),
        (_, None) => format!("{count} {what}s"),
    }
}

/// The sentence ` The first MOST of COUNT` with its rest, where not all are shown.
pub fn first_of(most: usize, count: usize, rest: &str) -> String {
    if count > most {
        format!(" The first {most} of {count}{rest}")
    } else {
        String::new()
    }
}

/// A count of something [with commas](with_commas): `1 replica`, `2,000 replicas`.
pub fn plural_with_commas(count: u64, what: &str) -> String {
    plural(count, what).replacen(&count.to_string(), &with_commas(count), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_a_comma_before_every_three_digits() {
        let all = [0, 999, 1000, 202_000, 1_010_000].map(with_commas);
        assert_eq!(all, ["0", "999", "1,000", "202,000", "1,010,000"]);
        assert_eq!(plural(1, "replica"), "1 replica");
        assert_eq!(plural(2000, "replica"), "2000 replicas");
        assert_eq!(plural(2, "life"), "2 lives");
        assert_eq!(plural(2, "lifetime"), "2 lifetimes");
        assert_eq!(plural(2, "loss"), "2 losses");
        assert_eq!(plural_with_commas(2000, "replica"), "2,000 replicas");
    }

    #[test]
    fn shares_as_people_write_them() {
        assert_eq!([0.0, 0.0123, 0.31].map(share), ["0 %", "1.2 %", "31 %"]);
        let whole = [0.0, 0.001, 0.5, 0.995, 1.0].map(whole_share);
        assert_eq!(whole, ["0 %", "< 1 %", "50 %", "> 99 %", "100 %"]);
        assert_eq!([-0.0001, 0.0, 12.0].map(signed), ["+0.0", "+0.0", "+1200"]);
    }

    #[test]
    fn times_money_and_sizes_as_people_say_them() {
        assert_eq!([0.05, 1.5].map(hours), ["3.0 min", "1.50 h"]);
        let short = [0.0041, 0.5, 2.0].map(short_time);
        assert_eq!(short, ["15 s", "30.0 min", "2.00 h"]);
        let rough = [0.2, 75.4, 1200.0, 9000.0].map(rough_time);
        assert_eq!(rough, ["a second", "75 s", "20 min", "2 h"]);
        let sizes = [10.0, 4.34e8, 2.5e9].map(rough_size);
        assert_eq!(sizes, ["1 kB", "434 MB", "2.5 GB"]);
        assert_eq!([0.001, 2.0].map(small_usd), ["less than $0.01", "$2.00"]);
        assert_eq!([128.0, 2.5].map(short_figure), ["128", "2.5"]);
    }
}
