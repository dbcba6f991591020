//! The form of `[failures]` and `[parallel.reaction]`: machines that fail, and what a job does when some go.

use schemars::JsonSchema;
use serde::Deserialize;

use super::forms::NameOrTable;
use scavsim_plans::ReactionCosts;
use scavsim_read::input::Spanned;
use scavsim_read::input::checked::{
    Count, Delay, Fraction, Interval, Machines, Positive, Slowdown,
};
use scavsim_sim::cluster::Keeps;

/// Failures of machines that nobody takes away: an owned or reserved fleet.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FailuresTable {
    /// A fleet whose failures were counted: a name of `scavsim list failures`; or `causes`.
    pub fleet: Option<Spanned<String>>,
    /// Causes of one's own.
    pub causes: Vec<Spanned<CauseTable>>,
    /// Failures over those that were counted or said; 1 when absent.
    pub scale: Option<Positive>,
    /// Nodes behind a switch, which fail with it; 2 when absent.
    pub nodes_per_switch: Option<Machines>,
    /// Seconds until a failure is noticed.
    pub detection_s: Option<Delay>,
    /// Share of failures that wait for a person.
    pub by_hand_share: Option<Fraction>,
    /// Mean seconds that this takes: exponential.
    pub by_hand_mean_s: Option<Spanned<Delay>>,
    /// Share of nodes that fail more often than others: lemons.
    pub lemon_share: Option<Fraction>,
    /// How many times as often these fail; the mean of all nodes stays as it was counted.
    pub lemon_factor: Option<Spanned<Slowdown>>,
    /// Hours from the end of one planned maintenance to the next.
    pub maintenance_every_h: Option<Positive>,
    /// Seconds that one takes.
    pub maintenance_s: Option<Spanned<Delay>>,
    /// Seconds from a failure until another node runs in the place of one that it took; `cluster.start_up_s` when absent.
    pub replacement_s: Option<Delay>,
    /// Seconds that all take to go on from a checkpoint, beside reading it; as measured when absent.
    pub restart_s: Option<Delay>,
    /// What a failure leaves of the work.
    pub keeps: Keeps,
    /// When checkpoints are written; by Young and Daly when absent, where a failure goes back to the last.
    pub checkpoint: Option<CheckpointChoice>,
    /// Seconds that one takes to write, where `parallel.checkpoint_gb_per_s` does not say; as measured when absent.
    pub checkpoint_write_s: Option<Delay>,
}

/// A cause of failures, with how often it makes some: by GPU, by node or by switch.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CauseTable {
    /// What it is called.
    pub name: String,
    /// What one takes with it: gpu (its node), node, switch, nothing (the job alone).
    pub loses: Spanned<String>,
    /// Failures per GPU and hour.
    pub per_gpu_h: Option<Positive>,
    /// Failures per node and hour.
    pub per_node_h: Option<Positive>,
    /// Failures per switch and hour.
    pub per_switch_h: Option<Positive>,
}

/// What a job on a plan does when VMs go and come.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReactionTable {
    /// What it does: a name of `scavsim list reactions`; `wait` when absent.
    pub policy: Option<Spanned<String>>,
    /// What that costs: `parcae`, as measured for it, also when absent; or seconds of one's own.
    pub costs: Option<Spanned<NameOrTable<ReactionCosts>>>,
    /// How a job that re-plans foretells how many GPUs there will be: a name of `scavsim list forecasts`; `none` when absent.
    pub forecast: Option<Spanned<String>>,
    /// What plans are compared by: throughput, liveput (what survives the losses to come); throughput when absent.
    pub aim: Option<Spanned<String>>,
    /// VMs that idle until one is lost; none when absent.
    #[schemars(with = "Option<u32>")]
    pub spares: Option<Spares>,
    /// Seconds from a loss until a spare is in its place; as measured when absent.
    pub swap_s: Option<Delay>,
    /// What is kept of the state: blocking (training stops while a checkpoint is written), asynchronous (it stops for `copying_s`), in-memory
    /// (the next node keeps every step, too); blocking when absent.
    pub saves: Option<Spanned<String>>,
    /// Seconds in which the state is copied to the hosts.
    pub copying_s: Option<Delay>,
}

/// VMs that idle: none, or some.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a whole number from 0")]
pub enum Spares {
    /// Some.
    Some(Count),
    /// None.
    None(u32),
}

/// When checkpoints are written.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum CheckpointChoice {
    /// Never.
    None,
    /// After this many seconds of training.
    PeriodicS(Interval),
    /// After Young's interval for the cluster's losses and the time to write.
    Young,
    /// After Daly's interval for them, which is of higher order.
    YoungDaly,
    /// After the interval that takes least by Daly's run time.
    Searched,
    /// When it suits the age of the VMs best, by dynamic programming.
    Dynamic,
}
