//! `NAME.events.jsonl`: the events of a job, one JSON object per entry and line.

use std::io::{self, Write};

use serde::Serialize;

use super::trace_names::{Args, Kind, TraceOf, TrackName, name};
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_provision::policy_run::timeline::Timeline;
use scavsim_provision::study::Setting;
use scavsim_sim::training::log::{Entry, Track};

#[derive(Serialize)]
struct Line<A> {
    at_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    for_s: Option<f64>,
    track: TrackName,
    kind: Kind,
    name: &'static str,
    args: A,
}

/// Writes the events of a job under a policy.
pub fn write_life(
    of: &TraceOf<'_>,
    life: &Timeline,
    setting: &Setting,
    mut into: impl Write,
) -> io::Result<()> {
    #[derive(Serialize)]
    struct LifeArgs<'s> {
        #[serde(skip_serializing_if = "Option::is_none")]
        zone: Option<&'s str>,
        form: &'s str,
        done_h: f64,
        spent_usd: f64,
    }
    line(&mut into, 0.0, None, "case", of)?;
    for entry in &life.entries {
        let zone = |at: usize| Some(setting.world.zones.get(at)?.name.as_str());
        let args = LifeArgs {
            zone: entry.zone.and_then(zone),
            form: &setting.job.form(entry.form).name,
            done_h: entry.done_s / SECONDS_PER_HOUR,
            spent_usd: entry.spent_usd,
        };
        line(&mut into, entry.at_s, None, entry.what.name(), args)?;
    }
    Ok(())
}

/// Writes an event of the job; without a duration it is an instant.
pub(super) fn line<A: Serialize>(
    into: &mut impl Write,
    at_s: f64,
    until_s: Option<f64>,
    name: &'static str,
    args: A,
) -> io::Result<()> {
    let for_s = until_s.map(|until| until - at_s).filter(|s| *s > 0.0);
    let line = Line {
        at_s,
        for_s,
        track: TrackName(Track::Job),
        kind: if for_s.is_some() {
            Kind::Span
        } else {
            Kind::Instant
        },
        name,
        args,
    };
    serde_json::to_writer(&mut *into, &line)?;
    into.write_all(b"\n")
}

/// Writes `entries`, which are sorted by time, after a line that describes their origin.
pub fn write(of: &TraceOf<'_>, entries: &[Entry], mut into: impl Write) -> io::Result<()> {
    line(&mut into, 0.0, None, "case", of)?;
    for entry in entries {
        let (name, kind) = name(entry.what);
        let line: Line<Args<'_>> = Line {
            at_s: entry.at.seconds(),
            for_s: (kind == Kind::Span).then(|| (entry.until - entry.at).seconds()),
            track: TrackName(entry.track),
            kind,
            name,
            args: of.args(entry.what),
        };
        serde_json::to_writer(&mut into, &line)?;
        into.write_all(b"\n")?;
    }
    Ok(())
}
