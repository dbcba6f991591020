//! The forms that records can be written in.

use std::io;

use super::folder::Folder;
use super::{records_csv, records_jsonl};
use crate::experiment::Sink;

/// A file of records. Dropped, it leaves an unfinished file.
pub trait RecordsFile: Sink + Send {
    /// Finishes the file and gives it its name.
    ///
    /// # Errors
    /// Whatever prevents it.
    fn close(self: Box<Self>) -> io::Result<()>;
}

/// One form.
pub struct RecordsFormat {
    /// Its name on the command line.
    pub name: &'static str,
    /// Name of the file.
    pub file: &'static str,
    /// Starts the file; `None` for the form that every run writes anyway.
    pub create: Option<Create>,
}

/// Starts a file of records in a folder.
pub type Create = fn(&Folder) -> io::Result<Box<dyn RecordsFile>>;

/// All forms, the default first.
pub static FORMATS: &[RecordsFormat] = &[
    records_csv::FORMAT,
    records_jsonl::FORMAT,
    #[cfg(feature = "parquet")]
    super::records_parquet::FORMAT,
];
