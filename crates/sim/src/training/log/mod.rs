//! What happened in a job, for those who want to see it. Off by default: then it costs a branch.

pub mod entry;
mod lanes;
mod vms;

pub use entry::{Entry, Fate, LogEvent, NeighbourStage, Track, release_rest};

use self::lanes::{EntrySink, Lanes};
use self::vms::LedgerVms;
use scavsim_base::units::SimTime;
use scavsim_data::usage::{EndedBy, Phase};

#[derive(Debug, Clone, Default)]
pub struct Log {
    fine: bool,
    notes: Option<Box<Notes>>,
}

#[derive(Debug, Clone, Default)]
struct Notes {
    most: u64,
    kept: KeptEntries,
    /// Spans of the job, one behind the other.
    phases: Vec<Entry>,
    phase: LogEvent,
    since: SimTime,
    vms: LedgerVms,
    lanes: Lanes,
    /// The first entry of the stretch in progress.
    stretch: usize,
    /// Updates before this stretch whose work is kept, and of these those that no loss can take.
    learned: u64,
    saved: u64,
}

#[derive(Debug, Clone, Default)]
struct KeptEntries {
    entries: Vec<Entry>,
    /// Entries of single worker-steps that may follow.
    room: u64,
}

impl EntrySink for KeptEntries {
    fn push_entry(&mut self, entry: Entry) {
        if self.room == 0 {
            return;
        }
        self.entries.push(entry);
        self.room -= 1;
        if self.room == 0 {
            (self.entries).push(Entry::instant(entry.at, Track::Job, LogEvent::Full));
        }
    }
}

impl Default for LogEvent {
    fn default() -> Self {
        LogEvent::Phase(Phase::default())
    }
}

impl Log {
    /// A log that notes everything, and of single worker-steps the first `most` entries.
    pub fn on(most: u64) -> Log {
        let notes = Notes {
            most,
            kept: KeptEntries {
                room: most,
                ..KeptEntries::default()
            },
            ..Notes::default()
        };
        Log {
            fine: most > 0,
            notes: Some(Box::new(notes)),
        }
    }

    pub fn is_on(&self) -> bool {
        self.notes.is_some()
    }

    /// Empty again, on or off as it was.
    pub fn restart(&mut self) {
        if let Some(notes) = &self.notes {
            *self = Log::on(notes.most);
        }
    }

    /// Takes out all that was noted until the job ended, at `end`, in the order of time, and turns the log off.
    pub fn take_entries(&mut self, end: SimTime) -> Vec<Entry> {
        self.fine = false;
        let Some(mut notes) = self.notes.take() else {
            return Vec::new();
        };
        notes.close_phase(end);
        let mut entries = std::mem::take(&mut notes.kept.entries);
        notes.vms.end(end, &mut entries);
        entries.append(&mut notes.phases);
        cut(&mut entries, end);
        entries.push(Entry::instant(end, Track::Job, LogEvent::Target));
        // Stable: the target stays behind all others of its time.
        entries.sort_by_key(|entry| entry.at);
        entries
    }

    #[inline]
    pub fn is_fine(&self) -> bool {
        self.fine
    }

    #[inline]
    fn fine(&mut self) -> Option<&mut Notes> {
        if !self.fine {
            return None;
        }
        self.notes.as_deref_mut()
    }
}

/// Leaves out what came after `end`; VMs held then are given back.
fn cut(entries: &mut Vec<Entry>, end: SimTime) {
    let late = |entry: &Entry| match (entry.what, entry.track) {
        (LogEvent::Requested(_), Track::Vm(number)) if entry.at > end => Some(number),
        _ => None,
    };
    let first_late = entries.iter().filter_map(late).min().unwrap_or(u32::MAX);
    entries.retain_mut(|entry| {
        if let (LogEvent::Released | LogEvent::Revoked, Track::Vm(number)) =
            (entry.what, entry.track)
            && entry.at > end
            && number < first_late
        {
            (entry.at, entry.what) = (end, LogEvent::Released);
        }
        entry.until = entry.until.min(end);
        entry.at <= end
    });
}

/// What protocols note.
impl Log {
    #[inline]
    pub(crate) fn begin(&mut self, workers: u32, now: SimTime) {
        if let Some(notes) = self.fine() {
            notes.stretch = notes.kept.entries.len();
            notes.lanes.begin(workers, now);
        }
    }

    /// `worker` computes until then, behind what it has to do before.
    #[inline]
    pub(crate) fn computes(&mut self, worker: u32, until: SimTime) {
        if let Some(notes) = self.fine() {
            notes.computes(worker, LogEvent::Compute(Fate::Done), until);
        }
    }

