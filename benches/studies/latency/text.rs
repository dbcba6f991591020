//! The study of hidden set-ups as a document.

use super::choices::{Choice, choices};
use super::hidden::{Hiding, Setup};
use scavsim::stats::Welford;
use scavsim::text::Sheet;
use scavsim::workload::spread::Interval;

/// The targets of the figures: mean error, %; share of limits met, %; excess at the median, %.
const MOST_ERROR: f64 = 8.0;
/// See [`MOST_ERROR`].
const LEAST_KEPT: f64 = 95.0;
/// See [`MOST_ERROR`].
const MOST_EXCESS: f64 = 5.0;

/// Tables in Markdown, and missed targets.
pub fn render(setups: &[Setup]) -> String {
    let mut workloads: Vec<&str> = setups.iter().map(|s| &*s.workload).collect();
    workloads.sort_unstable();
    workloads.dedup();
    let (mut errors, mut chosen, mut short) = (Vec::new(), Vec::new(), Vec::new());
    for hiding in Hiding::ALL {
        let mut all_choices: Vec<Choice> = Vec::new();
        let mut all: Vec<&Setup> = Vec::new();
        for workload in &workloads {
            let own: Vec<&Setup> = (setups.iter())
                .filter(|s| s.hiding == hiding && s.workload == *workload)
                .collect();
            let found = choices(&own);
            errors.push(error_row(hiding, workload, &own));
            chosen.push(choice_row(hiding, workload, &found));
            all.extend(own);
            all_choices.extend(found);
        }
        errors.push(error_row(hiding, "all", &all));
        chosen.push(choice_row(hiding, "all", &all_choices));
        short.extend(shortfalls(hiding, &all, &all_choices));
    }
    let mut text = "# How long a step takes in set-ups that were never seen\n\n\
         `cargo bench --bench studies -- latency`. Known are the steps of one worker, and all that is not hidden: a tenth of the placements of an\n\
         application at a time, under their names or with all that are equal to them; all on more than 4 VMs; or the whole\n\
         application, of which others tell by the parameters of their models. `error_%` is the mean of |said/measured − 1|, `covered_%`\n\
         the share of 90 % intervals that hold the measurement.\n\n"
        .to_owned();
    let header = [
        "hidden",
        "workload",
        "set-ups",
        "answered",
        "error_%",
        "worst_%",
        "covered_%",
    ];
    text += &Sheet::of_texts(&header, errors).markdown();
    text += "\nChoices by these answers: the cheapest within a limit on time, the fastest within one on money, five limits each for every\n\
             local batch. `kept_%`: limits that the choice keeps. Excess: its true money, or time, over that of the best that keeps the\n\
             limit, at the median, in the mean and at nine in ten choices.\n\n";
    let header = [
        "hidden",
        "workload",
        "limits",
        "kept_%",
        "median_%",
        "mean_%",
        "9 in 10_%",
    ];
    text += &Sheet::of_texts(&header, chosen).markdown();
    text += "\n";
    if short.is_empty() {
        text += "Nothing falls short: errors at most 8 % in the mean, limits kept at least 95 %, excess at most 5 % at the median.\n";
    } else {
        text += &format!(
            "What falls short of 8 %, 95 % and 5 %:\n\n- {}\n",
            short.join("\n- ")
        );
    }
    text
}

fn relative(setups: &[&Setup]) -> Vec<f64> {
    (setups.iter())
        .filter_map(|s| Some(100.0 * (s.said?.0 / s.measured_s - 1.0).abs()))
        .collect()
}

fn mean(values: &[f64]) -> Option<f64> {
    let mut sum = Welford::default();
    values.iter().for_each(|v| sum.add(*v));
    (!values.is_empty()).then(|| sum.mean())
}

fn figure(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(String::new, |v| format!("{v:.digits$}"))
}

fn error_row(hiding: Hiding, workload: &str, setups: &[&Setup]) -> Vec<String> {
    let errors = relative(setups);
    let held: Vec<f64> = (setups.iter())
        .filter_map(|s| {
            let (said, deviation) = s.said?;
            let holds = Interval::around(said, deviation).contains(s.measured_s);
            Some(if holds { 100.0 } else { 0.0 })
        })
        .collect();
    vec![
        hiding.name().to_owned(),
        workload.to_owned(),
        setups.len().to_string(),
        errors.len().to_string(),
        figure(mean(&errors), 2),
        figure(errors.iter().copied().reduce(f64::max), 1),
        figure(mean(&held), 0),
    ]
}

/// Share of limits met, and the excess: median, mean, nine in ten; in %.
fn outcome(choices: &[Choice]) -> Option<[f64; 4]> {
    let kept = choices.iter().filter(|c| c.kept).count();
    let mut excess: Vec<f64> = choices.iter().map(|c| 100.0 * c.excess).collect();
    excess.sort_by(f64::total_cmp);
    let at = |share: f64| excess[(share * (excess.len() - 1) as f64).round() as usize];
    (!choices.is_empty()).then(|| {
        let share = 100.0 * kept as f64 / choices.len() as f64;
        [share, at(0.5), mean(&excess).unwrap_or(0.0), at(0.9)]
    })
}

fn choice_row(hiding: Hiding, workload: &str, choices: &[Choice]) -> Vec<String> {
    let mut row = vec![
        hiding.name().to_owned(),
        workload.to_owned(),
        choices.len().to_string(),
    ];
    let found = outcome(choices);
    row.extend((0..4).map(|place| figure(found.map(|f| f[place]), 1)));
    row
}

fn shortfalls(hiding: Hiding, setups: &[&Setup], choices: &[Choice]) -> Vec<String> {
    let mut short = Vec::new();
    if let Some(error) = mean(&relative(setups)).filter(|e| *e > MOST_ERROR) {
        short.push(format!("{}: error {error:.2} %", hiding.name()));
    }
    if let Some([kept, median, ..]) = outcome(choices) {
        if kept < LEAST_KEPT {
            short.push(format!("{}: {kept:.1} % of limits kept", hiding.name()));
        }
        if median > MOST_EXCESS {
            short.push(format!(
                "{}: excess {median:.1} % at the median",
                hiding.name()
            ));
        }
    }
    short
}
