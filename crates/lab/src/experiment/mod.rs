//! Scenario → cases → parallel run → records.
//!
//! In: a checked [`Scenario`](crate::scenario::Scenario). Out: one [`Record`] per case, in case
//! order whatever the number of threads, and a running [`summary`].
//!
//! - [`plan`]: everything that cases share, computed once; the order of cases; `plan_error`: why there is none.
//! - [`search_problem`]: configurations that are searched together, with all that compete on them; `price_list`:
//!   what they cost, as everybody knows it.
//! - [`expectation`]: what configurations take, where only runs tell; `estimate`: means of runs and their errors;
//!   `misses`: how often limits are missed, where a share of runs may.
//! - [`simulation`]: what neighbouring cases share: one search, one run per configuration; `runs`: these runs and their bills.
//! - [`evaluate`]: one case: search, run to the target, score against the oracle; `billed`: a run under a tariff; `score`: by what.
//! - [`record`]: the result of one case, whose columns are declared there; [`columns`]: what the declaration gives.
//!   `chosen`: a configuration as records have it; `arrow`: records as Arrow.
//! - [`ranking`]: every configuration with what it is expected to take, how far runs scatter, and what dominates it.
//! - [`run`](mod@run): cases, in parallel, in order, in bounded memory; `task_pool`: threads that work through tasks together; `gather`: what
//!   becomes of their records; `memo`: runs that are not made twice.
//! - [`precision`]: how many replicas it takes until net overheads are known well.
//! - [`shard`]: one of several equal parts of a run.
//! - [`tally`]: what a group of records comes to; [`metrics`]: by which figures; `metric_moments`: its figures side by side; `units`: by pairs of replicas, which share
//!   their luck; `rivals`: what may come that no case of it showed; [`interval_coverage`]: how often its intervals hold.
//! - [`summary`]: what records come to by whatever columns are asked for ([`key_columns`]); `summary_part`: those of one task,
//!   `stored`: as bytes; [`summary_groups`]: what it has at the end.

#[cfg(feature = "arrow")]
pub mod arrow;
mod billed;
mod chosen;
pub mod columns;
mod estimate;
pub mod evaluate;
pub mod expectation;
pub mod gather;
pub mod interval_coverage;
pub mod key_columns;
mod memo;
mod metric_moments;
pub mod metrics;
mod misses;
mod nearest;
pub mod plan;
mod plan_error;
mod policy_record;
pub mod precision;
mod price_list;
pub mod ranking;
pub mod record;
mod rivals;
pub mod run;
mod run_to_target;
mod runs;
mod score;
pub mod search_problem;
mod searched;
pub mod shard;
pub mod simulation;
mod status;
mod stored;
pub mod summary;
pub mod summary_groups;
mod summary_part;
pub mod tally;
mod task_pool;
mod units;

#[cfg(feature = "arrow")]
pub use arrow::RecordBatches;
pub use chosen::Chosen;
pub use evaluate::{Evaluator, TracedCase};
pub use gather::{Gather, Maker, Part, Sink};
pub use key_columns::KeyColumns;
pub use plan::{Case, Plan};
pub use plan_error::PlanError;
pub use ranking::{Ranked, Ranking};
pub use record::{COLUMNS, Column, OwnedRecord, Record, Status};
pub use run::{Conduct, Finished, RunEnding, gather, run};
pub use score::Charge;
pub use search_problem::{Contender, NotSimulated, SearchProblem};
pub use shard::{Shard, Tasks};
pub use stored::{Reader, Writer};
pub use summary::{Summary, SummaryMaker};
pub use summary_groups::{Aggregated, Group, KeyGroup, KeyTable};
pub use summary_part::SummaryPart;
pub use tally::{GroupSummary, Mean};
