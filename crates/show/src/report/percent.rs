//! Fractions in percent, with their intervals, as shown in tables.

use scavsim_base::stats::Interval;
use scavsim_experiment::interval_coverage::IntervalCoverage;
use scavsim_experiment::{Group, GroupSummary, Mean};

use scavsim_base::text::words::{is_many_times, or_dash, percent, signed};

/// The typical value of the realised cases of a group.
#[derive(Debug, Clone, Copy)]
pub enum TypicalValue<'g> {
    Mean(&'g Mean),
    /// Median of the figures, if few of them dominate the mean.
    Median(f64),
}

pub fn mean_of(group: &Group, metric: &str) -> Option<f64> {
    group.mean(metric).map(|mean| mean.mean)
}

/// The mean of a ratio less 1, or its median if [a tail](is_of_a_tail) dominates the mean.
pub fn typical<'g>(group: &'g Group, metric: &str) -> Option<TypicalValue<'g>> {
    let mean = group.mean(metric)?;
    Some(match group.median(metric) {
        Some(median) if is_of_a_tail(mean, 1.0 + mean.mean, 1.0 + median) => {
            TypicalValue::Median(median)
        }
        _ => TypicalValue::Mean(mean),
    })
}

/// Whether few of the values dominate the mean: they are more skewed than an exponential distribution, and the mean differs
/// from the median by more than a tenth.
pub fn is_of_a_tail(values: &Mean, mean: f64, median: f64) -> bool {
    values.skewness.abs() > 2.0 && (mean - median).abs() > 0.1 * median.abs()
}

impl TypicalValue<'_> {
    pub fn is_median(self) -> bool {
        matches!(self, TypicalValue::Median(_))
    }

    /// The value in percent; a median has a `~` before it.
    pub fn text(self) -> String {
        match self {
            TypicalValue::Mean(mean) => signed(mean.mean),
            TypicalValue::Median(median) => format!("~{}", signed(median)),
        }
    }

    /// The value in percent; a median has a `~` before it, a mean has its interval.
    pub fn text_with_interval(self) -> String {
        match self {
            TypicalValue::Mean(mean) => mean_percent(mean),
            TypicalValue::Median(_) => self.text(),
        }
    }
}

/// Share of replicas with the right choice, and its uncertainty.
pub fn right(tallied: &GroupSummary) -> String {
    or_dash(share(tallied, "right"))
}

/// Share of replicas with the right choice, without its uncertainty.
pub fn right_alone(tallied: &GroupSummary) -> String {
    let share = tallied.share("right").and_then(|share| share.share());
    or_dash(share.map(|share| percent(share, 0)))
}

/// A share in whole percent with the ends of its interval, if there is one.
fn share(tallied: &GroupSummary, column: &str) -> Option<String> {
    let share = tallied.share(column)?;
    let whole = share.share()?;
    Some(match tallied.share_interval(column) {
        Some((Interval { low, high }, holds)) if share.count > 1 => {
            let sign = sign(holds);
            format!(
                "{:.0} % ({sign}{:.0} to {:.0})",
                100.0 * whole,
                100.0 * low,
                100.0 * high
            )
        }
        _ => percent(whole, 0),
    })
}

/// A fraction in percent, with its interval if there is one.
pub fn mean_percent(mean: &Mean) -> String {
    let text = signed(mean.mean);
    let decimals = if is_many_times(mean.mean) { 0 } else { 1 };
    match mean.interval {
        Some(interval) => text + &ends((interval, mean.holds), 100.0, decimals),
        None => text,
    }
}

/// The sign before an interval that does not hold in 95 % of series, and its meaning.
static SIGNS: [(IntervalCoverage, &str, &str); 2] = [
    (
        IntervalCoverage::Oftener,
        "<",
        "before an interval: it holds in more than 95 % of series, as it reaches to a choice that no replica made, or a share is all or \
         nothing",
    ),
    (
        IntervalCoverage::Roughly,
        "≈",
        "before an interval: it holds in 85 to 100 % of series, as replicas are fewer than 100, or few of them carry the mean",
    ),
];

fn sign(holds: IntervalCoverage) -> &'static str {
    let found = SIGNS.iter().find(|(own, ..)| *own == holds);
    found.map_or("", |(_, sign, _)| *sign)
}

/// The signs that occur in `text`, with their meanings.
pub fn signs_in(text: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let stands = |sign: &str| text.contains(&format!("({sign}"));
    let signs = SIGNS.iter().map(|(_, sign, meaning)| (*sign, *meaning));
    signs.filter(move |(sign, _)| stands(sign))
}

/// The ends of an interval in brackets, as ` (13.9 to 14.2)`, after its sign if it has one.
pub fn ends((interval, holds): (Interval, IntervalCoverage), unit: f64, decimals: usize) -> String {
    let text = |end: f64| {
        let text = format!("{:.decimals$}", unit * end);
        // Negative zero is printed as zero.
        let is_zero = text.bytes().all(|byte| b"-0.".contains(&byte));
        let text = text.strip_prefix('-').filter(|_| is_zero).unwrap_or(&text);
        text.replace("inf", "∞")
    };
    let (low, high) = (text(interval.low), text(interval.high));
    // An exact value needs no sign.
    let sign = if low == high { "" } else { sign(holds) };
    format!(" ({sign}{low} to {high})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_told_by_their_ends() {
        let interval = |low, high| Interval { low, high };
        let text = |interval| ends((interval, IntervalCoverage::AsSaid), 100.0, 1);
        assert_eq!(text(interval(0.139, 0.142)), " (13.9 to 14.2)");
        assert_eq!(text(interval(-0.012, -0.0001)), " (-1.2 to 0.0)");
        assert_eq!(text(interval(0.49, f64::INFINITY)), " (49.0 to ∞)");
        assert_eq!(text(interval(0.5, 0.5)), " (50.0 to 50.0)");
        // An interval with another coverage has a sign, and the sign is explained.
        let signed = |holds, high| ends((interval(0.48, high), holds), 100.0, 1);
        assert_eq!(signed(IntervalCoverage::Oftener, 0.52), " (<48.0 to 52.0)");
        assert_eq!(signed(IntervalCoverage::Roughly, 0.55), " (≈48.0 to 55.0)");
        assert_eq!(signed(IntervalCoverage::Roughly, 0.48), " (48.0 to 48.0)");
        for holds in [IntervalCoverage::Oftener, IntervalCoverage::Roughly] {
            let text = signed(holds, 0.55);
            let signs: Vec<_> = signs_in(&text).map(|(own, _)| own).collect();
            assert_eq!(signs, [sign(holds)]);
        }
        assert_eq!(signs_in("+14.0 (13.9 to 14.2), < 0.1 %").count(), 0);
    }

    #[test]
    fn a_tail_is_skewed_and_pulls_the_mean() {
        let mean = |skewness| Mean {
            mean: 0.5,
            interval: None,
            holds: IntervalCoverage::AsSaid,
            skewness,
            count: 20,
        };
        assert!(is_of_a_tail(&mean(4.0), 1.5, 1.2));
        assert!(!is_of_a_tail(&mean(1.0), 1.5, 1.2));
        assert!(!is_of_a_tail(&mean(4.0), 1.5, 1.4));
    }
}