    /// `machine` computes the gradient of the worker `of` until then.
    #[inline]
    pub(crate) fn copies(&mut self, machine: u32, of: u32, now: SimTime, until: SimTime) {
        if let Some(notes) = self.fine() {
            let fate = Fate::Done;
            notes.settle(machine, now, fate);
            notes.computes(machine, LogEvent::Copy { of, fate }, until);
        }
    }

    /// `worker` has ended what it did, or what it still does is of no use.
    #[inline]
    pub(crate) fn settle(&mut self, worker: u32, now: SimTime) {
        if let Some(notes) = self.fine() {
            notes.settle(worker, now, Fate::Dropped);
        }
    }

    /// From now on `worker` has its last update served, computes and communicates, until each of these times.
    #[inline]
    pub(crate) fn cycle(&mut self, worker: u32, now: SimTime, until: [SimTime; 3]) {
        if let Some(notes) = self.fine() {
            notes.cycle(worker, now, until);
        }
    }

    #[inline]
    pub(crate) fn serves(&mut self, server: usize, worker: u32, at: SimTime, until: SimTime) {
        if let Some(notes) = self.fine() {
            notes.serves(server, worker, at, until);
        }
    }

    /// The first `needed` workers have met, and all communicate until `complete`.
    #[inline]
    pub(crate) fn barrier(&mut self, needed: u32, now: SimTime, complete: SimTime) {
        if let Some(notes) = self.fine() {
            notes.barrier(needed, now, complete);
        }
    }

    /// All workers stop to communicate until `complete`, and then go on.
    #[inline]
    pub(crate) fn pause(&mut self, now: SimTime, complete: SimTime) {
        if let Some(notes) = self.fine() {
            notes.pause(now, complete);
        }
    }

    #[inline]
    pub(crate) fn update(&mut self, updates: u64, now: SimTime) {
        if let Some(notes) = self.fine() {
            notes.steps(notes.learned + updates, now);
            self.fine = notes.kept.room > 0;
        }
    }

    /// Notes that `updates` updates are complete at `now`, where all workers begin again.
    #[inline]
    pub(crate) fn step(&mut self, updates: u64, now: SimTime) {
        if let Some(notes) = self.fine() {
            notes.settle_all(now);
        }
        self.update(updates, now);
    }

    #[inline]
    pub(crate) fn end(&mut self, updates: u64, now: SimTime) {
        if let Some(notes) = self.notes.as_deref_mut() {
            notes.end(updates, now);
            self.fine = notes.kept.room > 0;
        }
    }
}

/// What a job notes.
impl Log {
    pub(crate) fn enter(&mut self, phase: Phase, now: SimTime) {
        if let Some(notes) = &mut self.notes
            && notes.phase != LogEvent::Phase(phase)
        {
            notes.close_phase(now);
            notes.phase = LogEvent::Phase(phase);
        }
    }

    /// The last `seconds` of `from` were for nothing else than `to`: the work of all updates since
    /// the last checkpoint is lost.
    pub(crate) fn relabel(&mut self, from: Phase, to: Phase, seconds: f64, now: SimTime) {
        if let Some(notes) = &mut self.notes {
            notes.relabel(LogEvent::Phase(from), LogEvent::Phase(to), seconds, now);
        }
    }

    /// From `at` until `now` a checkpoint was written or restored, or that was given up.
    pub(crate) fn checkpoint(&mut self, what: LogEvent, at: SimTime, now: SimTime) {
        if let Some(notes) = &mut self.notes {
            notes.checkpoint(what, at, now);
        }
    }

    /// The cluster is from `now` on of `vms` VMs of type `vm`; new ones run from `ready` on.
    pub(crate) fn hold(
        &mut self,
        (vm, vms): (u16, u32),
        (workers, batch): (u32, u32),
        now: SimTime,
        ready: SimTime,
    ) {
        self.cluster(vm, vms, (workers, batch), now);
        if let Some(notes) = &mut self.notes {
            (notes.vms).hold(vm, vms, now, ready, &mut notes.kept.entries);
        }
    }

    /// The cluster is from `now` on meant to be this, its VMs told one by one.
    pub(crate) fn cluster(
        &mut self,
        vm: u16,
        vms: u32,
        (workers, batch): (u32, u32),
        now: SimTime,
    ) {
        if let Some(notes) = &mut self.notes {
            let what = LogEvent::Cluster {
                vm,
                vms,
                workers,
                batch,
            };
            notes.instant(what, now);
        }
    }

    /// One more VM, by its number and type, that runs from `ready` on.
    pub(crate) fn request(&mut self, vm: (u32, u16), now: SimTime, ready: SimTime) {
        if let Some(notes) = &mut self.notes {
            (notes.vms).request(vm, now, ready, &mut notes.kept.entries);
        }
    }

    pub(crate) fn give_back_all(&mut self, now: SimTime) {
        if let Some(notes) = &mut self.notes {
            (notes.vms).give_back_all(now, &mut notes.kept.entries);
        }
    }

