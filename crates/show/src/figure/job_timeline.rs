//! The timeline of one job, by VM, from the output of `scavsim trace`.

use std::io::{self, BufRead};

use serde::Deserialize;
use serde_json::Value;

use super::description::{Axis, Block, Figure, Mark, Panel, Scale, Series, Shape};
use super::style::{Marker, Style};
use crate::report::stored_rows::invalid;
use scavsim_base::text::words::first_of;
use scavsim_base::units::SECONDS_PER_HOUR;

const MOST_VMS: usize = 40;
const HALF: f64 = 0.36;
const JOB: &str = "job";

/// Spans that are drawn, in the order of the legend: those of the job, then of VMs.
const SPANS: [&str; 8] = [
    "searching",
    "training",
    "waiting",
    "restoring",
    "checkpoint",
    "lost",
    "starting",
    "running",
];

#[derive(Deserialize)]
struct Entry {
    at_s: f64,
    #[serde(default)]
    for_s: f64,
    track: String,
    name: String,
    #[serde(default)]
    args: Value,
}

/// Draws the entries of a file; `file` is its name in messages.
pub fn figure(lines: impl BufRead, file: &str) -> io::Result<Figure> {
    let mut life = JobTimeline::default();
    for (number, line) in lines.lines().enumerate() {
        let entry: Entry = serde_json::from_str(&line?).map_err(|why| {
            invalid(format!(
                "{file}: line {} is no entry of a trace: {why}",
                number + 1
            ))
        })?;
        life.push_entry(entry);
    }
    if life.of.is_null() {
        return Err(invalid(format!(
            "{file} holds no job: its first line should have the name `case`"
        )));
    }
    Ok(life.drawn())
}

#[derive(Default)]
struct JobTimeline {
    of: Value,
    spans: Vec<(usize, TimelineRow, [f64; 2])>,
    revoked: Vec<(TimelineRow, f64)>,
    end_h: f64,
    vms: usize,
    reached: bool,
}

/// A row: the job, or a VM by its number.
#[derive(Clone, Copy)]
enum TimelineRow {
    Job,
    Vm(usize),
}

impl JobTimeline {
    fn push_entry(&mut self, entry: Entry) {
        let at = entry.at_s / SECONDS_PER_HOUR;
        let until = at + entry.for_s / SECONDS_PER_HOUR;
        let row = match entry.track.strip_prefix("vm ").map(str::parse) {
            Some(Ok(number)) => TimelineRow::Vm(number),
            _ if entry.track == JOB => TimelineRow::Job,
            // Workers and servers need a timeline with zoom.
            _ => return,
        };
        if let TimelineRow::Vm(number) = row {
            self.vms = self.vms.max(number + 1);
        }
        self.end_h = self.end_h.max(until);
        match entry.name.as_str() {
            "case" => self.of = entry.args,
            "target reached" => self.reached = true,
            "revoked" => self.revoked.push((row, at)),
            name => {
                let known = SPANS.iter().position(|span| *span == name);
                if let Some(place) = known.filter(|_| entry.for_s > 0.0) {
                    self.spans.push((place, row, [at, until]));
                }
            }
        }
    }

    fn drawn(self) -> Figure {
        let shown = self.vms.min(MOST_VMS);
        // The job is the top row, below it the VMs in the order of their requests.
        let place = |row: TimelineRow| match row {
            TimelineRow::Job => Some((shown + 1) as f64),
            TimelineRow::Vm(number) => (number < shown).then(|| (shown - number) as f64),
        };
        let mut series = Vec::new();
        for (n, name) in SPANS.iter().enumerate() {
            let own = self.spans.iter().filter(|(span, ..)| *span == n);
            let blocks = own.filter_map(|(_, row, x)| {
                let y = place(*row)?;
                Some(Block {
                    x: *x,
                    y: [y - HALF, y + HALF],
                    shade: None,
                    name: (*name).to_owned(),
                })
            });
            let blocks: Vec<Block> = blocks.collect();
            if !blocks.is_empty() {
                // Running VMs fill most of the figure, so they are drawn lighter.
                let style = match *name {
                    "running" => Style::behind(0),
                    _ => Style::nth(n),
                };
                series.push(Series::new(*name, style, Shape::Blocks(blocks)));
            }
        }
        let lost = self.revoked.iter();
        let lost = lost.filter_map(|(row, at)| Some(Mark::new([*at, place(*row)?], "taken away")));
        let lost: Vec<Mark> = lost.collect();
        if !lost.is_empty() {
            let style = Style::plain(super::style::BLACK).marked(Marker::Cross, 6);
            series.push(Series::new("taken away", style, Shape::Marks(lost)));
        }
        let text = |key: &str| match &self.of[key] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let what = format!(
            "{}, {}, {}, {}",
            text("workload"),
            text("strategy"),
            text("pricing"),
            text("objective")
        );
        let names = (0..shown).rev().map(|number| format!("VM {number}"));
        let names: Vec<String> = names.chain([JOB.to_owned()]).collect();
        let rest = first_of(shown, self.vms, " VMs.");
        let end = if self.reached {
            "reaches its target"
        } else {
            "ends"
        };
        Figure {
            name: format!("{}-case-{}", text("scenario"), text("case")),
            title: format!("{}, case {}: {what}", text("scenario"), text("case")),
            alt: format!(
                "A row for the job and one per VM over time. The job {end} after {:.2} h with {} VMs, of which {} were taken \
                 away.",
                self.end_h,
                self.vms,
                self.revoked.len()
            ),
            note: format!(
                "What the job did, and when each VM started, ran and was taken away.{rest}"
            ),
            columns: 1,
            size: [900.0, 110.0 + 16.0 * (shown + 1) as f64],
            panels: vec![Panel {
                title: String::new(),
                x: Axis::new("time since the start of the job", "h", Scale::FromZero),
                y: Axis::names("", names),
                series,
            }],
        }
    }
}
