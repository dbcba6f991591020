//! `NAME.trace.json`: what happened in a job in the Trace Event format, which ui.perfetto.dev and
//! chrome://tracing open.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::trace_names::{Kind, TraceOf, TrackName, name};
use scavsim_base::units::SimTime;
use scavsim_sim::training::log::{Entry, Track, What};

/// How the name of the file ends.
pub const ENDING: &str = "trace.json";

/// One event of the format; times are microseconds.
#[derive(Serialize)]
struct Event<'a, A> {
    name: &'a str,
    ph: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    pid: u32,
    tid: u32,
    /// How far an instant reaches: its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'static str>,
    args: A,
}

#[derive(Serialize)]
struct Name<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct TracePlace {
    sort_index: u32,
}

/// Processes of the format: groups of tracks.
const PROCESSES: [(u32, &str); 5] = [
    (1, "job"),
    (2, "VMs"),
    (3, "workers"),
    (4, "parameter servers"),
    (5, "stages"),
];

/// Process and thread of a track.
fn place(track: Track) -> (u32, u32) {
    match track {
        Track::Job => (1, 1),
        Track::Checkpoints => (1, 2),
        Track::Vm(n) => (2, n.saturating_add(1)),
        // No VM has this number.
        Track::Head => (2, u32::MAX),
        Track::Worker(n) => (3, n.saturating_add(1)),
        Track::Server(n) => (4, n.saturating_add(1)),
        Track::Stage(replica, stage) => (5, of_stage(replica, stage)),
        Track::Link(replica, stage) => (5, of_stage(replica, stage) + 1),
    }
}

/// The thread of a stage; that of its link is behind it.
fn of_stage(replica: u32, stage: u32) -> u32 {
    // No model has so many layers.
    const STAGES: u32 = 1 << 12;
    2 * (replica.wrapping_mul(STAGES).wrapping_add(stage % STAGES)) % (u32::MAX - 2) + 1
}

/// Events, with commas between them.
struct List<W> {
    into: W,
    any: bool,
}

impl<W: Write> List<W> {
    fn add<A: Serialize>(&mut self, event: &Event<'_, A>) -> io::Result<()> {
        let between: &[u8] = if self.any { b",\n" } else { b"\n" };
        self.any = true;
        self.into.write_all(between)?;
        serde_json::to_writer(&mut self.into, event)?;
        Ok(())
    }

    fn about<A: Serialize>(
        &mut self,
        (pid, tid): (u32, u32),
        name: &'static str,
        args: A,
    ) -> io::Result<()> {
        self.add(&Event {
            name,
            ph: "M",
            ts: None,
            dur: None,
            pid,
            tid,
            s: None,
            args,
        })
    }
}

/// Writes `entries`, which are in the order of time.
pub fn write(of: &TraceOf<'_>, entries: &[Entry], mut into: impl Write) -> io::Result<()> {
    into.write_all(b"{\"displayTimeUnit\":\"ms\",\"otherData\":")?;
    serde_json::to_writer(&mut into, of)?;
    into.write_all(b",\"traceEvents\":[")?;
    let mut list = List { into, any: false };
    let mut tracks: BTreeMap<Track, Option<&str>> = BTreeMap::new();
    for entry in entries {
        let vm = match entry.what {
            What::Requested(_) => of.args(entry.what).vm,
            _ => None,
        };
        let known = tracks.entry(entry.track).or_default();
        *known = known.or(vm);
    }
    for (pid, name) in PROCESSES {
        if tracks.keys().any(|track| place(*track).0 == pid) {
            list.about((pid, 0), "process_name", Name { name })?;
            list.about(
                (pid, 0),
                "process_sort_index",
                TracePlace { sort_index: pid },
            )?;
        }
    }
    for (track, vm) in tracks {
        let at = place(track);
        let mut name = TrackName(track).to_string();
        if let Some(vm) = vm {
            name = format!("{name}: {vm}");
        }
        list.about(at, "thread_name", Name { name: &name })?;
        list.about(at, "thread_sort_index", TracePlace { sort_index: at.1 })?;
    }
    for entry in entries {
        let (name, kind) = name(entry.what);
        let (pid, tid) = place(entry.track);
        list.add(&Event {
            name,
            ph: match kind {
                Kind::Span => "X",
                Kind::Instant => "i",
                Kind::Counter => "C",
            },
            ts: Some(microseconds(entry.at)),
            dur: (kind == Kind::Span).then(|| microseconds(entry.until - entry.at)),
            pid,
            tid,
            s: (kind == Kind::Instant).then_some("t"),
            args: of.args(entry.what),
        })?;
    }
    list.into.write_all(b"\n]}\n")
}

fn microseconds(time: SimTime) -> f64 {
    time.nanoseconds() as f64 / 1e3
}
