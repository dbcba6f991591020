//! Result files and tables.
//!
//! In: records and groups. Out: files that pandas and DuckDB open, and text that people read.
//!
//! - [`formats`]: the forms of records: [`records_csv`], [`records_jsonl`], `records_parquet`; [`csv_rows`]: rows as bytes; [`records_file`]: what each has to do.
//! - [`failures_csv`]: the cases without a result.
//! - [`summary_csv`], [`summary_json`], [`summary_table`] with its `summary_columns` and [`table_figures`]: one row per group; [`summary_by`]: by any columns;
//!   [`group_summary`]: what they share.
//! - [`policies_table`]: one row per pricing policy; [`market_table`]: one per policy that decides during a run; [`clusters_table`]: one per cluster. [`places`]: which VMs stand behind a name.
//! - [`ranking_table`], [`ranking_data`]: one row per configuration; `ranking_layout`: what of it fits; `ranking_plans`: parallel plans in it.
//! - [`manifest`]: what a result folder was made from; [`result_files`]: results that appear together, of comparisons and policies.
//! - [`results`]: all of these together, from the start or behind what an earlier run left;
//!   [`stored_rows`] reads that back, [`stored_records`] those of a finished run in any form; by [`row_hashes`] altered
//!   ones are told, [`unfinished_rows`] says how far they are good where a run was killed.
//! - [`shard_file`]: one of several parts of a run; [`shards`]: all of them, put together; [`stored_shard`] reads one.
//! - [`trace_jsonl`]: what happened in one job; [`trace_names`]: how it is called there.
//! - `headline_table`: what all tables come to, a line per job and objective; [`headline`]: in words; `closest`: who is nearest to
//!   the oracle. [`percent`]: fractions in tables.

pub mod choices;
mod closest;
pub mod clusters_table;
pub mod csv_rows;
pub mod failures_csv;
pub mod formats;
pub mod group_summary;
pub mod headline;
pub mod headline_table;
pub mod identity;
pub mod manifest;
pub mod market_table;
pub mod percent;
pub mod places;
pub mod policies_table;
pub mod ranking_data;
mod ranking_layout;
mod ranking_plans;
pub mod ranking_table;
pub mod records_csv;
pub mod records_file;
pub mod records_jsonl;
#[cfg(feature = "parquet")]
pub mod records_parquet;
pub mod result_files;
pub mod results;
pub mod row_hashes;
pub mod shard_file;
pub mod shards;
pub mod stored_records;
pub mod stored_rows;
pub mod stored_shard;
pub mod summary_by;
mod summary_columns;
pub mod summary_csv;
pub mod summary_json;
pub mod summary_table;
pub mod table_figures;
pub mod trace_jsonl;
pub mod trace_names;
pub mod trace_search;
pub mod unfinished_rows;

pub use formats::FORMATS;
pub use places::Places;
pub use records_file::RecordsFormat;
pub use results::Results;
pub use row_hashes::AlteredRows;
pub use scavsim_base::output::OutputFolder;
pub use shard_file::ShardFile;
pub use shards::Shards;
