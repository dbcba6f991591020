//! Figures and sentences as people read them.

use scavsim_data::cloud::Market;

/// Columns of the text.
const WIDTH: usize = 80;

/// Paragraphs on lines of at most [`WIDTH`] characters.
pub(super) fn wrapped(text: &str, first: &str, then: &str) -> String {
    let (mut all, mut line, mut is_empty) = (String::new(), first.to_owned(), true);
    for word in text.split_whitespace() {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            all += &line;
            all += "\n";
            (line, is_empty) = (then.to_owned(), true);
        }
        if !is_empty {
            line.push(' ');
        }
        line += word;
        is_empty = false;
    }
    all + &line + "\n"
}

pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

pub(super) fn plural(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

pub(super) fn market(market: Market) -> &'static str {
    match market {
        Market::OnDemand => "on demand",
        other => other.name(),
    }
}

/// USD to the cent; less than that with two digits.
pub(super) fn usd(value: f64) -> String {
    match value {
        v if v > 0.0 && v < 0.005 => "less than $0.01".to_owned(),
        v => format!("${v:.2}"),
    }
}

/// USD per hour, to a tenth of a cent at least.
pub(super) fn rate(value: f64) -> String {
    match value {
        v if v < 0.1 => format!("${v:.4}"),
        v => format!("${v:.3}"),
    }
}

pub(super) fn hours(value: f64) -> String {
    match value {
        v if v > 0.0 && v < 1.0 / 3600.0 => "less than 1 s".to_owned(),
        v if v < 1.0 / 60.0 => format!("{:.0} s", 3600.0 * v),
        v if v < 1.0 => format!("{:.1} min", 60.0 * v),
        v => format!("{v:.2} h"),
    }
}

/// A share in percent.
pub(super) fn percent(share: f64) -> String {
    match 100.0 * share {
        p if p == 0.0 || p >= 9.95 => format!("{p:.0} %"),
        p if p < 0.05 => "< 0.1 %".to_owned(),
        p => format!("{p:.1} %"),
    }
}

/// Four digits or all before the point.
pub(super) fn figure(value: f64) -> String {
    match value {
        v if v.abs() >= 999.95 => format!("{v:.0}"),
        v if v.abs() >= 99.995 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

/// Without a point where there is nothing behind it.
pub(super) fn figure_short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_lose_nothing_and_keep_to_the_width() {
        let words: Vec<String> = (0..90).map(|i| format!("word{i}")).collect();
        let text = wrapped(&words.join(" "), "- ", "  ");
        assert!(
            text.lines().all(|line| line.chars().count() <= WIDTH) && text.starts_with("- word0 ")
        );
        let again: Vec<&str> = text.split_whitespace().skip(1).collect();
        assert_eq!(again, words);
    }

    #[test]
    fn figures_as_people_write_them() {
        assert_eq!(
            (percent(0.0), percent(0.0123), percent(0.31)),
            ("0 %".into(), "1.2 %".into(), "31 %".into())
        );
        assert_eq!(
            (usd(0.001), usd(2.0)),
            ("less than $0.01".into(), "$2.00".into())
        );
        assert_eq!(
            (hours(0.0041), hours(0.5), hours(2.0)),
            ("15 s".into(), "30.0 min".into(), "2.00 h".into())
        );
        assert_eq!(
            (figure_short(128.0), figure_short(2.5)),
            ("128".into(), "2.5".into())
        );
    }
}
