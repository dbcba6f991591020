//! The result of one case: one row of `records.csv`.

use serde::{Deserialize, Serialize};

/// Whether a case has a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It has.
    Ok,
    /// It has none; the reason stands beside.
    #[default]
    Failed,
}

impl Status {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Failed => "failed",
        }
    }
}

/// One row of `records.csv`. Ratios are fractions; an empty cell means that the figure does not
/// exist for this case, never zero.
///
/// The default is the record of a case without a result, nor anything else.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Record<'p> {
    /// Number of the case in the scenario's order, from 0.
    pub case: u64,
    /// Workload.
    #[serde(borrow)]
    pub workload: &'p str,
    /// Pricing policy.
    #[serde(borrow)]
    pub pricing: &'p str,
    /// Objective.
    #[serde(borrow)]
    pub objective: &'p str,
    /// Strategy.
    #[serde(borrow)]
    pub strategy: &'p str,
    /// Replica, from 0.
    pub replica: u64,
    /// VM type that the strategy chose.
    #[serde(borrow)]
    pub chosen_vm: Option<&'p str>,
    /// Workers that it chose.
    pub chosen_workers: Option<u32>,
    /// Global batch that it chose.
    pub chosen_batch: Option<u32>,
    /// VM type that the oracle chose.
    #[serde(borrow)]
    pub oracle_vm: Option<&'p str>,
    /// Workers that the oracle chose.
    pub oracle_workers: Option<u32>,
    /// Global batch that the oracle chose.
    pub oracle_batch: Option<u32>,
    /// Hours from the start to the target, search included and its steps credited, as it came out
    /// in this replica.
    pub time_h: Option<f64>,
    /// USD for that.
    pub cost_usd: Option<f64>,
    /// Hours of the oracle in the same replica.
    pub oracle_time_h: Option<f64>,
    /// USD of the oracle in the same replica.
    pub oracle_cost_usd: Option<f64>,
    /// Expected hours of the chosen configuration from the start, without search.
    pub expected_time_h: Option<f64>,
    /// Expected USD for that.
    pub expected_cost_usd: Option<f64>,
    /// Hours from the start until the chosen configuration began to train.
    pub search_time_h: Option<f64>,
    /// USD for that, as if everything were released then.
    pub search_cost_usd: Option<f64>,
    /// Hours of the cold start, a part of the search.
    pub cold_start_time_h: Option<f64>,
    /// USD of the cold start by itself.
    pub cold_start_cost_usd: Option<f64>,
    /// Part of `cost_usd`: steps of the chosen configuration, after the search. All parts add up to it.
    pub bill_useful_usd: Option<f64>,
    /// Part of `cost_usd`: steps of the search, credited or not.
    pub bill_search_usd: Option<f64>,
    /// Part of `cost_usd`: waiting for VMs to start, during the search too.
    pub bill_waiting_usd: Option<f64>,
    /// Part of `cost_usd`: work that was lost with VMs.
    pub bill_lost_usd: Option<f64>,
    /// Part of `cost_usd`: checkpoints and restores, during the search too.
    pub bill_restore_usd: Option<f64>,
    /// Part of `cost_usd`: egress.
    pub bill_egress_usd: Option<f64>,
    /// Part of `cost_usd`: storage.
    pub bill_storage_usd: Option<f64>,
    /// VMs that the provider took away, search included.
    pub lost_vms: Option<f64>,
    /// Mean staleness of an applied gradient, in updates; empty for workers that step together on VMs that stay.
    pub staleness: Option<f64>,
    /// Fraction of all gradients that the protocol dropped.
    pub dropped_gradients: Option<f64>,
    /// Fraction of compute time that went into what was dropped or done twice.
    pub wasted_compute: Option<f64>,
    /// Expected time of the choice over that of the oracle's, minus 1.
    pub regret_time: Option<f64>,
    /// Expected cost of the choice over that of the oracle's, minus 1.
    pub regret_cost: Option<f64>,
    /// Search time over the oracle's time.
    pub search_share_time: Option<f64>,
    /// Search cost over the oracle's cost.
    pub search_share_cost: Option<f64>,
    /// Time over the oracle's, minus 1, when search steps earn no progress.
    pub overhead_gross_time: Option<f64>,
    /// Cost over the oracle's, minus 1, when search steps earn no progress.
    pub overhead_gross_cost: Option<f64>,
    /// Time over the oracle's, minus 1, when search steps count as training.
    pub overhead_net_time: Option<f64>,
    /// Cost over the oracle's, minus 1, when search steps count as training.
    pub overhead_net_cost: Option<f64>,
    /// Cold start over the oracle's time: the accounting behind the paper's own figure.
    pub overhead_published_time: Option<f64>,
    /// Cold start over the oracle's cost: the accounting behind the paper's own figure.
    pub overhead_published_cost: Option<f64>,
    /// Repetitions of the job that repay the search against the default configuration; empty
    /// where the choice is no better than the default.
    pub break_even_jobs: Option<f64>,
    /// Mean over configurations of |predicted − expected time| / expected time.
    pub error_mean: Option<f64>,
    /// Median of the same.
    pub error_median: Option<f64>,
    /// Maximum of the same.
    pub error_max: Option<f64>,
    /// Whether the chosen configuration was measured or interpolated.
    #[serde(borrow)]
    pub provenance: Option<&'p str>,
    /// The fidelity that its run was simulated in.
    #[serde(borrow)]
    pub fidelity: Option<&'p str>,
    /// Whether there is a result.
    pub status: Status,
    /// Why there is none, or what is special about it.
    #[serde(borrow)]
    pub reason: &'p str,
}

impl Record<'_> {
    /// Whether the strategy chose what the oracle chose.
    pub fn is_right(&self) -> bool {
        self.status == Status::Ok
            && self.chosen_vm == self.oracle_vm
            && self.chosen_workers == self.oracle_workers
            && self.chosen_batch == self.oracle_batch
    }

    /// Whether every figure is finite: no NaN or infinity may reach a file.
    pub fn is_finite(&self) -> bool {
        [
            self.time_h,
            self.cost_usd,
            self.oracle_time_h,
            self.oracle_cost_usd,
            self.expected_time_h,
            self.expected_cost_usd,
            self.search_time_h,
            self.search_cost_usd,
            self.cold_start_time_h,
            self.cold_start_cost_usd,
            self.bill_useful_usd,
            self.bill_search_usd,
            self.bill_waiting_usd,
            self.bill_lost_usd,
            self.lost_vms,
            self.staleness,
            self.dropped_gradients,
            self.wasted_compute,
            self.bill_restore_usd,
            self.bill_egress_usd,
            self.bill_storage_usd,
            self.regret_time,
            self.regret_cost,
            self.search_share_time,
            self.search_share_cost,
            self.overhead_gross_time,
            self.overhead_gross_cost,
            self.overhead_net_time,
            self.overhead_net_cost,
            self.overhead_published_time,
            self.overhead_published_cost,
            self.break_even_jobs,
            self.error_mean,
            self.error_median,
            self.error_max,
        ]
        .iter()
        .flatten()
        .all(|v| v.is_finite())
    }
}
