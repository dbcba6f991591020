//! What a scenario file with `[policy]` says.

use schemars::JsonSchema;
use serde::Deserialize;

use scavsim_read::input::Spanned;
use scavsim_read::input::checked::{
    Count, Delay, Interval, Machines, NonNegative, Positive, ShareOf,
};

/// What is to be done, until when.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct JobTable {
    /// Hours of work without interruptions, on the first form or one machine at speed 1.
    pub work_h: Option<Positive>,
    /// Scenario whose configurations are the forms, in place of `work_h`: a path relative to this file, or `library:NAME`.
    pub work: Option<Spanned<String>>,
    /// Hours until it shall be done.
    pub deadline_h: Option<Spanned<Positive>>,
    /// Seconds from a start of machines until they work; 0 when absent.
    pub changeover_s: Option<Delay>,
    /// Seconds without work where it goes on in another form on as many machines of the same type, which it keeps. They are given
    /// back, and others are started, when absent.
    pub reconfigure_s: Option<Delay>,
    /// GB of a checkpoint, which are carried to another region for the price of egress; 0 when absent.
    pub checkpoint_gb: Option<NonNegative>,
    /// Seconds of work between two checkpoints; work is saved at once when absent.
    pub checkpoint_every_s: Option<Interval>,
    /// Number of machines; 1 when absent.
    pub machines: Option<Spanned<Machines>>,
    /// Sets of machines that it can run on, in place of `machines`.
    pub form: Option<Spanned<Vec<Spanned<FormTable>>>>,
    /// USD for each hour after the deadline; without it a policy may not be late.
    pub lateness_usd_per_h: Option<NonNegative>,
    /// Whether the last tick is paid to its end.
    pub whole_last_tick: bool,
    /// Seconds that a machine is paid which a policy starts to see whether there is any; 60 when absent.
    pub probe_s: Option<Delay>,
}

/// Machines that it can run on, and how fast it is on them.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FormTable {
    /// Name of the form.
    pub name: Option<Spanned<String>>,
    /// Number of machines; 1 when absent.
    pub machines: Option<Spanned<Machines>>,
    /// VM type; any when absent.
    pub vm: Option<Spanned<String>>,
    /// Seconds of work per second, all the time.
    pub speed: Option<Positive>,
    /// Seconds of work per second, from shares of the work on.
    pub steps: Option<Spanned<Vec<Spanned<StepTable>>>>,
}

/// How fast a form is from a share of the work on.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StepTable {
    /// Share of the work from which on it holds.
    pub from: Option<ShareOf>,
    /// Seconds of work per second from there on.
    pub speed: Option<Positive>,
}

/// Where it is done.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MarketTable {
    /// A market of the library, or a folder.
    pub traces: Option<Spanned<String>>,
    /// VM types of the catalogue, in place of prices: a zone for each region in which it has both prices, the newest.
    pub vm: Option<Spanned<Vec<Spanned<String>>>>,
    /// Lifetimes of the catalogue, in place of `run_h`: a zone has machines for as long as one of them lives.
    pub lifetimes: Option<Spanned<String>>,
    /// Zones of the market; all when absent.
    pub zones: Option<Spanned<Vec<Spanned<String>>>>,
    /// Whether each zone is a world of its own.
    pub each_alone: bool,
    /// Lives drawn from the process that is fitted to the traces, or from that of `run_h` and `pause_h`.
    pub replicas: Option<Spanned<Count>>,
    /// Mean hours that a zone has machines, where no traces are named.
    pub run_h: Option<Positive>,
    /// Mean hours that it has none.
    pub pause_h: Option<Positive>,
    /// Price of a spot machine in that zone.
    pub spot_usd_per_h: Option<Positive>,
    /// Price of a machine on demand in that zone.
    pub on_demand_usd_per_h: Option<Positive>,
    /// Seconds of a tick there; 600 when absent.
    pub tick_s: Option<Positive>,
}

/// Where lives begin in the traces.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StartsTable {
    /// This many, evenly over the traces.
    pub spread: Option<Count>,
    /// At these seconds.
    pub at_s: Option<Spanned<Vec<Spanned<NonNegative>>>>,
}
