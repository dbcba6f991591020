//! One step of a plan as entries of a trace: each stage of each replica on its own track. Gaps are bubbles.

use scavsim_base::units::SimTime;
use scavsim_parallel::{PreparedPlan, Span, Work};
use scavsim_sim::training::log::{Entry, Fate, LogEvent, NeighbourStage, Track};

/// The entries of a step without luck that begins at `from`, the first `most`; whether these are all.
pub fn entries(plan: &PreparedPlan, from: SimTime, most: u64) -> (Vec<Entry>, bool) {
    let mut spans: Vec<Span> = plan.timeline();
    let stages = spans.iter().map(|span| span.stage + 1).max().unwrap_or(1);
    spans.retain(|span| span.end_s > span.start_s);
    spans.sort_by(|a, b| {
        let place = |span: &Span| (span.replica, span.stage);
        (a.start_s.total_cmp(&b.start_s)).then(place(a).cmp(&place(b)))
    });
    let mut entries = Vec::new();
    // The end of what stands on each track so far.
    let mut ends: Vec<SimTime> = Vec::new();
    for span in &spans {
        let track = span.replica * stages + span.stage;
        let at = |seconds: f64| from + SimTime::from_seconds(seconds);
        let (start, end) = (at(span.start_s), at(span.end_s));
        if ends.len() <= track as usize {
            ends.resize(track as usize + 1, from);
        }
        let last = ends[track as usize];
        let own = Track::Stage(span.replica, span.stage);
        // What goes on beside the stage's own work has a track of its own.
        let is_beside = start < last;
        if !is_beside {
            ends[track as usize] = end;
            if start > last {
                entries.push(Entry::span((last, start), own, LogEvent::Bubble));
            }
        }
        let track = if is_beside {
            Track::Link(span.replica, span.stage)
        } else {
            own
        };
        let what = match span.work {
            Work::Forward => LogEvent::Forward(span.micro_batch),
            // The gradients of weights are the other part of the way back.
            Work::Backward | Work::Weights => LogEvent::Backward(span.micro_batch),
            Work::Receive => LogEvent::Exchange(span.micro_batch, NeighbourStage::Before),
            Work::Send => LogEvent::Exchange(span.micro_batch, NeighbourStage::Behind),
            Work::Reduce => LogEvent::Communication(Fate::Done),
            Work::Update => LogEvent::Apply,
        };
        entries.push(Entry::span((start, end), track, what));
    }
    entries.sort_by_key(|entry| (entry.at, entry.track));
    let is_all = entries.len() as u64 <= most;
    entries.truncate(most as usize);
    (entries, is_all)
}
