//! The result of one case: one row of `records.csv`.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

pub use super::columns::Status;
use super::columns::{Field, Kind, Role, Value, columns, field, role};
use super::record_axes::{OwnedAxes, RecordAxes};

/// Group of a plan's record, where known. All numbers are equal: they say nothing of the record's content.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct GroupNumber(pub(crate) Option<NonZeroU64>);

impl PartialEq for GroupNumber {
    fn eq(&self, _: &GroupNumber) -> bool {
        true
    }
}

#[derive(Debug)]
pub struct Column {
    pub name: &'static str,
    /// Unit of its figures; empty where there is none.
    pub unit: &'static str,
    pub kind: Kind,
    pub what: &'static str,
    pub role: Role,
    pub of: for<'r> fn(&'r Record<'_>) -> Value<'r>,
}

columns! {
    /// Number of the case in the scenario's order, from 0.
    case: count;
    /// Workload.
    workload: name, key;
    /// Pricing policy.
    pricing: name, key;
    /// Objective.
    objective: name, key;
    /// Strategy.
    strategy: name, key;
    /// Replica, from 0.
    replica: count, key;
    /// Setting: the values of keys that hold several, as `KEY=VALUE;…`; empty where none does.
    setting: name, key;
    /// VM type that the strategy chose.
    chosen_vm: text, key;
    /// Workers that it chose.
    chosen_workers: whole in "workers", key;
    /// Global batch that it chose.
    chosen_batch: whole in "samples", key;
    /// What it chose on all other axes, as `NAME=VALUE;…`; empty where there are no others.
    chosen_other: text, key;
    /// VM type that the oracle chose.
    oracle_vm: text, key;
    /// Workers that the oracle chose.
    oracle_workers: whole in "workers", key;
    /// Global batch that the oracle chose.
    oracle_batch: whole in "samples", key;
    /// What the oracle chose on all other axes.
    oracle_other: text, key;
    /// 1 where what was chosen is expected to be worth what the oracle's choice is, else 0, as without a result.
    right: figure, share;
    /// 1 less how much farther the choice is from the least time and the least cost than the knee, in shares of these; with
    /// the objective `knee`, for choices that are expected to keep to the limits.
    knee_depth: figure in "fraction", mean;
    /// Hours from the start to the target, search included and its steps credited, as it came out
    /// in this replica.
    time_h: figure in "h", mean;
    /// USD for that.
    cost_usd: figure in "USD", mean;
    /// Hours of the oracle in the same replica.
    oracle_time_h: figure in "h", mean;
    /// USD of the oracle in the same replica.
    oracle_cost_usd: figure in "USD", mean;
    /// Expected hours of the chosen configuration from the start, without search.
    expected_time_h: figure in "h";
    /// Expected USD for that.
    expected_cost_usd: figure in "USD";
    /// How far off both may be: standard deviation of ln(time) that the workload's measurements leave, of its steps and epochs.
    /// Empty where they do not tell it. No figure here holds it: in the simulation what the workload says is true.
    expected_log_sd: figure;
    /// Most that a GPU holds in the parallel plan that was chosen; empty, as the next five, where no plan was.
    peak_gib: figure in "GiB";
    /// Share of its step in which the last stage waits for others.
    bubble: figure in "fraction";
    /// Share of its step that is communication which nothing hides, between stages and replicas and inside of their passes. Also empty where
    /// layers were measured at a tensor degree above 1: their seconds hold it.
    communication: figure in "fraction";
    /// Tokens of a second of training without luck.
    tokens_per_s: figure in "tokens/s", mean;
    /// Model FLOPs utilisation: FLOPs of its tokens over those of all GPUs at their peak; empty where the model is known by a
    /// profile alone.
    mfu: figure in "fraction", mean;
    /// Expected cost per 10⁹ tokens.
    usd_per_1e9_tokens: figure in "USD", mean;
    /// Effective training time ratio: what the steps that count take with all VMs of the plan, over all time after the search. The
    /// rest is waiting, pauses, checkpoints, lost work and steps on fewer VMs. Empty where no plan was chosen.
    effective: figure in "fraction", mean;
    /// Expected hours of what would have been chosen if the choice had not been there; empty without a search, and where
    /// nothing else was predicted.
    rival_time_h: figure in "h";
    /// Expected USD for that.
    rival_cost_usd: figure in "USD";
    /// Depth of what would have been chosen if the choice had not been there, as `knee_depth`.
    rival_knee_depth: figure in "fraction";
    /// 1 where the choice, run without search in this replica, keeps within all limits, else 0, as without a
    /// result; empty without limits.
    kept_choice: figure, share;
    /// 1 where the job with its search, whose steps earn no progress, keeps within all limits, else 0, as without a
    /// result; empty without limits.
    kept_gross: figure, share;
    /// 1 where the job with its search, whose steps count as training, keeps within all limits, else 0, as without a
    /// result; empty without limits.
    kept_net: figure, share;
    /// How far the choice, run without search in this replica, is beyond a limit, over that limit; of two, the further.
    /// Empty where it keeps within.
    excess_choice: figure in "fraction", mean;
    /// How far the job with its search, whose steps earn no progress, is beyond a limit, as `excess_choice`.
    excess_gross: figure in "fraction", mean;
    /// How far the job with its search, whose steps count as training, is beyond a limit, as `excess_choice`.
    excess_net: figure in "fraction", mean;
    /// Hours from the start until the chosen configuration began to train, or would have begun where the target
    /// was reached before.
    search_time_h: figure in "h", mean;
    /// USD for that, as if everything were released then.
    search_cost_usd: figure in "USD", mean;
    /// 1 where the target was reached during the search, in whatever was tried then, else 0. `time_h` and `cost_usd`
    /// end there; the choice is what the whole search recommends, and gross figures run it.
    reached_in_search: figure, share;
    /// Hours of the cold start, a part of the search.
    cold_start_time_h: figure in "h";
    /// USD of the cold start by itself.
    cold_start_cost_usd: figure in "USD";
    /// Part of `cost_usd`: steps of the chosen configuration, after the search. All parts add up to it.
    bill_useful_usd: figure in "USD", mean;
    /// Part of `cost_usd`: steps of the search, credited or not.
    bill_search_usd: figure in "USD", mean;
    /// Part of `cost_usd`: waiting for VMs to start, during the search too.
    bill_waiting_usd: figure in "USD", mean;
    /// Part of `cost_usd`: work that was lost with VMs.
    bill_lost_usd: figure in "USD", mean;
    /// Part of `cost_usd`: checkpoints and restores, during the search too.
    bill_restore_usd: figure in "USD", mean;
    /// Part of `cost_usd`: egress.
    bill_egress_usd: figure in "USD", mean;
    /// Part of `cost_usd`: storage.
    bill_storage_usd: figure in "USD", mean;
    /// Part of `cost_usd`: all other charges beside VMs.
    bill_charges_usd: figure in "USD", mean;
    /// VMs that the provider took away, search included.
    lost_vms: figure in "VMs", mean;
    /// Earlier runs that the strategy used.
    known_runs: figure in "runs";
    /// Hours that had been spent on them.
    known_time_h: figure in "h", mean;
    /// USD that had been spent on them.
    known_cost_usd: figure in "USD", mean;
    /// Mean staleness of an applied gradient: samples of others that were applied between the reading of the parameters and the update, over the global batch; empty for workers that step together on VMs that stay.
    staleness: figure in "steps", mean;
    /// Fraction of all gradients that the protocol dropped.
    dropped_gradients: figure in "fraction", mean;
    /// Fraction of compute time that went into what was dropped or done twice.
    wasted_compute: figure in "fraction", mean;
    /// Expected time of the choice over that of the oracle's, minus 1; empty where the choice breaks a limit, expected
    /// or in this replica.
    regret_time: figure in "fraction", mean before search_time_h;
    /// Expected cost of the choice over that of the oracle's, minus 1; empty as `regret_time` is.
    regret_cost: figure in "fraction", mean before search_time_h;
    /// Search time over the oracle's time.
    search_share_time: figure in "fraction", mean;
    /// Search cost over the oracle's cost.
    search_share_cost: figure in "fraction", mean;
    /// Time over the oracle's, minus 1, when search steps earn no progress; empty where that breaks a limit.
    overhead_gross_time: figure in "fraction", mean;
    /// Cost over the oracle's, minus 1, when search steps earn no progress; empty where that breaks a limit.
    overhead_gross_cost: figure in "fraction", mean;
    /// Time over the oracle's, minus 1, when search steps count as training; empty where that breaks a limit.
    overhead_net_time: figure in "fraction", mean;
    /// Cost over the oracle's, minus 1, when search steps count as training; empty where that breaks a limit.
    overhead_net_cost: figure in "fraction", mean;
    /// How often the job is run, R, with `search.repeats`.
    repeats: whole in "runs", key;
    /// Runs to the target that the search made; with `search.repeats`.
    runs_in_search: figure in "runs", mean;
    /// Choices that never reached the target, before the final one; they are part of the search. On a measured grid.
    failed_choices: figure in "runs", mean;
    /// Time of the search and R runs over R runs of the oracle, minus 1, when search steps earn nothing; empty where the first
    /// breaks a limit.
    repeated_gross_time: figure in "fraction", mean;
    /// Cost of the search and R runs over R runs of the oracle, minus 1, when search steps earn nothing; empty where the first
    /// breaks a limit.
    repeated_gross_cost: figure in "fraction", mean;
    /// Time of the search and R runs over R runs of the oracle, minus 1, when what the search did counts: its runs to
    /// the target are some of the R, or its steps part of the first.
    repeated_net_time: figure in "fraction", mean;
    /// Cost of the search and R runs over R runs of the oracle, minus 1, when what the search did counts, as
    /// `repeated_net_time`.
    repeated_net_cost: figure in "fraction", mean;
    /// Cold start over the oracle's time: the accounting behind the paper's own figure.
    overhead_published_time: figure in "fraction", mean;
    /// Cold start over the oracle's cost: the accounting behind the paper's own figure.
    overhead_published_cost: figure in "fraction", mean;
    /// Hours that each further job is expected to take less with the choice than in the default configuration.
    saved_time_h: figure in "h", mean;
    /// USD that it is expected to cost less.
    saved_cost_usd: figure in "USD", mean;
    /// Repetitions of the job that repay the search against the default configuration, in hours for the objective `time`,
    /// else in USD, without earlier runs; empty where nothing is saved.
    break_even_jobs: figure in "jobs";
    /// 1 where a search or earlier runs were spent and no repetition repays them, for nothing is saved, else 0; empty where
    /// nothing was spent.
    never_repaid: figure, share;
    /// Mean over configurations of |predicted − expected time| / expected time.
    error_mean: figure in "fraction", mean;
    /// Median of the same.
    error_median: figure in "fraction", mean;
    /// Maximum of the same.
    error_max: figure in "fraction", mean;
    /// Second of the market's traces in which the life of a job under a policy begins, or the number of its draw. Empty, as all that
    /// follow up to `gave_up`, where no policy decides.
    start: figure in "s";
    /// How many independent lives it counts as: lives that overlap in time meet the same market. 0 where they are too few for an
    /// interval.
    independence: figure in "fraction";
    /// Hours after the deadline; of a job that is not done, until the market's time was over.
    late_h: figure in "h", mean;
    /// Hours on spot VMs.
    spot_h: figure in "h", mean;
    /// Hours on VMs on demand.
    on_demand_h: figure in "h", mean;
    /// Hours in which VMs were paid and did not work yet.
    start_up_h: figure in "h";
    /// Hours of work that was lost with spot VMs, and done again.
    lost_work_h: figure in "h";
    /// Part of `cost_usd`: spot VMs.
    bill_spot_usd: figure in "USD";
    /// Part of `cost_usd`: VMs on demand.
    bill_on_demand_usd: figure in "USD";
    /// Part of `cost_usd`: VMs that were started to see whether there are any.
    bill_probes_usd: figure in "USD";
    /// Part of `cost_usd`: being late.
    bill_lateness_usd: figure in "USD";
    /// Starts of VMs.
    launches: figure, mean;
    /// Moves to another zone.
    moves: figure, mean;
    /// Requests of spot VMs where there were none.
    refused: figure;
    /// 1 where the safety net took over, else 0.
    caught: figure, mean;
    /// 1 where the policy gave up, else 0.
    gave_up: figure;
    /// 1 where the clairvoyant's cost is exact, 0 where it is a lower bound; of the clairvoyant alone.
    exact: figure, mean;
    /// Whether the chosen configuration was measured or interpolated.
    provenance: text, key;
    /// The fidelity that its run was simulated in.
    fidelity: text;
    /// Whether there is a result.
    status: status, key;
    /// Why there is none, or what is special about it.
    reason: remark;
}

impl Record<'_> {
    pub fn is_right(&self) -> bool {
        self.right == Some(1.0)
    }

    /// What the strategy chose on an axis that has no column of its own.
    pub fn chosen_on(&self, axis: &str) -> Option<&str> {
        value_on(self.chosen_other?, axis)
    }

    /// What the oracle chose on an axis that has no column of its own.
    pub fn oracle_on(&self, axis: &str) -> Option<&str> {
        value_on(self.oracle_other?, axis)
    }
}

fn value_on<'r>(all: &'r str, axis: &str) -> Option<&'r str> {
    let mut values = all.split(';').filter_map(|one| one.split_once('='));
    values.find_map(|(name, value)| (name == axis).then_some(value))
}
