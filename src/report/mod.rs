//! Result files and tables.
//!
//! In: records and groups. Out: files that pandas and DuckDB open, and text that people read.
//!
//! - [`folder`]: an output folder; nothing finished is lost.
//! - [`records_csv`]: one row per case.
//! - [`summary_csv`], [`summary_json`], [`summary_table`]: one row per group.
//! - [`policies_table`]: one row per pricing policy.
//! - [`manifest`]: what a result folder was made from.
//! - [`text_table`]: plain tables for the terminal.

pub mod folder;
pub mod manifest;
pub mod policies_table;
pub mod records_csv;
pub mod summary_csv;
pub mod summary_json;
pub mod summary_table;
pub mod text_table;

pub use folder::Folder;
pub use records_csv::RecordsCsv;
