//! The formats of records.

use super::records_file::RecordsFormat;
use super::{records_csv, records_jsonl};

/// All formats, the default first.
pub static FORMATS: &[RecordsFormat] = &[
    records_csv::FORMAT,
    records_jsonl::FORMAT,
    #[cfg(feature = "parquet")]
    super::records_parquet::FORMAT,
];