    /// The VM of this number is no longer held: the provider took it away, or it was given back.
    pub(crate) fn gone(&mut self, number: u32, end: SimTime, ended_by: EndedBy) {
        if let Some(notes) = &mut self.notes {
            (notes.vms).gone(number, end, ended_by, &mut notes.kept.entries);
        }
    }

    /// Training begins; what was learned before is kept.
    pub(crate) fn trains(&mut self) {
        if let Some(notes) = &mut self.notes {
            notes.saved = notes.learned;
        }
    }
}

// Out of the way of those who note nothing.
impl Notes {
    #[cold]
    fn computes(&mut self, worker: u32, what: LogEvent, until: SimTime) {
        self.lanes.does(worker, what, until);
    }

    #[cold]
    fn settle(&mut self, worker: u32, now: SimTime, fate: Fate) {
        self.lanes.settle(worker, now, fate, &mut self.kept);
    }

    #[cold]
    fn settle_all(&mut self, now: SimTime) {
        self.lanes.settle_all(now, Fate::GivenUp, &mut self.kept);
    }

    #[cold]
    fn cycle(&mut self, worker: u32, now: SimTime, [served, computed, told]: [SimTime; 3]) {
        let done = Fate::Done;
        self.lanes.settle(worker, now, done, &mut self.kept);
        for (what, until) in [
            (LogEvent::Update(done), served),
            (LogEvent::Compute(done), computed),
            (LogEvent::Communication(done), told),
        ] {
            self.lanes.does(worker, what, until);
        }
    }

    #[cold]
    fn serves(&mut self, server: usize, worker: u32, at: SimTime, until: SimTime) {
        if until > at {
            let track = Track::Server(server as u32);
            (self.kept).push_entry(Entry::span((at, until), track, LogEvent::Serve(worker)));
        }
    }

    #[cold]
    fn barrier(&mut self, needed: u32, now: SimTime, complete: SimTime) {
        (self.lanes).barrier(needed, now, complete, &mut self.kept);
    }

    #[cold]
    fn pause(&mut self, now: SimTime, complete: SimTime) {
        self.lanes.pause(now, complete, &mut self.kept);
    }

    #[cold]
    fn end(&mut self, updates: u64, now: SimTime) {
        self.lanes.settle_all(now, Fate::GivenUp, &mut self.kept);
        // Servers are noted ahead: what the end finds them at is cut off.
        let entries = &mut self.kept.entries;
        let first = self.stretch.min(entries.len());
        let mut kept = first;
        for next in first..entries.len() {
            let entry = &mut entries[next];
            if matches!(entry.track, Track::Server(_)) {
                if entry.at >= now {
                    continue;
                }
                entry.until = entry.until.min(now);
            }
            entries.swap(kept, next);
            kept += 1;
        }
        entries.truncate(kept);
        self.stretch = kept;
        self.lanes.begin(0, now);
        self.learned += updates;
        self.steps(self.learned, now);
    }

    #[cold]
    fn steps(&mut self, steps: u64, now: SimTime) {
        self.instant(LogEvent::Steps(steps), now);
    }

    fn instant(&mut self, what: LogEvent, now: SimTime) {
        let entry = Entry::instant(now, Track::Job, what);
        // A stretch may end with its last update.
        if self.kept.entries.last() != Some(&entry) {
            self.kept.entries.push(entry);
        }
    }

    fn close_phase(&mut self, now: SimTime) {
        if now > self.since {
            (self.phases).push(Entry::span((self.since, now), Track::Job, self.phase));
        }
        self.since = now;
    }

    fn relabel(&mut self, from: LogEvent, to: LogEvent, seconds: f64, now: SimTime) {
        self.close_phase(now);
        // Sums of seconds are a little off.
        let tolerance = SimTime::from_nanoseconds(1_000);
        let mut left = SimTime::from_seconds(seconds);
        for index in (0..self.phases.len()).rev() {
            if left <= tolerance {
                break;
            }
            let span = self.phases[index];
            if span.what != from {
                continue;
            }
            let length = span.until - span.at;
            if length <= left + tolerance {
                self.phases[index].what = to;
                left = left - length;
                continue;
            }
            let at = span.until - left;
            self.phases[index].until = at;
            let lost = Entry {
                at,
                what: to,
                ..span
            };
            self.phases.insert(index + 1, lost);
            break;
        }
        self.learned = self.saved;
        self.steps(self.learned, now);
    }

    fn checkpoint(&mut self, what: LogEvent, at: SimTime, now: SimTime) {
        if let LogEvent::Write(fate) = what {
            self.phase = LogEvent::Checkpoint;
            if fate == Fate::Done {
                self.saved = self.learned;
            }
        }
        if now > at {
            (self.kept.entries).push(Entry::span((at, now), Track::Checkpoints, what));
        }
    }
}
