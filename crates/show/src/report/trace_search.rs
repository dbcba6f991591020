//! The probes, results, costs and choice of a search on real runs: as lines of [`events.jsonl`](super::trace_jsonl), and as a table.

use std::io::{self, Write};

use serde::Serialize;

use super::trace_jsonl::line;
use super::trace_names::TraceOf;
use scavsim_base::text::words::{or_dash, share, short_figure, short_time};
use scavsim_base::text::{Column, Page, Sheet};
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_data::space::Space;
use scavsim_experiment::Record;
use scavsim_search::testbed::TestbedExchange;
use scavsim_search::testbed::transcript::{ObservedTarget, RequestedExtent, TranscriptStep};

/// Number of predictions in the table.
const SHOWN: usize = 5;

/// A search on real runs, with all its results.
#[derive(Debug, Clone, Copy)]
pub struct SearchTrace<'a> {
    pub of: TraceOf<'a>,
    pub space: &'a Space,
    pub questions: &'a [TestbedExchange],
    /// The strategy's final prediction of seconds to the target for each configuration.
    pub predicted: &'a [Option<f64>],
    /// Choices that were run, in order; all but the last never reached the target.
    pub ran: &'a [usize],
    /// Seconds and USD at the end of the search, and after each of these runs.
    pub ends: &'a [(f64, f64)],
    pub ended: &'a str,
    pub record: &'a Record<'a>,
}

#[derive(Serialize)]
struct RequestArgs {
    #[serde(flatten)]
    step: TranscriptStep,
    before_usd: f64,
}

#[derive(Serialize)]
struct EndedArgs<'a> {
    questions: usize,
    ended: &'a str,
    spent_usd: f64,
}

#[derive(Serialize)]
struct PredictedArgs {
    configuration: String,
    predicted_s: f64,
}

#[derive(Serialize)]
struct RunArgs {
    configuration: String,
    spent_usd: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<&'static str>,
}

/// Columns of the record that the trace comes to.
#[derive(Serialize)]
struct RecordArgs<'a> {
    search_time_h: Option<f64>,
    search_cost_usd: Option<f64>,
    time_h: Option<f64>,
    cost_usd: Option<f64>,
    oracle_time_h: Option<f64>,
    oracle_cost_usd: Option<f64>,
    reason: &'a str,
}

#[derive(Serialize)]
struct NoArgs {}

impl SearchTrace<'_> {
    pub fn write(&self, mut into: impl Write) -> io::Result<()> {
        let into = &mut into;
        line(into, 0.0, None, "case", self.of)?;
        let mut is_reached = false;
        for asked in self.questions {
            let args = RequestArgs {
                step: TranscriptStep::from_exchange(asked, self.space),
                before_usd: asked.before_usd,
            };
            let until_s = asked.seconds;
            line(into, asked.before_s, Some(until_s), "searching", args)?;
            if asked.reached && !is_reached {
                is_reached = true;
                line(into, until_s, None, "target reached", NoArgs {})?;
            }
        }
        let (end_s, end_usd) = self.search_end();
        let args = EndedArgs {
            questions: self.questions.len(),
            ended: self.ended,
            spent_usd: end_usd,
        };
        line(into, end_s, None, "searched", args)?;
        for (at, predicted_s) in self.predicted() {
            let configuration = self.space.name(at);
            let args = PredictedArgs {
                configuration,
                predicted_s,
            };
            line(into, end_s, None, "predicted", args)?;
        }
        for (place, choice, from_s, (until_s, spent_usd)) in self.runs() {
            let stands = self.is_final_run(place);
            let args = RunArgs {
                configuration: self.space.name(choice),
                spent_usd,
                ended: (!stands).then_some("unreached"),
            };
            // A failed run counts as one more trial.
            let name = if stands { "training" } else { "searching" };
            line(into, from_s, Some(until_s), name, args)?;
            if stands && !is_reached {
                line(into, until_s, None, "target reached", NoArgs {})?;
            }
        }
        let record = self.record;
        let last = self.ends.last().copied().unwrap_or((end_s, end_usd));
        let args = RecordArgs {
            search_time_h: record.search_time_h,
            search_cost_usd: record.search_cost_usd,
            time_h: record.time_h,
            cost_usd: record.cost_usd,
            oracle_time_h: record.oracle_time_h,
            oracle_cost_usd: record.oracle_cost_usd,
            reason: &record.reason,
        };
        line(into, last.0, None, "record", args)
    }

    /// Number of entries that [`write`](Self::write) writes, without the first.
    pub fn entries(&self) -> usize {
        let is_reached = self.questions.iter().any(|asked| asked.reached)
            || (0..self.ran.len()).any(|place| self.is_final_run(place));
        self.questions.len()
            + self.predicted().count()
            + self.ran.len()
            + usize::from(is_reached)
            + 2
    }

    /// Seconds and USD of the search, without runs of the choice.
    fn search_end(&self) -> (f64, f64) {
        self.ends.first().copied().unwrap_or((0.0, 0.0))
    }

    fn predicted(&self) -> impl Iterator<Item = (usize, f64)> {
        let all = self.predicted.iter().enumerate();
        all.filter_map(|(at, predicted_s)| Some((at, (*predicted_s)?)))
    }

    /// Index, configuration, begin and end of each run of a choice.
    fn runs(&self) -> impl Iterator<Item = (usize, usize, f64, (f64, f64))> {
        let between = self.ends.windows(2).zip(self.ran).enumerate();
        between.map(|(place, (ends, choice))| (place, *choice, ends[0].0, ends[1]))
    }

    /// Whether a run of a choice is the final one.
    fn is_final_run(&self, place: usize) -> bool {
        place + 1 == self.ran.len() && self.record.time_h.is_some()
    }

    /// The search and the run as a table, with the final predictions and the reason for its end.
    pub fn text(&self, page: &Page) -> String {
        let mut rows: Vec<TraceRow> = (1..)
            .zip(self.questions)
            .map(|(number, own)| self.request_row(number, own))
            .collect();
        let searched = rows.len();
        for (place, choice, from_s, (until_s, usd)) in self.runs() {
            let seen = if self.is_final_run(place) {
                ObservedTarget::ReachedS(until_s - from_s)
            } else {
                ObservedTarget::FailedS(until_s - from_s)
            };
            let before_usd = self.ends[place].1;
            rows.push(TraceRow {
                number: String::new(),
                configuration: self.space.name(choice),
                asked: "the choice".to_owned(),
                seen: target_text(Some(seen)),
                step_s: None,
                took_s: until_s - from_s,
                cost_usd: usd - before_usd,
                spent_s: until_s,
                spent_usd: usd,
            });
        }
        let mut text = page.prose(&self.of.to_string(), 2);
        text.push('\n');
        if !rows.is_empty() {
            let fitted = Sheet::new(rows, columns()).fit(page);
            text += &fitted.text(page);
            text += &fitted.remark("", page);
            text.push('\n');
        }
        let (end_s, end_usd) = self.search_end();
        let sum = format!(
            "{} in {}, ${end_usd:.4}. {}",
            scavsim_base::text::words::plural(searched as u64, "question"),
            short_time(end_s / SECONDS_PER_HOUR),
            self.ended
        );
        text += &page.prose(&sum, 2);
        text += &self.believed(page);
        text
    }

    /// The shortest predicted times at the end.
    fn believed(&self, page: &Page) -> String {
        let mut all: Vec<(usize, f64)> = self.predicted().collect();
        if all.is_empty() {
            return String::new();
        }
        all.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        let count = all.len();
        let shown: Vec<String> = (all.iter().take(SHOWN))
            .map(|&(at, s)| {
                let time = short_time(s / SECONDS_PER_HOUR);
                format!("{} {time}", self.space.name(at))
            })
            .collect();
        let more = if count > SHOWN { "; and so on" } else { "" };
        let sentence = format!(
            "Believed in the end of {count} of {} configurations, the fastest first: {}{more}.",
            self.space.len(),
            shown.join("; ")
        );
        page.prose(&sentence, 2)
    }

    fn request_row(&self, number: usize, noted: &TestbedExchange) -> TraceRow {
        let step = TranscriptStep::from_exchange(noted, self.space);
        TraceRow {
            number: number.to_string(),
            configuration: step.configuration,
            asked: extent(step.asked),
            seen: target_text(step.target),
            step_s: step.step_s,
            took_s: noted.seconds - noted.before_s,
            cost_usd: noted.usd - noted.before_usd,
            spent_s: noted.seconds,
            spent_usd: noted.usd,
        }
    }
}

