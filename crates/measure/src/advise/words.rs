//! Sentences for people.

use super::decision::Goal;
use scavsim_base::text::Page;
use scavsim_base::text::words::{figure, share, small_usd};
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_search::search::Limits;

pub(super) const WIDTH: usize = 80;

fn page() -> Page {
    Page::of_width(WIDTH)
}

pub(super) fn bullet(text: &str) -> String {
    page().prose(&format!("- {text}"), 2)
}

pub(super) fn indented(text: &str) -> String {
    // Leading blanks would be lost.
    let text = page().prose(&format!("\u{a0}\u{a0}{text}"), 2);
    text.replace('\u{a0}', " ")
}

pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// The limits in words, with the share of runs for limits on runs; `None` without any.
pub(super) fn limits(goal: &Goal, runs: f64) -> Option<String> {
    let hours_of = |seconds: f64| format!("{} h", figure(seconds / SECONDS_PER_HOUR));
    let Limits {
        max_time_s,
        max_cost_usd,
        ..
    } = goal.limits;
    let parts = max_time_s.map(hours_of).into_iter();
    let of_runs = parts
        .chain(max_cost_usd.map(small_usd))
        .reduce(|time, cost| format!("{time} and {cost}"));
    let of_runs = of_runs.map(|most| format!("{} of runs within {most}", share(runs)));
    let of_mean = goal.max_mean_time_s.map(hours_of);
    let of_mean = of_mean.map(|most| format!("mean time within {most}"));
    let all = of_runs.into_iter().chain(of_mean);
    all.reduce(|runs, mean| format!("{runs}, {mean}"))
}

/// A mean with the ends of its interval.
pub(super) fn with_interval(values: &[f64; 3], unit: &str, text: impl Fn(f64) -> String) -> String {
    let [mean, low, high] = values.map(text);
    format!("{mean}{unit} ({low}–{high})")
}
