use scavsim_base::units::SimTime;
use scavsim_data::usage::{EndedBy, Phase};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub at: SimTime,
    /// When it was over; the same for what takes no time.
    pub until: SimTime,
    pub track: Track,
    pub what: LogEvent,
}

impl Entry {
    pub fn span((at, until): (SimTime, SimTime), track: Track, what: LogEvent) -> Entry {
        Entry {
            at,
            until,
            track,
            what,
        }
    }

    pub fn instant(at: SimTime, track: Track, what: LogEvent) -> Entry {
        Entry::span((at, at), track, what)
    }

    /// How a VM ran that is gone: its track and type, from when to when, and who ended it.
    pub fn of_gone(
        (track, vm): (Track, u16),
        (runs, end): (SimTime, SimTime),
        ended_by: EndedBy,
    ) -> impl Iterator<Item = Entry> {
        let ran = (runs < end).then(|| Entry::span((runs, end), track, LogEvent::Running(vm)));
        let how = if ended_by == EndedBy::Provider {
            LogEvent::Revoked
        } else {
            LogEvent::Released
        };
        ran.into_iter().chain([Entry::instant(end, track, how)])
    }
}

/// Where entries are shown. The spans of one track do not overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Track {
    Job,
    Checkpoints,
    /// One VM, numbered in the order of requests.
    Vm(u32),
    /// A VM that is held beside a plan, to take the place of a lost one.
    Spare(u32),
    /// The VM that hands out jobs and does none.
    Head,
    /// One worker of the cluster as it was.
    Worker(u32),
    Server(u32),
    /// A stage of a data-parallel replica: replica, stage.
    Stage(u32, u32),
    /// What goes on beside its work: the same.
    Link(u32, u32),
}

/// What became of a worker's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Done,
    /// The protocol had no use for it.
    Dropped,
    /// The stretch of training ended, or a VM was lost.
    GivenUp,
    /// A barrier stopped it on the way; it goes on behind.
    Paused,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeighbourStage {
    Before,
    Behind,
}

/// Gives back at `end` whatever VM was asked for and is not gone by then.
pub fn release_rest(entries: &mut Vec<Entry>, end: SimTime) {
    let own = |entry: &Entry| match entry.track {
        Track::Vm(_) | Track::Spare(_) | Track::Head => Some(entry.track),
        _ => None,
    };
    let is_gone = |what: LogEvent| matches!(what, LogEvent::Released | LogEvent::Revoked);
    let mut open = std::collections::BTreeSet::new();
    for entry in entries.iter() {
        if let (Some(vm), LogEvent::Requested(_)) = (own(entry), entry.what) {
            open.insert(vm);
        }
    }
    for entry in entries.iter().filter(|entry| is_gone(entry.what)) {
        if let Some(vm) = own(entry) {
            open.remove(&vm);
        }
    }
    let released = |track| Entry::instant(end, track, LogEvent::Released);
    entries.extend(open.into_iter().map(released));
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogEvent {
    Phase(Phase),
    /// A span in which nothing else was done than to write a checkpoint.
    Checkpoint,
    /// A checkpoint written, as the checkpoints' own span.
    Write(Fate),
    Restore(Fate),
    /// From here on the cluster is this.
    Cluster {
        vm: u16,
        vms: u32,
        workers: u32,
        batch: u32,
    },
    /// A VM of this type was asked for.
    Requested(u16),
    Starting(u16),
    Running(u16),
    /// The job gave it back.
    Released,
    /// The provider took it away.
    Revoked,
    Compute(Fate),
    /// A machine computes a worker's gradient a second time.
    Copy {
        of: u32,
        fate: Fate,
    },
    Wait,
    /// Exposed communication of a worker.
    Communication(Fate),
    /// A worker's update queues at the parameter servers and passes them.
    Update(Fate),
    /// A server serves its part of this worker's update.
    Serve(u32),
    Forward(u32),
    Backward(u32),
    /// Activations of a micro-batch, or their gradients, pass to or from another stage.
    Exchange(u32, NeighbourStage),
    Apply,
    Bubble,
    Vms(u32),
    /// Steps (updates) whose work is kept, in all configurations together.
    Steps(u64),
    /// No more worker-steps are noted.
    Full,
    Target,
    /// Something fails that is no VM which its provider takes.
    Failure,
    /// So many data-parallel replicas of a plan train from here on.
    Replicas(u32),
}

impl LogEvent {
    pub const WRITTEN: LogEvent = LogEvent::Write(Fate::Done);
    pub const NOT_WRITTEN: LogEvent = LogEvent::Write(Fate::GivenUp);
    pub(crate) const RESTORED: LogEvent = LogEvent::Restore(Fate::Done);
    pub(crate) const NOT_RESTORED: LogEvent = LogEvent::Restore(Fate::GivenUp);

    pub(super) fn with(self, fate: Fate) -> LogEvent {
        match self {
            LogEvent::Compute(_) => LogEvent::Compute(fate),
            LogEvent::Copy { of, .. } => LogEvent::Copy { of, fate },
            LogEvent::Communication(_) => LogEvent::Communication(fate),
            LogEvent::Update(_) => LogEvent::Update(fate),
            other => other,
        }
    }

    /// Whether it is of a single worker-step: such entries are limited in number.
    pub fn is_fine(self) -> bool {
        matches!(
            self,
            LogEvent::Compute(_)
                | LogEvent::Copy { .. }
                | LogEvent::Wait
                | LogEvent::Communication(_)
                | LogEvent::Update(_)
                | LogEvent::Serve(_)
                | LogEvent::Forward(_)
                | LogEvent::Backward(_)
                | LogEvent::Exchange(..)
                | LogEvent::Apply
                | LogEvent::Bubble
        )
    }
}