/// A row of the table: a question, or a run of a choice.
struct TraceRow {
    number: String,
    configuration: String,
    asked: String,
    seen: String,
    step_s: Option<f64>,
    took_s: f64,
    cost_usd: f64,
    spent_s: f64,
    spent_usd: f64,
}

fn columns<'a>() -> Vec<Column<'a, TraceRow>> {
    let time = |s: f64| short_time(s / SECONDS_PER_HOUR);
    vec![
        Column::number("", |row: &TraceRow| row.number.clone()).rank(0),
        Column::text("configuration", |row: &TraceRow| row.configuration.clone()).wrapped(),
        Column::text("asked", |row: &TraceRow| row.asked.clone()).rank(0),
        Column::text("seen", |row: &TraceRow| row.seen.clone()).rank(0),
        Column::number("step s", |row: &TraceRow| {
            or_dash(row.step_s.map(|s| format!("{s:.3}")))
        })
        .rank(3),
        Column::number("took", move |row: &TraceRow| time(row.took_s)).rank(3),
        Column::number("for USD", |row: &TraceRow| format!("{:.4}", row.cost_usd)).rank(2),
        Column::number("spent", move |row: &TraceRow| time(row.spent_s)).rank(1),
        Column::number("USD", |row: &TraceRow| format!("{:.4}", row.spent_usd)).rank(0),
    ]
}

fn extent(asked: RequestedExtent) -> String {
    let time = |s: f64| short_time(s / SECONDS_PER_HOUR);
    match asked {
        RequestedExtent::ColdStart(steps) => format!("{steps} steps, to settle"),
        RequestedExtent::Steps(steps) => format!("{steps} steps"),
        RequestedExtent::Share(part) => format!("{} of a run", share(part)),
        RequestedExtent::Fidelity(part) => format!("a version of {}", share(part)),
        RequestedExtent::ToTarget => "to the target".to_owned(),
        RequestedExtent::ToTargetInSeconds(s) => format!("≤ {}", time(s)),
        RequestedExtent::ToTargetForUsd(usd) => format!("≤ ${}", short_figure(usd)),
        RequestedExtent::Seconds(s) => time(s),
        RequestedExtent::Usd(usd) => format!("${}", short_figure(usd)),
        RequestedExtent::Profile(passes) => format!("{passes} passes"),
    }
}

/// The observed time to the target, in words.
fn target_text(target: Option<ObservedTarget>) -> String {
    let time = |s: f64| short_time(s / SECONDS_PER_HOUR);
    match target {
        None => or_dash(None),
        Some(ObservedTarget::MoreThanS(s)) => format!("> {}", time(s)),
        Some(ObservedTarget::ReachedS(s)) => time(s),
        Some(ObservedTarget::FailedS(s)) => format!("failed, {}", time(s)),
    }
}
