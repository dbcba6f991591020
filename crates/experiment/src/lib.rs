//! Scenario → cases → parallel run → records.
//!
//! In: a checked [`Scenario`](scenario::Scenario), whose [`subject`] brings searches and environments. Out: one [`Record`] per case, in case order whatever the number of
//! threads, and a running [`summary`]. A [`plan`] holds what cases share, [`run`](mod@run) evaluates them in parallel and in
//! bounded memory.
//!
//! - [`expectation`]: what configurations take, where only runs tell; `estimate`: means of runs and their errors.
//! - [`simulation`]: what neighbouring cases share; [`evaluate`]: one case, from search to score; [`record`]: its result.
//! - [`tally`]: what a group of records comes to; `units`: pairs of replicas that share their luck; `rivals`: choices that may come
//!   but that no case made.

#[cfg(feature = "arrow")]
pub mod arrow;
mod beaten;
mod billed;
mod case;
mod chosen;
pub mod columns;
pub mod effort;
mod estimate;
pub mod evaluate;
pub mod expectation;
mod fleet;
pub mod gather;
pub mod interval_coverage;
pub mod key_columns;
mod known_jobs;
mod memo;
mod metric_moments;
pub mod metrics;
mod misses;
mod nearest;
pub mod plan;
mod plan_error;
pub mod precision;
pub mod ranking;
pub mod record;
mod record_axes;
mod record_columns;
mod rivals;
pub mod run;
mod runs;
pub mod scenario;
mod score;
mod score_record;
pub mod search_problem;
pub mod shard;
pub mod simulation;
mod stored;
pub mod subject;
pub mod summary;
pub mod summary_groups;
mod summary_part;
mod swept_axes;
pub mod tally;
mod task_pool;
mod units;

#[cfg(feature = "arrow")]
pub use arrow::RecordBatches;
pub use case::Case;
pub use chosen::Chosen;
pub use evaluate::{Evaluator, TracedCase};
pub use gather::{Gather, Maker, Part, Sink};
pub use key_columns::KeyColumns;
pub use known_jobs::KnownJobs;
pub use plan::Plan;
pub use plan_error::PlanError;
pub use ranking::{Ranked, Ranking};
pub use record::{COLUMNS, Column, OwnedRecord, Record, Status};
pub use record_axes::{AXIS, OwnedAxes, RecordAxes};
pub use record_columns::RecordColumns;
pub use run::{Conduct, Finished, RunEnding, gather, run};
pub use score::{Charge, beyond_one};
pub use search_problem::{Contender, NotSimulated, SearchProblem};
pub use shard::{Shard, Tasks};
pub use stored::{Reader, Writer};
pub use summary::{Summary, SummaryMaker};
pub use summary_groups::{Aggregated, Group, KeyGroup, KeyTable};
pub use summary_part::SummaryPart;
pub use swept_axes::SweptAxes;
pub use tally::{GroupSummary, Mean};
