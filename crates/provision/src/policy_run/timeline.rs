#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimelineEvent {
    Spot,
    OnDemand,
    /// Started machines work from now on.
    Works,
    /// Another form begins on the same machines.
    Reconfigured,
    /// Machines were given back.
    Wait,
    Lost,
    Net,
    GaveUp,
    Failed,
    Done,
    Unfinished,
}

scavsim_base::named! {
    TimelineEvent:
    Spot = "spot", OnDemand = "on-demand", Works = "works", Reconfigured = "reconfigured", Wait = "wait", Lost = "lost",
    Net = "safety-net", GaveUp = "gave-up", Failed = "failed", Done = "done",
    Unfinished = "unfinished",
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    pub at_s: f64,
    pub done_s: f64,
    pub spent_usd: f64,
    pub what: TimelineEvent,
    /// `None` for no zone.
    pub zone: Option<usize>,
    /// Present or last form.
    pub form: usize,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timeline {
    pub entries: Vec<Entry>,
}
