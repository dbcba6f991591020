//! What happened when in the life of a job.

/// Something that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimelineEvent {
    /// Spot machines were started.
    Spot,
    /// Machines on demand were started.
    OnDemand,
    /// Machines that were started work from now on.
    Works,
    /// Machines were given back, and it waits.
    Wait,
    /// Spot machines were lost.
    Lost,
    /// The safety net took over.
    Net,
    /// The policy gave up.
    GaveUp,
    /// The policy failed.
    Failed,
    /// The work is done.
    Done,
    /// The window ended before.
    Unfinished,
}

scavsim_base::named! {
    TimelineEvent:
    Spot = "spot", OnDemand = "on-demand", Works = "works", Wait = "wait", Lost = "lost",
    Net = "safety-net", GaveUp = "gave-up", Failed = "failed", Done = "done",
    Unfinished = "unfinished",
}

/// An entry: when, how far, and what.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// Seconds since the begin.
    pub at_s: f64,
    /// Seconds of work done until then.
    pub done_s: f64,
    /// USD spent until then.
    pub spent_usd: f64,
    /// What happened.
    pub what: TimelineEvent,
    /// Where; `None` where it is nowhere.
    pub zone: Option<usize>,
    /// Number of the form that it has then, or had last.
    pub form: usize,
}

/// Entries in the order of time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timeline {
    /// What happened.
    pub entries: Vec<Entry>,
}
