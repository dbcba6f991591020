use scavsim_base::units::SimTime;
use scavsim_data::usage::VmInterval;
use scavsim_sim::training::log::{Entry, LogEvent, Track, release_rest};

/// Entries of a job that ended at `end`, in the order of time, with all VMs given back then and counted at each change.
pub(super) fn in_order(mut all: Vec<Entry>, held: &[VmInterval], end: SimTime) -> Vec<Entry> {
    for entry in &mut all {
        entry.until = entry.until.min(end);
    }
    release_rest(&mut all, end);
    let mut counts: Vec<(SimTime, i64)> = (held.iter())
        .filter(|i| i.from <= end)
        .flat_map(|i| {
            let vms = i64::from(i.vms);
            [(i.from, vms), (i.to.min(end), -vms)]
        })
        .collect();
    counts.sort_unstable();
    let mut vms = 0;
    for change in counts.chunk_by(|a, b| a.0 == b.0) {
        vms += change.iter().map(|(_, by)| by).sum::<i64>();
        let held = LogEvent::Vms(u32::try_from(vms).unwrap_or(0));
        all.push(Entry::instant(change[0].0, Track::Job, held));
    }
    all.push(Entry::instant(end, Track::Job, LogEvent::Target));
    // Of equal moments by track; on a track as they were noted.
    all.sort_by_key(|entry| (entry.at, entry.what == LogEvent::Target, entry.track));
    all
}
